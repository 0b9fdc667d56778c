"""What a fit tells, to whom, and that it is written down."""

import pickle

import networkx as nx
import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.model_selection import LeaveOneGroupOut, cross_val_score

from tacit import AffineMasks, Ledger, SumMasks
from tacit.errors import InputError, RefusedError
from tacit.learning import (
    PrivateHuberRegressor,
    PrivateLasso,
    PrivateLinearRegression,
    PrivateLogisticRegression,
    PrivatePoissonRegressor,
    PrivateRidge,
    PrivateStandardScaler,
)
from tacit.runtimes import Stacked
from tacit.solving.solve import NotPrivateWarning

MODELS = [
    PrivateLinearRegression(), PrivateLasso(alpha=0.1), PrivateLogisticRegression(), PrivatePoissonRegressor(),
    PrivateHuberRegressor(), PrivateStandardScaler(),
]  # fmt: skip


@pytest.fixture
def records():
    X, y = load_diabetes(return_X_y=True)
    return (
        X[:120, :4],
        (y[:120] > 120).astype(float),
        np.repeat(["north", "south", "east", "west"], [60, 1, 39, 20]),
    )


@pytest.fixture
def summed(monkeypatch):
    """Keep everything that the parties put on the network."""
    kept, original = [], Stacked.sum

    def sum_(self, v, add=np.add):
        kept.append(v.copy())
        return original(self, v, add)

    monkeypatch.setattr(Stacked, "sum", sum_)
    for verb in ("mix", "gather"):
        monkeypatch.setattr(Stacked, verb, lambda *_: pytest.fail("nothing is gossiped"))
    return kept


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_nothing_but_masked_words_is_added_up(model, records, summed):
    """Every sum, of moments, counts, costs and Hessians: words of 64 bits, never the same twice."""
    X, y, groups = records
    model.fit(X, y, groups=groups)
    first, count = list(summed), len(summed)
    assert count >= 2
    assert all(v.dtype == np.uint64 for v in first)
    summed.clear()
    model.fit(X, y, groups=groups)
    assert len(summed) == count
    for before, after in zip(first, summed, strict=True):
        assert (before != after).mean() > 0.99, "the same numbers, under other masks"
        assert (before.sum(axis=0) == after.sum(axis=0))[::2].all(), "and the same lower words in the sum"


def test_without_masks_a_party_of_one_record_is_read_off(records, summed):
    """The other way round: the test above can fail."""
    X, y, groups = records
    PrivateLinearRegression(privacy=None).fit(X, y, groups=groups)
    south = summed[0][1]
    np.testing.assert_array_equal(south[:4], X[groups == "south"][0])


@pytest.mark.parametrize("runtime", ["agents", "stacked"])
def test_masks_and_runtimes_leave_the_model_as_it_is(runtime, records):
    X, y, groups = records
    plain = PrivateLogisticRegression(privacy=None).fit(X, y, groups=groups)
    masked = PrivateLogisticRegression(runtime=runtime).fit(X, y, groups=groups)
    np.testing.assert_allclose(masked.coef_, plain.coef_, atol=1e-12)
    np.testing.assert_allclose(masked.standard_errors_, plain.standard_errors_, rtol=1e-10)
    assert plain.certificate_ is None
    assert plain.ledger_.release is None


def test_every_party_as_a_process(records):
    X, y, groups = records
    together = PrivateRidge().fit(X, y, groups=groups)
    apart = PrivateRidge(runtime="peers").fit(X, y, groups=groups)
    np.testing.assert_array_equal(apart.coef_, together.coef_)
    np.testing.assert_array_equal(apart.standard_errors_, together.standard_errors_)
    assert apart.answer_.record.runtime == "peers"


def test_gaussian_masks_for_labels(records):
    """The features are then in the open, and the certificate has an ε."""
    X, y, groups = records
    model = PrivateLogisticRegression(C=0.1, privacy=AffineMasks(sigma=100.0)).fit(X, y, groups=groups)
    reference = PrivateLogisticRegression(C=0.1).fit(X, y, groups=groups)
    np.testing.assert_allclose(model.coef_, reference.coef_, atol=1e-5)
    assert 0 < model.certificate_.epsilon < np.inf
    assert model.ledger_.release.sigmas == (100.0,)


def test_certificates(records):
    X, y, groups = records
    model = PrivateRidge(any=2).fit(X, y, groups=groups)
    assert model.certificate_.guards == 2
    assert model.certificate_.is_perfect
    assert model.certificate_.is_private
    with pytest.warns(
        NotPrivateWarning, match="NOT PRIVATE: An observer who controls agents .* learns the .* exactly"
    ):
        ring = PrivateRidge(any=2, network=nx.cycle_graph(["north", "south", "east", "west"])).fit(
            X, y, groups=groups
        )
    assert not ring.certificate_.is_private


@pytest.mark.parametrize("model", [PrivateRidge(), PrivateStandardScaler()], ids=repr)
def test_two_parties_cannot_hide(model, records):
    X, y, groups = records
    with pytest.warns(NotPrivateWarning, match="NOT PRIVATE: of two"):
        model.fit(X, y, groups=np.where(groups == "north", "north", "south"))
    assert model.certificate_ is None


def test_seeds_are_stamped(records):
    X, y, groups = records
    with pytest.warns(NotPrivateWarning, match="NOT PRIVATE: the masks come from a seed"):
        PrivateRidge(privacy=SumMasks(seed=1, bound=2.0**40, words=2)).fit(X, y, groups=groups)


@pytest.mark.parametrize(
    ("network", "degree"), [("auto", 4), ("complete", 19), ("4-regular", 4), ("6-regular", 6), ("30-regular", 19)]
)
def test_networks(network, degree, records):
    X, y, _ = records
    model = PrivateRidge(network=network).fit(X, y, groups=np.arange(120) % 20)
    release = model.ledger_.release
    assert len(release.links) == 20 * degree / 2
    more = PrivateRidge(any=4).fit(X, y, groups=np.arange(120) % 20)
    assert len(more.ledger_.release.links) == 100, "more links against more colluders"
    assert more.certificate_.is_private


def test_a_network_of_other_parties_is_refused(records):
    X, y, groups = records
    with pytest.raises(InputError, match="lacks party east and has moon"):
        PrivateRidge(network=nx.complete_graph(["north", "south", "moon", "west"])).fit(X, y, groups=groups)
    with pytest.raises(InputError, match="cannot all have 3 neighbours"):
        PrivateRidge(network="3-regular").fit(X, y, groups=np.arange(120) % 7)


def test_the_account_says_what_was_told(records):
    X, y, groups = records
    account = PrivateLogisticRegression().fit(X, y, groups=groups).ledger_
    said = str(account)
    assert said.count("\n") == 4
    assert "number of records of every class (2 numbers, 1 sum)" in said
    assert "values, gradients and Hessians" in said
    assert pickle.loads(pickle.dumps(account)) == account  # noqa: S301


def test_a_ledger_refuses_to_expose_a_party_by_subtraction(records, tmp_path):
    """Cross-validation by party fits without one party, then with it: the difference is that party's sums."""
    X, y, groups = records
    book = tmp_path / "north.ledger"
    PrivateRidge(ledger=book).fit(X, y, groups=groups)
    PrivateRidge(ledger=book).fit(X, y, groups=groups)
    with Ledger(book) as ledger:
        assert len(ledger.entries()) == 2
    here = groups != "south"
    with pytest.raises(RefusedError, match="exposed: agent south"):
        PrivateRidge(ledger=book).fit(X[here], y[here], groups=groups[here])
    with Ledger(book) as ledger:
        assert len(ledger.entries()) == 2, "what was refused was not added up"
    without = cross_val_score(
        PrivateRidge(), X, y, groups=groups, cv=LeaveOneGroupOut(), scoring="neg_mean_squared_error"
    )
    assert np.isfinite(without).all()
