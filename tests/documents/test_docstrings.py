"""Every example in a docstring prints what it says."""

import doctest
import importlib
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2] / "src"
WITH_EXAMPLES = [path for path in sorted(SOURCES.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]


def dotted(path):
    return ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")


def test_there_are_examples():
    assert len(WITH_EXAMPLES) >= 20


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=dotted)
def test_every_example_in_a_docstring_prints_what_it_says(path):
    results = doctest.testmod(importlib.import_module(dotted(path)))
    assert results.attempted > 0
    assert results.failed == 0
