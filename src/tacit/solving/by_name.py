"""Runtimes by the names that files and commands use."""

from __future__ import annotations

from tacit.errors import InputError
from tacit.runtimes import RUNTIMES, Runtime
from tacit.spelling import did_you_mean


def runtime_called(name: str) -> Runtime:
    """Return the runtime of that name; refuse another, with the nearest that there is."""
    if name not in RUNTIMES:
        raise InputError(
            f"no runtime is called {name!r}; choose one of {', '.join(RUNTIMES)}.{did_you_mean(name, RUNTIMES)}"
        )
    return RUNTIMES[name]
