"""All approaches that are compared, by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tacit.baselines import (
    Approach,
    Decor,
    FunctionSharing,
    Homomorphic,
    Masked,
    MessageNoise,
    MultiParty,
    ObjectiveNoise,
    PrivateAnswer,
    SecureAggregation,
    StepHiding,
    takes_promises,
)
from tacit.errors import InputError
from tacit.masks import AffineMasks, QuadraticMasks, SumMasks
from tacit.spelling import did_you_mean


def approaches(*, sigma: float = 1e3, epsilon: float = 1.0) -> tuple[Approach, ...]:
    """Return every approach, with masks of deviation *sigma* and noise for a budget of *epsilon*."""
    return (
        Masked("no privacy", source="any algorithm"),
        MessageNoise(epsilon),
        ObjectiveNoise(epsilon),
        StepHiding(),
        FunctionSharing(sigma),
        Decor(epsilon),
        MultiParty(),
        Homomorphic(),
        Homomorphic("tenseal", "homomorphic, CKKS", "TenSEAL"),
        SecureAggregation(),
        Masked("tacit affine", AffineMasks(sigma)),
        Masked("tacit quadratic", QuadraticMasks(sigma)),
        Masked("tacit whole", SumMasks()),
        *_with_private_answers(sigma, epsilon),
    )


def _with_private_answers(sigma: float, epsilon: float) -> Iterator[Approach]:
    """Yield masks that leave a small noise in the answer, of those kinds that take such a promise."""
    for name, masks in (("tacit affine", AffineMasks(sigma)), ("tacit whole", SumMasks())):
        if takes_promises(type(masks)):
            yield PrivateAnswer(f"{name}, private answer", masks, epsilon)


def chosen_from(every: Sequence[Approach], only: Sequence[str] | None) -> list[Approach]:
    """Return those with a name in *only*, or whose name begins so; all where nothing is named."""
    if only is None:
        return list(every)
    names = [approach.name for approach in every]
    for name in only:
        if not any(each.startswith(name) for each in names):
            raise InputError(
                f"no approach is called {name!r}; choose among {', '.join(names)}.{did_you_mean(name, names)}"
            )
    return [approach for approach in every if any(approach.name.startswith(name) for name in only)]
