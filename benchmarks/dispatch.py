"""Economic dispatch of public grids: seconds and rounds, by secret sums and by gossip under masks of 100 MW."""

from __future__ import annotations

from tacit.dispatch import Schedule, dispatch, read_grid

_CASES = (
    "case9",
    "case14",
    "case30",
    "case30pwl",
    "case39",
    "case118",
    "case_ACTIVSg200",
    "case_RTS_GMLC",
    "case1354pegase",
    "case_ACTIVSg2000",
)
_SIGMA, _TARGET = 100.0, 60.0
_WAYS = (
    ("secret sums", {}),
    ("gossip, 6 links each", {"sigma": _SIGMA, "links": 6}),
    ("gossip along branches", {"sigma": _SIGMA}),
)


def main() -> None:
    """Print one line per grid and way."""
    print(f"\nEconomic dispatch, every bus an agent (target: case_ACTIVSg2000 in at most {_TARGET:g} s)")
    print(
        f"{'grid':<18}{'agents':>7}{'way':>24}{'rounds':>8}{'exchanges':>11}{'s':>8}"
        f"{'$ an hour':>15}{'off by, MW':>12}"
    )
    for name in _CASES:
        grid = read_grid(name)
        for way, settings in _WAYS:
            _line(name, way, dispatch(grid, **settings))


def _line(name: str, way: str, found: Schedule) -> None:
    counts = f"{found.rounds:>8}{found.exchanges:>11}{found.seconds:>8.2f}"
    verdict = "  over the target" if name == "case_ACTIVSg2000" and found.seconds > _TARGET else ""
    agents = len(found.records[0].agents)
    print(f"{name:<18}{agents:>7}{way:>24}{counts}{found.total_cost:>15.4f}{found.balance_error:>12.1e}{verdict}")
