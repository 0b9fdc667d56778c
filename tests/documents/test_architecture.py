"""The page about the house names only what is there, and its drawing is the import graph's."""

import importlib.util
import pkgutil
import re
import tomllib
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "architecture.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def house():
    """Return the script that draws; it reads all sources once."""
    spec = importlib.util.spec_from_file_location("house", DOCS / "house.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(tacit(?:\.\w+)+)`", PAGE))))
def test_every_name_on_the_page_exists(name):
    pkgutil.resolve_name(name)


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`(tacit/[\w/.]+)`", PAGE))))
def test_every_place_on_the_page_exists(path):
    assert (DOCS.parent / "src" / path).exists()


def test_the_drawing_is_current(house):
    for part in (house.drawing(), house.table()):
        assert "\n".join(part) in PAGE, "run python docs/generate.py"


def test_every_import_points_to_a_floor_below(house):
    for room, used in house.imports().items():
        assert all(house.floor(other) < house.floor(room) for other in used), room


def test_rooms_beside_each_other_in_the_mathematics_are_independent(house):
    independent = {"algorithms", "masks", "certificates"}
    assert not any(house.below(room) & independent for room in independent)


@pytest.mark.parametrize("room", ["auditing", "runtimes"])
def test_the_direction_inside_a_room_is_the_one_that_is_checked(room):
    settings = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(c["layers"] for c in contracts if c.get("containers") == [f"tacit.{room}"])
    shown = " · ".join(", ".join(f"`{name}`" for name in layer.split(" | ")) for layer in layers)
    assert f"| `{room}` | {shown} |" in PAGE
