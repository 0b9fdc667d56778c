"""Display objects as scikit-learn has them: made from an estimator, drawn by `plot`, shown by a notebook.

A display keeps what it is drawn from; `CoefficientsDisplay.from_estimator(model).figure_` is the figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import plotly.graph_objects as go

from tacit.errors import InputError
from tacit.report.figures.coefficients import coefficients
from tacit.report.figures.convergence import convergence

if TYPE_CHECKING:
    from tacit.learning import Summary
    from tacit.solving import Answer, RunRecord


class _Display:
    """A figure of plotly that shows itself."""

    figure_: go.Figure
    """The figure, once it is drawn."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return self.figure_._repr_mimebundle_(include, exclude)

    def _repr_html_(self) -> str | None:
        return self.figure_._repr_html_()

    def __repr__(self) -> str:
        title = self.figure_.layout.title.text.replace("<br>", " ")
        return f"<{type(self).__name__}: {title}>"


class CoefficientsDisplay(_Display):
    """Coefficients with their intervals: a forest."""

    def __init__(self, summary: Summary) -> None:
        self.summary = summary
        self.figure_ = coefficients(summary)

    @classmethod
    def from_estimator(cls, estimator: Any, *, level: float = 0.95, ratios: bool = False) -> Self:
        """Return the display of a fitted estimator, drawn."""
        return cls(_of_fitted(estimator, "summary_")).plot(level=level, ratios=ratios)

    @classmethod
    def from_summary(cls, summary: Summary, *, level: float = 0.95, ratios: bool = False) -> Self:
        """Return the display of a table of coefficients, drawn."""
        return cls(summary).plot(level=level, ratios=ratios)

    def plot(self, *, level: float = 0.95, ratios: bool = False) -> Self:
        """Draw: intervals of this *level*, and as *ratios* exp(coef), such as odds ratios."""
        self.figure_ = coefficients(self.summary, level=level, ratios=ratios)
        return self


class ConvergenceDisplay(_Display):
    """How error and disagreement fell; of several runs, the error of each."""

    def __init__(self, runs: Answer | RunRecord | Mapping[str, Answer | RunRecord]) -> None:
        self.runs = runs
        self.figure_ = convergence(runs)

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """Return the display of the run that fitted an estimator."""
        return cls(_of_fitted(estimator, "answer_"))

    @classmethod
    def from_answers(cls, runs: Answer | RunRecord | Mapping[str, Answer | RunRecord]) -> Self:
        """Return the display of an answer, or of several by name."""
        return cls(runs)

    def plot(self) -> Self:
        """Draw again."""
        self.figure_ = convergence(self.runs)
        return self


def _of_fitted(estimator: Any, attribute: str) -> Any:
    """Return what fitting has left on an estimator."""
    fitted = getattr(estimator, attribute, None)
    if fitted is None:
        raise InputError("the estimator is not fitted yet: fit it first, then draw it.")
    return fitted
