"""How commands look: flags have no type beside them, and paragraphs wrap to the width of the terminal."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup


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


class CommandGroup(TyperGroup):
    """A group of commands as all of them are shown."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return arguments and options, --help with them."""
        return without_types(super().get_params(ctx))


def without_types(params: list[Any]) -> list[Any]:
    """Return parameters, of which flags say nothing about a value that they do not take."""
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""
    return params
