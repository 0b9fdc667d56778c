"""An answer for people: a panel on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from tacit.solving import Answer


def show_answer(answer: Answer, privacy: Sequence[str], console: Console | None = None) -> None:
    """Print what was computed, how, and in the sentences of *privacy* what was hidden from whom."""
    from tacit.solving.summary import summary

    console = console or Console(highlight=False)
    lines = summary(answer, privacy)
    if not console.is_terminal:
        for name, text in lines:
            console.print(f"{name + ':':<14}{text}", soft_wrap=True, markup=False)
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for name, text in lines:
        style = {"warning": "yellow", "status": "green" if answer.converged else "red"}.get(name, "")
        table.add_row(name, Text(text, style=style))
    console.print(Panel(table, title="tacit", border_style="green" if answer.converged else "red", expand=False))
