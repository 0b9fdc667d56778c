"""The attacks on a mechanism's releases: made-up secrets, real masks, and what the certificate predicts.

Each experiment is one attack and its verdict. All of them see releases with all effective costs published, the
paper's worst case; predictions come from the graph and σ alone.
"""

from collections.abc import Callable

from tacit.auditing.experiments.every_link import links
from tacit.auditing.experiments.finite import candidates, low_bits, seeds
from tacit.auditing.experiments.masks import bits, folded, pairs, repeated, single
from tacit.auditing.experiments.one_run import coordinates, knowledge, likelihood, prior, sums
from tacit.auditing.experiments.setting import Setting, settle
from tacit.auditing.experiments.several_runs import going_on, linkability, participants, retries, reuse
from tacit.auditing.judging.verdict import Verdict

EXPERIMENTS: dict[str, Callable[[Setting], Verdict]] = {
    "law of the masks": likelihood,
    "joint law": coordinates,
    "every link by itself": links,
    "masks folded in": folded,
    "every mask by itself": single,
    "masks in pairs": pairs,
    "bits of masks": bits,
    "masks that come twice": repeated,
    "component sums": sums,
    "maximum a posteriori": prior,
    "finite candidates": candidates,
    "prior knowledge": knowledge,
    "mask reuse": reuse,
    "retries": retries,
    "changed participants": participants,
    "going on without": going_on,
    "linkability": linkability,
    "low-order bits": low_bits,
    "seed enumeration": seeds,
}
"""Every attack on Gaussian masks that needs no phase 2."""

__all__ = ["EXPERIMENTS", "Setting", "settle"]
