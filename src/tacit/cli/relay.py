"""`tacit relay`: where members meet who can only dial out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.lines import LogLevel, level_of, logged

_HERE = "0.0.0.0:7400"  # all of this machine's addresses: a relay is there to be reached


def relay_command(
    listen: Annotated[str, typer.Option(help="Where to listen: host:port.")] = _HERE,
    only: Annotated[
        list[Path] | None,
        typer.Option(help="Serve the runs of this manifest, and no others; once for each. All runs unless given."),
    ] = None,
    connections: Annotated[
        int | None, typer.Option(min=2, help="Callers at a time; a pair of members is two of them.")
    ] = None,
    rate: Annotated[
        float, typer.Option(min=0.0, help="Bytes a second in each direction of a pair; any number for 0.")
    ] = 0.0,
    json: Annotated[bool, typer.Option("--json", help="Log as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Warnings only.")] = False,
    log_level: LogLevel = None,
) -> None:
    """Pass bytes on between members who can only dial out; until Ctrl-C or SIGTERM.

    It learns where callers come from, how many bytes they send, and when. TLS is between the members: a relay can
    read and change nothing, and can only cut. It needs no key, and writes no file.
    """
    import logging
    from dataclasses import replace

    from tacit.federation.manifest import Manifest
    from tacit.federation.meeting import tokens_of
    from tacit.federation.sections import host_and_port
    from tacit.runtimes.peers.passing_on import Limits
    from tacit.runtimes.peers.relay import Relay

    usual = logging.WARNING if quiet else logging.INFO
    level = usual if log_level is None else level_of(log_level)
    limits = replace(Limits(), rate=rate)
    limits = limits if connections is None else replace(limits, connections=connections)
    tokens = None if not only else [token for file in only for token in tokens_of(Manifest.read(file))]
    relay = Relay(host_and_port(listen, "--listen"), limits=limits, tokens=tokens)
    with logged(level, "tacit.relay", json_lines=json):
        relay.run()
