"""Shared by all tests: seeds are constants, and hypothesis repeats itself.

Masks come from the operating system, and so do an audit's made-up secrets where no seed is given. A test that went
red once in a thousand runs would tell nobody anything, so the tests of this process get both from a constant stream;
`@pytest.mark.fresh` leaves them alone, and says in the test how often luck may fail it: once in 10⁹ runs at most.
"""

import contextlib
import gc
import hashlib
import itertools
import os
import signal
import sys
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # a shell's background job: its children would not hear Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)


@contextlib.contextmanager
def steady():
    """Let tacit draw from a constant stream: what it takes from the operating system, and generators without a seed."""
    urandom, default_rng, count = os.urandom, np.random.default_rng, itertools.count()

    def constant(size):
        if not sys._getframe(1).f_globals.get("__name__", "").startswith("tacit."):
            return urandom(size)
        return hashlib.shake_256(f"of the tests: {next(count)}".encode()).digest(size)

    def seeded(seed=None):
        return default_rng([2019, next(count)] if seed is None else seed)

    with patch.object(os, "urandom", constant), patch.object(np.random, "default_rng", seeded):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Hold every test, its fixtures too, to the constant stream."""
    with contextlib.nullcontext() if item.get_closest_marker("fresh") else steady():
        return (yield)


def pytest_collection_finish():
    """Leave the thousands of collected tests out of every later search for garbage: it takes a twentieth of the time."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def experiments(monkeypatch):
    """Return a function that leaves nothing but the named experiments in an audit: all of them take seconds."""

    def only(*names):
        from tacit.auditing import EXPERIMENTS

        for name in [*EXPERIMENTS]:
            if name not in names:
                monkeypatch.delitem(EXPERIMENTS, name)

    return only
