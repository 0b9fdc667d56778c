"""Problem files: every way to name a graph and costs, and every mistake a person makes in them."""

import json
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.cli import main

GRAPH = """
[graph]
links = [["north", "south"], ["south", "west"], ["west", "north"]]
"""
PRIVACY = """
[privacy]
level = "affine"
sigma = 100.0
"""
POINTS = """
[costs]
family = "distance"
[costs.agents]
north = { point = [1.0, 4.0] }
south = { point = [2.0, 5.0] }
west = { point = [6.0, 9.0] }
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def solved(text):
    Path("p.toml").write_text(text)
    answer = tacit.load_problem("p.toml").solve()
    assert answer.converged
    return answer


@pytest.mark.usefixtures("folder")
class TestGraphs:
    def test_links(self):
        np.testing.assert_allclose(solved(GRAPH + POINTS + PRIVACY).x, [3.0, 6.0], atol=1e-8)

    @pytest.mark.parametrize("ending", [".graphml", ".gml", ".edges"])
    def test_files(self, ending):
        graph = nx.Graph([("north", "south"), ("south", "west"), ("west", "north")])
        writers = {".graphml": nx.write_graphml, ".gml": nx.write_gml, ".edges": nx.write_edgelist}
        writers[ending](graph, f"net{ending}")
        answer = solved(f'[graph]\nfile = "net{ending}"\n' + POINTS + PRIVACY)
        np.testing.assert_allclose(answer.x, [3.0, 6.0], atol=1e-8)

    def test_generators(self):
        costs = "".join(f"{i} = {{ point = [{i}.0] }}\n" for i in range(10))
        text = (
            '[graph]\ngenerator = "petersen_graph"\n[costs]\nfamily = "distance"\n[costs.agents]\n'
            + costs
            + PRIVACY
        )
        np.testing.assert_allclose(solved(text).x, [4.5], atol=1e-8)


@pytest.mark.usefixtures("folder")
class TestCosts:
    def write_csv(self, rows_each=8):
        rng = np.random.default_rng(0)
        pooled = []
        for i in range(3):
            X = rng.standard_normal((rows_each + i, 2))
            y = (X @ [1.0, -2.0] + 0.5 + 0.3 * rng.standard_normal(len(X)) > 0).astype(float)
            table = np.column_stack([X[:, 0], y, X[:, 1]])
            np.savetxt(f"agent-{i}.csv", table, delimiter=",", header="age,ill,dose", comments="")
            np.savez(f"agent-{i}.npz", A=X, y=y)
            pooled.append((X, y))
        return pooled

    def centralised(self, pooled, family, **settings):
        X, y = np.concatenate([a for a, _ in pooled]), np.concatenate([b for _, b in pooled])
        cost = family(X, y, **settings)
        x = np.zeros(cost.dim)
        for _ in range(50):
            x = x - np.linalg.solve(cost.hess(x) + 1e-12 * np.eye(cost.dim), cost.grad(x))
        return x

    @pytest.mark.parametrize("files", ['"agent-*.csv"', '["agent-0.csv", "agent-1.csv", "agent-2.csv"]', '"*.npz"',
                                       '{ north = "agent-0.csv", south = "agent-1.csv", west = "agent-2.npz" }'])  # fmt: skip
    def test_logistic_from_files(self, files):
        pooled = self.write_csv()
        text = f'[costs]\nfamily = "logistic"\nfiles = {files}\ntarget = "ill"\nintercept = true\nl2 = 0.6\n'
        expected = self.centralised(pooled, tacit.Logistic, l2=0.6, intercept=True)
        np.testing.assert_allclose(solved(GRAPH + text + PRIVACY).x, expected, atol=1e-7)

    def test_ridge_and_huber(self):
        pooled = self.write_csv()
        text = '[costs]\nfamily = "ridge"\nfiles = "*.csv"\ntarget = "ill"\nl2 = 1.5\n'
        expected = self.centralised(pooled, tacit.LeastSquares, l2=1.5)
        np.testing.assert_allclose(solved(GRAPH + text + PRIVACY).x, expected, atol=1e-8)
        text = '[costs]\nfamily = "huber"\nfiles = "*.csv"\ntarget = "ill"\nl2 = 0.1\ndelta = 0.3\n'
        huber = self.centralised(pooled, tacit.Huber, l2=0.1, delta=0.3)
        np.testing.assert_allclose(solved(GRAPH + text + PRIVACY).x, huber, atol=1e-6)

    def test_an_l1_penalty_spares_the_intercept(self):
        self.write_csv()
        text = '[costs]\nfamily = "lasso"\nfiles = "*.csv"\ntarget = "ill"\nintercept = true\nl1 = 1000.0\n'
        answer = solved(GRAPH + text + PRIVACY)
        np.testing.assert_allclose(answer.x[:2], 0.0, atol=1e-8)
        assert 0.2 < answer.x[2] < 0.8

    def test_settings_of_an_algorithm(self):
        text = GRAPH + POINTS + PRIVACY + '[algorithm]\nname = "extra"\nstep_size = 0.2\nweights = "lazy"\n'
        record = solved(text).record
        assert record.phase2.settings == {"step_size": 0.2}
        assert record.phase2.weights == "lazy"

    def test_secret_sums(self):
        text = GRAPH + POINTS + '[privacy]\nlevel = "sums"\nbound = 1e6\nwords = 2\nprotect = "whole"\n'
        record = solved(text).record
        assert (record.phase1.mechanism, record.phase1.words, record.phase1.bound) == ("SumMasks", 2, 1e6)
        assert record.phase2.algorithm == "Direct"
        text += '[algorithm]\nname = "lbfgs"\nmemory = 3\n'
        assert solved(text).record.phase2.settings == {"memory": 3}

    def test_quadratic_masks_with_and_without_a_tree(self):
        text = GRAPH + POINTS + PRIVACY.replace("affine", "quadratic")
        assert solved(text).record.phase2.algorithm == "Direct"
        record = solved(text + "[algorithm]\ntree = false\n").record
        assert record.phase2.algorithm == "MultiConsensus"
        np.testing.assert_allclose(record.x, [3.0, 6.0], atol=1e-8)

    def test_no_masks(self):
        answer = solved(GRAPH + POINTS + '[privacy]\nlevel = "none"\n')
        assert not answer.record.private


BAD = {
    "not toml": ("[graph\n", "is not valid TOML"),
    "no graph": (POINTS + PRIVACY, "[graph] is missing"),
    "no privacy": (GRAPH + POINTS, "[privacy] is missing"),
    "unknown section": (GRAPH + POINTS + PRIVACY + "[colour]\n", "no section [colour]"),
    "two graphs": (GRAPH.replace("links", 'file = "a.gml"\nlinks') + POINTS + PRIVACY, "exactly one of"),
    "unknown generator": ('[graph]\ngenerator = "flower"\n' + POINTS + PRIVACY, "no graph generator called 'flower'"),
    "not a generator": ('[graph]\ngenerator = "read_gpickle"\n' + POINTS + PRIVACY, "no graph generator"),
    "bad arguments": (
        '[graph]\ngenerator = "random_regular_graph"\narguments = { d = 3, n = 5, seed = 1 }\n' + POINTS + PRIVACY,
        "does not work with these arguments",
    ),
    "unreadable graph": ('[graph]\nfile = "none.graphml"\n' + POINTS + PRIVACY, "cannot be read"),
    "unknown ending": ('[graph]\nfile = "net.xyz"\n' + POINTS + PRIVACY, "cannot tell the graph format"),
    "broken graphml": ('[graph]\nfile = "broken.graphml"\n' + POINTS + PRIVACY, "not a valid .graphml graph"),
    "disconnected": (
        '[graph]\nlinks = [["north", "south"], ["west", "east"]]\n' + POINTS + PRIVACY,
        "falls into 2 pieces (north, south; west, east)",
    ),
    "self-loop": (GRAPH.replace('["west", "north"]', '["west", "west"]') + POINTS + PRIVACY, "self-loops"),
    "one agent": ('[graph]\ngenerator = "empty_graph"\narguments = { n = 1 }\n' + POINTS + PRIVACY, "1 agent(s)"),
    "directed": ('[graph]\ngenerator = "gn_graph"\narguments = { n = 4, seed = 1 }\n' + POINTS + PRIVACY, "directed"),
    "no cost for one": (GRAPH + POINTS.replace("west =", "east =") + PRIVACY, "nothing for agent west, no agent east"),
    "unknown family": (GRAPH + POINTS.replace("distance", "cubic") + PRIVACY, "no cost family is called 'cubic'"),
    "wrong data": (GRAPH + POINTS.replace("distance", "quadratic") + PRIVACY, "agent north: a quadratic cost needs P and q"),
    "nan": (GRAPH + POINTS.replace("1.0, 4.0", "nan, 4.0") + PRIVACY, "agent north: point has 1 missing or infinite"),
    "infinite": (GRAPH + POINTS.replace("2.0, 5.0", "inf, 5.0") + PRIVACY, "agent south: point has 1 missing"),
    "dimensions": (GRAPH + POINTS.replace("1.0, 4.0", "1.0") + PRIVACY, "all agents must optimise the same x"),
    "text": (GRAPH + POINTS.replace("[1.0, 4.0]", '"one"') + PRIVACY, "agent north: point is not an array of numbers"),
    "no data": (GRAPH + '[costs]\nfamily = "ridge"\n' + PRIVACY, "needs files"),
    "both": (GRAPH + POINTS.replace('"distance"', '"distance"\nfiles = "*.csv"') + PRIVACY, "both files and agents"),
    "too few files": (GRAPH + '[costs]\nfamily = "ridge"\nfiles = "*.csv"\n' + PRIVACY, "gives 2 file(s) for 3 agents"),
    "missing file": (GRAPH + '[costs]\nfamily = "ridge"\nfiles = ["a", "b", "c"]\n' + PRIVACY, "come as .csv or .npz"),
    "no such file": (GRAPH + '[costs]\nfamily = "ridge"\nfiles = ["a.csv", "b.csv", "c.csv"]\n' + PRIVACY, "a.csv: cannot be read"),
    "missing value": (
        GRAPH + '[costs]\nfamily = "ridge"\nfiles = ["gap.csv", "gap.csv", "gap.csv"]\n' + PRIVACY,
        "gap.csv: line 3, column 'dose': is missing",
    ),
    "not a number": (
        GRAPH + '[costs]\nfamily = "ridge"\nfiles = ["word.csv", "gap.csv", "gap.csv"]\n' + PRIVACY,
        "word.csv: line 2, column 'y': is not a number",
    ),
    "no such column": (
        GRAPH + '[costs]\nfamily = "ridge"\ntarget = "z"\nfiles = ["good.csv", "good.csv", "good.csv"]\n' + PRIVACY,
        "has no column 'z'; it has dose, y",
    ),
    "broken npz": (GRAPH + '[costs]\nfamily = "ridge"\nfiles = ["b.npz", "b.npz", "b.npz"]\n' + PRIVACY, "not a readable .npz"),
    "negative penalty": (GRAPH + POINTS.replace('"distance"', '"distance"\nl1 = -1.0') + PRIVACY, "l1 = -1.0"),
    "meaningless penalty": (GRAPH + POINTS.replace('"distance"', '"distance"\nl2 = 1.0') + PRIVACY, "l2 means nothing to a distance"),
    "settings of opapc": (GRAPH + POINTS + PRIVACY + '[algorithm]\nname = "opapc"\nsmoothness = 1.0\n', "opapc tunes itself"),
    "no seed": ('[graph]\ngenerator = "gnp_random_graph"\narguments = { n = 5, p = 0.9 }\n' + POINTS + PRIVACY, "give it a seed"),
    "other columns": (
        GRAPH + '[costs]\nfamily = "ridge"\nfiles = ["good.csv", "turned.csv", "good.csv"]\n' + PRIVACY,
        "turned.csv: has no column 'dose'; it has 'Dose', which is not the same.",
    ),
    "lasso without l1": (GRAPH + '[costs]\nfamily = "lasso"\nfiles = ["gap.csv", "gap.csv", "gap.csv"]\n' + PRIVACY, "needs l1"),
    "rough Poisson": (
        GRAPH + '[costs]\nfamily = "poisson"\nl1 = 1.0\nfiles = ["one.csv", "one.csv", "one.csv"]\n' + PRIVACY,
        "rough terms beside costs without a Lipschitz gradient",
    ),
    "same names": (
        '[graph]\nlinks = [[1, "1"], ["1", 2], [2, 1]]\n' + POINTS + PRIVACY, "two agents of the graph have the same name"
    ),
    "truncated npz": (GRAPH + '[costs]\nfamily = "ridge"\nfiles = ["t.npz", "t.npz", "t.npz"]\n' + PRIVACY, "not a readable .npz"),
    "no curvature": (
        GRAPH + POINTS.replace("distance", "absolute-value").replace("point", "centre") + PRIVACY + '[algorithm]\nname = "extra"\n',
        "no step for costs without a gradient",
    ),
    "sums with a sigma": (GRAPH + POINTS + PRIVACY.replace("affine", "sums"), "level = 'sums' has no sigma"),
    "words without sums": (GRAPH + POINTS + PRIVACY + "words = 2\n", "words goes with level = 'sums'"),
    "three words": (GRAPH + POINTS + '[privacy]\nlevel = "sums"\nwords = 3\n', "one word of 64 bits, or two"),
    "bad bound": (GRAPH + POINTS + '[privacy]\nlevel = "sums"\nbound = -1.0\n', "bound = -1.0 must be a positive"),
    "sum beyond the bound": (GRAPH + POINTS + '[privacy]\nlevel = "sums"\nbound = 5.0\n', "3 agent(s) hold a number"),
    "gossip of sums": (GRAPH + POINTS + '[privacy]\nlevel = "sums"\n[algorithm]\nname = "nids"\n', "it gossips"),
    "sums without a tree": (GRAPH + POINTS + '[privacy]\nlevel = "sums"\n[algorithm]\ntree = false\n', "spanning tree"),
    "tree of text": (GRAPH + POINTS + PRIVACY + '[algorithm]\ntree = "oak"\n', "must be true or false"),
    "too little protection": (GRAPH + POINTS + PRIVACY + 'protect = "whole"\n', "whole costs were asked for"),
    "unknown protection": (GRAPH + POINTS + PRIVACY + 'protect = "all"\n', "'all'"),
    "no memory": (
        GRAPH + POINTS + '[privacy]\nlevel = "sums"\n[algorithm]\nname = "lbfgs"\nmemory = 2.5\n', "a whole number of steps"
    ),
    "settings of newton": (
        GRAPH + POINTS + '[privacy]\nlevel = "sums"\n[algorithm]\nname = "newton"\nspeed = 2\n', "newton tunes itself"
    ),
    "zero sigma": (GRAPH + POINTS + PRIVACY.replace("100.0", "0.0"), "sigma = 0.0 must be a positive number"),
    "negative sigma": (GRAPH + POINTS + PRIVACY.replace("100.0", "-3.0"), "sigma = -3.0 must be a positive number"),
    "no sigma": (GRAPH + POINTS + PRIVACY.replace("sigma = 100.0", ""), "needs sigma"),
    "unknown level": (GRAPH + POINTS + PRIVACY.replace("affine", "total"), "'total'"),
    "beyond the bound": (GRAPH + POINTS + PRIVACY + "bound = 2.0\n", "beyond the public bound of 2"),
    "unknown algorithm": (GRAPH + POINTS + PRIVACY + '[algorithm]\nname = "magic"\n', "no algorithm is called 'magic'"),
    "unknown setting": (GRAPH + POINTS + PRIVACY + '[algorithm]\nname = "extra"\nspeed = 2\n', "no setting 'speed'"),
    "settings of auto": (GRAPH + POINTS + PRIVACY + "[algorithm]\nstep_size = 2\n", "need a name"),
    "bad setting": (GRAPH + POINTS + PRIVACY + '[algorithm]\nname = "extra"\nstep_size = -2\n', "must be a positive number"),
    "settings by hand": (GRAPH + POINTS + PRIVACY + '[algorithm]\nname = "dgd"\ndecay = 0.5\n', "needs step_size too"),
    "unknown weights": (GRAPH + POINTS + PRIVACY + '[algorithm]\nweights = "heavy"\n', "no weights are called"),
    "tolerance": (GRAPH + POINTS + PRIVACY + "[stop]\ntolerance = 2.0\n", "between 0 and 1"),
    "rounds": (GRAPH + POINTS + PRIVACY + "[stop]\nmax_rounds = 0\n", "at least 1"),
    "unknown runtime": ('runtime = "cloud"\n' + GRAPH + POINTS + PRIVACY, "no runtime is called 'cloud'"),
    "concave": (
        GRAPH + '[costs]\nfamily = "quadratic"\n[costs.agents]\n'
        + "".join(f"{a} = {{ P = [[-1.0]], q = [1.0] }}\n" for a in ("north", "south", "west")) + PRIVACY,
        "unbounded below",
    ),
    "flat and sloping": (
        GRAPH + '[costs]\nfamily = "quadratic"\n[costs.agents]\n'
        + "".join(f"{a} = {{ P = [[1.0, 0.0], [0.0, 0.0]], q = [1.0, 1.0] }}\n" for a in ("north", "south", "west"))
        + PRIVACY,
        "flat in 1 of 2 direction(s)",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD.keys())
def test_bad_input_gets_one_sentence_and_exit_code_two(text, message, folder, monkeypatch, capsys):
    """Fact, value, remedy: on one line, without a traceback, and nothing is written."""
    (folder / "broken.graphml").write_text("<graphml>")
    (folder / "gap.csv").write_text("dose,y\n1.0,2.0\n,3.0\n")
    (folder / "word.csv").write_text("dose,y\n1.0,high\n")
    if "turned.csv" in text:
        (folder / "turned.csv").write_text("y,Dose\n1.0,2.0\n")
    (folder / "b.npz").write_bytes(b"not an archive")
    np.savez(folder / "t.npz", A=np.ones((50, 3)), y=np.ones(50))
    (folder / "t.npz").write_bytes((folder / "t.npz").read_bytes()[:200])
    if "one.csv" in text:
        (folder / "one.csv").write_text("dose,y\n1.0,2.0\n")
    if "good.csv" in text:
        (folder / "good.csv").write_text("dose,y\n1.0,2.0\n")
    (folder / "p.toml").write_text(text)
    before = sorted(path.name for path in folder.iterdir())
    monkeypatch.setattr(sys, "argv", ["tacit", "solve", "p.toml", "--out", "record.json"])
    with pytest.raises(SystemExit) as stopped:
        main()
    out, err = capsys.readouterr()
    assert stopped.value.code == 2
    assert out == ""
    assert err.startswith("tacit: ")
    assert err.count("\n") == 1, err
    assert message in err
    assert "Traceback" not in err
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize("level", ["none", "sums"])
def test_records_left_out_because_of_gaps_are_added_up(run, tmp_path, level):
    """As `tacit fit --missing drop` does: how many all agents left out, and nobody's own number."""
    rng = np.random.default_rng(3)
    for k, name in enumerate("abcd"):
        rows = [f"{u:.3f},{v:.3f}" for u, v in rng.normal(size=(12, 2))]
        (tmp_path / f"{name}.csv").write_text(
            "\n".join(["age,y", *rows, *["NA,1.0"] * k, *["2.0,"] * (k == 3)]) + "\n"
        )
    (tmp_path / "problem.toml").write_text(
        '[graph]\nlinks = [["a", "b"], ["b", "c"], ["c", "d"], ["d", "a"]]\n'
        '[costs]\nfamily = "least-squares"\nfiles = "*.csv"\n'
        f'[privacy]\nlevel = "{level}"\n'
        '[data]\ntarget = "y"\ngaps = "drop"\n[[data.columns]]\nname = "age"\n[[data.columns]]\nname = "y"\n'
    )
    code, out, err = run("solve", str(tmp_path / "problem.toml"))
    assert code == 0, err
    assert "left out:     7 record(s), because of gaps" in out
    record = json.loads(run("solve", str(tmp_path / "problem.toml"), "--json")[1])
    assert record["left_out"] == 7
    assert "dropped" not in record
