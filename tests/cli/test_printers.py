"""Printers print: what they show was computed before, and dates are never cut."""

import json
import re
from importlib import import_module

import networkx as nx
import pytest
from rich.console import Console

import tacit
from tacit.certificates import remedy
from tacit.cli import certify
from tacit.cli.summary import show_answer
from tacit.network import Network, write_graph


@pytest.fixture
def no_search(monkeypatch):
    """Return a switch that makes every search for a worst coalition, and for links, fail."""

    def forbid():
        for name in ("certifying", "augment", "allocate", "design"):
            module = import_module(f"tacit.certificates.{name}")
            monkeypatch.setattr(module, "worst_coalition_indices", lambda *_, **__: pytest.fail("searched"))
        links = import_module("tacit.certificates.augment")
        monkeypatch.setattr(links, "_fewest", lambda *_, **__: pytest.fail("searched"))

    return forbid


def test_the_printer_of_a_certificate_runs_no_search(no_search, capsys):
    network = Network(nx.path_graph(5))
    certificate = tacit.certify(network, any=1, sigma=3.0)
    links = remedy(network, certificate)
    no_search()
    certify.show(certificate, links)
    assert f"{len(links.links)} link(s) would protect them" in capsys.readouterr().out


def test_the_printer_of_an_answer_runs_no_search(no_search, capsys):
    problem = tacit.Problem(nx.cycle_graph(5), [tacit.Quadratic.distance([float(k)]) for k in range(5)])
    answer = tacit.solve(problem, privacy=tacit.AffineMasks(10.0))
    privacy = answer.privacy()
    no_search()
    show_answer(answer, privacy, Console(width=80))
    assert "privacy" in capsys.readouterr().out


def test_a_ledger_of_ordinary_runs_fits_a_terminal_of_80_columns_with_every_epsilon(run, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "80")
    write_graph(nx.relabel_nodes(nx.complete_graph(4), dict(enumerate("abcd"))), tmp_path / "g.graphml")
    for name, sigma in (("january-2026", "12.5"), ("february-2026", "125"), ("march-2026", "1250")):
        code, _, err = run("ledger", "add", name, "g.graphml", "--sigma", sigma)
        assert code == 0, err
    code, out, _ = run("ledger", "show")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert len(re.findall(r"\d{4}-\d\d-\d\d \d\d:\d\d", out)) == 3, out
    rows = out.partition("Costs ")[0]
    entries = json.loads(run("ledger", "show", "--json")[1])["runs"]
    assert all(f"{entry['epsilon']:.3g} " in rows for entry in entries), out


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_dates_and_numbers_in_a_ledger_are_whole_on_narrow_terminals(columns, run, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", str(columns))
    ring = nx.relabel_nodes(nx.complete_graph(4), dict(enumerate(("northern", "southern", "western", "eastern"))))
    write_graph(ring, tmp_path / "g.graphml")
    code, _, err = run("ledger", "add", "a-run-with-quite-a-long-name-2026", "g.graphml", "--sigma", "12.5")
    assert code == 0, err
    code, out, _ = run("ledger", "show")
    assert code == 0
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d", out), out
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= columns
