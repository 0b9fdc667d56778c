"""A round of gradient tracking for a million agents on a device, beside what the device copies in a second.

    PYTHONPATH=src python benchmarks/gpu.py [--small] [quadratic-32] [logistic-32] [quadratic-10] [logistic-10]
                                            [ten-million] [phase1]

Times are those of tacit's own runtime, its looks and its stopping rule included: from one of the first looks of a
run to its last, over the rounds between them. What comes before (the move to the device, one round operation by
operation, and compiling) is in the column *set-up*. A round must at least read the costs and the tables, and read
and write x, y and g; the last column is what these bytes would need at the speed of a copy, as a share of a round.

Needs NumPy, SciPy, networkx, msgspec, cryptography and JAX, and nothing else of the repository.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from tacit.algorithms import GradientTracking
from tacit.costs import Family, Logistic, Quadratic
from tacit.masks import AffineMasks, Keystreams, agent_keys
from tacit.network import Network
from tacit.runtimes import Job, Stacked, StoppingRule
from tacit.runtimes import jax as on_jax
from tacit.runtimes.stopping import Progress
from tacit.typing import Array

_MILLION = 1_000_000
_DEGREE = 8
_RECORDS = 8
_ROUNDS = 400
_TARGETS = {"quadratic-32": 4.1, "logistic-32": 3.0, "quadratic-10": 1.5, "logistic-10": 1.5}


def main(words: list[str]) -> None:
    """Print one line per kind of costs."""
    small = 500 if "--small" in words else 1
    n = _MILLION // small
    wanted = [word for word in words if not word.startswith("-")] or [*_TARGETS, "ten-million", "phase1"]
    device = jax.devices()[0]
    speed = _copy_speed(200_000_000 // small)
    print(f"{device.device_kind}, JAX {jax.__version__}, NumPy {np.__version__}; copies {speed / 1e12:.2f} TB/s")
    print(
        f"{'costs':<14}{'agents':>10}{'m':>4}{'set-up s':>10}{'ms a round':>12}{'target':>8}{'of a copy':>11}",
        flush=True,
    )
    network = _network(n)
    for name in wanted:
        if name == "phase1":
            for m in (10, 32):
                print(f"{'phase 1':<14}{n:>10}{m:>4}{_phase1(network, m):>10.1f}", flush=True)
            continue
        if name == "ten-million":
            network = _network(10 * n)
        family, m = ("quadratic", 10) if name == "ten-million" else (name[:-3], int(name[-2:]))
        cost = (_quadratics if family == "quadratic" else _logistics)(len(network), m)
        set_up, round_ = _timed(network, cost, m)
        data = cost.P if family == "quadratic" else cost.A
        least = data.nbytes + len(network) * (m * 8 * 7 + (_DEGREE + 1) * 12)
        target = f"{_TARGETS[name]:.1f}" if name in _TARGETS and small == 1 else ""
        print(
            f"{name:<14}{len(network):>10}{m:>4}{set_up:>10.1f}{1e3 * round_:>12.3f}{target:>8}"
            f"{least / speed / round_:>11.0%}",
            flush=True,
        )


def _timed(network: Network, cost: Family, m: int) -> tuple[float, float]:
    """Return the seconds before the first look, and those of a round after it."""
    job = Job(
        network=network, costs=(), stack=cost, x0=np.zeros(m), algorithm=GradientTracking(step_size=0.05),
        exact=True, weights="lazy", privacy=None, rule=StoppingRule(tolerance=1e-300, max_rounds=_ROUNDS),
    )  # fmt: skip
    looks: list[tuple[int, float]] = []

    def note(progress: Progress) -> None:
        looks.append((progress.check.round, time.perf_counter()))

    start = time.perf_counter()
    on_jax.run(job, note)
    # the first compiled look is the second one at the latest
    (first, began), (last, ended) = looks[1], looks[-1]
    return looks[0][1] - start, (ended - began) / (last - first)


def _copy_speed(numbers: int) -> float:
    """Return the bytes a second that the device reads and writes when it copies."""
    with _double():
        x = jnp.zeros(numbers)
        copy = jax.jit(lambda x: x + 1.0)
        return 2 * x.nbytes / _best(lambda: copy(x).block_until_ready())


def _best(function: Callable[[], object]) -> float:
    function()
    seconds = []
    for _ in range(10):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def _double() -> object:
    return jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64(True)


def _network(n: int) -> Network:
    """Return the union of four random rings: eight neighbours each, but for links that rings share."""
    rng = np.random.default_rng(1)
    rings = [rng.permutation(n) for _ in range(_DEGREE // 2)]
    links = np.concatenate([np.stack([ring, np.roll(ring, 1)], axis=1) for ring in rings])
    return Network.of_pairs(links)


def _quadratics(n: int, m: int) -> Quadratic:
    """Return P = I + vvᵀ/m, a full matrix for every agent."""
    rng = np.random.default_rng(2)
    v = rng.standard_normal((n, m)) / np.sqrt(m)
    P = v[:, :, None] * v[:, None, :]
    P[:, np.arange(m), np.arange(m)] += 1.0
    return Quadratic.of(P, rng.standard_normal((n, m)))


def _logistics(n: int, m: int) -> Logistic:
    rng = np.random.default_rng(3)
    cost = object.__new__(Logistic)
    cost.A = rng.standard_normal((n, _RECORDS, m)) / np.sqrt(m)
    cost.l2 = np.full((n, m), 0.1)
    cost.affine = -np.vecmat((rng.random((n, _RECORDS)) < 0.5).astype(np.float64), cost.A)
    return cost


def _phase1(network: Network, m: int) -> float:
    """Return the seconds of phase 1: keys, masks, exchange and folding, on one core of the host."""
    cost: Family = Quadratic.of(np.ones((len(network), 1, 1)), np.zeros((len(network), m)))
    start = time.perf_counter()
    source = Keystreams(agent_keys(len(network)), network.degrees)
    hidden: Array = AffineMasks(1e3).hide(cost, Stacked(network), source, network=network).cost.affine
    seconds = time.perf_counter() - start
    assert not hidden.sum(axis=0).any()  # to the last bit
    return seconds


if __name__ == "__main__":
    main(sys.argv[1:])
