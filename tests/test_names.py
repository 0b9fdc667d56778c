"""One word per idea, and nouns for values: what a name must not be."""

import ast
from pathlib import Path

import pytest

import tacit

HOME = Path(tacit.__file__).parent
SAY_NOTHING = {"found", "told", "said", "strange", "idle", "off"}
IN_FILES = {("federation/sections.py", "idle")}  # [stop] idle of a manifest


def given(tree):
    """Yield every name that a module gives to something: variables, parameters, attributes, functions, classes."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.alias(asname=str(name)):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield name
            case ast.ExceptHandler(name=str(name)):
                yield name


def empty_names(text):
    return {name for name in given(ast.parse(text)) if name.strip("_").lower() in SAY_NOTHING}


def test_no_name_says_nothing_about_what_it_holds():
    modules = {
        path.relative_to(HOME).as_posix(): empty_names(path.read_text("utf-8")) for path in HOME.rglob("*.py")
    }
    assert {(module, name) for module, names in modules.items() for name in names} == IN_FILES


def types_of(text, *, aliases):
    """Yield the classes that a module defines, and the type aliases; constants are written in capitals."""
    for node in ast.parse(text).body:
        match node:
            case ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)]) if aliases and name[0].isupper() and not name.isupper():
                yield name


def test_no_two_types_have_the_same_name():
    """But the state of every algorithm, as in every paper, and options, which are called as one types them."""
    homes = {}
    for path in HOME.rglob("*.py"):
        for name in types_of(path.read_text("utf-8"), aliases=path.parent.name != "cli"):
            if (path.parent.name, name) != ("algorithms", "State"):
                homes.setdefault(name, []).append(path.relative_to(HOME).as_posix())
    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}


@pytest.mark.parametrize(
    "text",
    [
        "found = 1", "for told in x: pass", "[said for said in x]", "def _off(): pass", "lambda strange: 1",
        "self._idle = 1", "if (found := 1): pass", "import x as told", "class Found: pass", "with a as (b, off): pass",
    ],
)  # fmt: skip
def test_such_names_are_seen_wherever_they_are_given(text):
    assert len(empty_names(text)) == 1
