"""Running commands as a user types them."""

import sys

import pytest

from tacit.cli import main


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Return a function that runs `tacit …` in a new folder: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["tacit", *words])
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        out, err = capsys.readouterr()
        return code, out, err

    return call
