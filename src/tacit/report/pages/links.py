"""The links of a run over time, drawn and listed."""

from __future__ import annotations

from tacit.report import figures
from tacit.report.page import Listing, Section
from tacit.runtimes.peers import LinkTimes


def links_section(times: LinkTimes | None) -> list[Section]:
    """Return when links were up; nothing where nobody has kept their times."""
    if times is None or not times.spells:
        return []
    rows = []
    for link, up in times.spells.items():
        total = sum(spell.end - spell.start for spell in up)
        reasons = dict.fromkeys(gap.trouble for gap in times.gaps(link))
        rows.append((" – ".join(link), f"{up[0].start:.3g} s" if up else "never", f"{len(up)}", f"{total:.3g} s",
                     ", ".join(reasons)))  # fmt: skip
    head = ("link", "first up after", "times up", "up for", "lost because")
    return [Section("Links over time", figures=[figures.links(times)], tables=[Listing("Every link", head, rows)])]
