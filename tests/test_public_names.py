"""Nothing is public by accident."""

import importlib
import pkgutil
from pathlib import Path

import pytest

import tacit

PACKAGES = ["tacit", *(f"tacit.{m.name}" for m in pkgutil.iter_modules(tacit.__path__) if m.ispkg)]


@pytest.mark.parametrize("name", PACKAGES)
def test_all_lists_exactly_the_public_names(name):
    package = importlib.import_module(name)
    listed = package.__all__
    assert list(listed) == sorted(listed, key=lambda n: (not n.isupper(), not n[0].isupper(), n)), (
        "sorted as ruff sorts"
    )
    submodules = {m.name for m in pkgutil.iter_modules(package.__path__)}
    visible = {n for n in vars(package) if not n.startswith("_")} - submodules - {"annotations"}
    assert visible <= set(listed) | {"agents", "stacked"}
    assert all(hasattr(package, n) for n in listed)


def test_the_peers_runtime_goes_by_the_name_that_people_import():
    peers = importlib.import_module("tacit.peers")
    assert tacit.peers is peers
    assert peers.__all__ == tacit.runtimes.peers.__all__
    assert all(getattr(peers, name) is getattr(tacit.runtimes.peers, name) for name in peers.__all__)


def test_the_top_has_about_forty_names_at_most():
    assert len(tacit.__all__) <= 42


def test_every_folder_has_a_docstring_and_the_package_is_typed():
    for name in PACKAGES:
        assert importlib.import_module(name).__doc__
    assert (Path(tacit.__file__).parent / "py.typed").exists()


def test_masks_never_use_numpys_generators():
    """Randomness of masks comes only from the cryptographic source."""
    for path in (Path(tacit.__file__).parent / "masks").glob("*.py"):
        text = path.read_text()
        assert "np.random" not in text, path
        assert "import random" not in text, path
