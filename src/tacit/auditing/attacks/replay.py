"""Gradient replay: one agent's run, read backwards from what it sent.

Run the algorithm as agent i runs it, with a cost of which nothing is known: every gradient that it asks for is an
unknown G, every message from a neighbour who was not overheard another one, U. All that the agent says is then

    s = A (G, U) + b        A from the algorithm's own `step`, b from x₀ and from what was overheard

and so are the points at which gradients were taken. What these equations determine is read. If all neighbours of i
are overheard that is every gradient; if not, mostly the first: all agents start at the same public point. A
proximal step is the gradient at its end, prox(v) = v − t G; of a part without a gradient it is another unknown.

The step of no algorithm is written down here. For DGD the equations are ∇h_i(x^k) = (W x^k − x^{k+1})_i/γ_k, for
ADMM those of Zhang, Ahmad, Wang, IEEE TIFS 14(3), 2019, for gradient tracking of arXiv 2509.18134.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from tacit.auditing.attacks.alone import Alone, Overheard
from tacit.auditing.attacks.estimate import Estimate
from tacit.auditing.attacks.heard import gossip_of, totals
from tacit.auditing.attacks.probe import Probe, Query, Unknowns
from tacit.auditing.attacks.readings import GradientReading, estimated
from tacit.auditing.attacks.rehearsal import Opaque, opening, run_until_enough
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import View, received
from tacit.typing import Array

_DETERMINED = 1e-7
_ROUNDS = 200  # of an algorithm that gossips in few of them


@dataclass(frozen=True, slots=True)
class Replay:
    """Read what the coalition's neighbours sent, for at most so many exchanges."""

    exchanges: int = 50
    name: str = "replay"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where nobody gossips, or no gradient enters what is said in a linear way."""
        if public.algorithm is None or not gossip_of(view, public):
            return "nobody gossips: sums are attacked by themselves"
        try:
            overheard = self._overheard(view, public)
            for agent in _speakers(overheard, view)[:1]:
                _equations(agent, overheard, public)
        except Opaque as error:
            return str(error)
        return None

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return the gradients of the neighbours."""
        return estimated(self.readings(view, public), view, public, says="the algorithm's own step, read backwards")

    def readings(self, view: View, public: Public) -> list[GradientReading]:
        """Return all gradients that can be read, with the points where they were taken."""
        return _read_once(_Same(view, public, self.exchanges))

    def _overheard(self, view: View, public: Public) -> Overheard:
        return _overheard(view, public, self.exchanges)


class _Same:
    """A view and what is public about it: the same objects, asked about again by another attack."""

    def __init__(self, view: View, public: Public, exchanges: int) -> None:
        self.view, self.public, self.exchanges = view, public, exchanges

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other._key() == self._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[int, int, int]:
        return id(self.view), id(self.public), self.exchanges


@lru_cache(maxsize=1)
def _read_once(asked: _Same) -> list[GradientReading]:
    """Return all readings; several attacks start from them, one after the other."""
    overheard = _overheard(asked.view, asked.public, asked.exchanges)
    return [
        reading for agent in _speakers(overheard, asked.view) for reading in _read(agent, overheard, asked.public)
    ]


def _overheard(view: View, public: Public, most: int) -> Overheard:
    exchanges = gossip_of(view, public)[:most]
    messages = [received(exchange) for exchange in exchanges]
    return Overheard(exchanges, messages, opening(public), totals(view, public))


def _speakers(overheard: Overheard, view: View) -> list[int]:
    """Return the honest agents whom members hear."""
    senders = {int(i) for exchange in overheard.exchanges[:1] for i in exchange.senders}
    return sorted(senders - set(view.coalition.tolist()))


class Equations(NamedTuple):
    """What an agent said, and where it took gradients, in terms of what is not known."""

    A: Array  # (k, d)
    b: Array  # what was heard, less what follows without any unknown, (k, m)
    queries: list[Query]
    unknowns: int


def _equations(agent: int, overheard: Overheard, public: Public) -> Equations:
    """Run the algorithm as one agent runs it, twice: its step must be linear in every unknown by itself."""
    first, second = (_run(agent, overheard, public, seed) for seed in (0, 1))
    if first.A.shape != second.A.shape or not np.allclose(first.A, second.A, rtol=1e-9, atol=1e-9):
        raise Opaque("what is said is not linear in gradients")
    return first


def _run(agent: int, overheard: Overheard, public: Public, seed: int) -> Equations:
    algorithm, m = public.algorithm, public.unknowns
    if algorithm is None:
        raise Opaque("no algorithm runs here")
    unknowns = Unknowns(m, seed)
    curvature = None if public.curvatures is None else public.curvatures[agent]
    probe = Probe(unknowns, rough=public.rough, curvature=curvature)
    peers = Alone(agent, overheard, public, unknowns)
    start, where = unknowns.known(public.start), "with gradients that are not known"
    run_until_enough(algorithm, start, peers, probe, rounds=_ROUNDS, where=where)
    if not peers.messages:
        raise Opaque("nothing that the algorithm says was heard")
    spoken, heard = (np.stack(each) for each in zip(*peers.messages, strict=True))
    used = unknowns.used
    A = spoken[:, m : m + used]
    misfit = np.abs(A @ unknowns.weights[:used] - spoken[:, -1]).max(initial=0.0)
    if not misfit <= 1e-9 * max(float(np.abs(spoken[:, -1]).max(initial=0.0)), 1e-300):
        raise Opaque("what is said is not linear in gradients")
    return Equations(A, heard - spoken[:, :m], probe.queries, used)


def _read(agent: int, overheard: Overheard, public: Public) -> list[GradientReading]:
    """Solve the equations of one agent, for whatever they determine."""
    A, b, queries, used = _equations(agent, overheard, public)
    size = np.linalg.norm(A, axis=0)
    size[size == 0.0] = 1.0
    inverse = np.linalg.pinv(A / size, rcond=1e-12)
    resolved, solved, m = inverse @ (A / size), inverse @ b, public.unknowns

    def known(form: Array) -> Array | None:
        """Return the value of a form in the unknowns; None where the equations leave it open."""
        scaled = form[m : m + used] / size
        left = np.abs(scaled @ resolved - scaled).max(initial=0.0)
        determined = left <= _DETERMINED * np.abs(scaled).max(initial=0.0)
        return np.asarray(form[:m] + scaled @ solved) if determined else None

    pairs = [(known(query.point), known(query.gradient)) for query in queries]
    return [
        GradientReading(agent, at, gradient) for at, gradient in pairs if at is not None and gradient is not None
    ]
