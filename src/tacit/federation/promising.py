"""What a manifest promises of the answer: by public numbers, the same at every member, before anybody reads.

    [privacy.answer]      (ε, δ), clip, labels, any          `tacit.solving.sections.AnswerSection`
    [model]               the family: what one record moves
    links, members        how large every member's noise share is

Every member clips its own records to these limits and adds its own share (`tacit.runtimes.peers.Agent`). Nothing
that depends on a record's value refuses, warns or counts: what could is refused here, where nobody has read a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from tacit.algorithms import AnyAlgorithm
from tacit.differential.promise import SUMS
from tacit.errors import InputError
from tacit.federation.sections import Masks, Model
from tacit.listing import conjoined
from tacit.masks import limits_of
from tacit.network import Network
from tacit.solving.algorithm_section import Agreed
from tacit.solving.choice import Choice
from tacit.solving.cost_files import example
from tacit.solving.promised import Arranged, arranged
from tacit.solving.sections import AnswerSection
from tacit.typing import Summand


def answer_section(
    epsilon: float | None,
    delta: float | None,
    *,
    clip: float | None = None,
    labels: float | None = None,
    any: int = 1,
    sums: int | None = None,
) -> AnswerSection | None:
    """Return the [privacy.answer] that somebody asks for, by options; None where no ε says so."""
    if epsilon is None:
        unused = [
            name for name, value in {"clip": clip, "labels": labels, "sums": sums}.items() if value is not None
        ]
        if unused:
            raise InputError(
                f"{conjoined(unused)} belong{'s' * (len(unused) == 1)} to a promise about the answer, and there is "
                "no epsilon.",
                command="See --epsilon.",
            )
        return None
    if delta is None:
        raise InputError(
            "delta is missing: epsilon comes with the probability that it does not hold, far below one over all "
            "records.",
            command="See --delta.",
        )
    section = AnswerSection(epsilon, delta, clip, any, labels, sums=SUMS if sums is None else sums)
    section.promise()  # refuses what cannot be kept, before cards are read
    return section


def promised_in(
    masks: Masks,
    network: Network,
    model: Model | None,
    *,
    unknowns: int,
    section: Mapping[str, Any],
    agreed: Agreed,
    weights: str,
    dropout: str,
) -> Arranged | None:
    """Return how all members keep the promise of *masks*; None where there is none. Refuse what no theorem covers.

    *section* is the [algorithm]; *agreed* and *weights* are what it stands for without a promise.
    """
    promise, privacy = masks.promise, masks.mechanism()
    if promise is None or privacy is None:
        return None
    if model is None:
        raise InputError(
            "[privacy.answer] needs a [model]: what one record can do to the answer depends on what is fitted."
        )
    if model.records is not None:
        raise InputError(
            "[model] records is what every member would refuse to fall short of, and [privacy.answer] promises "
            "that nobody can tell; leave it out, and say what is public anyway in [privacy.answer] records."
        )
    if Summand.NUMBERS in agreed.sums:
        raise InputError(
            f"{section['name']!r} tells exact numbers of its own, and [privacy.answer] promises that none is told; "
            "use 'direct' for least squares or 'newton' for logistic costs, in public units."
        )
    gossip = Choice(cast(AnyAlgorithm, agreed), weights, "as all have agreed")
    if privacy.kind != "sums" and dropout == "exclude":
        raise InputError(
            'dropout = "exclude" does not go with [privacy.answer] and masks that are drawn once: whoever leaves '
            "would be left with its own noise share; use secret sums, which draw new ones, or wait."
        )
    sensitivity = example(model, unknowns=unknowns).sensitivity(limits_of(promise))
    return arranged(network, privacy, promise, sensitivity, section["name"], tree=True, gossip=lambda: gossip)
