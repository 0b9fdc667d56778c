"""One voice: what a command prints names no Python, and what Python raises names no option of a command.

Errors come from below both. So a sentence names a setting by the word that both know (sigma, secret sums, affine
masks), and what only a command can do stands in `command=`, which commands print and Python does not.
"""

import ast
import re
from copy import deepcopy
from pathlib import Path

import pytest

import tacit
from tacit import errors
from tacit.errors import FileError

SOURCE = Path(tacit.__file__).parent
FOR_AUTHORS = ("testing/",)  # the kit for those who write algorithms and attacks: Python is all they have
NO_SENTENCES = {
    "certificates/ledger_file.py": {"CREATE", "PRAGMA", "SELECT", "BEGIN", "INSERT", "UPDATE"},
    "runtimes/peers/store.py": {"CREATE", "PRAGMA", "SELECT", "BEGIN", "INSERT", "UPDATE"},
}
"""What SQLite reads, by the first word."""
ALLOWED = {
    "solving/example.py": "# A private problem for",  # a file that a command writes, and that says what reads it
    "solving/problem.py": "is not a cost; use a family such as",  # objects of one's own are handed over in Python
    "masks/drawing.py": "derive it from tacit.masks.Mechanism",  # likewise: masks of one's own
    "costs/family.py": "a cost takes a rough term such as L1(0.1), not ",  # likewise
    "explore/views/page.py": '<meta name="color-scheme"',  # what a browser reads
    "explore/views/parts.py": "async (event) =>",  # likewise
    "dispatch/pandapower_net.py": "unit(s) have no cost",  # names columns of pandapower's tables
}
"""Sentences that name Python although a command could meet the module, each with its reason."""
SETTING = "step_size=0.01"  # how --setting of `tacit federation new` is typed


TREES = {
    path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(SOURCE.rglob("*.py"))
}


def classes():
    """Return the names of tacit's classes that are no words of English: AffineMasks, and not Huber or Box."""
    for tree in TREES.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and re.search(r"[a-z0-9][A-Z]", node.name):
                yield node.name


PYTHON = re.compile(
    rf"\b(?:{'|'.join(sorted(set(classes())))})\b"  # SumMasks
    r"|\b(?!GF)[A-Z]\w+\("  # Huber(
    r"|\btacit\.[A-Za-z]"  # tacit.Expansion
    r"|\b[a-z]\w*\(\)"  # to_undirected()
    r"|\b[a-z_]{2,}=(?:$|[^=\s])"  # algorithm='newton', dim=
)
OPTION = re.compile(r"(?<![\w-])--(?:[a-z]|$)|`tacit |\btacit (?:federation|ledger|keygen|augment|init) ")


def strings(tree):
    """Yield every string for people, and whether it is what to type: no docstrings, and nothing without a space."""
    notes = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    typed = [key.value for call in calls for key in call.keywords if key.arg == "command"]
    commands = {id(part) for value in typed for part in ast.walk(value)}
    raised = [c for c in calls if isinstance(c.func, ast.Name) and c.func.id in vars(errors)]
    said = {id(part) for call in raised for value in call.args for part in ast.walk(value)}
    for node in ast.walk(tree):
        text = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in notes
        if text and (" " in node.value.strip() or id(node) in said):
            yield node, id(node) in commands


def modules():
    """Yield every module by its place, but for the kit."""
    yield from ((where, tree) for where, tree in TREES.items() if not where.startswith(FOR_AUTHORS))


def is_excused(where, text):
    words = text.split()
    known = where in ALLOWED and ALLOWED[where] in text
    return known or bool(words and words[0] in NO_SENTENCES.get(where, ()))


def named_after_a_class(tree):
    """Return the lines that raise the name of a class: {type(masks).__name__} or {kind.__name__}."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in vars(errors):
            for part in ast.walk(call):
                if isinstance(part, ast.Attribute) and part.attr == "__name__":
                    yield part.lineno


@pytest.mark.parametrize(
    "sentence",
    [
        "use SumMasks(), which hide any cost.",
        "use 'newton', or AffineMasks(sigma).",
        "agree on a larger one, bound=…, or use smaller units.",
        "use algorithm='newton'.",
        "say how many unknowns the functions take: dim=",
        "write it as tacit.Expansion(basis, theta).",
        "use Grid.without_ramps().",
    ],
)
def test_the_guard_sees_python(sentence):
    assert PYTHON.search(sentence)


@pytest.mark.parametrize(
    "sentence",
    ["--level sums is not one of", "make it with more links (--links)", "--", "`tacit keygen` makes a key"],
)
def test_the_guard_sees_options(sentence):
    assert OPTION.search(sentence)


def test_no_sentence_names_python():
    found = [
        f"{where}:{node.lineno}: {node.value}"
        for where, tree in modules()
        for node, _ in strings(tree)
        if PYTHON.search(node.value.replace(SETTING, "")) and not is_excused(where, node.value)
    ]
    assert not found, "say it in words that a file and a command know too"


def test_no_sentence_below_the_commands_names_an_option():
    found = [
        f"{where}:{node.lineno}: {node.value}"
        for where, tree in modules()
        for node, is_typed in strings(tree)
        if not where.startswith("cli/") and not is_typed and OPTION.search(node.value)
        if not is_excused(where, node.value)
    ]
    assert not found, "say it in words that Python knows too, and the option in command="


CALLED_BY_ITS_CLASS = {
    "network/topology.py",  # whatever was given for a graph
    "masks/drawing.py",  # whatever was given for masks: a class of one's own
    "masks/changed.py",  # likewise
    "masks/coefficients.py",  # a basis of one's own
    "auditing/recording/release.py",  # masks of one's own
    "solving/problem.py",  # whatever was given for a cost
    "algorithms/declarations.py",  # an algorithm of one's own that does not say what it must
    "costs/family.py",  # whatever was given for a rough term
    "dispatch/pandapower_net.py",  # whatever was given for a network
    "protocol/run.py",  # an event of the protocol: no command meets it
}


def test_no_error_calls_a_thing_by_its_class():
    found = [
        f"{where}:{line}"
        for where, tree in modules()
        if where not in CALLED_BY_ITS_CLASS
        for line in named_after_a_class(tree)
    ]
    assert not found, "MASKS[masks.kind] and algorithms.name_of(…) are what files and commands say"


def test_what_to_type_is_no_part_of_what_python_raises():
    error = FileError("there is no ledger.", command="`tacit ledger new` starts one.")
    assert str(error) == "there is no ledger."
    assert error.command == "`tacit ledger new` starts one."
    copy = deepcopy(error)
    assert (str(copy), copy.command) == (str(error), error.command)
