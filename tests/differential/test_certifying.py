"""What a promise costs, from public numbers: against the runs themselves, a curator, and the way back."""

import json
import math

import networkx as nx
import numpy as np
import pytest
from typer.testing import CliRunner

import tacit
from tacit.cli.main import app
from tacit.differential import calibrate_answer, certify_answer

GRAPH = nx.random_regular_graph(4, 10, seed=1)


def promise(epsilon=1.0, **more):
    return tacit.DifferentialPrivacy(**({"epsilon": epsilon, "delta": 1e-6, "clip": 2.0, "any": 2} | more))


def test_a_run_guarantees_what_was_certified_beforehand():
    rng = np.random.default_rng(2)
    costs = [tacit.LeastSquares(rng.normal(size=(9, 2)), rng.normal(size=9)) for _ in range(10)]
    asked = promise(labels=1.0)
    answer = tacit.solve(tacit.Problem(GRAPH, costs), privacy=tacit.SumMasks(answer=asked))
    assert certify_answer(GRAPH, asked).guarantee == answer.guarantee
    moved = math.hypot(2.0, 4.0)  # R·B and R²
    answer = tacit.solve(tacit.Problem(GRAPH, costs), privacy=tacit.QuadraticMasks(1e3, answer=asked))
    assert certify_answer(GRAPH, asked, sigma=1e3 / moved).guarantee == answer.guarantee


def test_noise_of_a_mean_is_that_of_a_sum_by_public_numbers():
    price = certify_answer(GRAPH, promise(records=3000))
    assert price.noise == pytest.approx(math.sqrt(10 / 8) / promise().mu)
    assert price.mean_noise == pytest.approx(price.noise * 2.0 / 3000)
    assert certify_answer(GRAPH, promise()).mean_noise is None


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_calibration_inverts_certification(epsilon):
    asked = promise(epsilon, records=3000)
    accuracy = certify_answer(GRAPH, asked).mean_noise
    found = calibrate_answer(GRAPH, promise(2.0, records=3000), accuracy=accuracy)
    assert found.epsilon == pytest.approx(epsilon, rel=1e-6)


def test_what_cannot_be_calibrated_is_refused():
    for asked, accuracy, words in (
        (promise(), 0.1, "public number of records"),
        (promise(records=10), 0.0, "accuracy = 0.0"),
        (promise(records=10), math.inf, "accuracy = inf"),
    ):
        with pytest.raises(tacit.TacitError, match=words):
            calibrate_answer(GRAPH, asked, accuracy=accuracy)
    with pytest.raises(tacit.TacitError, match="sigma = 0"):
        certify_answer(GRAPH, promise(), sigma=0.0)


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nx.write_edgelist(GRAPH, tmp_path / "graph.edges", data=False)
    return lambda *words: CliRunner().invoke(app, words)


ASKED = ("--delta", "1e-6", "--clip", "2", "--any", "2")


def test_commands_say_what_functions_do(run):
    certified = run("certify", "graph.edges", "--sums", "--epsilon", "1", *ASKED, "--json")
    assert json.loads(certified.stdout)["noise"] == pytest.approx(certify_answer(GRAPH, promise()).noise)
    shown = run("certify", "graph.edges", "--sums", "--epsilon", "1", *ASKED).stdout
    assert "Every record of every honest agent is protected" in shown
    assert "Noise in every sum: 4.72" in shown
    found = run("calibrate", "graph.edges", "--accuracy", "0.01", "--records", "3000", *ASKED, "--json")
    like = calibrate_answer(GRAPH, promise(records=3000), accuracy=0.01)
    assert json.loads(found.stdout)["epsilon"] == pytest.approx(like.epsilon)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--epsilon", "0", "--delta", "1e-6", "--clip", "1"), "epsilon = 0.0 must be positive"),
        (("--epsilon", "1", "--delta", "1e-6"), "clip is missing"),
        (("--epsilon", "1", "--clip", "1"), "needs --delta"),
        (("--epsilon", "1", "--delta", "1e-6", "--clip", "1", "--any", "9"), "at least two honest agents"),
        (("--epsilon", "1", "--delta", "1e-3", "--clip", "1", "--records", "2000"), "not below 1/2000"),
    ],
)
def test_bad_promises_are_refused_in_one_sentence(run, words, why):
    refused = run("certify", "graph.edges", "--sums", *words)
    assert refused.exit_code != 0
    assert why in (refused.stderr or str(refused.exception))


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(4)
    for k in range(5):
        A = rng.normal(size=(80, 2))
        score = A @ [0.6, -0.4]
        lines = [f"{a},{b},{s},{'yes' if s > 0 else 'no'}" for (a, b), s in zip(A, score, strict=True)]
        (tmp_path / f"p{k}.csv").write_text("\n".join(["a,b,score,word", *lines]) + "\n")
    return [f"p{k}.csv" for k in range(5)]


PROMISED = ("--epsilon", "8", "--delta", "1e-6", "--clip", "3")


def test_fit_prints_a_noisy_table_and_what_holds(run, files):
    pytest.importorskip("sklearn")
    ridge = run(
        "fit", *files, "--target", "score", "--drop", "word", "--model", "ridge", *PROMISED, "--labels", "2"
    )
    assert ridge.exit_code == 0, ridge.output
    for words in ("differentially private", "carry noise", "(8, 1e-06)", "slopes, with noise"):
        assert words in ridge.stdout
    odds = run(
        "fit", *files, "--target", "word", "--drop", "score", "--model", "logistic", *PROMISED, "--classes", "no,yes",
        "--C", "1", "--json",
    )  # fmt: skip
    assert odds.exit_code == 0, odds.output
    assert [row["name"] for row in json.loads(odds.stdout)["coefficients"]] == ["a", "b", "(intercept)"]


@pytest.mark.parametrize("line", ["abc,,inf,perhaps", "1e300,-1e300,1e300,no", "0.1", '"1,2,3,yes'])
def test_an_odd_record_of_a_fit_is_not_complained_about(run, files, tmp_path, line):
    pytest.importorskip("sklearn")
    with (tmp_path / files[0]).open("a") as file:
        file.write(f"{line}\n")
    said = run(
        "fit", *files, "--target", "word", "--drop", "score", "--model", "logistic", *PROMISED, "--classes", "no,yes",
        "--C", "1",
    )  # fmt: skip
    assert said.exit_code == 0, said.output
    assert said.stderr == ""


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--model", "ridge", "--epsilon", "1", "--delta", "1e-6"), "clip is missing"),
        (("--model", "ridge", "--epsilon", "1", "--clip", "1", "--labels", "1"), "epsilon needs delta"),
        (("--model", "ridge", "--epsilon", "0", "--delta", "1e-6", "--clip", "1", "--labels", "1"), "must be positive"),
        (("--model", "ridge", "--epsilon", "1", "--delta", "1e-6", "--clip", "1"), "labels is missing"),
        (("--model", "poisson", *PROMISED), "has no bound"),
        (("--model", "huber", *PROMISED), "delta means nothing to a huber model"),
        (("--model", "ridge", *PROMISED, "--labels", "1", "--any", "4"), "at least two honest agents"),
        (("--model", "ridge", "--epsilon", "1", "--delta", "0.01", "--clip", "1", "--labels", "1", "--records", "400"),
         "not below 1/400"),
    ],
)  # fmt: skip
def test_bad_promises_of_a_fit_are_refused_in_one_sentence(run, files, words, why):
    pytest.importorskip("sklearn")
    refused = run("fit", *files, "--target", "score", "--drop", "word", *words)
    assert refused.exit_code != 0
    assert why in (refused.stderr + str(refused.exception))


def test_fits_with_a_promise_are_counted_in_a_ledger(run, files):
    pytest.importorskip("sklearn")
    assert run("ledger", "new", "--epsilon", "9", "--delta", "1e-6").exit_code == 0
    fit = ("fit", *files, "--target", "score", "--drop", "word", "--model", "ridge", *PROMISED, "--labels", "2")
    assert run(*fit, "--ledger", "ledger.sqlite").exit_code == 0
    refused = run(*fit, "--ledger", "ledger.sqlite")
    assert refused.exit_code == 1
    assert "would take the answers about these records" in refused.stderr + str(refused.exception)
    with tacit.Ledger("ledger.sqlite") as book:
        assert len(book.entries()) == 1
        assert book.answered().mu_spent == pytest.approx(promise(8.0).mu)
    assert "is spent" in run("ledger", "show").stdout
