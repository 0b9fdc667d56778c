"""How commands look: flags have no type beside them, and paragraphs wrap to the width of the terminal."""

from __future__ import annotations

from textwrap import shorten
from typing import Any

from typer.core import TyperCommand, TyperGroup

_LETTERS = 70  # of help beside a candidate


def paragraphs(text: str | None) -> str | None:
    r"""Return help whose paragraphs are one line each: whoever prints it breaks lines, and no docstring does.

    >>> paragraphs("Add up.\n\nExit code 1 if\nnothing is there.")
    'Add up.\n\nExit code 1 if nothing is there.'
    """
    return text and "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


class Command(TyperCommand):
    """A command as all of them are shown."""

    def __init__(self, *names: Any, **settings: Any) -> None:
        super().__init__(*names, **settings | {"help": paragraphs(settings.get("help"))})

    def get_params(self, ctx: Any) -> list[Any]:
        """Return arguments and options, --help with them."""
        return without_types(super().get_params(ctx))

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Return options that begin so, each with a line of help."""
        return on_one_line(super().shell_complete(ctx, incomplete))


class CommandGroup(TyperGroup):
    """A group of commands as all of them are shown."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return arguments and options, --help with them."""
        return without_types(super().get_params(ctx))

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Return commands and options that begin so, each with a line of help."""
        return on_one_line(super().shell_complete(ctx, incomplete))


def on_one_line(items: list[Any]) -> list[Any]:
    """Return what a shell offers with help that stays on one line: it takes every further line for a candidate."""
    from rich.console import Console  # which breaks the lines, at the width that it finds
    from rich.markup import escape, render

    most = min(_LETTERS, Console().width // 2)  # quoting for a shell makes texts longer
    for item in items:
        item.help = item.help and escape(shorten(render(item.help).plain, most, placeholder=" …"))
    return items


def without_types(params: list[Any]) -> list[Any]:
    """Return parameters, of which flags say nothing about a value that they do not take."""
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""
    return params
