"""What a run tells, whatever the masks, asked before it starts.

Masks and certificates compare worlds with the same sums; they say nothing where there is only one. So before every
run the numbers that it will tell are held against those that it hides from its best informed agent, the one that
holds the most itself:

    labels beside open features     the answer tells A_Hᵀy_H                        `labels`, with those features
    whole costs, masked once        the sum of the coefficients                     `records`, at invented ones
    whole costs, secret sums        sums at every point that the algorithm passes   the same

Shapes, public parameters and open features are used, and of hidden features one bit for every column and agent: is
it zero at all records there? A simulation knows it; in a federation it is counted by a secret sum.
"""

from __future__ import annotations

from tacit.runtimes import Job
from tacit.solving.problem import Problem
from tacit.solving.telling.columns import columns_of_few
from tacit.solving.telling.count import Telling, stamps_of
from tacit.solving.telling.told_labels import of_labels
from tacit.solving.telling.told_records import of_records
from tacit.stamps import Stamp


def telling(problem: Problem, job: Job) -> tuple[Telling | None, list[Stamp]]:
    """Return what *job* will tell, and whoever has to know that; None where nothing is hidden but affine parts."""
    privacy = job.privacy
    if privacy is None or len(problem.network) < 3:
        return None, []
    if privacy.coverage(problem.stack).hides("whole"):
        count = of_records(problem, job)
        return count, [*stamps_of(count), *columns_of_few(problem)]
    tells, own = of_labels(problem, privacy)
    return tells, [*(stamps_of(tells) if tells else []), *own]
