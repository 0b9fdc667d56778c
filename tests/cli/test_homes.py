"""What commands do is there for Python, too: the functions behind them."""

import json
import math

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.certificates import Release, remedy
from tacit.dispatch import read_profile
from tacit.errors import FileError, GraphError, InputError, RefusedError
from tacit.learning.models import MODELS, model_of
from tacit.masks import AffineMasks, SumMasks
from tacit.network import Network, read_graph, write_graph
from tacit.solving import load_problem, overridden, write_example
from tacit.solving.centralised import centralised
from tacit.solving.clinics import clinics
from tacit.tables import draft, read_dictionary, read_sheet, review


@pytest.mark.parametrize("ending", [".graphml", ".gml", ".edges"])
def test_a_graph_that_was_written_is_read_again(ending, tmp_path):
    graph = nx.Graph([("north", "south"), ("south", "west"), ("west", "north")])
    path = tmp_path / f"graph{ending}"
    write_graph(graph, path)
    assert Network(read_graph(path)).agents == Network(graph).agents
    with pytest.raises(FileError, match="already there"):
        write_graph(graph, path)
    with pytest.raises(FileError, match="graphs are written as"):
        write_graph(graph, tmp_path / "graph.png")
    with pytest.raises(FileError, match="folder"):
        write_graph(graph, tmp_path / "nowhere" / "graph.gml")


def test_agents_are_found_by_what_is_written():
    network = Network(nx.path_graph(3))
    assert network.named(["2", "0"]) == (2, 0)
    with pytest.raises(GraphError, match="no agent is called 7"):
        network.named(["7"])


def test_a_remedy_is_the_augmentation_and_only_where_somebody_is_exposed():
    path, ring = Network(nx.path_graph(4)), Network(nx.cycle_graph(4))
    exposed = tacit.certify(path, any=1, sigma=1.0)
    assert remedy(path, exposed).links == tacit.augment(path, any=1).links
    assert remedy(ring, tacit.certify(ring, any=1, sigma=1.0)) is None
    assert remedy(path, tacit.certify(path, {1}, sigma=1.0)) is None  # of one coalition, links are no question
    assert json.loads(json.dumps(tacit.augment(path, any=1).to_dict()))["links"] == [["0", "3"]]


def test_a_ledger_as_data(tmp_path):
    file = tmp_path / "ledger.sqlite"
    with pytest.raises(FileError, match="there is no ledger"):
        tacit.Ledger.existing(file)
    assert not file.exists()
    ring = nx.relabel_nodes(nx.complete_graph(4), dict(enumerate("abcd")))
    with tacit.Ledger(file, owner="a", budget=1.0) as book:
        book.add(Release.of("first", ring, sigma=2.0))
    with tacit.Ledger.existing(file) as book:
        assert book.agents() == ("a", "b", "c", "d")
        data = json.loads(json.dumps(book.to_dict()))
        review = book.check(Release.of("first", ring, sigma=2.0))
    assert (data["owner"], data["budget"], data["any"]) == ("a", 1.0, 1)
    assert [run["run"] for run in data["runs"]] == ["first"]
    assert data["exposed"] == []
    assert json.loads(json.dumps(review.to_dict()))["accepted"] is False
    assert review.to_dict()["reasons"] == list(review.reasons)
    with tacit.Ledger.existing(file) as book, pytest.raises(RefusedError):
        book.add(Release.of("first", ring, sigma=2.0))


def test_settings_that_override_a_problem_file(tmp_path):
    file = tmp_path / "problem.toml"
    write_example(file)
    with pytest.raises(FileError, match="already there"):
        write_example(file)
    write_example(file, replace=True)
    task = load_problem(file)
    assert overridden(task) == task
    assert overridden(task, sigma=5.0).privacy == AffineMasks(5.0)
    assert overridden(task, sums=True).privacy == SumMasks()
    assert overridden(task, tree=False, max_rounds=7, runtime="agents").max_rounds == 7
    strict = overridden(task, protect="whole")
    assert overridden(strict, protect="affine").protect == "whole"  # no less than was asked for
    with pytest.raises(InputError, match="ask for one of the two"):
        overridden(task, sigma=5.0, sums=True)
    with pytest.raises(InputError, match="secret sums, which have no sigma"):
        overridden(overridden(task, sums=True), sigma=5.0)


def test_profiles_are_lists_files_or_names(tmp_path):
    file = tmp_path / "profile.txt"
    file.write_text("0.5\n1.0; 2\n", encoding="utf-8")
    assert read_profile(str(file)).tolist() == read_profile("0.5,1,2").tolist()
    for wrong in ("noon", "1,inf", ""):
        with pytest.raises(InputError, match="a profile is a list"):
            read_profile(wrong)


def test_every_model_has_a_name_and_refuses_what_means_nothing_to_it():
    pytest.importorskip("sklearn")
    for name in MODELS:
        assert type(model_of(name, {})).__name__ == MODELS[name].estimator
    assert math.inf == model_of("logistic", {"C": None}).C
    with pytest.raises(InputError, match="l1_ratio means nothing to a ridge model"):
        model_of("ridge", {"l1_ratio": 0.5})
    with pytest.raises(InputError, match="exposure means nothing to a linear model"):
        model_of("linear", {"exposure": "days"})
    with pytest.raises(InputError, match=r"Did you mean 'logistic'\?"):
        model_of("logistc", {})


def test_clinics_agree_on_what_one_place_would_compute():
    problem = clinics(6, features=2)
    answer = tacit.solve(problem, protect="whole")
    np.testing.assert_allclose(answer.x, centralised(problem), atol=1e-6)


def test_a_draft_is_the_dictionary_that_its_file_matches(tmp_path):
    data, dictionary = tmp_path / "a.csv", tmp_path / "d.toml"
    data.write_text("age,sex,y\n1,female,2\n2,male,3\n4,male,9\n", encoding="utf-8")
    sheet = read_sheet(data)
    dictionary.write_text(draft(sheet, "y").to_toml(), encoding="utf-8")
    comparison = review(sheet, read_dictionary(dictionary))
    assert json.loads(json.dumps(comparison.to_dict()))["matches"] is True
