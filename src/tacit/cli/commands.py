"""The commands by name. A command's module is loaded when it is called, and `tacit --help` loads none.

Every module knows its own options and help; the line that lists it stands here, and a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final, NamedTuple

import typer

from tacit.cli.shape import Command, CommandGroup

MARKUP: Final = "rich"


class Home(NamedTuple):
    """Where a command is, and the line that lists it."""

    module: str
    name: str
    """Of the function; or of the group of commands."""
    line: str

    def load(self, called: str) -> Any:
        """Return the command itself."""
        target = getattr(import_module(f"tacit.cli.{self.module}"), self.name)
        if isinstance(target, typer.Typer):
            target.info.cls = CommandGroup
            for command in target.registered_commands:
                command.cls = Command
            return typer.main.get_group(target)
        alone = typer.Typer(rich_markup_mode=MARKUP, add_completion=False)
        alone.command(called, cls=Command)(target)
        return typer.main.get_command(alone)


COMMANDS: dict[str, Home] = {
    "demo": Home(
        "demo",
        "demo",
        "Show what a neighbour reads without masks and with them, solve privately, and replay the paper's example.",
    ),
    "init": Home("init", "init", "Write a commented example problem, ready for [bold]tacit solve[/bold]."),
    "solve": Home("solve", "solve", "Solve a private problem."),
    "fit": Home(
        "fit", "fit_command", "Fit one model on several parties' records, without anybody seeing another's."
    ),
    "certify": Home("certify", "certify_command", "Say exactly what a coalition can learn."),
    "calibrate": Home(
        "calibrate",
        "calibrate_command",
        "Choose σ: --epsilon 0.01, or --hide 5 --guess 0.55, or --hide 5 --epsilon 1 --delta 1e-6.",
    ),
    "design": Home(
        "design", "design_command", "Draw the best of some random regular graphs, certify it and choose σ."
    ),
    "augment": Home(
        "augment",
        "augment_command",
        "Find the fewest links after which no such coalition cuts the honest agents apart.",
    ),
    "audit": Home("audit", "audit_command", "Attack a run with everything that a coalition sees."),
    "compare": Home("compare", "compare_command", "Compare approaches to privacy on one problem."),
    "ledger": Home("ledger", "app", "Keep account of what you have released: new, show, check, add."),
    "data": Home("data", "app", "Your own file at home: check it against a data dictionary, or draft one."),
    "dispatch": Home("dispatch", "dispatch_command", "Dispatch a grid: the cheapest outputs that meet the demand."),
    "keygen": Home("keygen", "keygen_command", "Make a key and a certificate, and print the fingerprint."),
    "fingerprint": Home(
        "keygen",
        "fingerprint_command",
        "Show a member's fingerprint: to read out your own, or to compare somebody's card.",
    ),
    "federation": Home("federation", "app", "Agree on a run: write and check the manifest that all share."),
    "agent": Home("agent", "agent_command", "Take part in a run: wait for the others, agree, print the answer."),
    "relay": Home(
        "relay",
        "relay_command",
        "Pass bytes on between members who can only dial out; until Ctrl-C or SIGTERM.",
    ),
    "status": Home(
        "status",
        "status_command",
        "Say how a member's agent is: running and in which phase, silent, stopped, or done.",
    ),
    "up": Home(
        "up", "up", "Run every agent as a process of its own, over mutually authenticated TLS, on this machine."
    ),
    "explore": Home(
        "explore",
        "explore_command",
        "Open a page on this machine: who learns what in a network, runs and attacks, federations as they go.",
    ),
}


class _Loaded(MutableMapping[str, Any]):
    """The commands by name, each loaded when it is asked for."""

    def __init__(self) -> None:
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = COMMANDS[name].load(name)
        return self._loaded[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        raise TypeError("the table of commands is fixed.")

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)

    def __contains__(self, name: object) -> bool:
        return name in COMMANDS


class Commands(CommandGroup):
    """The group of all commands; to list them it needs their lines and nothing else."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"commands": None})
        self.commands = _Loaded()
        self._listing = False

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names, in the order in which they are shown."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command, or only its line while commands are listed."""
        if cmd_name not in COMMANDS:
            return None
        if self._listing:
            return Command(cmd_name, help=COMMANDS[cmd_name].line, rich_markup_mode=MARKUP)
        return self.commands[cmd_name]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help; loads no command."""
        with self._lines_only():
            super().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Return the commands that begin so, each with its line; loads none."""
        with self._lines_only():
            return super().shell_complete(ctx, incomplete)

    @contextmanager
    def _lines_only(self) -> Iterator[None]:
        self._listing = True
        try:
            yield
        finally:
            self._listing = False
