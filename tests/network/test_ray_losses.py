"""Workers that are killed, and machines that are lost, on Ray: the run goes on to the same bits."""

import os
import signal
import threading
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.errors import InputError, NetworkError
from tacit.runtimes import Cluster

ray = pytest.importorskip("ray")
pytestmark = [
    pytest.mark.ray,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"),
]
MASKS = {
    "none": ("gradient-tracking", None),
    "affine": ("gradient-tracking", tacit.AffineMasks(10.0, seed=1)),
    "sums": ("lbfgs", tacit.SumMasks(seed=1)),
    "sums from shared keys": ("lbfgs", tacit.SumMasks(pairing="seeds")),
}


def problem_of(agents=20, m=3):
    rng = np.random.default_rng(7)
    records = [(rng.standard_normal((6, m)), rng.random(6) < 0.5) for _ in range(agents)]
    graph = nx.random_regular_graph(4, agents, seed=3)
    return tacit.Problem(graph, [tacit.Logistic(A, y.astype(float), l2=0.1) for A, y in records])


def worker_ids():
    """Return the processes of the workers that descend from this one: others on this machine are not to be killed."""
    ids = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            command = (place / "cmdline").read_bytes()
        except OSError:
            continue
        if command.startswith(b"ray::Worker") and os.getpid() in ancestors(int(place.name)):
            ids.append(int(place.name))
    return ids


def ancestors(process):
    """Yield the processes that a process descends from."""
    while process > 1:
        try:
            status = Path(f"/proc/{process}/stat").read_text()
        except OSError:
            return
        process = int(status.rpartition(")")[2].split()[1])
        yield process


class Killer:
    """Does something once, at the first look from a round on."""

    def __init__(self, round_, act):
        self._round, self._act, self.done = round_, act, False

    def __call__(self, progress):
        if not self.done and progress.check.round >= self._round:
            self.done = True
            self._act()


def kill_one():
    os.kill(max(worker_ids()), signal.SIGKILL)


@pytest.fixture(scope="module")
def one_ray():
    from tacit.runtimes.ray.cluster import connected

    with connected(Cluster(workers=2)):
        yield


@pytest.mark.parametrize("checkpoint_seconds", [0.0, 1e9])  # at every look, and never: from the start
@pytest.mark.parametrize("masks", MASKS)
def test_a_run_whose_worker_is_killed_ends_with_the_same_bits(one_ray, masks, checkpoint_seconds):
    algorithm, privacy = MASKS[masks]
    problem, killer = problem_of(), Killer(3 if algorithm == "lbfgs" else 20, kill_one)
    options = {"algorithm": algorithm, "privacy": privacy, "max_rounds": 60}
    stacked = tacit.solve(problem, **options)
    cluster = Cluster(workers=2, checkpoint_seconds=checkpoint_seconds)
    answer = tacit.solve(problem, runtime=cluster, on_progress=killer, **options)
    assert killer.done
    np.testing.assert_array_equal(answer.x, stacked.x)
    assert answer.record.phase2 == stacked.record.phase2  # rounds that ran again are not counted again


def test_a_promise_about_the_answer_is_not_taken_up_again(one_ray):
    """Every sum carries fresh noise, and the promise is for so many sums and no more."""
    promise = tacit.DifferentialPrivacy(epsilon=5.0, delta=1e-5, clip=1.0, any=1)
    killer = Killer(1, kill_one)
    with pytest.raises(NetworkError, match="begin a new one"):
        tacit.solve(
            problem_of(), privacy=tacit.SumMasks(answer=promise), runtime=Cluster(workers=2), on_progress=killer
        )


def test_a_run_that_is_interrupted_leaves_no_worker(one_ray):
    def interrupt(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tacit.solve(problem_of(), algorithm="extra", runtime=Cluster(workers=2), on_progress=interrupt)
    for _ in range(600):
        if not worker_ids():
            break
        threading.Event().wait(0.1)
    assert worker_ids() == []


def test_more_workers_than_processors_are_refused(one_ray):
    with pytest.raises(InputError, match="3 workers need as many processors, and there are 2"):
        tacit.solve(problem_of(), algorithm="extra", runtime=Cluster(workers=3))


def test_too_little_memory_is_refused(one_ray, monkeypatch):
    import tacit.runtimes.ray.crew as crew

    monkeypatch.setattr(crew, "_PROCESS", 1 << 50)
    with pytest.raises(InputError, match="GiB of memory together, and Ray has"):
        tacit.solve(problem_of(), algorithm="extra", runtime=Cluster(workers=2))
