"""How commands look: types that are words, and paragraphs that wrap to the width of the terminal."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
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
        return with_plain_types(super().get_params(ctx))

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Return options that begin so, each with a line of help."""
        return on_one_line(super().shell_complete(ctx, incomplete))


class CommandGroup(TyperGroup):
    """A group of commands as all of them are shown."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return arguments and options, --help with them."""
        return with_plain_types(super().get_params(ctx))

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


def with_plain_types(params: list[Any]) -> list[Any]:
    """Return parameters as help shows them: no type beside a flag, and of lists the type of one entry."""
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""
        elif "display_type" not in vars(param):
            param.display_type = partial(_plainly, param.display_type)
    return params


def _plainly(display_type: Callable[..., str], *context: Any, **named: Any) -> str:
    """Return the type of a value; dots say that there may be more of them.

    >>> _plainly(lambda: "<list[str]>"), _plainly(lambda: "<int>")
    ('<str> …', '<int>')
    """
    shown = display_type(*context, **named)
    return f"<{shown[6:-2].lower()}> …" if shown.startswith("<list[") else shown
