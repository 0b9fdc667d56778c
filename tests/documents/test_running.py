"""docs/running.md: what its tables say is what tacit says, and what they tell one to type can be typed."""

import ast
import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

import tacit
from tacit.cli import app, main

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "running.md").read_text(encoding="utf-8")
NAMES = r"\b(?:west|north)\b"


def rows(heading):
    """Return the cells of the table under a heading."""
    part = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "---" not in line][1:]


TYPED = sorted(set(re.findall(r"`(tacit [^`]+)`", PAGE)) - {"tacit status"})


@pytest.mark.parametrize("line", TYPED)
def test_what_one_is_told_to_type_is_a_command(line):
    """Words with a hyphen in front are options that exist; files need not."""
    group, words = get_command(app), shlex.split(line)[1:]
    while hasattr(group, "commands"):
        group = group.get_command(group.make_context("tacit", list(words), resilient_parsing=True), words.pop(0))
    group.make_context("tacit", words)


@pytest.fixture(scope="module")
def sentences():
    """Return every string in the source."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in Path(tacit.__file__).parent.rglob("*.py"))
    nodes = (node for tree in trees for node in ast.walk(tree))
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


@pytest.mark.parametrize("seen", [row[0] for row in rows("What to do when")])
def test_what_one_sees_is_what_tacit_says(seen, sentences):
    quoted = re.findall(r"`([^`]+)`", seen)
    assert quoted or "ledger" in seen
    for phrase in quoted:
        for piece in re.split(NAMES + "|-….", phrase):
            assert any(piece.strip() in sentence for sentence in sentences), piece


def test_the_exit_codes_are_those_of_the_command_line():
    documented = dict(re.findall(r"^(\d+)  (.+)$", main.__globals__["__doc__"], flags=re.MULTILINE))
    codes = [row[0] for row in rows("Start it")]
    assert codes == [*documented, "any other"]


def test_files_that_must_never_be_restored_are_those_of_the_state():
    verdicts = {row[0]: row[2] for row in rows("Back up")}
    assert [name for name, verdict in verdicts.items() if verdict == "**never**"] == [
        "`north-….state`, `.state-wal`, `.state-sent-…`, `.state-came`, `.state-arrays-…`"
    ]
