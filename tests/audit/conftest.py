"""The broken mechanisms, as fixtures."""

import importlib.util
import sys
from pathlib import Path

import pytest

collect_ignore = ["mutants.py", "dependent.py", "dependent_words.py"]  # no tests in them; they import each other


def loaded(name):
    """Return a module beside this one: tests have no package to import it from."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def mutants():
    """Return mechanisms with a planted bug each."""
    return loaded("mutants")


@pytest.fixture(scope="session")
def dependent(mutants):
    """Return mechanisms whose Gaussian masks depend on each other."""
    return loaded("dependent")


@pytest.fixture(scope="session")
def dependent_words(dependent):
    """Return secret sums whose words depend on each other."""
    return loaded("dependent_words")
