"""One party of secure multi-party sums: a process of its own, by MPyC.

    python -m tacit.baselines.mpyc_party DATA OUT -M n -I i

DATA holds the algorithm, the start, and this party's cost alone; what goes to the others are Shamir's shares of the
numbers that it adds up. Every two parties are connected: the complete graph. Party 0 writes the answer to OUT.
"""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tacit.runtimes.looking import Look
from tacit.typing import Array

_FRACTION = 40  # bits after the point
_BITS = 100


class SharedSums:
    """`Peers` of one party: sums by shares, and nothing else."""

    resolution = 0.0

    def __init__(self, mpc: Any) -> None:
        self._mpc, self._type = mpc, mpc.SecInt(_BITS)
        self.sums = 0

    def sum(self, v: Array, add: Any = np.add) -> Array:
        """Return the sum over all parties: shares of every number go to everybody, and the total is opened."""
        mine = [self._type(round(float(x) * 2.0**_FRACTION)) for x in np.atleast_1d(v)]
        shares = self._mpc.input(mine)
        total = [self._mpc.sum(list(column)) for column in zip(*shares, strict=True)]
        self.sums += 1
        opened = self._mpc.run(self._mpc.output(total))
        return np.array([float(int(x)) for x in opened]) / 2.0**_FRACTION


def main(data: Path, out: Path) -> None:
    """Take part in a run."""
    from mpyc.runtime import mpc

    job = pickle.loads(data.read_bytes())  # noqa: S301  written by the comparison itself
    peers: Any = SharedSums(mpc)
    mpc.run(mpc.start())
    state, watch, observer = job.algorithm.init(job.x0, job.stack), job.watch(None), job.observer()
    done, conclusion = 0, None
    while conclusion is None:
        before, state = state, job.algorithm.step(state, peers, job.stack)
        done += 1
        conclusion = watch.look(done, Look.read(observer.tell(before, state)))
    sent = sum(party.protocol.nbytes_sent for party in mpc.parties if party.pid != mpc.pid)
    if mpc.pid == 0:
        out.write_text(json.dumps({"x": state.x.tolist(), "rounds": done, "sums": peers.sums, "bytes": sent}))
    mpc.run(mpc.shutdown())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
