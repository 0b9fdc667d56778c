"""Target in, σ out: the certificate read backwards.

    ε                              σ = 1/(2√(ε m))
    a guess p at a distance D      μ = 2Φ⁻¹(p)              σ = D/(μ√(2m))
    (ε, δ) at a distance D         μ with δ(ε; μ) = δ       σ = D/(μ√(2m))

with m = μ(L_H) for one coalition and m_t for every coalition of t. An agent with t neighbours or fewer cannot
be protected by any σ, and a σ that float64 cannot carry at the wanted resolution is refused.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, ParamSpec

from tacit.certificates.certificate import Certificate
from tacit.certificates.certifying import LinkScales, certify
from tacit.differential.tradeoff import TradeOff
from tacit.errors import InputError, MaskError, NotPrivateError
from tacit.later import later
from tacit.lattice import Lattice, default_bound
from tacit.listing import listed
from tacit.network import Network

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = later("networkx")

Arguments = ParamSpec("Arguments")
_LONG = "the certificate at the smallest σ that reaches a target; `calibrate` returns that σ alone."
_SHORT = "the smallest σ that reaches a target; `calibrated` returns the whole certificate."

_RESOLUTION = 1e-6  # of the distance to hide: how finely coefficients stay resolved unless asked otherwise


def calibrated(
    graph: nx.Graph[Any] | Network,
    coalition: Iterable[Any] | None = None,
    *,
    any: int | None = None,
    link_scales: LinkScales | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    guess: float | None = None,
    hide: float = 1.0,
    bound: float | None = None,
    resolution: float | None = None,
    quick: bool = False,
    deadline: float | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Certificate:
    """Return the certificate at the smallest σ that reaches a target; `calibrate` returns that σ alone.

    Against *coalition*, or every coalition of at most *any*. The target is one of: *epsilon* (the paper's,
    D_KL ≤ ε·dist²); *guess*, how often an observer may be right between two worlds that differ by *hide*;
    *epsilon* and *delta* together, for those two worlds. *bound* is the public bound on coefficients, and
    *resolution* how coarsely the masks' lattice may round them. *link_scales* scales σ link by link, as
    `allocate` returns it.

    >>> import networkx as nx
    >>> calibrate(nx.complete_graph(3), any=1, epsilon=0.125)
    1.0
    """
    wanted = target(epsilon=epsilon, delta=delta, guess=guess, hide=hide)
    if resolution is not None and not (math.isfinite(resolution) and resolution > 0):
        raise InputError(f"resolution = {resolution} must be a positive number: how coarsely masks may round.")
    network = Network(graph)
    unit = certify(
        network,
        coalition,
        any=any,
        sigma=1.0,
        link_scales=link_scales,
        quick=quick,
        deadline=deadline,
        on_progress=on_progress,
    )
    _refuse_exposed(unit)
    sigma = math.sqrt(unit.epsilon / wanted)
    widest = sigma * max([1.0, *(link_scales or {}).values()])
    _refuse_unrepresentable(network, widest, bound=bound, resolution=resolution or _RESOLUTION * hide)
    declared = None if guess is None and delta is None else hide
    return dataclasses.replace(rescaled(unit, sigma), hide=declared)


def _sigma_alone(choose: Callable[Arguments, Certificate]) -> Callable[Arguments, float]:
    @wraps(choose)
    def sigma(*args: Arguments.args, **kwargs: Arguments.kwargs) -> float:
        return choose(*args, **kwargs).sigma

    sigma.__name__ = sigma.__qualname__ = "calibrate"
    sigma.__doc__ = str(choose.__doc__).replace(_LONG, _SHORT)
    sigma.__signature__ = signature(choose).replace(return_annotation="float")  # type: ignore[attr-defined]
    return sigma


calibrate = _sigma_alone(calibrated)


def rescaled(certificate: Certificate, sigma: float) -> Certificate:
    """Return the certificate for σ = 1 at another σ."""
    components = tuple(dataclasses.replace(c, epsilon=c.epsilon / sigma**2) for c in certificate.components)
    return dataclasses.replace(
        certificate,
        sigmas=(sigma,),
        epsilon=certificate.epsilon / sigma**2,
        components=components,
        uncertainty={agent: sigma * deviation for agent, deviation in certificate.uncertainty.items()},
    )


def target(*, epsilon: float | None, delta: float | None, guess: float | None, hide: float) -> float:
    """Return the paper's ε that a target amounts to."""
    if not (math.isfinite(hide) and hide > 0):
        raise InputError(f"hide = {hide} must be a positive number: the size of the change to hide.")
    if (epsilon is None) == (guess is None):
        raise InputError("give one target: epsilon, or guess, or epsilon together with delta.")
    if guess is not None:
        if not 0.5 < guess < 1:
            raise InputError(f"guess = {guess} must lie between 0.5, a coin, and 1, certainty.")
        return TradeOff.of_guess(guess).mu ** 2 / (2.0 * hide**2)
    if epsilon is None or not (math.isfinite(epsilon) and epsilon > 0):
        raise InputError(f"epsilon = {epsilon} must be a positive number: masks make it small, never zero.")
    if delta is None:
        return epsilon
    if not 0 < delta < 1:
        raise InputError(f"delta = {delta} must lie between 0 and 1.")
    return TradeOff.of_epsilon_delta(epsilon, delta).mu ** 2 / (2.0 * hide**2)


def _refuse_exposed(unit: Certificate) -> None:
    if unit.without_privacy:
        raise NotPrivateError(
            f"no σ protects {listed(unit.without_privacy)}: an agent with {unit.guards} or fewer links is exposed "
            "if all its neighbours are corrupted; add links, as augment does, or guard against fewer."
        )
    if unit.exposed_sums:
        raise NotPrivateError(
            f"no σ helps: {listed(unit.coalition or ())} cut the honest agents apart and learn sums exactly; "
            "add links, as augment does, or guard against fewer agents."
        )
    if not math.isfinite(unit.epsilon):
        raise NotPrivateError(
            "nothing could be proven for this graph and coalition size: use more links per agent, or search longer."
        )


def _refuse_unrepresentable(network: Network, sigma: float, *, bound: float | None, resolution: float) -> None:
    size = {"agents": len(network), "links": len(network.links)}
    lattice = Lattice.fit(sigma, bound=default_bound(sigma) if bound is None else bound, **size)
    if lattice.step > resolution:
        largest = Lattice.largest_sigma(resolution, bound=bound, **size)
        raise MaskError(
            f"σ = {sigma:.6g} is more than float64 carries: coefficients would be rounded to {lattice.step:.1e} "
            f"where {resolution:.1e} is wanted; the largest σ at that resolution is {largest:.9g}. Ask for less "
            "privacy, a better connected graph, or a coarser resolution."
        )
