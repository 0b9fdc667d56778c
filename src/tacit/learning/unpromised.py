"""What estimators say where somebody asks for a promise that they cannot keep, or forgets a part of it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from tacit.errors import InputError
from tacit.listing import conjoined

_OF_A_PROMISE = ("epsilon", "delta", "clip", "labels", "limits", "records")


def refuse_promise(kind: type, settings: Mapping[str, Any]) -> None:
    """Refuse settings of a promise that an estimator has no place for."""
    known = inspect.signature(kind.__init__).parameters  # type: ignore[misc]
    misplaced = [name for name in ("epsilon", "delta", "clip") if name in settings and name not in known]
    if misplaced:
        raise InputError(
            f"{conjoined(misplaced)}: no answer of this estimator is promised to be private, as it has no bounded "
            "sensitivity or adds exact numbers up; logistic and ridge regressions and the standard scaler take a "
            "promise."
        )


def refuse_without_epsilon(model: Any) -> None:
    """Refuse the rest of a promise without its epsilon: the answer would be exact, and nobody would know."""
    given = [name for name in _OF_A_PROMISE[1:] if getattr(model, name, None) is not None]
    if given:
        raise InputError(
            f"{conjoined(given)} belong{'s' * (len(given) == 1)} to a promise about the answer, and epsilon is "
            "missing: the answer would be exact."
        )
