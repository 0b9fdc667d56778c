"""Twenty-four buses dispatch their generators for a day, and show each other neither demand nor cost.

The IEEE Reliability Test System (MATPOWER's case24_ieee_rts) over a winter weekday, hour by hour. Every bus
keeps its demand and the cost curves of its generators to itself. Secret sums find the twenty-four prices; every
generator then knows its own output, and the outputs balance. The saving is against the plan of an operator who
runs all units at the same share of their range. Needs the grid extra: pip install 'tacit[grid]'.

    python examples/dispatch.py
"""

from __future__ import annotations

import numpy as np

from tacit.dispatch import DAY, dispatch, read_grid


def main() -> None:
    """Dispatch a day, compare it, and say what was hidden."""
    grid = read_grid("case24_ieee_rts", profile=DAY)
    plan = dispatch(grid)
    print(f"{len(grid.buses)} buses, {len(grid.generators)} generators, {grid.periods} hours: {plan.seconds:.1f} s")
    for hour in (3, 9, 17):
        print(f"  hour {hour + 1:2}: {plan.demand[hour]:7.1f} MW at {plan.price[hour]:7.3f} $/MWh")
    print(f"{plan.total_cost:,.0f} $ in all, balanced to {plan.balance_error:.0e} MW, after {plan.rounds} rounds")

    low, high = (np.array([[getattr(unit, end)] for unit in grid.generators]) for end in ("low", "high"))
    share = (plan.demand - low.sum()) / (high - low).sum()
    alike = low + share * (high - low)
    cost = sum(float(unit.cost(path).sum()) for unit, path in zip(grid.generators, alike, strict=True))
    print(
        f"all units alike would cost {cost:,.0f} $: the dispatch saves {100 * (1 - plan.total_cost / cost):.0f} %"
    )
    for sentence in plan.says:
        print(sentence)


if __name__ == "__main__":
    main()
