"""Tables that lose nothing on narrow terminals: what does not fit goes on in the next line."""

from __future__ import annotations

from typing import Any

from rich.table import Table


def table(*headings: str, whole: dict[str, int] | None = None, **settings: Any) -> Table:
    """Return a table with these columns; those that are *whole* keep so many letters on one line, such as dates."""
    columns = Table(**settings)
    for heading in headings:
        columns.add_column(heading, overflow="fold", min_width=(whole or {}).get(heading))
    return columns
