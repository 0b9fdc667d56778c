"""Tables that lose nothing on narrow terminals: what does not fit goes on in the next line."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from rich.table import Table


def table(*headings: str, whole: Collection[str] = (), **settings: Any) -> Table:
    """Return a table with these columns; those that are *whole*, such as dates, are never broken."""
    columns = Table(**settings)
    for heading in headings:
        columns.add_column(heading, overflow="fold", no_wrap=heading in whole)
    return columns
