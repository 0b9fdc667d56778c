"""What help looks like: whole words at 80 columns, no types beside flags, completion in three shells."""

import os
import pty
import re
import subprocess
import sys

import pytest
from typer.main import get_command

from tacit.cli import app
from tacit.cli.commands import COMMANDS


def each_command(group, words):
    """Yield the words and the command, of groups inside groups too."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from each_command(command, [*words, name])
        yield [*words, name], command


EVERY = list(each_command(get_command(app), []))


@pytest.fixture
def help_of(run, monkeypatch):
    """Return what `tacit … --help` prints on a terminal of 80 columns, without the frame."""
    monkeypatch.setenv("COLUMNS", "80")

    def printed(*words):
        code, out, _ = run(*words, "--help")
        assert code == 0
        assert max(map(len, out.splitlines())) <= 80
        return out

    return printed


@pytest.mark.parametrize(("words", "command"), EVERY, ids=[" ".join(words) for words, _ in EVERY])
def test_help_cuts_no_word_and_shows_no_type_of_flags(words, command, help_of):
    page = help_of(*words)
    assert "<bool>" not in page
    assert "list[" not in page
    shown = set(re.sub("[│╭╮╰╯─]", " ", page).split())
    told = [command.help, *(param.help for param in command.params)]
    for word in re.sub(r"\[/?bold\]", "", " ".join(filter(None, told))).split():
        assert word in shown, f"{word!r} is cut, or not there"


def test_paragraphs_have_no_line_breaks_of_their_own(help_of):
    assert "or --any 3 for every coalition of at\n most three. Exit code 1 if something" in re.sub(
        " +\n", "\n", help_of("certify")
    )


def test_the_version_has_a_short_flag(run):
    assert run("-V") == run("--version")


def test_misspelt_options_are_suggested(run):
    code, _, err = run("certify", "g.graphml", "--sgma", "3")
    assert code == 2
    assert "--sigma" in err


@pytest.mark.parametrize("settings", [{"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1"}], ids=lambda s: str(s))
def test_a_dumb_terminal_and_one_without_colours_get_no_colours(settings):
    leader, follower = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "COLORTERM")}
    words = [sys.executable, "-m", "tacit", "--help"]
    done = subprocess.run(words, stdout=follower, stderr=subprocess.PIPE, env=environment | settings, check=False)
    os.close(follower)
    page = b""
    try:
        while piece := os.read(leader, 65536):
            page += piece
    except OSError:  # the other end is closed
        pass
    os.close(leader)
    assert done.returncode == 0
    assert b"certify" in page
    assert not re.search(rb"\x1b\[[0-9;]*3[0-9]", page)
    assert settings["TERM"] != "dumb" or b"\x1b" not in page


class TestCompletion:
    def complete(self, monkeypatch, run, shell, line):
        monkeypatch.setenv("_TACIT_COMPLETE", f"complete_{shell}")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - (not line.endswith(" "))))
        monkeypatch.setenv("_TYPER_COMPLETE_ARGS", line)
        monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
        return run()[1]

    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_commands_groups_and_options(self, shell, monkeypatch, run):
        assert "certify" in self.complete(monkeypatch, run, shell, "tacit ce")
        assert "show" in self.complete(monkeypatch, run, shell, "tacit ledger ")
        assert "--coalition" in self.complete(monkeypatch, run, shell, "tacit certify --co")

    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_there_is_a_script_for_every_shell(self, shell, monkeypatch, run):
        monkeypatch.setenv("_TACIT_COMPLETE", f"source_{shell}")
        code, out, err = run()
        assert (code, err) == (0, "")
        assert f"complete_{shell}" in out

    def test_bash_takes_the_script_and_completes(self, tmp_path):
        script = (
            f'tacit() {{ {sys.executable} -m tacit "$@"; }}\n'
            'eval "$(_TACIT_COMPLETE=source_bash tacit | sed "s/env //")"\n'
            "COMP_WORDS=(tacit desi) COMP_CWORD=1; _tacit_completion tacit\n"
            'echo "${COMPREPLY[@]}"'
        )
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.stdout == "design\n", done.stderr

    def test_listing_commands_loads_none(self, monkeypatch, run):
        monkeypatch.setattr("tacit.cli.commands.Home.load", lambda *_: pytest.fail("loaded a command"))
        listed = self.complete(monkeypatch, run, "bash", "tacit ").split()
        assert set(listed) >= set(COMMANDS)
