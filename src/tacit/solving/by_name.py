"""Runtimes by the names that files and commands use."""

from __future__ import annotations

from tacit.errors import InputError
from tacit.runtimes import RUNTIMES, Cluster, Runtime
from tacit.spelling import did_you_mean


def runtime_called(name: str | Cluster) -> Runtime:
    """Return the runtime of that name, or the cluster as it is; refuse another, with the nearest that there is."""
    if isinstance(name, Cluster):
        return name
    if name not in RUNTIMES:
        raise InputError(
            f"no runtime is called {name!r}; choose one of {', '.join(RUNTIMES)}.{did_you_mean(name, RUNTIMES)}"
        )
    return RUNTIMES[name]
