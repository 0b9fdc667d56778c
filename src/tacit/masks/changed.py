"""The same masks with one setting changed, whatever their class."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from tacit.differential import DifferentialPrivacy
from tacit.errors import InputError
from tacit.masks.basis import AffineMasks
from tacit.masks.drawing import Once
from tacit.masks.mechanism import Mechanism

M = TypeVar("M", bound=Mechanism)


def with_sigma(masks: Mechanism | None, sigma: float) -> Mechanism:
    """Return the same masks with another σ; affine ones where there were none."""
    return AffineMasks(sigma) if masks is None else _replaced(masks, sigma=sigma)


def with_seed(masks: M, seed: int | None) -> M:
    """Return the same masks from a seed, for simulations: NOT PRIVATE; real ones where it is None."""
    return _replaced(masks, seed=seed)


def with_answer(masks: M, promise: DifferentialPrivacy | None) -> M:
    """Return the same masks with a promise about the answer; exact answers where it is None."""
    return _replaced(masks, answer=promise)


def with_equal_links(masks: Once) -> Once:
    """Return the same masks, equally wide on every link."""
    return _replaced(masks, link_scales=())


def has_setting(masks: Mechanism, name: str) -> bool:
    """Tell whether *masks* are a dataclass with a field of that name."""
    return is_dataclass(masks) and name in (field.name for field in fields(masks))


def _replaced(masks: M, **settings: Any) -> M:
    missing = [name for name in settings if not has_setting(masks, name)]
    if missing:
        raise InputError(
            f"{type(masks).__name__} has no setting {missing[0]!r} that could be changed; make it a dataclass with "
            "that field."
        )
    return cast(M, replace(cast(Any, masks), **settings))
