"""How costs are hidden: the [privacy] of a manifest, from what somebody has said about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from msgspec import UNSET, structs

from tacit.certificates import calibrate
from tacit.errors import InputError
from tacit.federation.sections import Masks
from tacit.listing import conjoined, listed
from tacit.masks import LEVELS, Level, has_sigma
from tacit.masks.pairing import WAYS, Way
from tacit.network import Network, small_vertex_cut
from tacit.solving.sections import AnswerSection
from tacit.spelling import did_you_mean

if TYPE_CHECKING:
    import networkx as nx

_WIDE = 2.0**60  # bound on sums over raw records, in two words: steps are then finer than float64's of such sums


@dataclass(frozen=True, slots=True, kw_only=True)
class Hiding:
    """How all members hide their costs, as far as somebody has said it: options of `tacit federation new`."""

    level: str = "sums"
    sigma: float | None = None
    any: int = 1
    """How many members may collude."""
    guess: float | None = None
    """σ is chosen so that they guess right at most so often between worlds that differ by *hide*."""
    hide: float | None = None
    bound: float | None = None
    words: int | None = None
    pairing: str = "both"
    answer: AnswerSection | None = None
    """What is promised of the answer itself, against as many as may collude."""

    def masks(self, graph: nx.Graph[Any]) -> Masks:
        """Return the section for a network; choose σ where it is not given, and refuse what would not protect."""
        self._refuse_what_means_nothing()
        if self.level != "none":
            refuse_cuts(graph, self.any)
        return Masks(
            cast(Level, self.level),
            sigma=self._chosen_sigma(graph),
            bound=self.bound,
            words=self.words or 1,
            pairing=cast(Way, self.pairing),
            any=self.any,
            hide=self.hide,
            answer=UNSET if self.answer is None else structs.replace(self.answer, any=self.any),
        )

    def of_raw_records(self) -> Hiding:
        """Return the same with room for sums over records in anybody's units, unless a bound was given."""
        return self if self.bound is not None else replace(self, bound=_WIDE, words=self.words or 2)

    @property
    def is_gaussian(self) -> bool:
        """Whether the masks have a σ."""
        return self.level in LEVELS and has_sigma(self.level)

    def _chosen_sigma(self, graph: nx.Graph[Any]) -> float | None:
        if self.sigma is not None or not self.is_gaussian:
            return self.sigma
        if self.guess is None or self.hide is None:
            raise InputError(f"{self.level} masks need sigma, or guess and hide to choose it by.")
        return calibrate(graph, any=self.any, guess=self.guess, hide=self.hide, bound=self.bound)

    def _refuse_what_means_nothing(self) -> None:
        if self.level not in LEVELS:
            raise InputError(
                f"level = {self.level!r} is not one of {conjoined(LEVELS)}.{did_you_mean(self.level, LEVELS)}"
            )
        if self.pairing not in WAYS:
            raise InputError(
                f"pairing = {self.pairing!r} is not one of {conjoined(WAYS)}.{did_you_mean(self.pairing, WAYS)}"
            )
        of_sigma = {"sigma": self.sigma, "guess": self.guess, "hide": self.hide}
        unused = [name for name, value in of_sigma.items() if value is not None and not self.is_gaussian]
        unused += ["words"] * ((self.words or 1) != 1 and self.level != "sums")
        unused += ["bound"] * (self.bound is not None and self.level == "none")
        unused += ["pairing"] * (self.pairing != "both" and self.level == "none")
        if unused:
            means, it = ("means", "it") if len(unused) == 1 else ("mean", "them")
            raise InputError(f"{conjoined(unused)} {means} nothing to level = {self.level!r}; leave {it} out.")


def refuse_cuts(graph: nx.Graph[Any], any: int) -> None:
    """Refuse a network that would not protect against as many members as may collude."""
    if not 0 <= any <= len(graph) - 2:
        raise InputError(f"any = {any}: of {len(graph)} members at least two must be honest.")
    network = Network(graph)
    cut = small_vertex_cut(network, any)
    if cut is not None:
        raise InputError(
            f"any = {any}: {listed([network.agents[k] for k in cut])} could cut the others apart, and learn more "
            f"than sums over all of them; give everybody {any + 1} links or more."
        )
