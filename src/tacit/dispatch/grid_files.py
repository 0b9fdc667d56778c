"""Grids as people have them: MATPOWER's cases, and pandapower's networks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from tacit.dispatch.grid import Grid
from tacit.dispatch.matpower_case import read_matpower
from tacit.dispatch.pandapower_net import read_pandapower


def read_grid(source: str | Path | Any, *, profile: ArrayLike | None = None) -> Grid:
    """Return the grid in a MATPOWER file (.m), of that name among MATPOWER's own, or of a pandapower network.

    *source* is a path, a name such as "case118", a pandapower JSON file or a network object. *profile* repeats it
    over several periods, as `Grid.over` does.
    """
    if isinstance(source, Grid):
        grid = source
    elif not isinstance(source, str | Path):
        grid = read_pandapower(source)
    elif Path(source).suffix.lower() == ".json":
        grid = read_pandapower(Path(source))
    else:
        grid = read_matpower(source)
    return grid if profile is None else grid.over(profile)
