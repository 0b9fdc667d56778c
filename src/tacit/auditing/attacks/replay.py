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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.auditing.attacks.estimate import Estimate
from tacit.auditing.attacks.probe import Alone, Probe, Query, Unknowns
from tacit.auditing.attacks.readings import Reading, estimated
from tacit.auditing.attacks.rehearsal import Enough, Heard, Opaque, opening, said
from tacit.auditing.public import Public
from tacit.auditing.view import Exchange, View, received
from tacit.typing import Array

_DETERMINED = 1e-7


@dataclass(frozen=True, slots=True)
class Replay:
    """Read what the coalition's neighbours sent, for at most so many exchanges."""

    exchanges: int = 50
    name: str = "replay"

    def misses(self, view: View, public: Public) -> str | None:
        """Say so where nobody gossips, or no gradient enters what is said in a linear way."""
        heard = said(view, public)[: self.exchanges]
        if public.algorithm is None or not heard:
            return "nobody gossips: sums are attacked by themselves"
        try:
            for agent in _overheard(heard, view)[:1]:
                _equations(agent, heard, opening(public), public)
        except Opaque as error:
            return str(error)
        return None

    def __call__(self, view: View, public: Public) -> Estimate:
        """Return the gradients of the neighbours."""
        return estimated(self.readings(view, public), view, public, says="the algorithm's own step, read backwards")

    def readings(self, view: View, public: Public) -> list[Reading]:
        """Return all gradients that can be read, with the points where they were taken."""
        heard, openly = said(view, public)[: self.exchanges], opening(public)
        return [reading for agent in _overheard(heard, view) for reading in _read(agent, heard, openly, public)]


def _overheard(heard: Sequence[Exchange], view: View) -> list[int]:
    """Return the honest agents whom members hear."""
    return sorted(set(heard[0].senders.tolist()) - set(view.coalition.tolist())) if heard else []


class Equations(NamedTuple):
    """What an agent said, and where it took gradients, in terms of what is not known."""

    A: Array  # (k, d)
    b: Array  # (k, m)
    queries: list[Query]
    unknowns: int
    m: int


def _equations(agent: int, heard: Sequence[Exchange], openly: Sequence[Heard], public: Public) -> Equations:
    """Run the algorithm as one agent runs it, twice: its step must be linear in every unknown by itself."""
    first, second = (_run(agent, heard, openly, public, seed) for seed in (0, 1))
    if first.A.shape != second.A.shape or not np.allclose(first.A, second.A, rtol=1e-9, atol=1e-9):
        raise Opaque("what is said is not linear in gradients")
    return first


def _run(agent: int, heard: Sequence[Exchange], openly: Sequence[Heard], public: Public, seed: int) -> Equations:
    algorithm = public.algorithm
    if algorithm is None:
        raise Opaque("no algorithm runs here")
    unknowns = Unknowns(public.unknowns, seed)
    probe, peers = Probe(unknowns, rough=public.rough), Alone(agent, heard, openly, public, unknowns)
    try:
        with np.errstate(all="ignore"):
            state = algorithm.init(unknowns.known(public.start), probe)
            for _ in heard:
                state = algorithm.step(state, peers, probe)
    except Enough:
        pass
    except Opaque:
        raise
    except Exception as error:  # whatever a stranger's algorithm raises on costs that it did not expect
        raise Opaque(f"{type(algorithm).__name__} does not run with gradients that are not known") from error
    spoken, m, used = np.stack(peers.said), public.unknowns, unknowns.used
    A = spoken[:, m : m + used]
    off = np.abs(A @ unknowns.weights[:used] - spoken[:, -1]).max(initial=0.0)
    if not off <= 1e-9 * max(float(np.abs(spoken[:, -1]).max(initial=0.0)), 1e-300):
        raise Opaque("what is said is not linear in gradients")
    return Equations(A, spoken[:, :m], probe.queries, used, m)


def _read(agent: int, heard: Sequence[Exchange], openly: Sequence[Heard], public: Public) -> list[Reading]:
    """Solve the equations of one agent, for whatever they determine."""
    equations = _equations(agent, heard, openly, public)
    spoken = [received(exchange) for exchange in heard[: len(equations.A)]]
    seen = [k for k, messages in enumerate(spoken) if agent in messages]
    m, used = equations.m, equations.unknowns
    size = np.linalg.norm(equations.A[seen], axis=0)
    size[size == 0.0] = 1.0
    A = equations.A[seen] / size
    inverse = np.linalg.pinv(A, rcond=1e-12)
    resolved = inverse @ A
    solved = inverse @ (np.stack([spoken[k][agent] for k in seen]) - equations.b[seen])

    def known(form: Array) -> Array | None:
        """Return the value of a form in the unknowns; None where the equations leave it open."""
        scaled = form[m : m + used] / size
        left = np.abs(scaled @ resolved - scaled).max(initial=0.0)
        determined = left <= _DETERMINED * np.abs(scaled).max(initial=0.0)
        return np.asarray(form[:m] + scaled @ solved) if determined else None

    pairs = [(known(query.point), known(query.gradient)) for query in equations.queries]
    return [Reading(agent, at, gradient) for at, gradient in pairs if at is not None and gradient is not None]
