"""`tacit`: the commands, the exit codes, and one place where errors become sentences.

0  done
1  the computation says no: not converged, not private enough, refused by the ledger, audit red
2  bad input
3  the network: a peer cannot be reached, or does wrong
4  done, and somebody still needs this member
130  stopped by Ctrl-C or SIGTERM
"""

from __future__ import annotations

import errno
import gc
import signal
import sys
from typing import Annotated

import typer

from tacit.cli.commands import MARKUP, Commands
from tacit.cli.streams import write_everything
from tacit.errors import InputError, NetworkError, StillNeededError, TacitError

app = typer.Typer(
    name="tacit",
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=MARKUP,
    pretty_exceptions_enable=False,  # a traceback with local variables would print private data
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Agree on the optimum of everybody's costs without telling anyone your own.\n\n"
    "Start with [bold]tacit demo[/bold], then [bold]tacit init[/bold] and [bold]tacit solve problem.toml[/bold].",
    epilog="Exit codes: 0 done, 1 the computation says no, 2 bad input, 3 the network, 4 done and still needed.",
)
_STOPPED = 130
_CODES = {InputError: 2, StillNeededError: 4, NetworkError: 3, TacitError: 1}  # the first that fits
_OBJECTS = 100_000  # between collections: modules make many objects that stay, and looking through them is dear


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"tacit {version('tacit')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None: ...


def main() -> None:
    """Run the command line; no expected error ends in a traceback."""
    write_everything()
    gc.set_threshold(_OBJECTS)
    before = signal.signal(signal.SIGTERM, _interrupt)  # stopped by a service manager: as tidily as by Ctrl-C
    try:
        app(prog_name="tacit")  # python -m tacit too: completion asks for it by that name
    except TacitError as error:
        sys.stderr.write(f"tacit: {' '.join(filter(None, (str(error), error.command)))}\n")
        sys.exit(next(code for kind, code in _CODES.items() if isinstance(error, kind)))
    except OSError as error:
        sys.stderr.write(f"tacit: {unwritten(error)}\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(_stopped())
    except SystemExit as end:
        if end.code == _STOPPED:  # typer has caught the interrupt
            _stopped()
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def unwritten(error: OSError) -> str:
    """Return the sentence about a file that could not be read or written."""
    where = f"{error.filename}: cannot be used" if error.filename else "a file cannot be written"
    remedy = "; make room" if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
    return f"{where} ({error.strerror or error}){remedy}."


def _stopped() -> int:
    sys.stderr.write("tacit: stopped.\n")
    return _STOPPED


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
