"""`tacit up`: all agents of a problem file as real processes on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.reports import Html
from tacit.cli.solve import StatusPort, solve
from tacit.errors import InputError


def up(
    problem: Annotated[Path, typer.Argument(help="A problem file; `tacit init` writes an example.")],
    agents: Annotated[
        int | None, typer.Option(help="Refuse to start unless there are so many agents in the file.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the whole record as JSON.")] = False,
    html: Html = None,
    status: StatusPort = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No table of agents.")] = False,
) -> None:
    """Run every agent as a process of its own, over mutually authenticated TLS, on this machine.

    The same as `tacit solve --runtime peers`. Ctrl-C stops all of them, and leaves nothing behind: exit code 130.
    """
    if agents is not None:
        from tacit.solving import load_problem

        there = len(load_problem(problem).problem.network)
        if there != agents:
            raise InputError(
                f"{problem} has {there} agents, not {agents}: every agent has a cost of its own there. Change "
                "[graph] and [costs], or leave --agents out."
            )
    solve(problem, json=json, html=html, status=status, quiet=quiet, runtime="peers")
