"""A view holds what a coalition saw, in one format, and nothing of anybody's memory."""

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.audit import View, watch
from tacit.audit.recorder import Overheard
from tacit.masks import Keystreams, agent_keys, draw
from tacit.solving import prepare

pytestmark = pytest.mark.filterwarnings("ignore")
GRAPH = nx.circulant_graph(7, [1, 2])
SECRET = 48611.73152  # in every private place


def problem(m=2):
    rng = np.random.default_rng(1)
    costs = [tacit.Quadratic(np.diag(rng.uniform(1, 2, m)), rng.normal(size=m)) for _ in range(7)]
    return tacit.Problem(GRAPH, costs)


def planted():
    """Return a problem whose honest agents all have the secret among their coefficients."""
    costs = [tacit.Quadratic(np.eye(2), [SECRET + k, -SECRET - k]) for k in range(7)]
    return tacit.Problem(GRAPH, costs)


def job_of(given, algorithm, privacy):
    return prepare(given, privacy=privacy, algorithm=algorithm, max_rounds=12).job


@pytest.mark.parametrize("coalition", [[3], [2, 3]], ids=str)
@pytest.mark.parametrize(
    ("algorithm", "privacy"),
    [
        ("nids", tacit.AffineMasks(10.0, seed=1)),
        ("admm", tacit.AffineMasks(10.0, seed=1)),
        ("gradient-tracking", None),
        ("direct", tacit.SumMasks(seed=1)),
        ("direct", None),
        ("newton", tacit.SumMasks(seed=1)),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value,
)
def test_separate_agents_and_stacked_ones_record_the_same_view(algorithm, privacy, coalition):
    job = job_of(problem(), algorithm, privacy)
    together = watch(job, coalition)
    apart = watch(job, coalition, runtime="agents")
    heard = [exchange for exchange in apart.exchanges if exchange.kind not in ("tree", "look")]
    assert [exchange.kind for exchange in together.exchanges] == [exchange.kind for exchange in heard]
    for one, other in zip(together.exchanges, heard, strict=True):
        said = [dict(zip(zip(e.senders.tolist(), e.receivers.tolist()), e.values)) for e in (one, other)]  # noqa: B905
        assert said[0].keys() == said[1].keys()
        for pair, values in said[0].items():
            assert values.dtype.kind == said[1][pair].dtype.kind
            if values.dtype.kind == "u":
                assert np.array_equal(values, said[1][pair])
            else:
                np.testing.assert_allclose(values, said[1][pair], rtol=1e-9, atol=1e-9)


def test_agents_apart_also_hear_the_looks_that_decide_when_to_stop():
    view = watch(job_of(problem(), "nids", tacit.AffineMasks(10.0, seed=1)), [3], runtime="agents")
    kinds = {exchange.kind for exchange in view.exchanges}
    assert {"swap", "mix", "tree", "look"} <= kinds


@pytest.mark.parametrize("runtime", ["stacked", "agents"])
@pytest.mark.parametrize("algorithm", ["nids", "gradient-tracking", "direct"])
def test_no_secret_of_an_honest_agent_is_in_a_serialised_view(runtime, algorithm):
    """Coefficients, masks between honest agents and keys are searched for, byte by byte."""
    given = planted()
    masks = tacit.SumMasks(seed=5) if algorithm == "direct" else tacit.AffineMasks(1e3, seed=5)
    job = job_of(given, algorithm, masks)
    data = watch(job, [3], runtime=runtime, worst_case=True).to_bytes()
    honest = [i for i in range(7) if i != 3]
    numbers = [given.costs[i].affine for i in honest]
    if algorithm == "direct":
        step = masks.fixed_point(agents=7).step
        numbers += [np.rint(given.costs[i].affine / step).astype(np.int64) for i in honest]
    else:
        lattice = masks.lattice(agents=7, links=14)
        r = draw(Keystreams(agent_keys(7, seed=5), given.network.degrees), (28, 2), lattice)
        owners = np.repeat(np.arange(7), 4)
        others = np.concatenate([given.network.neighbours(i) for i in range(7)])
        between_honest = (owners != 3) & (others != 3)
        numbers += list(r[between_honest])
        assert all(
            number.tobytes() in data for number in r[~between_honest].ravel()
        )  # the search finds what is there
    for number in np.concatenate([n.ravel().view(np.uint64) for n in numbers]):
        assert number.tobytes() not in data
    for key in agent_keys(7, seed=5):
        assert key not in data
    for text in (b"4861", str(SECRET).encode()):
        assert text not in data


def test_the_search_finds_a_secret_that_is_there():
    """Without masks gradient tracking sends the gradient itself, or nearly: a search that cannot fail proves nothing."""
    given = planted()
    view = watch(job_of(given, "multi-consensus", None), [3])
    assert given.costs[2].affine[0].tobytes() in view.to_bytes()


def test_a_view_survives_a_file(tmp_path):
    view = watch(job_of(problem(), "nids", tacit.AffineMasks(10.0)), [3], worst_case=True)
    view.save(tmp_path / "view")
    again = View.load(tmp_path / "view")
    assert again.to_bytes() == view.to_bytes()
    assert again.published is not None
    assert np.array_equal(again.exchanges[0].values, view.exchanges[0].values)


@pytest.mark.parametrize("data", [b"", b"x", b"\x81\xa9coalition\xc0"], ids=repr)
def test_a_damaged_view_is_refused(data):
    with pytest.raises(tacit.TacitError, match="no recorded view"):
        View.from_bytes(data)


def test_a_view_has_no_place_for_anything_but_numbers():
    view = watch(job_of(problem(), "nids", None), [3])
    strange = View(coalition=view.coalition, own=view.own, exchanges=view.exchanges, published=object())
    with pytest.raises(NotImplementedError, match="numbers"):
        strange.to_bytes()


def test_only_rows_of_the_coalitions_links_are_kept():
    network = tacit.Network(GRAPH)
    peers = Overheard(network, "metropolis", [3])
    peers.mix(np.arange(7.0)[:, None])
    (exchange,) = peers.exchanges
    touching = set(exchange.senders.tolist()) | set(exchange.receivers.tolist())
    assert touching == {3, *network.neighbours(3).tolist()}
    assert (np.isin(exchange.senders, 3) | np.isin(exchange.receivers, 3)).all()


def test_the_worst_case_is_refused_where_nobody_has_all_effective_costs():
    job = job_of(problem(), "nids", tacit.AffineMasks(10.0))
    with pytest.raises(tacit.TacitError, match="all effective costs"):
        watch(job, [3], runtime="peers", worst_case=True)
    with pytest.raises(tacit.TacitError, match="no runtime"):
        watch(job, [3], runtime="cloud")


@pytest.mark.network
def test_real_processes_record_the_same_kind_of_view():
    given = problem()
    job = job_of(given, "nids", None)
    peers, together = watch(job, [2, 3], runtime="peers"), watch(job, [2, 3])
    one, other = peers.only("mix")[5], together.only("mix")[5]
    said = [dict(zip(e.senders.tolist(), e.values.tolist(), strict=True)) for e in (one, other)]
    assert said[0].keys() == said[1].keys()
    for agent, values in said[0].items():
        assert values == pytest.approx(said[1][agent], abs=1e-9)
