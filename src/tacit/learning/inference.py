"""Standard errors, tests and intervals from the summed Hessian.

    G = Σ_i ∇²ℓ_i(x̂)                    the parties' losses at the fit: one more sum
    A = G + penalty
    cov(x̂) = φ A⁻¹ G A⁻¹                 φ = 1; of linear models the residual variance, from a sum too

Without a penalty this is φ G⁻¹, as every statistics package prints it. With one it is the variance of the penalised
estimate, without its bias (le Cessie & van Houwelingen, *Ridge estimators in logistic regression*, Appl. Statist.
41(1), 1992). A lasso and Huber's regression have none of it here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.later import later
from tacit.showing import Shown, frame
from tacit.typing import Array

if TYPE_CHECKING:
    from scipy import special
else:
    special = later("scipy.special")  # not scipy.stats, which takes as much memory as all the rest of an agent

_SINGULAR = 1e-13


@dataclass(frozen=True, slots=True)
class Summary(Shown):
    """A fitted model as a table: public things only."""

    model: str
    names: tuple[str, ...]
    coefficients: Array
    standard_errors: Array
    """NaN where the model has none."""
    freedom: float
    """Of Student's t; infinite where the normal distribution is used."""
    observations: int | None
    """None where nobody has counted them."""
    parties: int
    facts: tuple[tuple[str, float], ...] = ()
    notes: tuple[str, ...] = ()
    """What the records do not determine, in sentences."""

    @property
    def statistic(self) -> Array:
        """Coefficient over standard error."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.coefficients / self.standard_errors)

    @property
    def p_values(self) -> Array:
        """How often chance alone would bring as much, from either side."""
        below = -np.abs(self.statistic)
        beyond = special.ndtr(below) if np.isinf(self.freedom) else special.stdtr(self.freedom, below)
        return np.asarray(2.0 * beyond)

    def intervals(self, level: float = 0.95) -> Array:
        """Return the confidence intervals, (…, 2)."""
        within = 0.5 + level / 2.0
        most = special.ndtri(within) if np.isinf(self.freedom) else special.stdtrit(self.freedom, within)
        reach = most * self.standard_errors
        return np.column_stack([self.coefficients - reach, self.coefficients + reach])

    @property
    def has_errors(self) -> bool:
        """Whether the model has standard errors."""
        return bool(np.isfinite(self.standard_errors).any())

    def to_dict(self) -> dict[str, Any]:
        """Return everything for JSON; None where there is no number."""
        low, high = self.intervals().T
        columns = {
            "coef": self.coefficients, "std_err": self.standard_errors, "statistic": self.statistic,
            "p_value": self.p_values, "low": low, "high": high,
        }  # fmt: skip
        rows = [
            {"name": name, **{key: _number(column[k]) for key, column in columns.items()}}
            for k, name in enumerate(self.names)
        ]
        facts = {name: _number(value) for name, value in self.facts}
        return {
            "model": self.model, "observations": self.observations, "parties": self.parties, **facts,
            "distribution": "z" if np.isinf(self.freedom) else "t", "coefficients": rows,
            "notes": list(self.notes),
        }  # fmt: skip

    def to_frame(self) -> Any:
        """Return the coefficients as a table of pandas."""
        return frame(self.to_dict()["coefficients"], "name")

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """Return the table as one prints it, like statsmodels."""
        facts = [] if self.observations is None else [("Observations", f"{self.observations}")]
        facts += [("Parties", f"{self.parties}")]
        facts += [(name, f"{value:.5g}") for name, value in self.facts]
        letter = "z" if np.isinf(self.freedom) else "t"
        heads = ["", "coef", "std err", letter, f"P>|{letter}|", "[0.025", "0.975]"]
        cells = [[name, f"{value:.6g}"] for name, value in zip(self.names, self.coefficients, strict=True)]
        if self.has_errors:
            columns = (self.standard_errors, self.statistic, self.p_values, *self.intervals().T)
            for row, numbers in zip(cells, zip(*columns, strict=True), strict=True):
                formats = (".6g", ".3f", ".3f", ".6g", ".6g")
                row += [format(number, how) for number, how in zip(numbers, formats, strict=True)]
        else:
            heads = heads[:2]
        widths = [max(len(row[k]) for row in [heads, *cells]) for k in range(len(heads))]
        table = [_row(row, widths) for row in [heads, *cells]]
        rule = "-" * len(table[0])
        line = "   ".join(f"{name}: {value}" for name, value in facts)
        return [self.model, line, rule, table[0], rule, *table[1:], rule, *(f"Note: {note}" for note in self.notes)]


def covariance(G: Array, penalty: Array, dispersion: float) -> Array:
    """Return φ A⁻¹ G A⁻¹; NaN where A has no inverse."""
    A = G + np.diag(penalty)
    if not np.isfinite(A).all():
        return np.full_like(A, np.nan)
    size = np.sqrt(np.maximum(np.diag(A), np.finfo(float).tiny))
    scaled = A / np.outer(size, size)
    values = np.linalg.eigvalsh(scaled)
    if not values[0] > _SINGULAR * len(values) * values[-1]:
        return np.full_like(A, np.nan)
    inverse = np.linalg.inv(scaled) / np.outer(size, size)
    return np.asarray(dispersion * (inverse @ G @ inverse))


def deviations(turn: Array, spread: Array) -> Array:
    """Return the standard errors of turn·x, where x has this covariance."""
    return np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", turn, spread, turn), 0.0))


def named(columns: Sequence[str], *, intercept: bool) -> tuple[str, ...]:
    """Return the names of the unknowns; an intercept comes last, as in x."""
    return (*columns, "(intercept)") if intercept else tuple(columns)


def _number(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(
        [f"{cells[0]:<{widths[0]}}", *(f"{c:>{w}}" for c, w in zip(cells[1:], widths[1:], strict=True))]
    )
