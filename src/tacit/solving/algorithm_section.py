"""The [algorithm] section of both files: a name, the weights that agents mix with, and settings.

A problem file may leave the choice, and the settings, to tacit; members of a federation agree on all of them
beforehand. Misspelt names and settings are refused alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from typing import Any, NamedTuple

import msgspec
import numpy as np

from tacit.algorithms import ALGORITHMS, ERRANDS, AnyAlgorithm, Standardised, Total
from tacit.errors import AlgorithmError
from tacit.fields import misfit
from tacit.network import WEIGHTS
from tacit.spelling import did_you_mean

Agreed = AnyAlgorithm | Standardised | Total


class Chosen(NamedTuple):
    """What the section of a problem file says."""

    algorithm: str | AnyAlgorithm
    """The name, or the settings where the file gives any."""
    weights: str | None
    tree: bool
    """Whether sums over a spanning tree are allowed."""


def chosen(section: Mapping[str, Any]) -> Chosen:
    """Return what a problem file asks for: settings are positive numbers, and come with a name."""
    settings = dict(section)
    name, weights = str(settings.pop("name", "auto")), settings.pop("weights", None)
    tree = settings.pop("tree", True)
    if not isinstance(tree, bool):
        raise AlgorithmError(f"[algorithm] tree = {tree!r} must be true or false.")
    if not settings:
        return Chosen(name, weights, tree)
    if name not in ALGORITHMS:
        raise AlgorithmError(
            f"[algorithm] {', '.join(settings)} need a name, one of {', '.join(ALGORITHMS)}."
            f"{did_you_mean(name, ALGORITHMS)}"
        )
    known = {f.name for f in fields(ALGORITHMS[name]) if f.type in ("float", float, "int", int)}
    if not known or not known >= {f.name for f in fields(ALGORITHMS[name]) if f.default is MISSING}:
        raise AlgorithmError(
            f"[algorithm] {name} tunes itself from the costs and the network; remove {', '.join(settings)}."
        )
    _refuse_unknown(name, settings, known)
    bad = [key for key, value in settings.items() if not _is_positive(value)]
    if bad:
        raise AlgorithmError(f"[algorithm] {bad[0]} = {settings[bad[0]]!r} must be a positive number.")
    try:
        return Chosen(ALGORITHMS[name](**settings), weights, tree)
    except TypeError as error:
        missing = sorted(known - set(settings))
        raise AlgorithmError(f"[algorithm] {name} needs {', '.join(missing)} too.") from error


def agreed(section: Mapping[str, Any]) -> tuple[Agreed, str]:
    """Return the algorithm that all members run, with all its settings, and the weights that they mix with."""
    settings = dict(section)
    name, weights = settings.pop("name", None), settings.pop("weights", None)
    known: dict[str, type[Agreed]] = {**ALGORITHMS, **ERRANDS}
    if name not in known:
        meant = did_you_mean(name, ALGORITHMS)
        raise AlgorithmError(f"[algorithm] name = {name!r} must be one of {', '.join(ALGORITHMS)}.{meant}")
    _refuse_unknown(name, settings, [f.name for f in fields(known[name])])
    try:
        algorithm = msgspec.convert(settings, known[name])
    except msgspec.ValidationError as error:
        raise AlgorithmError(f"[algorithm] {name}: {misfit(settings, known[name])}") from error
    return algorithm, weights_called(weights) or algorithm.weights


def weights_called(name: str | None) -> str | None:
    """Return the name of mixing weights, or None for those that the algorithm prefers; refuse any other."""
    if name is not None and name not in WEIGHTS:
        raise AlgorithmError(
            f"no weights are called {name!r}; choose one of {', '.join(WEIGHTS)}.{did_you_mean(name, WEIGHTS)}"
        )
    return name


def _refuse_unknown(name: str, settings: Mapping[str, Any], known: Iterable[str]) -> None:
    names = sorted(known)
    unknown = sorted(set(settings) - set(names))
    if unknown:
        has = f"it has {', '.join(names)}" if names else "it has none"
        raise AlgorithmError(
            f"[algorithm] {name} has no setting {unknown[0]!r}; {has}.{did_you_mean(unknown[0], names)}"
        )


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and bool(np.isfinite(value)) and value > 0
