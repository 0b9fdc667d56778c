"""What is asked of a sketch and takes a while: the worst coalition, links that would help, σ for a target.

Each is one public function of the certificates, and returns another sketch with a sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from tacit.certificates import augment, calibrated, certify
from tacit.explore.insight import Insight
from tacit.explore.sketch import Sketch
from tacit.listing import listed
from tacit.network import Network

AT_ONCE = 30
"""Agents up to which links that would help are looked for without being asked."""


class Advice(NamedTuple):
    """The sketch after a question, and the answer in a sentence."""

    sketch: Sketch
    sentence: str


def wants_links(sketch: Sketch, insight: Insight) -> bool:
    """Tell whether links would help against so many agents, and are found in a moment."""
    exposed = insight.certificate is not None and not insight.good
    return exposed and len(sketch.agents) <= AT_ONCE and 1 <= len(sketch.coalition) <= 2


def worst(sketch: Sketch, size: int, on_progress: Callable[[float], None]) -> Advice:
    """Corrupt the coalition of at most *size* agents against which the masks protect least."""
    certificate = certify(Network(sketch.graph), any=size, sigma=sketch.width, on_progress=on_progress)
    if certificate.coalition is None:
        return Advice(sketch, certificate.statement())
    return Advice(sketch.corrupted(certificate.coalition), certificate.statement())


def helping_links(sketch: Sketch, size: int, on_progress: Callable[[float], None]) -> Advice:
    """Suggest the fewest links after which no coalition of *size* agents cuts the honest ones apart."""
    network = Network(sketch.graph)
    augmentation = augment(network, any=min(max(size, 1), len(network) - 2), on_progress=on_progress)
    return Advice(replace(sketch, suggested=augmentation.links), str(augmentation))


def reach(
    sketch: Sketch, *, hide: float, guess: float, size: int | None, on_progress: Callable[[float], None]
) -> Advice:
    """Take the smallest σ at which a guess at a difference of *hide* is right no more often than *guess*.

    Against the coalition of the sketch; with *size*, against every coalition of at most so many agents.
    """
    coalition = sketch.coalition if size is None else None
    certificate = calibrated(
        Network(sketch.graph), coalition, any=size, guess=guess, hide=hide, on_progress=on_progress
    )
    against = f"any {size} agents" if size is not None else listed(sketch.coalition or ("whoever listens",))
    sentence = (
        f"σ = {certificate.sigma:.6g}: against {against}, a guess at a difference of {hide:g} is right "
        f"{100 * certificate.guess(hide):.4g} % of the time."
    )
    return Advice(replace(sketch, sigma=certificate.sigma, hide=hide, sums=False), sentence)
