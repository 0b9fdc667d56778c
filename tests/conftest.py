"""Shared by all tests: seeds are constants, and hypothesis repeats itself."""

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")


@pytest.fixture
def experiments(monkeypatch):
    """Return a function that leaves nothing but the named experiments in an audit: all of them take seconds."""

    def only(*names):
        from tacit.auditing import EXPERIMENTS

        for name in [*EXPERIMENTS]:
            if name not in names:
                monkeypatch.delitem(EXPERIMENTS, name)

    return only
