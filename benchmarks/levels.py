"""Are the p-values of audits uniform, where all is as it should be? 200 audits of real masks, by default.

Every verdict's p-values are compared with the uniform distribution (Kolmogorov and Smirnov). The last column is the
chance of a distance as large; among so many verdicts the smallest should be about one over their number.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable

import networkx as nx
import numpy as np
from scipy.stats import kstest

import tacit
from tacit.auditing import EXPERIMENTS, Game, Verdict, play, settle
from tacit.auditing.experiments.secret_sums import attack_words
from tacit.auditing.recording.release import Keys

_AUDITS = int(os.environ.get("TACIT_AUDITS", "200"))
_NETWORK = tacit.Network(nx.random_regular_graph(4, 10, seed=2))


def main() -> None:
    """Print a table for each mechanism."""
    warnings.simplefilter("ignore")
    for name, audited in (("affine masks", _affine), ("secret sums", _sums)):
        print(f"\n{_AUDITS} audits of {name}, 10 agents")
        print(f"{'verdict':<24}{'tested':>8}{'mean':>8}{'p < 0.05':>10}{'smallest':>10}{'red':>5}{'uniform?':>10}")
        for attack, (values, red) in _collected(audited).items():
            p = np.array(values)
            figures = f"{len(p):>8}{p.mean():>8.3f}{(p < 0.05).mean():>10.3f}{p.min():>10.2g}{red:>5}"
            print(f"{attack:<24}{figures}{kstest(p, 'uniform').pvalue:>10.2g}")


def _collected(audited: Callable[[int], list[Verdict]]) -> dict[str, tuple[list[float], int]]:
    found: dict[str, tuple[list[float], int]] = {}
    for seed in range(_AUDITS):
        for verdict in audited(seed):
            values, red = found.get(verdict.attack, ([], 0))
            kept = [*values, verdict.p] if verdict.p is not None else values
            if kept:
                found[verdict.attack] = (kept, red + verdict.is_red)
    return found


def _affine(seed: int) -> list[Verdict]:
    setting = settle(tacit.AffineMasks(1e3), _NETWORK, [3], seed=seed)
    attacks = [attack for name, attack in EXPERIMENTS.items() if name != "seed enumeration"]
    return [*(attack(setting) for attack in attacks), *_game(tacit.AffineMasks(1e3), seed)]


def _sums(seed: int) -> list[Verdict]:
    found = attack_words(tacit.SumMasks(), _NETWORK, [3], keys=Keys(seed), rng=np.random.default_rng(seed))
    return [*found, *_game(tacit.SumMasks(), seed)]


def _game(masks: tacit.AffineMasks | tacit.SumMasks, seed: int) -> list[Verdict]:
    game = play(masks, _NETWORK, [3], games=4000, keys=Keys(seed))
    return [game.verdict()] if isinstance(game, Game) else []
