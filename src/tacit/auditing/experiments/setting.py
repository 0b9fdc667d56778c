"""A mechanism on a network, and who attacks it: what every experiment starts from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.experiments.link_errors import LinkErrors, link_errors
from tacit.auditing.experiments.terms import Gaussian, gaussian
from tacit.auditing.recording.release import Keys, Released, bound_of, release, scales_of
from tacit.auditing.trials.game import honest_part
from tacit.masks import Once
from tacit.network import Network
from tacit.typing import Array

_COLUMNS, _NUMBERS = 500, 12_500_000  # drawn at once, in a network with many links
_ENOUGH = 800_000  # and in one with few: enough masks to see where they end
_WIDEST = 16


@dataclass(frozen=True, slots=True)
class Setting:
    """A mechanism on a network, and who attacks it."""

    masks: Once
    network: Network
    coalition: tuple[int, ...]
    columns: int
    unknowns: int
    """Of the problem that the masks are for."""
    keys: Keys
    rng: np.random.Generator
    """For the made-up secrets, which are nobody's."""
    longest: int
    """The most coordinates that are drawn at once where every single mask is looked at."""
    releases: int
    """Releases as small as the problem, where every single mask is looked at."""
    kept: dict[str, list[Gaussian]] = field(default_factory=dict, repr=False, compare=False)
    """Terms that several experiments look at."""
    kept_links: list[LinkErrors] = field(default_factory=list, repr=False, compare=False)
    """What everybody but its ends sees of every link, once somebody has asked."""
    part: list[tuple[Array, NDArray[np.intp]]] = field(default_factory=list, repr=False, compare=False)
    """What is left of the network without the coalition, once somebody has asked."""

    @property
    def covariance(self) -> Array:
        """2σ²L_H: what the certificate predicts for every coordinate of full width."""
        return 2.0 * self.masks.sigma**2 * self._honest_part[0]

    @property
    def honest(self) -> NDArray[np.intp]:
        """The positions of the honest agents."""
        return self._honest_part[1]

    @property
    def _honest_part(self) -> tuple[Array, NDArray[np.intp]]:
        """L_H and the positions of the honest agents, worked out once: some experiments ask a thousand times."""
        if not self.part:
            self.part.append(honest_part(self.masks, self.network, self.coalition))
        return self.part[0]

    @property
    def links(self) -> NDArray[np.intp]:
        """The honest links, as pairs of rows among the honest agents."""
        place = {int(agent): k for k, agent in enumerate(self.honest)}
        kept = [(place[i], place[j]) for i, j in self.network.links.tolist() if i in place and j in place]
        return np.array(kept, dtype=np.intp).reshape(-1, 2)

    def rounding(self, done: Released) -> float:
        """Return an error that rounding to the lattice alone explains, in units of full width."""
        return len(self.network) * done.public.step / float(done.scales.min())

    @property
    def deviation(self) -> float:
        """Of made-up secrets: as wide as the masks, where the public bound leaves that much room."""
        widest = max(1.0, float(scales_of(self.masks, 1).max()))
        return min(self.masks.sigma, bound_of(self.masks, self.network) / (8.0 * widest))

    def secrets(self, columns: int | None = None) -> Array:
        """Return normal secrets, (n, coordinates): one of 10¹⁴ is beyond the bound, and drawn again as 0."""
        scales = scales_of(self.masks, columns or self.columns)
        drawn = self.rng.standard_normal((len(self.network), len(scales)))
        return self.deviation * np.where(np.abs(drawn) < 8.0, drawn, 0.0) * scales

    def varied(self, columns: int) -> Array:
        """Return normal secrets; an eighth are 0, an eighth their agent's first, an eighth another agent's.

        In small ones one agent has nothing but zeros, and the next the same number everywhere.
        """
        values = self.secrets(columns)
        kind, scales = self.rng.integers(0, 8, values.shape), scales_of(self.masks, columns)
        values = np.where(kind == 0, 0.0, values)
        equal = np.abs(values[:, :1] / scales[0]) * scales
        values = np.where(kind == 1, equal, np.where(kind == 2, np.roll(values, 1, axis=0), values))
        if values.shape[1] <= _WIDEST:
            agent = int(self.rng.integers(len(values)))
            values[agent], values[agent - 1] = 0.0, equal[agent - 1]
        return np.asarray(values)

    def ideal(self, columns: int) -> Array:
        """Return errors from the certificate's own law, N(0, 2σ²L_H), (|H|, columns): the theory, simulated."""
        values, vectors = np.linalg.eigh(self.covariance)
        return np.asarray(
            (vectors * np.sqrt(np.maximum(values, 0.0))) @ self.rng.standard_normal((len(values), columns))
        )

    def released(self, secrets: Array) -> Released:
        """Run phase 1 on these secrets."""
        return release(self.masks, self.network, secrets, self.coalition, keys=self.keys)

    def drawn(self) -> Gaussian:
        """Return all terms of releases of many coordinates, drawn once."""
        if "one" not in self.kept:
            each = 2 * len(self.network.links)
            columns = min(self.longest, max(self.columns, _ENOUGH // each), max(_COLUMNS, _NUMBERS // each))
            self.kept["one"] = [gaussian(self.masks, self.network, self.varied(columns), keys=self.keys)]
        return self.kept["one"][0]

    def alone(self) -> LinkErrors:
        """Return every link by itself, in these releases of many coordinates."""
        if not self.kept_links:
            self.kept_links.append(link_errors(self.drawn()))
        return self.kept_links[0]

    def several(self) -> list[Gaussian]:
        """Return all terms of many releases as small as the problem, drawn once; none where all have one size."""
        if "several" not in self.kept:
            width = min(max(self.unknowns, 2), _WIDEST)
            count = self.releases if len(scales_of(self.masks, width)) == width else 0
            self.kept["several"] = [
                gaussian(self.masks, self.network, self.varied(width), keys=self.keys) for _ in range(count)
            ]
        return self.kept["several"]

    def gone_on(self, secrets: Array, leaver: int) -> tuple[Released, Released]:
        """Run phase 1, and again under the same masks without the terms that *leaver* had a part in."""
        first, again = self.keys.again(self.network, 2)
        before = release(self.masks, self.network, secrets, self.coalition, keys=first)
        after = release(self.masks, self.network, secrets, self.coalition, keys=again, without=leaver)
        return before, after


def settle(
    masks: Once,
    network: Network,
    coalition: Sequence[int],
    *,
    columns: int = 5000,
    unknowns: int = 2,
    seed: int | None = None,
    longest: int = 40_000,
    releases: int = 120,
) -> Setting:
    """Return the setting of all experiments; *seed* makes them reproducible."""
    members, rng = tuple(sorted(coalition)), np.random.default_rng(seed)
    return Setting(masks, network, members, columns, unknowns, Keys(seed), rng, longest, releases)
