"""What a fit tells, to whom, and that it is written down."""

import contextlib
import pickle

import networkx as nx
import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_diabetes
from sklearn.model_selection import LeaveOneGroupOut, LeaveOneOut, cross_val_score

import tacit
from tacit import AffineMasks, Ledger, SumMasks
from tacit.errors import InputError, LedgerError, ProtectionError, RefusedError
from tacit.learning import (
    PrivateHuberRegressor,
    PrivateLasso,
    PrivateLinearRegression,
    PrivateLogisticRegression,
    PrivatePoissonRegressor,
    PrivateRidge,
    PrivateStandardScaler,
)
from tacit.learning.assembly import Assembly
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
    assert said.count("\n") == 5
    assert "number of records of every class (1 sum of 2 numbers)" in said
    assert "values, gradients and Hessians" in said
    assert " sums of 21 numbers, " in said, "a value, five of the gradient and fifteen of the Hessian"
    assert pickle.loads(pickle.dumps(account)) == account  # noqa: S301


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_account_counts_every_number_that_was_told(model, records, summed):
    """Beside what the network added up, in words of 128 bits: with a complaint each, and weights of penalties."""
    X, y, groups = records
    account = model.fit(X, y, groups=groups).ledger_
    assert sum(line.sums for line in account.sums) == len(summed)
    penalties = 2 * 5 if isinstance(model, PrivateHuberRegressor) else 0  # of the least squares to start from
    if hasattr(model, "answer_"):
        penalties += 2 * model.answer_.record.unknowns * model.n_iter_
    assert sum(line.total for line in account.sums) == sum(v.shape[1] // 2 - 1 for v in summed) - penalties


def test_a_ledger_refuses_to_tell_a_record_by_subtraction(records, tmp_path, summed):
    """Leave one record out, and the difference of the sums that all are told is that record, label included."""
    X, y, groups = records
    X, book = X * 100.0, tmp_path / "all.ledger"
    PrivateRidge(ledger=book).fit(X, y, groups=groups)
    keep = np.arange(len(X)) != 7
    with pytest.raises(RefusedError, match="what changed at agent north between run PrivateRidge") as refusal:
        PrivateRidge(ledger=book).fit(X[keep], y[keep], groups=groups[keep])
    assert "leave-one-out and cross-validation" in str(refusal.value)
    with pytest.raises(RefusedError, match="what changed at agent north"):
        PrivateRidge(ledger=book, accept_changes=["south"]).fit(X[keep], y[keep], groups=groups[keep])
    with Ledger(book) as ledger:
        assert len(ledger.entries()) == 1
    # why: what everybody would have had
    first, second = [], []
    for rows, told in ((slice(None), first), (keep, second)):
        summed.clear()
        PrivateRidge(privacy=None).fit(X[rows], y[rows], groups=groups[rows])
        told.append(summed[0].sum(axis=0))
    np.testing.assert_allclose(first[0] - second[0], [*X[7], y[7], 1.0], atol=1e-9)


def test_an_accepted_change_is_stamped_in_the_record(records, tmp_path):
    X, y, groups = records
    book = tmp_path / "all.ledger"
    PrivateRidge(ledger=book).fit(X, y, groups=groups)
    keep = np.arange(len(X)) != 7
    with pytest.warns(NotPrivateWarning, match="NOT PRIVATE: exposed: what changed at agent north"):
        model = PrivateRidge(ledger=book, accept_changes="north").fit(X[keep], y[keep], groups=groups[keep])
    (stamp,) = model.ledger_.stamps
    assert (stamp.reason, stamp.agents, stamp.voids) == ("history", ("north",), True)
    assert stamp in model.answer_.record.stamps
    assert not model.answer_.record.private
    PrivateRidge(ledger=book).fit(X[keep], y[keep], groups=groups[keep])


def test_the_same_records_are_the_same_in_any_order_and_in_every_model(records, tmp_path):
    X, y, groups = records
    order = np.random.default_rng(0).permutation(len(X))
    for model in (PrivateRidge, PrivateHuberRegressor, PrivateLogisticRegression):
        model(ledger=tmp_path / "all.ledger").fit(X, y, groups=groups)
        model(ledger=tmp_path / "all.ledger").fit(X[order], y[order], groups=groups[order])
    PrivateStandardScaler(ledger=tmp_path / "all.ledger").fit(X, groups=groups)
    with Ledger(tmp_path / "all.ledger") as ledger:
        assert len(ledger.entries()) == 7
        assert ledger.exposed() == ()


@pytest.mark.parametrize(
    "how", ["fewer columns", "another model", "scaled columns", "the scaler", "columns in another order"]
)
def test_a_record_left_out_is_noticed_behind_other_changes(how, records, tmp_path):
    pd = pytest.importorskip("pandas")
    X, y, groups = records
    X, book, keep = pd.DataFrame(X, columns=list("abcd")), tmp_path / "all.ledger", np.arange(len(X)) != 7
    PrivateRidge(ledger=book).fit(X, y, groups=groups)
    model, fewer = PrivateRidge(ledger=book), X[keep]
    if how == "fewer columns":
        fewer = fewer[["a", "c"]]
    elif how == "another model":
        model = PrivateLogisticRegression(ledger=book)
    elif how == "scaled columns":
        fewer = fewer * 10.0
    elif how == "the scaler":
        model = PrivateStandardScaler(ledger=book)
    else:
        fewer = fewer[list("dbca")]
    with pytest.raises(RefusedError, match="what changed at agent north"):
        model.fit(fewer, y[keep], groups=groups[keep])


def test_the_ledger_holds_no_record_and_its_key_is_the_owners_alone(records, tmp_path):
    X, y, groups = records
    for name in ("one", "two"):
        PrivateRidge(ledger=tmp_path / name).fit(X, y, groups=groups)
    one, two = (Ledger(tmp_path / name) for name in ("one", "two"))
    versions = [{v for *_, v in book.entries()[0].release.versions} for book in (one, two)]
    assert not versions[0] & versions[1], "digests under another key are others"
    one.close()
    two.close()
    key = tmp_path / "one.key"
    assert key.stat().st_mode & 0o777 == 0o600
    secret = key.read_bytes()
    for file in tmp_path.iterdir():
        assert file == key or (secret not in file.read_bytes() and secret.hex().encode() not in file.read_bytes())
    key.chmod(0o644)
    with pytest.raises(InputError, match="others can read it"):
        PrivateRidge(ledger=tmp_path / "one").fit(X, y, groups=groups)
    key.unlink()
    with pytest.raises(LedgerError, match="one.key: is missing"):
        PrivateRidge(ledger=tmp_path / "one").fit(X, y, groups=groups)
    key.write_bytes((tmp_path / "two.key").read_bytes())
    key.chmod(0o600)
    with pytest.raises(LedgerError, match="is not the key of the digests in one"):
        PrivateRidge(ledger=tmp_path / "one").fit(X, y, groups=groups)


def test_a_ledger_counts_every_draw_of_gaussian_masks(tmp_path):
    """A model that is fitted in two steps shows effective costs twice; the second is refused where it costs too much."""
    names, rng = ["north", "south", "east", "west"], np.random.default_rng(0)
    costs = [tacit.LeastSquares(rng.normal(size=(9, 2)), rng.normal(size=9)) for _ in names]
    epsilon = tacit.certify(nx.complete_graph(4), any=1, sigma=50.0).epsilon
    records = {name: {"y": rng.normal(size=9)} for name in names}
    for budget in (None, 1.5 * epsilon):
        book = tmp_path / f"budget {budget}"
        Ledger(book, any=1, budget=budget).close()
        parties = Assembly(names, privacy=AffineMasks(50.0), ledger=book, records=records)
        parties.solve(costs, "one step", x0=np.zeros(2), tol=1e-6, max_iter=50)
        with contextlib.nullcontext() if budget is None else pytest.raises(RefusedError, match="above the budget"):
            parties.solve(costs, "and another", x0=np.zeros(2), tol=1e-6, max_iter=50)
        with Ledger(book) as ledger:
            assert [entry.epsilon for entry in ledger.entries()] == pytest.approx(
                [epsilon] * (2 if budget is None else 1)
            )


def test_a_ledger_counts_the_scales_of_links(records, tmp_path):
    X, y, groups = records
    network = nx.complete_graph(["north", "south", "east", "west"])
    masks = AffineMasks(50.0, link_scales=dict.fromkeys(network.edges, 0.1))
    model = PrivateRidge(privacy=masks, network=network, ledger=tmp_path / "book").fit(X, y, groups=groups)
    with Ledger(tmp_path / "book") as book:
        assert book.entries()[0].epsilon == pytest.approx(model.certificate_.epsilon)
        assert len(book.entries()[0].release.link_scales) == 6


def test_a_fit_that_masks_would_not_hide_is_refused_before_anything_is_entered(records, tmp_path):
    """Huber's loss starts from least squares, which would be released before its own kinks are refused."""
    X, y, groups = records
    with pytest.raises(ProtectionError, match="nothing of the labels b, which the kinks of the cost tell"):
        PrivateHuberRegressor(privacy=AffineMasks(50.0), ledger=tmp_path / "book").fit(X, y, groups=groups)
    assert not (tmp_path / "book").exists()


@pytest.mark.parametrize(
    ("privacy", "why"), [(None, "nothing is hidden"), (SumMasks(seed=1, words=2), "from a seed")]
)
def test_a_ledger_takes_nothing_that_hides_nothing(privacy, why, records, tmp_path):
    X, y, groups = records
    with pytest.raises(RefusedError, match=why):
        PrivateRidge(privacy=privacy, ledger=tmp_path / "book").fit(X, y, groups=groups)


@pytest.mark.parametrize("model", [PrivateRidge, PrivateStandardScaler])
def test_a_ledger_needs_parties_that_exist(model, records, tmp_path):
    """Rows that are dealt out go to others when one is left out: everybody seems to have changed, and nobody has."""
    X, y, _ = records
    with pytest.raises(InputError, match="name the party of every row"):
        model(ledger=tmp_path / "book").fit(X, y)
    assert not (tmp_path / "book").exists()


@pytest.mark.filterwarnings("ignore:Caution. told")  # sums over two of the three
def test_folds_that_are_drawn_again_and_again_are_refused_before_they_tell_a_record(tmp_path):
    """Every fold leaves records out at every party; enough folds of fifteen records would determine them all."""
    rng = np.random.default_rng(2)
    X, groups, accepted = rng.normal(size=(15, 2)), np.arange(15) % 3, []
    for _ in range(20):
        keep = np.ones(15, dtype=bool)
        for party in range(3):
            keep[rng.choice(5, 2, replace=False) * 3 + party] = False
        with contextlib.suppress(RefusedError):
            PrivateStandardScaler(ledger=tmp_path / "book", any=0).fit(X[keep], groups=groups[keep])
            accepted.append(keep.astype(float))
    assert 5 < len(accepted) < 15, "as many as can be told without telling anything of one party"
    for party in range(3):
        others = np.array(accepted)[:, groups != party]
        assert np.linalg.matrix_rank(accepted) == np.linalg.matrix_rank(others)


def test_cross_validation_with_a_ledger_says_why_it_stops(records, tmp_path):
    """Folds of single records at one party: the second fit would tell them."""
    X, y, groups = records
    with sklearn.config_context(enable_metadata_routing=True):
        model = PrivateRidge(ledger=tmp_path / "book").set_fit_request(groups=True)
        with pytest.raises(RefusedError, match="leave-one-out and cross-validation do this by design"):
            cross_val_score(
                model, X, y, cv=LeaveOneOut(), error_score="raise", params={"groups": groups},
                scoring="neg_mean_squared_error",
            )  # fmt: skip


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


def test_a_record_is_as_private_as_the_certificate_against_as_many_as_may_collude():
    rng = np.random.default_rng(3)
    X, groups = rng.normal(size=(120, 2)), np.repeat(np.arange(6), 20)
    model = PrivateRidge(network=nx.cycle_graph(6), any=2)
    with pytest.warns(NotPrivateWarning):
        model.fit(X, X @ [1.0, 2.0], groups=groups)
    assert not model.certificate_.is_private
    assert not model.answer_.record.private
    assert model.answer_.privacy(any=2)[0].startswith("NOT PRIVATE: an observer who controls agents")
    assert not any("learns the contribution" in line for line in model.answer_.privacy(any=1))
