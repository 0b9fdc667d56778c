"""Whatever a public function returns can be read: printed, in a notebook, and where it is a table, as a frame.

Results are found by the return types of public functions and of what those return in turn. A new one has to be made
readable, or stand in the list of what nobody reads.
"""

import importlib
import inspect
import re
import sys

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.runtimes.peers import LinkTimes
from tacit.runtimes.peers.spells import Spell

PLACES = ("auditing", "certificates", "comparing", "differential", "dispatch", "federation", "learning", "network",
          "peers", "solving")  # fmt: skip
"""Where people look for functions, beside `tacit` itself."""
NOT_READ = {
    # what is handed on to other functions, and what experiments are made of
    "Agent", "Agents", "Arranged", "Bulletin", "Card", "Choice", "Curve", "Game", "Grid", "Manifest", "Paths",
    "Participation", "Permit", "Prepared", "Preset", "Public", "Release", "Run", "Setting", "Sharing", "Spectrum",
    "Tree", "View", "Turn", "Mechanism", "Landscape", "Job", "StoppingRule", "Approach", "Family", "Verdict",
    # settings, keys and places of a federation's files
    "Hiding", "Model", "Masks", "DifferentialPrivacy", "CostStack", "CostsSection", "Reading", "Dictionary",
    "Record", "Row", "Spell", "Stamp", "Coverage", "Component", "Outcome", "Dataset", "LabelledRecords", "Curvature", "Traffic", "Column",
}  # fmt: skip


def public_names():
    """Return everything that is public in these places."""
    modules = [tacit, *(importlib.import_module(f"tacit.{place}") for place in PLACES)]
    return [getattr(module, name) for module in modules for name in module.__all__]


@pytest.fixture(scope="module")
def classes():
    """Return every class of tacit by its name: no two have the same."""
    assert public_names()  # all of them are loaded by now
    modules = [module for name, module in sys.modules.items() if name.startswith("tacit.")]
    everything = [value for module in modules for value in vars(module).values()]
    return {each.__name__: each for each in everything if inspect.isclass(each) and each.__module__[:5] == "tacit"}


def returned(function, classes):
    """Return the classes of tacit that a function's return type names."""
    text = str(getattr(function, "__annotations__", {}).get("return", ""))
    return {name for name in re.findall(r"[A-Z]\w+", text) if name in classes}


def functions_of(result):
    """Yield the public methods and properties of a class."""
    for name, value in vars(result).items():
        function = getattr(value, "fget", None) or getattr(value, "func", None) or getattr(value, "__func__", value)
        if not name.startswith("_") and callable(function):
            yield function


@pytest.fixture(scope="module")
def found(classes):
    """Return the results that public functions lead to."""
    public = [each for each in public_names() if inspect.isfunction(each)]
    names = set().union(*(returned(each, classes) for each in public), BEGINNING)
    done = set()
    while names - done - NOT_READ:
        name = (names - done - NOT_READ).pop()
        done.add(name)
        names |= set().union(*(returned(each, classes) for each in functions_of(classes[name])))
    return {name: classes[name] for name in done - {"Ledger", "Timekeeper"}}


BEGINNING = {"Ledger", "Network", "Problem", "RunRecord", "Timekeeper"}
"""Classes that people make or load themselves, and ask."""
NAMED = {
    "Answer", "AnswerGuarantee", "Assessment", "AuditReport", "Augmentation", "Certificate", "ComparisonReport",
    "Description", "Design", "Histogram", "Leakage", "LinkTimes", "Network", "Problem", "ProblemFile", "Race", "Review",
    "RunRecord", "Schedule", "Standing", "Statements", "Topology", "TradeOff",
}  # fmt: skip


def test_the_search_finds_the_results_that_everybody_knows(found):
    assert found.keys() >= NAMED - {"Topology"}, NAMED - found.keys()


def test_every_result_is_printed_and_shown_by_code_of_its_own(found):
    unreadable = {
        name: [what for what in ("__str__", "_repr_html_") if not any(what in vars(base) for base in ours(result))]
        for name, result in found.items()
    }
    assert {name: missing for name, missing in unreadable.items() if missing} == {}


def ours(result):
    """Return a class and those of tacit that it is made from."""
    return [base for base in result.__mro__ if base.__module__.startswith("tacit")]


TABLES = {"Answer", "AuditReport", "Augmentation", "Certificate", "ComparisonReport", "Description", "FitReport",
          "Histogram", "LinkTimes", "Race", "Schedule", "Summary"}  # fmt: skip
REPORTS = {"Answer", "AuditReport", "Augmentation", "Certificate", "ComparisonReport", "Design", "FitReport",
           "MemberReport", "Race", "Schedule", "Summary"}  # fmt: skip


@pytest.mark.parametrize(("what", "names"), [("to_frame", TABLES), ("report", REPORTS)])
def test_what_is_a_table_becomes_a_frame_and_what_the_page_knows_a_report(what, names, classes):
    from tacit.learning import outcome, reporting  # noqa: F401  they are classes, too
    from tacit.report.pages import _PAGES

    everything = classes | {each.__name__: each for each in _PAGES}
    assert [name for name in sorted(names) if not hasattr(everything[name], what)] == []
    assert {each.__name__ for each in _PAGES} == REPORTS, "a page without a test, or the other way round"


RAW = re.compile(r"object at 0x|\w+\(\w+=|array\(|\[\(|dtype")
"""What a repr of Python looks like."""


def small():
    """Yield results that are quickly made, each by its name."""
    from tacit.certificates import leakage
    from tacit.differential import AnswerBudget
    from tacit.federation import SeriesAccount
    from tacit.learning import describe, histogram

    graph = nx.circulant_graph(6, [1, 2])
    problem = tacit.Problem(graph, [tacit.Quadratic.distance([float(k)]) for k in range(6)])
    certificate = tacit.certify(graph, any=1, sigma=2.0)
    yield from (
        tacit.Network(graph),
        problem,
        certificate,
        certificate.tradeoff(1.0),
        leakage(graph, {0}, sigma=2.0),
    )
    yield AnswerBudget(epsilon=1.0, delta=1e-6)
    yield SeriesAccount("clinics", 3, ())
    yield LinkTimes(4.0, {("a", "b"): (Spell(1.0, 4.0),)})
    yield tacit.augment(nx.path_graph(5), any=1)
    answer = tacit.solve(problem, privacy=tacit.AffineMasks(10.0))
    yield from (answer, answer.record)
    rows, groups = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 4
    limits, promise = [(-3.0, 3.0)] * 2, {"epsilon": 2.0, "delta": 1e-6}
    described = describe(rows, groups, limits=limits, **promise)
    yield from (described, described.guarantee)
    yield histogram(np.arange(60) % 3, groups, classes=[0, 1, 2], **promise)


def test_what_is_printed_is_no_repr_and_a_notebook_shows_as_much():
    for result in small():
        text = str(result)
        assert not RAW.search(text), text
        assert " " in text
        shown = result._repr_html_()
        assert shown.startswith("<"), type(result)
        if hasattr(result, "to_frame"):
            assert result.to_frame().index.name
