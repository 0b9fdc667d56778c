"""The two ways in which masks are drawn, told by data.

    once      before phase 2, on the coefficients of every cost along a public basis (`Mechanism.basis`)
    afresh    for every sum, on all that is added up (`Mechanism.fresh_each_sum`)

Each way has a few more answers. Who needs them asks which way it is, and never for a class: a mechanism that is
neither is taken by `solve` as it is, and is beyond what an audit knows.
"""

from __future__ import annotations

from typing import Protocol, TypeGuard

from tacit.errors import InputError
from tacit.masks.coefficients import Basis
from tacit.masks.fixed_point import FixedPoint
from tacit.masks.mechanism import Mechanism
from tacit.network import Network
from tacit.typing import Array


class Once(Mechanism, Protocol):
    """Masks on coefficients along a basis, drawn once."""

    @property
    def basis(self) -> Basis:
        """Return the public functions whose coefficients are hidden."""

    @property
    def sigma(self) -> float:
        """Return the deviation of the masks on a function of scale 1."""

    def row_scales(self, network: Network) -> Array:
        """Return every directed link's σ as a fraction of the widest; refuse links that are not there."""


class Afresh(Mechanism, Protocol):
    """Masks on sums, new ones for each."""

    @property
    def bound(self) -> float:
        """Return the public limit on every number that is added up."""

    @property
    def words(self) -> int:
        """Return how many words of 64 bits carry a number."""

    def fixed_point(self, *, agents: int) -> FixedPoint:
        """Return the fixed point for so many agents."""


def drawn_once(masks: Mechanism | None) -> TypeGuard[Once]:
    """Tell whether *masks* are drawn once, on coefficients."""
    return masks is not None and masks.basis is not None


def drawn_afresh(masks: Mechanism | None) -> TypeGuard[Afresh]:
    """Tell whether *masks* are drawn for every sum anew."""
    return masks is not None and masks.fresh_each_sum


def refuse_other(privacy: object) -> None:
    """Refuse what is no mechanism, or lacks an answer that others will ask it for."""
    if privacy is None:
        return
    if not hasattr(privacy, "hide"):
        raise InputError(
            "privacy is a mechanism such as affine masks or secret sums, or None, and not a "
            f"{type(privacy).__name__}."
        )
    asked = [Mechanism]
    asked += [Once] * (getattr(privacy, "basis", None) is not None)
    asked += [Afresh] * bool(getattr(privacy, "fresh_each_sum", False))
    names = [name for protocol in asked for name in vars(protocol) if not name.startswith("_")]
    missing = [name for name in dict.fromkeys(names) if not hasattr(privacy, name)]
    if missing:
        raise InputError(
            f"{type(privacy).__name__} has no {', '.join(missing)}, which every mechanism of its kind has; derive "
            "it from tacit.masks.Mechanism, which answers what it can."
        )
