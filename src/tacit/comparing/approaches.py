"""All approaches that are compared, by name."""

from __future__ import annotations

from collections.abc import Sequence

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
)
from tacit.errors import InputError
from tacit.masks import AffineMasks, QuadraticMasks, SumMasks
from tacit.spelling import did_you_mean


def approaches(*, sigma: float = 1e3, epsilon: float = 1.0) -> tuple[Approach, ...]:
    """Return every approach, with masks of deviation *sigma* and noise for a budget of *epsilon*."""
    affine, quadratic, whole = AffineMasks(sigma), QuadraticMasks(sigma), SumMasks()
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
        Masked("tacit affine", affine),
        Masked("tacit quadratic", quadratic),
        Masked("tacit whole", whole),
        PrivateAnswer("tacit affine, private answer", affine, epsilon),
        PrivateAnswer("tacit quadratic, private answer", quadratic, epsilon),
        PrivateAnswer("tacit whole, private answer", whole, epsilon),
    )


def chosen_from(every: Sequence[Approach], only: Sequence[str] | None) -> list[Approach]:
    """Return those with a name in *only*, or, where none is called so, begins so; all where nothing is named."""
    if only is None:
        return list(every)
    names = [approach.name for approach in every]
    for name in only:
        if not any(each.startswith(name) for each in names):
            raise InputError(
                f"no approach is called {name!r}; choose among {', '.join(names)}.{did_you_mean(name, names)}"
            )
    wanted = {
        each for name in only for each in names if each == name or (name not in names and each.startswith(name))
    }
    return [approach for approach in every if approach.name in wanted]
