"""A dispatch in sentences: the price, what it costs, what it would put on the lines, and what was hidden."""

from __future__ import annotations

from tacit.dispatch.schedule import Schedule
from tacit.listing import listed


def summary(schedule: Schedule) -> list[tuple[str, str]]:
    """Return pairs of a heading and a sentence."""
    periods = len(schedule.price)
    low, high = schedule.price.min(), schedule.price.max()
    price = f"{low:.6f} $/MWh" if periods == 1 else f"{low:.6f} to {high:.6f} $/MWh over {periods} periods"
    demand = f"{schedule.demand.max():.3f} MW{' at most' * (periods > 1)}"
    lines = [
        ("price", price + _not_unique(schedule)),
        ("cost", f"{schedule.total_cost:.4f} $" + " an hour" * (periods == 1)),
        ("demand", f"{demand}, met to {schedule.balance_error:.0e} MW"),
        ("grid", f"{schedule.grid}: {len(schedule.units)} generators in service, "
                 f"{len(schedule.records[0].agents)} agents ({schedule.agents}), {schedule.links} links"),
        ("how", f"{schedule.algorithm}, {schedule.rounds} rounds in {schedule.exchanges} exchanges, "
                f"{schedule.seconds:.2f} s"),
    ]  # fmt: skip
    return [*lines, *_on_lines(schedule), *(("privacy", sentence) for sentence in schedule.says)]


def _on_lines(schedule: Schedule) -> list[tuple[str, str]]:
    """Say what the plan would put on the lines, loudly where that is too much."""
    without = "Limits of lines are no part of this dispatch: it is the cheapest plan without them"
    if schedule.lines_checked is None:
        return [("lines", f"{without}, and flows could not be computed from this source.")]
    if not schedule.lines_checked:
        return [("lines", f"{without}, and this grid gives none.")]
    by = "by the DC flows of the plan, which only a simulation that holds all of it knows"
    if not schedule.overloads:
        return [("lines", f"{without}. None of {schedule.lines_checked} limits is exceeded, {by}.")]
    named = [
        f"{o.line} {abs(o.mw):.1f} MW of {o.limit:g} ({o.loading:.0f} %)"
        + f" in period {o.period}" * (len(schedule.price) > 1)
        for o in schedule.overloads
    ]
    count = f"{len(schedule.overloads)} of {schedule.lines_checked} limits exceeded"
    return [
        ("OVERLOADED", f"{count}, {by}: {listed(named)}."),
        ("lines", f"{without}; what respects them costs more."),
    ]


def _not_unique(schedule: Schedule) -> str:
    """Say of which periods the price is one of many: the demand is exactly at all units' limits."""
    clauses = ""
    for limit, side in (("lower", "lower"), ("upper", "higher")):
        periods = [str(t + 1) for t, at in enumerate(schedule.at_limits) if at == limit]
        if periods:
            when = f" in period{'s' * (len(periods) > 1)} {listed(periods)}" if len(schedule.price) > 1 else ""
            clauses += (
                f"; not unique{when}: all units are at their {limit} limits, and any {side} price balances too"
            )
    return clauses
