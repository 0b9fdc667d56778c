"""Private answers among real processes: the bits of the in-memory agents, after kills too, and what members hear."""

import json

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.masks import clipped_to

pytestmark = pytest.mark.network

RNG = np.random.default_rng(17)
WEIGHTS = np.array([0.6, -0.8, 0.3])
NAMES = ("clinic", "harbour", "mountain", "river", "valley")


def table(rng, *, logistic=False):
    A = rng.normal(size=(60, 3))
    y = A @ WEIGHTS + 0.1 * rng.normal(size=60)
    return np.column_stack([A, y > 0 if logistic else y])


SQUARES = {name: table(RNG) for name in NAMES}
ODDS = {name: table(RNG, logistic=True) for name in NAMES}
PROMISE = ["--unknowns", "3", "--epsilon", "2", "--delta", "1e-6", "--clip", "2", "--links", "4"]
KINDS = {
    "sums": (SQUARES, "ridge", ["--cost", "ridge", "--l2", "1", "--labels", "3", "--any", "2"]),
    "newton": (ODDS, "logistic", ["--cost", "logistic", "--l2", "1", "--any", "2"]),
    "quadratic": (SQUARES, "ridge", ["--cost", "ridge", "--l2", "1", "--labels", "3", "--level", "quadratic", "--sigma", "1e4"]),
    "affine": (
        SQUARES, "ridge",
        ["--cost", "ridge", "--l2", "1", "--labels", "3", "--level", "affine", "--sigma", "1e4",
         "--algorithm", "nids", "--setting", "step_size=0.005"],
    ),
}  # fmt: skip


@pytest.fixture
def five(members):
    """Return a function that makes five members whose answer is private, of a kind."""

    def make(kind, *more):
        tables, family, options = KINDS[kind]
        made = members(tables, family=family, options=[*PROMISE, *options, *more])
        plain = made.cost
        made.cost = lambda name: clipped_to(plain(name), made.manifest.privacy.promise)
        return made

    return make


@pytest.mark.parametrize("kind", KINDS)
def test_processes_come_to_the_bits_of_the_in_memory_agents(five, kind):
    made = five(kind)
    made.fix_keys()
    expected = made.expected()
    for name in made.names:
        made.start(name, "--json")
    answers = made.answers(seconds=300.0)
    assert np.array_equal(answers, expected.x)
    said = json.loads(made.out("clinic"))
    unit = "label" if kind == "affine" else "record"
    assert said["answer"]["unit"] == unit
    assert (said["answer"]["epsilon"], said["answer"]["delta"]) == (2.0, 1e-6)
    assert "not the exact minimiser" in said["sentence"]
    assert any(f"Every {unit} of every honest agent is protected" in line for line in said["privacy"])


def test_all_agents_of_a_problem_as_processes_keep_the_promise():
    promise = tacit.DifferentialPrivacy(epsilon=2.0, delta=1e-6, clip=2.0, labels=3.0, any=2)
    costs = [tacit.LeastSquares(table[:, :3], table[:, 3], l2=0.2) for table in SQUARES.values()]
    problem, masks = tacit.Problem(nx.complete_graph(5), costs), tacit.SumMasks(answer=promise)
    apart, stacked = (tacit.solve(problem, privacy=masks, runtime=name) for name in ("peers", "stacked"))
    assert apart.guarantee == stacked.guarantee
    assert apart.noise.shape == (3,)
    assert np.abs(apart.x - WEIGHTS).max() < 12 * apart.noise.max() + 0.3
    assert "not the exact minimiser" in apart.sentence


@pytest.mark.parametrize("kind", ["newton", "quadratic"])
def test_members_that_are_killed_come_back_to_the_same_bits_and_one_entry(five, until, kind):
    made = five(kind)
    made.fix_keys()
    expected, mu = made.expected(), made.manifest.privacy.promise.mu
    for name in made.names:
        made.call(name, "ledger", "new", "--me", name, "--epsilon", "3", "--delta", "1e-6")
        made.start(name, "--json", "--ledger", "ledger.sqlite")
    for name in ("clinic", "river", "clinic"):
        assert until(lambda name=name: made.at_work(name) or made.running[name].poll() is not None, 120.0)
        made.kill(name)
        made.start(name, "--json", "--ledger", "ledger.sqlite")
    assert np.array_equal(made.answers(seconds=300.0), expected.x)
    for name in made.names:
        with tacit.Ledger(made.path(name, "ledger.sqlite")) as book:
            (entry,) = book.entries()
            assert entry.release.answer.mu == pytest.approx(mu)
            assert book.answered().mu_spent == pytest.approx(mu)


def test_a_run_goes_on_with_the_records_that_it_began_with_and_others_take_another_run(five, until):
    """The same masks would hide two different numbers: other records are refused at home, and nothing is said."""
    made = five("newton")
    made.fix_keys()
    expected = made.expected()
    changed = ODDS["clinic"].copy()
    changed[0, :3] = (5.0, -5.0, 5.0)
    made.write("clinic", "changed", changed)
    made.call("clinic", "ledger", "new", "--me", "clinic", "--epsilon", "3", "--delta", "1e-6")
    made.start("clinic", "--ledger", "ledger.sqlite")
    assert until(made.state("clinic").exists, 60.0)
    assert until(lambda: _has_begun(made.state("clinic")), 60.0)
    made.kill("clinic")
    made.start("clinic", "--ledger", "ledger.sqlite", records="changed")
    assert made.wait("clinic") == 1
    assert "was begun with other data" in made.err("clinic")
    for name in made.names:
        made.start(name, "--json", *(["--ledger", "ledger.sqlite"] if name == "clinic" else []))
    assert np.array_equal(made.answers(seconds=300.0), expected.x)
    text = made.path("clinic", "federation.toml").read_text()
    for name in made.names:
        made.path(name, "second.toml").write_text(text.replace("run = 1", "run = 2", 1))
    for name in made.names:
        mine = ["--ledger", "ledger.sqlite"] if name == "clinic" else []
        made.start(
            name, "--json", *mine, records="changed" if name == "clinic" else "records", federation="second.toml"
        )
    answers = made.answers(seconds=300.0)
    assert (answers == answers[0]).all()
    assert (answers[0] != expected.x[0]).all(), "fresh shares"
    with tacit.Ledger(made.path("clinic", "ledger.sqlite")) as book:
        first, second = book.entries()
        assert first.release.key != second.release.key
        mu = made.manifest.privacy.promise.mu
        assert book.answered().mu_spent == pytest.approx(mu * np.sqrt(2.0))
        assert book.exposed() == (), "records changed, and nothing is told by subtraction"


def _has_begun(state):
    files = (state.with_name(state.name + "-wal"), state)
    return any(b"keyed" in file.read_bytes() for file in files if file.exists())


def test_those_who_stay_draw_new_shares_and_count_another_answer(five, until, tmp_path):
    made = five("newton", "--dropout", "exclude")
    for name in made.names:
        made.call(name, "ledger", "new", "--me", name, "--epsilon", "4", "--delta", "1e-6", "--any", "2")
        if name != "valley":
            made.start(name, "--json", "--ledger", "ledger.sqlite")
    made.start("valley", "--json")
    assert until(lambda: made.at_work("clinic") or made.running["clinic"].poll() is not None, 120.0)
    over = made.running["clinic"].poll() is not None
    for name in made.names:
        made.kill(name)
    if over or any(made.path(name, f"{made.state(name).stem}.done").exists() for name in made.names):
        pytest.skip("the run was over before anybody could leave it")
    made.call("clinic", "federation", "without", "federation.toml", "later.toml", "--member", "valley", "--yes")
    later = made.path("clinic", "later.toml").read_text()
    stay = [name for name in made.names if name != "valley"]
    for name in stay:
        made.path(name, "later.toml").write_text(later)
        made.start(name, "--json", "--ledger", "ledger.sqlite", federation="later.toml")
    rows = []
    for name in stay:
        assert made.wait(name, 300.0) == 0, made.err(name)
        told = json.loads(made.out(name))
        rows.append(told["x"])
        assert any("2 epochs add up to" in line for line in told["privacy"])
        with tacit.Ledger(made.path(name, "ledger.sqlite")) as book:
            assert [e.release.answer.agents for e in book.entries()] in ([5, 4], [4])
            assert len({entry.release.key for entry in book.entries()}) == len(book.entries())
    assert (np.array(rows) == rows[0]).all()


WORLDS = {
    "plain": "0.5,-0.2,0.1,0.4",
    "absent": None,
    "odd": "1e300,abc,NaN,inf",
}


def test_two_worlds_behave_alike_to_everybody(members):
    """One record of one member is there or not, or odd: no refusal, warning, count, message or file differs."""
    heard = {}
    made = members(
        {name: SQUARES[name] for name in NAMES}, family="ridge",
        options=[*PROMISE, "--cost", "ridge", "--l2", "1", "--labels", "3", "--any", "2", "--intercept",
                 "--unknowns", "4"],
    )  # fmt: skip
    text = made.path("clinic", "federation.toml").read_text()
    for number, (world, line) in enumerate(WORLDS.items(), 1):
        for name in made.names:
            made.path(name, f"{number}.toml").write_text(text.replace("run = 1", f"run = {number}", 1))
        one = "c0,c1,c2,c3\n" + "" if line is None else f"c0,c1,c2,c3\n{line}\n"
        made.path("river", "records.csv").write_text(one)  # all that it has
        ledger = f"{number}.sqlite"
        made.call(
            "river", "ledger", "new", "--me", "river", "--epsilon", "3", "--delta", "1e-6", "--ledger", ledger
        )
        for name in made.names:
            mine = ["--ledger", ledger] if name == "river" else []
            made.start(name, "--json", "--quiet", *mine, federation=f"{number}.toml")
        assert made.wait("river", 120.0) == 0, made.err("river")
        made.answers(seconds=120.0)
        heard[world] = {name: observed(made, name) for name in made.names}
        with tacit.Ledger(made.path("river", ledger)) as book:
            (row,) = book.to_dict()["runs"]
            heard[world]["entry"] = {key: row[key] for key in ("epsilon", "answer", "agents", "basis")}
        made.path("river", ledger).unlink()
    for world, facts in heard.items():
        assert facts == heard["plain"], world


def observed(made, name):
    """Return all that a member says and prints but the noisy numbers themselves."""
    told = json.loads(made.out(name))
    for noisy in ("x", "noise", "coefficients", "notes"):
        told.pop(noisy, None)
    told.pop("session")
    return told, made.err(name)
