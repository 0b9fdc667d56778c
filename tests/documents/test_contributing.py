"""What CONTRIBUTING says about the tests is so."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
MARKERS = [line.split(":")[0] for line in SETTINGS["markers"]]
LEFT_OUT = re.findall(r"not (\w+)", SETTINGS["addopts"][1])


def rows(kind):
    """Return the first column of the table whose heading is *kind*."""
    table = re.search(rf"^\| {kind} \|.*\n\|[-|]+\n((?:\|.*\n)+)", PAGE, flags=re.MULTILINE)[1]
    return re.findall(r"^\| `([^`]+)` \|", table, flags=re.MULTILINE)


def test_every_folder_of_tests_is_listed():
    folders = {f"tests/{path.parent.name}" for path in (ROOT / "tests").glob("*/test_*.py")}
    assert set(rows("folder")) == folders


def test_every_marker_is_listed():
    assert sorted(rows("marker")) == sorted(MARKERS)


@pytest.mark.parametrize("marker", LEFT_OUT)
def test_what_make_test_leaves_out_has_a_target_and_a_step_before_a_change_lands(marker):
    assert marker in MARKERS
    assert re.search(rf"^test-{marker}:.*\n\t\$\(PYTEST\).* -m {marker}$", MAKEFILE, flags=re.MULTILINE)
    assert f"`make test-{marker}`" in PAGE
    assert (f"step make test-{marker}\n" in CI) == (marker != "namespaces")  # which need root


def test_every_target_that_is_named_exists():
    for target in set(re.findall(r"\bmake (test[\w-]*|check|bench|clean|demo)\b", PAGE + CI)):
        assert re.search(rf"^{target}:", MAKEFILE, flags=re.MULTILINE), target


@pytest.mark.parametrize(
    "path", ["Makefile", "CONTRIBUTING.md", "README.md", ".ci/run", ".ci/repeated", ".ci/wheel"]
)
def test_tests_are_chosen_by_markers_and_not_by_pieces_of_their_names(path):
    assert not re.search(r"\bpytest\b.*\s-k\b", (ROOT / path).read_text(encoding="utf-8"))


def test_no_test_is_marked_by_its_name():
    for path in (ROOT / "tests").rglob("*.py"):
        if path != Path(__file__):
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"\bnodeid\b|\brequest\.node\.name\b|\bpytest_collection_modifyitems\b", text), (
                path
            )


def test_tests_sleep_only_where_it_says():
    said = re.search(r"a test sleeps only where.*?no test", PAGE, flags=re.DOTALL)[0]
    for path in (ROOT / "tests").rglob("*.py"):
        if path != Path(__file__) and re.search(r"\bsleep\(", path.read_text(encoding="utf-8")):
            name = path.relative_to(ROOT).as_posix()
            assert f"`{name}`" in said or f"`{path.parent.relative_to(ROOT).as_posix()}`" in said, name


def test_no_seed_is_left_to_chance():
    """Generators of tests have a seed; `secrets` is for masks, and not for tests."""
    unseeded = (
        r"default_rng\(\)|RandomState\(\)|(?<![.\w])random\.(?:random|choice|randint|shuffle|sample)\(|\bRandom\(\)"
    )
    for path in (ROOT / "tests").rglob("*.py"):
        if path not in (Path(__file__), ROOT / "tests" / "test_seeds.py"):
            text = path.read_text(encoding="utf-8")
            found = re.findall(rf"{unseeded}|\bimport secrets\b|\bfrom secrets\b", text)
            assert not found, f"{path}: {found}"
