"""Records that stay in files give the coefficients of the same records in memory."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit.errors import DataError, InputError, RefusedError, TacitError
from tacit.learning import (
    Dataset,
    PrivateElasticNet,
    PrivateHuberRegressor,
    PrivateLinearRegression,
    PrivateLogisticRegression,
    PrivatePoissonRegressor,
    PrivateRidge,
)

SIZES = {"north": 900, "south": 500, "west": 300}
MODELS = [
    PrivateLinearRegression(),
    PrivateRidge(alpha=2.0),
    PrivateElasticNet(alpha=0.02),
    PrivateLogisticRegression(C=10.0),
    PrivateLogisticRegression(C=10.0, class_weight="balanced"),
    PrivateLogisticRegression(C=1.0, l1_ratio=0.5),
    PrivatePoissonRegressor(alpha=0.1),
    PrivateLogisticRegression(C=5.0, fit_intercept=False),
]


@pytest.fixture(scope="module")
def tables():
    rng, parts = np.random.default_rng(3), {}
    for name, size in SIZES.items():
        X = rng.standard_normal((size, 3)) * [1.0, 20.0, 0.01] + [0.0, 100.0, 1.0]
        score = (X - [0.0, 100.0, 1.0]) @ [0.7, -0.02, 30.0]
        y = (rng.random(size) < 1 / (1 + np.exp(-score))).astype(int)
        parts[name] = pd.DataFrame(X, columns=["age", "dose", "length"]).assign(relapse=y)
    return parts


@pytest.fixture
def files(tables, tmp_path):
    for name, table in tables.items():
        pq.write_table(pa.Table.from_pandas(table), tmp_path / f"{name}.parquet", row_group_size=170)
    return tmp_path


def _outside(files, **settings):
    return {name: Dataset.at(files / f"{name}.parquet", "relapse", **settings) for name in SIZES}


def _loaded(tables, columns=("age", "dose", "length")):
    return {name: (table[list(columns)], table["relapse"]) for name, table in tables.items()}


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_dataset_gives_the_coefficients_of_its_records(model, tables, files):
    kind, settings = type(model), model.get_params()
    outside, loaded = kind(**settings).fit_parties(_outside(files)), kind(**settings).fit_parties(_loaded(tables))
    np.testing.assert_allclose(outside.coef_, loaded.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(outside.intercept_, loaded.intercept_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(outside.summary_.standard_errors, loaded.summary_.standard_errors, rtol=1e-8)
    assert outside.summary_.observations == sum(SIZES.values())
    assert str(outside.ledger_) == str(loaded.ledger_)
    assert outside.answer_.record.tells == loaded.answer_.record.tells
    assert outside.predict(tables["west"][["age", "dose", "length"]].to_numpy()).shape == (300,)


def test_three_classes_of_words(tables, tmp_path):
    rng, outside, loaded = np.random.default_rng(1), {}, {}
    for name, table in tables.items():
        words = np.array(["high", "low", "mid"])[rng.integers(0, 3, len(table))]
        table = table.assign(relapse=words)
        pq.write_table(pa.Table.from_pandas(table), tmp_path / f"{name}.parquet", row_group_size=111)
        outside[name] = Dataset.at(tmp_path / f"{name}.parquet", "relapse")
        loaded[name] = (table[["age", "dose", "length"]], table["relapse"])
    a = PrivateLogisticRegression(C=1.0).fit_parties(outside)
    b = PrivateLogisticRegression(C=1.0).fit_parties(loaded)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-8, atol=1e-12)
    assert a.classes_.tolist() == ["high", "low", "mid"]


def test_weights_and_offsets_are_columns(tables, tmp_path):
    rng, outside, rows = np.random.default_rng(2), {}, []
    for name, table in tables.items():
        table = table.assign(w=rng.integers(0, 3, len(table)).astype(float), days=rng.uniform(1, 9, len(table)))
        pq.write_table(pa.Table.from_pandas(table), tmp_path / f"{name}.parquet", row_group_size=111)
        outside[name] = Dataset.at(tmp_path / f"{name}.parquet", "relapse", weight="w", exposure="days")
        rows.append(table.assign(party=name))
    pooled = pd.concat(rows)
    a = PrivatePoissonRegressor(alpha=0.0).fit_parties(outside)
    b = PrivatePoissonRegressor(alpha=0.0).fit(
        pooled[["age", "dose", "length"]].to_numpy(), pooled["relapse"], groups=pooled["party"],
        sample_weight=pooled["w"], offset=np.log(pooled["days"]),
    )  # fmt: skip
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-9)
    assert a.intercept_ == pytest.approx(b.intercept_, rel=1e-9)


def test_some_parties_may_have_their_records_in_memory(tables, files):
    mixed = _outside(files) | {"west": _loaded(tables)["west"]}
    model, whole = PrivateRidge().fit_parties(mixed), PrivateRidge().fit_parties(_loaded(tables))
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-10)


def test_records_with_gaps_can_be_left_out(tables, tmp_path):
    for name, table in tables.items():
        table = table.copy()
        table.loc[3:5, "dose"] = np.nan
        table["relapse"] = table["relapse"].astype("Int64")
        table.loc[10, "relapse"] = pd.NA
        pq.write_table(pa.Table.from_pandas(table), tmp_path / f"{name}.parquet", row_group_size=100)
    model = PrivateLogisticRegression().fit_parties(_outside(tmp_path, gaps="drop"))
    assert dict(model.summary_.facts)["left out"] == 12
    left = {n: t.drop(index=[3, 4, 5, 10]) for n, t in tables.items()}
    np.testing.assert_allclose(model.coef_, PrivateLogisticRegression().fit_parties(_loaded(left)).coef_, rtol=1e-9)
    with pytest.raises(DataError, match=r"party north, column 'relapse': has values that are missing"):
        PrivateLogisticRegression().fit_parties(_outside(tmp_path))


def test_not_a_number_is_missing_too(tables, tmp_path):
    for name, table in tables.items():
        arrow = pa.table({column: table[column].to_numpy() for column in table})
        if name == "south":
            dose = table["dose"].to_numpy().copy()
            dose[400] = np.nan
            arrow = arrow.set_column(1, "dose", pa.array(dose, from_pandas=False))
        pq.write_table(arrow, tmp_path / f"{name}.parquet", row_group_size=100)
    with pytest.raises(DataError, match=r"party south, column 'dose': has values that are missing or infinite"):
        PrivateRidge().fit_parties(_outside(tmp_path))


def test_what_takes_no_datasets_says_so(files):
    with pytest.raises(InputError, match="load them, as arrays"):
        PrivateHuberRegressor().fit_parties(_outside(files))
    import tacit

    with pytest.raises(TacitError, match="by secret sums"):
        PrivateRidge(privacy=tacit.AffineMasks(1.0)).fit_parties(_outside(files))
    with pytest.raises(TacitError, match="by secret sums"):
        PrivateLogisticRegression(privacy=tacit.AffineMasks(1.0)).fit_parties(_outside(files))
    without = PrivateLogisticRegression(privacy=None).fit_parties(_outside(files))
    assert without.answer_.converged


def test_the_ledger_knows_a_dataset_as_the_table_that_it_is(tables, files, tmp_path):
    """As any other table of its records, where these are few; one record less is refused."""
    ledger = tmp_path / "ledger"
    PrivateRidge(ledger=ledger).fit_parties(_outside(files))
    PrivateRidge(ledger=ledger).fit_parties({n: (t[0], t[1]) for n, t in _loaded(tables).items()})
    table = tables["south"].iloc[1:]
    pq.write_table(pa.Table.from_pandas(table, preserve_index=False), files / "south.parquet")
    with pytest.raises(RefusedError, match="what changed at agent south"):
        PrivateRidge(ledger=ledger).fit_parties(_outside(files))
