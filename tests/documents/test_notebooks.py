"""The notebooks of examples/ are committed with what they print, and print it again."""

import ast
import contextlib
import io
import json
import re
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def code_cells(path):
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def printed(cell):
    return "".join("".join(out["text"]) for out in cell["outputs"] if out["output_type"] == "stream")


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == ["first-steps", "grid", "hospitals"]


@each_notebook
def test_what_is_committed_was_run_from_top_to_bottom_and_is_small(path):
    cells = code_cells(path)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert not [out for cell in cells for out in cell["outputs"] if out["output_type"] == "error"]
    assert not [out for cell in cells for out in cell["outputs"] if out.get("name") == "stderr"]
    assert any("image/svg+xml" in out.get("data", {}) for cell in cells for out in cell["outputs"])
    assert path.stat().st_size < 1_000_000


@each_notebook
def test_nothing_is_fetched_and_no_machine_is_named(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"(?:src|href)=\\?[\"']https?:|cdn\.|(?<![\w.<])/(?:work|home|tmp|root)/", text)


@each_notebook
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)\s#]+)\)", path.read_text(encoding="utf-8")):
        assert (EXAMPLES / target).exists(), target


@pytest.mark.browser  # pictures are drawn by Chromium
@each_notebook
def test_it_prints_again_what_is_committed(path, monkeypatch):
    """Every cell, in order; a picture or a result that is shown at the end of a cell is computed, and not compared."""
    pytest.importorskip("kaleido", reason="pip install kaleido")
    pytest.importorskip("IPython", reason="pip install 'tacit[docs]'")
    names = {"__name__": f"notebook_{path.stem.replace('-', '_')}"}
    for cell in code_cells(path):
        source = "".join(cell["source"])
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(ast.parse(source), path, "exec"), names)  # noqa: S102
        assert out.getvalue() == printed(cell), source
