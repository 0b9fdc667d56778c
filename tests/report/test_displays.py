"""Displays as scikit-learn has them, from what fitting has left."""

import pytest

import tacit
from tacit.report import CoefficientsDisplay, ConvergenceDisplay


def test_a_display_is_made_from_an_estimator_and_drawn_again(model):
    display = CoefficientsDisplay.from_estimator(model)
    assert display.figure_.layout.xaxis.title.text == "coefficient, 95 % interval"
    assert display.plot(ratios=True, level=0.9) is display
    assert display.figure_.layout.xaxis.title.text == "odds ratio, 90 % interval"
    assert "intervals leave out" in repr(display)
    same = CoefficientsDisplay.from_summary(model.summary_)
    assert same.figure_ == CoefficientsDisplay.from_estimator(model).figure_


def test_runs_are_displayed_alone_and_side_by_side(model, answer):
    assert "rounds" in repr(ConvergenceDisplay.from_estimator(model).plot()) or "round" in repr(model.answer_)
    both = ConvergenceDisplay.from_answers({"one": answer, "other": answer})
    assert [trace.name for trace in both.figure_.data] == ["one", "other"]


def test_what_is_not_fitted_is_refused():
    from tacit.learning import PrivateRidge

    for display in (CoefficientsDisplay, ConvergenceDisplay):
        with pytest.raises(tacit.TacitError, match="not fitted yet"):
            display.from_estimator(PrivateRidge())


def test_a_notebook_shows_a_display_without_fetching(model):
    shown = CoefficientsDisplay.from_estimator(model)._repr_mimebundle_()
    assert shown is not None
