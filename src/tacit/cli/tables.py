"""Tables that lose nothing on narrow terminals: what does not fit goes on in the next line."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text


class PlainTable(Table):
    """A table whose words are words: [brackets] in a name or a command are no markup."""

    def add_row(self, *cells: RenderableType | None, **settings: Any) -> None:
        """Add a row as it is written."""
        super().add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in cells), **settings)


def table(*headings: str, whole: Collection[str] = (), **settings: Any) -> Table:
    """Return a table with these columns; those that are *whole*, such as dates, are never broken."""
    columns = PlainTable(**settings)
    for heading in headings:
        columns.add_column(heading, overflow="fold", no_wrap=heading in whole)
    return columns
