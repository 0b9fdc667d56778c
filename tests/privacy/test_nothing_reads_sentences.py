"""Code decides by data: no module asks what an English sentence says, or what a class is called."""

import ast
from pathlib import Path

import pytest

import tacit
from tacit import masks

SOURCE = Path(tacit.__file__).parent
SENTENCES = {
    "sentence",
    "sentences",
    "statement",
    "hides",
    "says",
    "said",
    "warnings",
    "message",
    "holds",
    "headline",
}
READERS = {"startswith", "endswith", "find", "index", "count", "removeprefix", "removesuffix", "split", "partition"}
TEXTS = SENTENCES | {"state", "run"}  # what is put together from words, and must not be taken apart again
FOREIGN = {
    "learning/parties.py",  # scikit-learn has no other way to say which of its checks failed
    "learning/party_network.py",  # "regular-4" is what a user writes, and no sentence
}


def name_of(node):
    """Return the last name in an expression: of a.b.c and of a.b.c() it is c; of str(a.b) it is b."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in ("str", "repr") and node.args:
            return name_of(node.args[0]) or "sentence"
        return name_of(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None


def is_sentence(node):
    """Tell whether an expression is a text for people: str(…) of anything, or something with such a name."""
    text = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str"
    return text or name_of(node) in SENTENCES


def readings(tree):
    """Return the lines that look into a sentence, or into the name of a class."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            words = any(isinstance(side, ast.Constant) and isinstance(side.value, str) for side in sides)
            looks = any(isinstance(op, ast.In | ast.NotIn | ast.Eq | ast.NotEq) for op in node.ops)
            named = any(isinstance(side, ast.Attribute) and side.attr == "__name__" for side in sides)
            if (looks and words and (any(is_sentence(side) for side in sides) or named)) or (
                any(isinstance(op, ast.In | ast.NotIn) for op in node.ops) and name_of(node.left) in SENTENCES
            ):
                yield node.lineno
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            method = node.func.attr
            text = is_sentence(node.func.value) or name_of(node.func.value) in TEXTS
            if method in READERS and text and not _is_a_module_path(node.func.value):
                yield node.lineno
            if method == "get" and any(isinstance(a, ast.Attribute) and a.attr == "__name__" for a in node.args):
                yield node.lineno
        elif isinstance(node, ast.Subscript) and name_of(node.slice) == "__name__":
            yield node.lineno


def _is_a_module_path(node):
    """str(getattr(f, "__module__", "")) is the address of code, not a sentence."""
    return isinstance(node, ast.Call) and bool(node.args) and name_of(node.args[0]) == "getattr"


@pytest.mark.parametrize(
    "line",
    [
        'idle = coverage.says(cost).startswith("nothing")',
        'if "NOT PRIVATE" in stamp.sentence: pass',
        'if "locked" in str(error): pass',
        'if phase1.hides == "nothing": pass',
        "secret = _SECRETS.get(type(masks).__name__)",
        "secret = _SECRETS[kind.__name__]",
        'if type(masks).__name__ == "AffineMasks": pass',
        'states = Counter(report.state.split(" ")[0] for report in reports)',
        'same = [entry for entry in entries if entry.release.run.split(", again ")[0] == name]',
        "if error.message in KNOWN: pass",
    ],
)
def test_the_guard_sees_what_was_there_before(line):
    assert list(readings(ast.parse(line)))


def shouted(tree):
    """Return the lines that look for NOT PRIVATE: it is printed, and never looked for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            texts = [side.value for side in (node.left, *node.comparators) if isinstance(side, ast.Constant)]
            if any(isinstance(text, str) and "PRIVATE" in text for text in texts):
                yield node.lineno


def test_no_code_decides_by_reading_a_sentence():
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        where = path.relative_to(SOURCE).as_posix()
        if where not in FOREIGN and where != "__main__.py":
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found += [f"{where}:{line}" for line in (*readings(tree), *shouted(tree))]
    assert not found, "these decide by words that are for people: make it data"


MECHANISMS = {name for name in vars(masks) if name.endswith("Masks")} | {"Mechanism"}


def classes_asked_for(tree):
    """Return the lines that ask which class masks are: isinstance, issubclass, type(…) is, and patterns."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name_of(node.func) in ("isinstance", "issubclass"):
            asked = node.args[1:]
        elif isinstance(node, ast.Compare):
            asked = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchClass):
            asked = [node.cls]
        else:
            continue
        names = {name_of(part) for each in asked for part in ast.walk(each)}
        if names & MECHANISMS:
            yield node.lineno


@pytest.mark.parametrize(
    "line",
    [
        "if isinstance(privacy, SumMasks): pass",
        "open_parts = masks is None or isinstance(masks, tacit.masks.AffineMasks)",
        "if not isinstance(privacy, GaussianMasks | SumMasks): pass",
        "if type(masks) is QuadraticMasks: pass",
        "match masks:\n    case BasisMasks(): pass",
    ],
)
def test_the_guard_sees_who_asks_for_a_class(line):
    assert list(classes_asked_for(ast.parse(line)))


def test_no_code_outside_masks_asks_which_class_a_mechanism_is():
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        where = path.relative_to(SOURCE).as_posix()
        if not where.startswith("masks/"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found += [f"{where}:{line}" for line in classes_asked_for(tree)]
    assert not found, "ask the mechanism: kind, basis, fresh_each_sum, words, sigma"


def test_what_is_added_up_is_typed():
    from tacit.algorithms import ALGORITHMS
    from tacit.typing import Summand

    for name, kind in ALGORITHMS.items():
        assert all(type(part) is Summand for part in kind.sums), name
