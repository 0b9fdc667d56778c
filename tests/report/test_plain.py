"""Printed, a result reads like a sentence; where it is a table, pandas has it."""

import pytest


@pytest.mark.parametrize("kind", ["certificate", "design", "augmentation", "audit"])
def test_a_result_prints_as_sentences(kind, results):
    shown = str(results[kind][0])
    assert shown.rstrip().endswith("."), shown
    assert "object at 0x" not in shown
    assert "Component(" not in shown


def test_tables_come_as_frames(results, model):
    looks = results["answer"][0].to_frame()
    assert list(looks.columns) == ["change", "disagreement", "error"]
    assert len(looks) == len(results["answer"][0].record.history)
    agents = results["certificate of a cut"][0].to_frame()
    assert agents.index.name == "agent"
    assert not agents["exposed"].any(), "sums are learnt, and nobody alone"
    units = results["day"][0].to_frame()
    assert units.filter(like="mw_").to_numpy().sum(axis=0) == pytest.approx(results["day"][0].demand)
    verdicts = results["audit"][0].to_frame()
    assert set(verdicts["status"]) <= {"within", "open", "skipped", "beaten", "weak"}
    assert list(model.summary_.to_frame().index) == list(model.summary_.names)
