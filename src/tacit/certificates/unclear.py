"""Data that are different at so many agents that a change of single records would not be noticed.

Digests tell that numbers are others, and not how. A table in other units, or as a copy of fewer digits, is
different at everybody, and so is one in which everybody has new records. If one record is left out besides, whoever
knows the units subtracts both runs and has it; no digest shows that. So where the same agents come with versions
that were never released, and their single records do not show what has stayed, the ledger says that it cannot tell.

Column by column if the columns are not those of an earlier run; a column under another name is known by its values.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.certificates.exposure import Exposure
from tacit.certificates.release import COLUMN, PAIR, WHOLE, Release

_Known = dict[tuple[str, str], set[str]]


def unclear_changes(past: Sequence[Release], new: Release, t: int) -> tuple[Exposure, ...]:
    """Return what may hide a change of single records, at more than t + 1 agents: fewer are found by subtraction.

    Versions that people have written count as what they say: digests alone are judged.
    """
    now = {(agent, part): version for agent, part, version in new.versions if ":" in version}
    makers = {version.partition(":")[0] for version in now.values()}
    known: _Known = {}
    for release in past:
        for agent, part, version in release.versions:
            if version.partition(":")[0] in makers and (agent, "") not in now:
                known.setdefault((agent, part), set()).add(version)
    agents = sorted({agent for agent, _ in now} & {agent for agent, _ in known})
    parts = sorted({part for _, part in now})
    whole = [part for part in parts if part.startswith(WHOLE) and all((agent, part) in known for agent in agents)]
    if whole:
        fresh = {part: [a for a in agents if now.get((a, part)) not in known[a, part]] for part in whole}
        hidden = {part: names for part, names in fresh.items() if not _are_explained(past, new, names)}
    else:
        columns = [part for part in parts if part.startswith((COLUMN, PAIR))]
        hidden = {part: _others(now, known, agents, part, t) for part in columns}
    changed = {part: names for part, names in hidden.items() if len(names) > (t + 1 if part in whole else 0)}
    concerned = tuple(sorted(set().union(*changed.values())))
    if not concerned:
        return ()
    last = next(old.run for old in reversed(past) if set(concerned) & {agent for agent, _, _ in old.versions})
    shown = tuple(part for part in changed if part not in whole)
    return (Exposure(concerned, (last, new.run), (), "unclear", (last, new.run), shown),)


def _are_explained(past: Sequence[Release], new: Release, agents: Sequence[str]) -> bool:
    """Tell whether at least half of every agent's records are known from earlier runs, one by one."""
    earlier = {record for release in past for agent, _ in release.records for record in release.held(agent) or ()}
    for agent in agents:
        held = new.held(agent)
        if held is None or 2 * sum(count for record, count in held.items() if record in earlier) < held.total():
            return False
    return True


def _others(now: dict[tuple[str, str], str], known: _Known, agents: Sequence[str], part: str, t: int) -> list[str]:
    """Return who has never released these values of a column or a pair, if that could hide a change.

    The column is the earlier one, whatever its name, with whose values most agents agree. One that has its name and
    differs at few agents is left to subtraction; one with whose values most disagree, and another name, is new.
    """
    names = sorted({name for _, name in known if name.startswith(COLUMN if part.startswith(COLUMN) else PAIR)})
    others = {
        name: [a for a in agents if (a, part) in now and now[a, part] not in known.get((a, name), ())]
        for name in names
    }
    least = min(others, key=lambda name: (len(others[name]), name != part), default=part)
    if not others or not others[least]:
        return []
    if least != part and 2 * len(others[least]) < len(agents):
        return others[least]
    return others[part] if part in others and len(others[part]) > t + 1 else []
