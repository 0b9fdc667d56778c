"""Taking part with records that stay in a file: the same answer and the same versions as from a table."""

import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit.federation import Fitting, Plan, draw_up, participate, read_card, write_card
from tacit.federation.own_data import records_of, versions_of
from tacit.runtimes.peers.local import free_ports
from tacit.tables import read_sheet

NAMES = ("east", "north", "south")


def _members(folder, fitting):
    files = [write_card(folder, name, f"127.0.0.1:{port}") for name, port in zip(NAMES, free_ports(3), strict=True)]
    tables = {}
    for k, name in enumerate(NAMES):
        rng = np.random.default_rng(k)
        X = np.round(rng.standard_normal((60, 2)) * [12.0, 0.3] + [60.0, 2.0], 3)
        y = (rng.random(60) < 1 / (1 + np.exp(-(X - [60.0, 2.0]) @ [0.1, -2.0]))).astype(int)
        tables[name] = {"age": X[:, 0], "dose": X[:, 1], "relapse": y}
        pq.write_table(pa.table(tables[name]), folder / f"{name}.parquet", row_group_size=13)
        lines = ["age,dose,relapse", *(f"{a},{b},{c}" for a, b, c in zip(*tables[name].values(), strict=True))]
        (folder / f"{name}.csv").write_text("\n".join(lines))
    plan = Plan(unknowns=3, fitting=fitting)
    return draw_up([read_card(each.card) for each in files], plan)


def _run(manifest, folder, endings):
    state = {name: folder / f"state-{endings[name]}-{name}" for name in NAMES}
    for each in state.values():
        each.mkdir()
    parts = [
        participate(
            manifest, folder / f"{name}{endings[name]}", me=name, key=folder / f"{name}.key", folder=state[name]
        )
        for name in NAMES
    ]
    outcomes = []
    threads = [threading.Thread(target=lambda part=part: outcomes.append(part.run())) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


@pytest.mark.parametrize("cost", ["logistic", "ridge"])
def test_members_with_files_agree_on_what_members_with_tables_agree_on(cost, tmp_path):
    fitting = Fitting(cost=cost, l2=1.0, target="relapse", intercept=True)
    manifest = _members(tmp_path, fitting)
    assert manifest.algorithm["name"] == "standardised"
    tables = _run(manifest, tmp_path, dict.fromkeys(NAMES, ".csv"))
    outside = _run(manifest, tmp_path, dict.fromkeys(NAMES, ".parquet"))
    for one in outside:
        np.testing.assert_allclose(one.x, tables[0].x, rtol=1e-8)


def test_a_version_is_of_the_records_and_not_of_their_file(tmp_path):
    manifest = _members(tmp_path, Fitting(cost="logistic", l2=1.0, target="relapse", intercept=True))
    settings = {"me": "north", "key": tmp_path / "north.key"}
    sheet = versions_of(manifest, data=read_sheet(tmp_path / "north.csv"), **settings)
    outside = versions_of(manifest, data=records_of(manifest, tmp_path / "north.parquet"), **settings)
    assert sorted(sheet) == sorted(outside)
    table = pq.read_table(tmp_path / "north.parquet").to_pydict()
    table["age"][59] += 0.001
    pq.write_table(pa.table(table), tmp_path / "north.parquet")
    changed = versions_of(manifest, data=records_of(manifest, tmp_path / "north.parquet"), **settings)
    assert {part for _, part, _ in set(outside) - set(changed)} >= {"column age"}
