"""What a fit tells, whatever the masks: few records, and columns that one party alone has."""

import numpy as np
import pytest

from tacit.learning import PrivateLogisticRegression, PrivateRidge
from tacit.solving.solve import NotPrivateWarning


def records(n, p, parties, *, seed=0):
    rng = np.random.default_rng(seed)
    X, groups = rng.normal(size=(n, p)), np.arange(n) % parties
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(float), groups


@pytest.mark.parametrize(("sites", "words"), [(1, "one party alone has"), (2, "two parties alone have")])
def test_a_dummy_of_one_or_two_sites_makes_its_sums_their_own(sites, words):
    X, y, groups = records(150, 2, 5)
    X = np.column_stack([X, groups < sites])
    with pytest.warns(NotPrivateWarning, match=words):
        model = PrivateRidge().fit(X, y, groups=groups)
    stamps = [stamp for stamp in model.answer_.record.stamps if stamp.reason == "own column"]
    assert len(stamps) == 1
    assert "'x2'" in stamps[0].sentence
    assert stamps[0].agents == ()  # the count does not tell who
    assert not model.certificate_.is_private
    assert "NOT PRIVATE" in model.certificate_.statement()


def test_the_count_of_parties_that_have_a_column_is_in_the_account():
    X, y, groups = records(150, 3, 5)
    model = PrivateRidge().fit(X, y, groups=groups)
    assert "how many parties have each column (1 sum of 3 numbers)" in str(model.ledger_)
    assert model.certificate_.is_private
    assert model.answer_.record.stamps == []


def test_two_parties_and_plain_fits_count_no_columns():
    X, y, groups = records(40, 2, 4)
    assert "how many parties" not in str(PrivateRidge(privacy=None).fit(X, y, groups=groups).ledger_)


def test_all_sums_of_a_fit_count_and_those_of_squares_add_up_to_moments():
    """Means, variances and Hessians of a least-squares fit are made of the same moments, and one more of the labels."""
    X, y, groups = records(60, 3, 5)
    tells = PrivateRidge().fit(X, y, groups=groups).answer_.record.tells
    assert tells.hidden == 48 * 4
    assert tells.numbers == 10 + 4 + 1
    model = PrivateLogisticRegression().fit(X, y, groups=groups)
    told = sum(line.total for line in model.ledger_.sums)
    assert model.answer_.record.tells.numbers == told


def test_twelve_records_are_told_by_a_logistic_fit_and_the_certificate_says_so():
    X, y, groups = records(12, 3, 4)
    with pytest.warns(NotPrivateWarning, match="follow from the sums"):
        model = PrivateLogisticRegression().fit(X, y, groups=groups)
    assert not model.answer_.record.private
    assert not model.certificate_.is_private
