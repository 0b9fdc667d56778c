"""A view holds what a coalition saw, in one format, and nothing of anybody's memory."""

import dataclasses

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.auditing import View, watch
from tacit.auditing.recording.recorder import Recorder
from tacit.masks import Keystreams, agent_keys, draw
from tacit.runtimes import Stacked
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
        ("nids", tacit.AffineMasks(10.0, seed=1, pairing="seeds")),
        ("direct", tacit.SumMasks(seed=1, pairing="seeds")),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value,
)
def test_separate_agents_and_stacked_ones_record_the_same_view(algorithm, privacy, coalition):
    job = job_of(problem(), algorithm, privacy)
    together = watch(job, coalition)
    apart = watch(job, coalition, runtime="agents")
    heard = [exchange for exchange in apart.exchanges if exchange.kind != "look"]
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
    assert {"swap", "mix", "look"} <= kinds


SHIPPED = [
    ("nids", tacit.AffineMasks(1e3, seed=5)),
    ("gradient-tracking", tacit.AffineMasks(1e3, seed=5)),
    ("nids", tacit.AffineMasks(1e3, seed=5, pairing="one-sided")),
    ("nids", tacit.AffineMasks(1e3, seed=5, pairing="seeds")),
    ("direct", tacit.QuadraticMasks(1e3, seed=5)),
    ("multi-consensus", tacit.QuadraticMasks(1e3, seed=5)),
    ("direct", tacit.SumMasks(seed=5)),
    ("direct", tacit.SumMasks(seed=5, pairing="seeds")),
    ("direct", tacit.SumMasks(seed=5, words=2)),
    ("newton", tacit.SumMasks(seed=5)),
]


def searched(given, masks, data):
    """Search for the coefficients of honest agents, as floats, as words, and as text; and for keys."""
    honest = [cost for i, cost in enumerate(given.costs) if i != 3]
    numbers = [np.concatenate([cost.affine, -cost.affine, 2.0 * cost.affine]) for cost in honest]
    if isinstance(masks, tacit.SumMasks):
        words = [masks.fixed_point(agents=7).encode(cost.affine.copy()) for cost in honest]
        numbers += [each[each != 0] for each in words]
    for number in np.concatenate([each.ravel().view(np.uint64) for each in numbers]):
        assert number.tobytes() not in data
    for key in agent_keys(7, seed=5):
        assert key not in data
    for text in (b"4861", str(SECRET).encode()):
        assert text not in data


@pytest.mark.parametrize("runtime", ["stacked", "agents"])
@pytest.mark.parametrize(
    ("algorithm", "masks"), SHIPPED, ids=lambda value: value if isinstance(value, str) else repr(value)
)
def test_no_secret_of_an_honest_agent_is_in_a_serialised_view(runtime, algorithm, masks):
    """Coefficients and keys are searched for, byte by byte."""
    given = planted()
    searched(given, masks, watch(job_of(given, algorithm, masks), [3], runtime=runtime, worst_case=True).to_bytes())


@pytest.mark.network
@pytest.mark.parametrize(("algorithm", "masks"), SHIPPED[:1] + SHIPPED[3:5] + SHIPPED[6:7], ids=repr)
def test_no_secret_is_in_the_view_of_real_processes(algorithm, masks):
    given = planted()
    real = dataclasses.replace(masks, seed=None)
    searched(given, masks, watch(job_of(given, algorithm, real), [3], runtime="peers").to_bytes())


@pytest.mark.parametrize("runtime", ["stacked", "agents"])
def test_no_mask_between_honest_agents_is_in_a_serialised_view(runtime):
    given, masks = planted(), tacit.AffineMasks(1e3, seed=5)
    data = watch(job_of(given, "nids", masks), [3], runtime=runtime, worst_case=True).to_bytes()
    lattice = masks.lattice(agents=7, links=14)
    r = draw(Keystreams(agent_keys(7, seed=5), given.network.degrees), (28, 2), lattice)
    owners = np.repeat(np.arange(7), 4)
    others = np.concatenate([given.network.neighbours(i) for i in range(7)])
    between_honest = (owners != 3) & (others != 3)
    assert not any(number.tobytes() in data for number in r[between_honest].ravel())
    assert all(number.tobytes() in data for number in r[~between_honest].ravel())  # the search finds what is there


@pytest.mark.parametrize("runtime", ["stacked", "agents"])
@pytest.mark.parametrize(
    "masks", [tacit.AffineMasks(1e3, seed=5, pairing="seeds"), tacit.SumMasks(seed=5, pairing="seeds")], ids=repr
)
def test_members_know_the_terms_that_they_draw_from_shared_keys_and_no_others(runtime, masks):
    """No message carries them; both runtimes note those of the coalition's links alone."""
    algorithm = "direct" if isinstance(masks, tacit.SumMasks) else "nids"
    view = watch(job_of(problem(), algorithm, masks), [3], runtime=runtime)
    drawn = view.only("drawn")
    assert drawn
    for exchange in drawn:
        assert ((exchange.senders == 3) | (exchange.receivers == 3)).all()
        assert len(exchange.senders) == 8
    known = dict(zip(zip(drawn[0].senders.tolist(), drawn[0].receivers.tolist()), drawn[0].values))  # noqa: B905
    other = watch(job_of(problem(), algorithm, masks), [1], runtime="stacked").only("drawn")[0]
    again = dict(zip(zip(other.senders.tolist(), other.receivers.tolist()), other.values))  # noqa: B905
    assert np.array_equal(known[1, 3], again[1, 3])
    assert np.array_equal(known[3, 1], again[3, 1])


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
    recorder = Recorder(network, "metropolis", [3])
    recorder.together(Stacked(network)).mix(np.arange(7.0)[:, None])
    (exchange,) = recorder.exchanges()
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


def test_the_function_does_not_stand_in_the_way_of_the_package():
    import tacit.auditing.recording.recorder as module

    assert module.Recorder is Recorder
    assert tacit.audit is tacit.auditing.audit
