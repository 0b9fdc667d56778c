"""What an agent writes down: a checkpoint is there whole or not at all, whatever interrupts it."""

import numpy as np
import pytest

from tacit.runtimes.agent import Recalled
from tacit.runtimes.looking import Look
from tacit.runtimes.peers import store as stores
from tacit.runtimes.peers.store import Store

LOOK = Look(1.0, 0.5, 0.25, 0.0, None, 0.125)


def checkpoint(done: int) -> Recalled:
    state = (np.full(2, float(done)), np.full(2, -float(done)))
    return Recalled(done, state, np.full(2, float(done)), [(k, LOOK) for k in range(10, done + 1, 10)])


def save(store: Store, done: int) -> None:
    store.save(checkpoint(done), keystreams=[done], cursors=[done], used=[done])


def test_a_checkpoint_that_is_committed_is_recalled(tmp_path):
    store = Store(tmp_path / "a.state")
    save(store, 10)
    save(store, 20)
    store.commit()
    store.close()
    again = Store(tmp_path / "a.state")
    recalled = again.recall()
    again.close()
    assert recalled.done == 20
    assert recalled.looks == checkpoint(20).looks
    np.testing.assert_array_equal(recalled.state, checkpoint(20).state)


def test_a_checkpoint_that_was_interrupted_is_forgotten(tmp_path, monkeypatch):
    store = Store(tmp_path / "a.state")
    save(store, 10)
    store.commit()

    def interrupted(look):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(stores, "_numbers", interrupted)
        with pytest.raises(KeyboardInterrupt):
            save(store, 20)
    store.close()  # as the agent does on the way out
    again = Store(tmp_path / "a.state")
    recalled = again.recall()
    again.close()
    assert (recalled.done, recalled.looks) == (10, checkpoint(10).looks)
