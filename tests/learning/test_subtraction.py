"""Two fits of the same parties, subtracted: what the ledger must notice, and what it must let pass."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from tacit.certificates.release import WHOLE, Release
from tacit.certificates.unclear import unclear_changes
from tacit.errors import LedgerError, RefusedError
from tacit.learning import PrivateRidge, PrivateStandardScaler
from tacit.solving.versions import Digests

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(60, 10, (N, 3))
Y = X @ [1, 2, 3] + RNG.normal(size=N)
G = np.arange(N) % 6
KEPT = np.arange(N) != 4
WIDER = np.column_stack([X, RNG.normal(size=N)])
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


def changed(table, row, by):
    """Return a copy with another number in one row."""
    copy = table.copy()
    copy[row] += by
    return copy


def swapped(values, *rows):
    copy = values.copy()
    copy[list(rows)] = values[list(rows[::-1])]
    return copy


ONE = changed(X, 2, 3.0)
HIDDEN = {
    "left out by weight 0": (X, Y, {"groups": G, "sample_weight": KEPT.astype(float)}),
    "left out by weight 0 among other weights": (X, Y, {"groups": G, "sample_weight": 2.0 * KEPT}),
    "an offset at one record": (X, Y, {"groups": G, "offset": 1.0 * ~KEPT}),
    "moved and removed": (X[KEPT], Y[KEPT], {"groups": np.where(np.arange(N) == 2, 3, G)[KEPT]}),
    "parties merged": (X[KEPT], Y[KEPT], {"groups": np.where(G == 5, 0, G)[KEPT]}),
    "parties renamed": (X[KEPT], Y[KEPT], {"groups": np.array([f"p{k}" for k in G])[KEPT]}),
    "labels in other units": (X, 10 * changed(Y, 2, 3.0), {"groups": G}),
    "one column in other units": (ONE * [100, 1, 1], Y, {"groups": G}),
    "everything in other units": (X[KEPT] / 100, 10 * Y[KEPT], {"groups": G[KEPT]}),
    "fewer digits": (ONE.astype(np.float32), Y, {"groups": G}),
    "columns renamed": (pd.DataFrame(ONE, columns=["A", "B", "C"]), Y, {"groups": G}),
    "labels swapped and a column more": (WIDER, swapped(Y, 2, 8), {"groups": G}),
    "fewer columns, in other units": (100 * ONE[:, [0]], Y, {"groups": G}),
}
HARMLESS = {
    "weights of one": (X, Y, {"groups": G, "sample_weight": np.ones(N)}),
    "other order": (X[::-1], Y[::-1], {"groups": G[::-1]}),
    "fewer columns": (X[:, :2], Y, {"groups": G}),
    "fewer columns, under the names of others": (X[:, [0, 2]], Y, {"groups": G}),
    "a column more": (WIDER, Y, {"groups": G}),
    "names for the columns": (FRAME, Y, {"groups": G}),
    "parties renamed": (X, Y, {"groups": np.array([f"p{k}" for k in G])}),
}


@pytest.fixture
def book(tmp_path):
    PrivateRidge(ledger=tmp_path / "book").fit(X, Y, groups=G)
    return tmp_path / "book"


@pytest.mark.parametrize("how", HIDDEN)
def test_no_disguise_hides_one_changed_record(book, how):
    table, labels, more = HIDDEN[how]
    with pytest.raises(RefusedError, match=r"what changed at agent|cannot be told from a change of single records"):
        PrivateRidge(ledger=book).fit(table, labels, **more)


@pytest.mark.parametrize("how", HARMLESS)
def test_the_same_records_pass_however_they_are_written(book, how):
    table, labels, more = HARMLESS[how]
    model = PrivateRidge(ledger=book).fit(table, labels, **more)
    assert not [stamp for stamp in model.answer_.record.stamps if stamp.reason == "history"]


def test_another_model_of_the_same_table_passes(book):
    PrivateStandardScaler(ledger=book).fit(X, groups=G)


def test_other_units_pass_once_everybody_accepts_and_then_for_good(book):
    with pytest.raises(RefusedError, match="Fit the table as it was; or"):
        PrivateRidge(ledger=book, accept_changes=range(5)).fit(X / 100, Y, groups=G)
    model = PrivateRidge(ledger=book, accept_changes=range(6)).fit(X / 100, Y, groups=G)
    assert any("cannot be told from a change of single records" in str(s) for s in model.answer_.record.stamps)
    PrivateRidge(ledger=book).fit(X / 100, Y, groups=G)
    PrivateRidge(ledger=book).fit(X, Y, groups=G)


def test_a_ledger_against_fewer_is_not_used_for_more(book):
    with pytest.raises(LedgerError, match="was made against coalitions of 1, and this fit has any = 2"):
        PrivateRidge(ledger=book, any=2).fit(X, Y, groups=G)


def test_records_that_are_not_known_one_by_one_are_not_taken_for_unrelated():
    """As at parties of thousands: everybody leaves something out, and nobody can tell what."""
    versions = [[(str(a), WHOLE, f"key:{k}{a}") for a in range(6)] for k in range(2)]
    first, second = (
        Release.of(str(k), nx.complete_graph(6), sigma=np.inf, versions=each) for k, each in enumerate(versions)
    )
    (unclear,) = unclear_changes([first], second, 1)
    assert (unclear.kind, unclear.agents, unclear.is_change) == ("unclear", tuple("012345"), True)
    assert unclear_changes([first, second], second, 1) == ()


def test_the_digest_of_a_column_does_not_depend_on_its_name():
    digests = Digests(b"k" * 32)
    (a,), (b,) = (
        [version for _, part, version in digests.of("n", {name: np.arange(5.0)}) if part == f"column {name}"]
        for name in "ab"
    )
    assert a == b
