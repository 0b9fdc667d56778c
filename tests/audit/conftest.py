"""The broken mechanisms, as a fixture."""

import importlib.util
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def mutants():
    """Return the module of broken mechanisms: tests have no package to import it from."""
    spec = importlib.util.spec_from_file_location("mutants", Path(__file__).with_name("mutants.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutants"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
