"""Ray itself: started for one run on this machine, or found at an address; ended where it was started."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tacit.errors import InputError, NetworkError
from tacit.runtimes.ray import Cluster

_PATIENCE = 5.0  # seconds for a connection to an address
_LEAST_STORE = 256 << 20  # bytes for objects on this machine
_SHARE = 0.3  # of the free memory, at most
_STARTS_ONE = "`ray start` starts a cluster, and prints its address."


def needs_ray() -> Any:
    """Return the package, or say how to install it."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported to anybody
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError as error:
        raise InputError("runtime 'ray' needs Ray: pip install 'tacit[cluster]'.") from error
    return ray


@contextmanager
def connected(cluster: Cluster) -> Iterator[int]:
    """Yield how many processors there are; a Ray that was started here ends with the run."""
    ray = needs_ray()
    if ray.is_initialized():
        if cluster.address is not None:
            raise InputError(
                "this process is connected to Ray already; leave the address out, or disconnect first."
            )
        yield _processors(ray)
        return
    if cluster.address is None:
        _start(ray, cluster.workers or os.cpu_count() or 1)
    else:
        _find(ray, cluster.address)
    try:
        yield _processors(ray)
    finally:
        ray.shutdown()


def _processors(ray: Any) -> int:
    return max(int(ray.cluster_resources().get("CPU", 1)), 1)


def _start(ray: Any, workers: int) -> None:
    ray.init(
        address="local",
        num_cpus=workers,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
        object_store_memory=max(_LEAST_STORE, int(_SHARE * _free_memory())),
    )


def _free_memory() -> int:
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _find(ray: Any, address: str) -> None:
    _refuse_unreachable(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise NetworkError(
            f"there is no Ray cluster at {address!r}; start one, or leave the address out.", command=_STARTS_ONE
        ) from error


def _refuse_unreachable(address: str) -> None:
    """Refuse a host and a port where nobody listens: Ray itself would try for minutes."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if not colon or not port.isdecimal():
        if address in ("auto", "local"):
            return
        raise InputError(f"address = {address!r} must be 'auto' or host:port.", command=_STARTS_ONE)
    try:
        socket.create_connection((host, int(port)), timeout=_PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise NetworkError(
            f"nobody listens at {address}; start a cluster there, or leave the address out.", command=_STARTS_ONE
        ) from error
