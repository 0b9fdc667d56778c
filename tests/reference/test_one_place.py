"""Questions that runs, manifests and audits ask have one answer, in one place."""

import dataclasses
import math

import networkx as nx
import pytest

import tacit
from tacit.algorithms import FISTA, LBFGS, Newton
from tacit.federation import Fitting, Plan
from tacit.federation.drawing_up import algorithm_of
from tacit.masks import AffineMasks, SumMasks
from tacit.solving import choose, prepare
from tacit.solving.choice import among_sums
from tacit.solving.floor import LEAST, rounding_floor
from tacit.solving.guarantee import of_run
from tacit.stamps import Stamp

RING = nx.complete_graph(4)


def ridge(dim, *, rough=False, family=tacit.Logistic):
    costs = [family([[float(k + j == 0) for j in range(dim)]] * 2, [0.0, 1.0], l2=1.0) for k in range(4)]
    return tacit.Problem(RING, [cost + tacit.L1([0.1] * dim) for cost in costs] if rough else costs)


@pytest.mark.parametrize("rough", [False, True])
@pytest.mark.parametrize("dim", [3, 3000])
def test_a_manifest_chooses_among_sums_as_a_run_does(dim, rough):
    kind = among_sums(dim, rough=rough)
    assert kind is (Newton if dim == 3 else FISTA if rough else LBFGS)
    plan = Plan(unknowns=dim, fitting=Fitting(cost="lasso" if rough else "ridge", l1=0.1 * rough, l2=1.0))
    settings = algorithm_of(plan, plan.fitting.model(), dim)
    assert settings.get("inner", settings["name"]) == {Newton: "newton", FISTA: "fista", LBFGS: "lbfgs"}[kind]


def test_costs_without_hessians_or_values_leave_gradients():
    assert among_sums(3, hessians=False) is LBFGS
    assert among_sums(3, hessians=False, values=False) is FISTA
    assert isinstance(choose(ridge(2, rough=True), privacy=SumMasks()).algorithm, Newton | FISTA)


def test_the_rounding_floor_of_a_run_is_noise_over_curvature():
    problem, masks = ridge(2), AffineMasks(10.0)
    terms = masks.terms(problem.network, 2)
    floor = prepare(problem, privacy=masks).job.floor
    assert floor == rounding_floor(masks, problem.network, 2, curvature=problem.least_curvature)
    assert floor == terms.noise / max(problem.least_curvature, LEAST)
    assert rounding_floor(None, problem.network, 2, curvature=1.0) == 0.0
    blurred = rounding_floor(masks, problem.network, 2, curvature=1.0, exact=False)
    assert blurred == pytest.approx(terms.noise + 8.0 * math.sqrt(2.0) * terms.blur)


def test_the_certificate_of_a_run_keeps_what_the_network_says():
    network = tacit.certify(RING, any=1, sigma=2.0)
    stamp = Stamp(reason="seed", sentence="masks from a seed.")
    run = of_run(network, stamps=[stamp], pairing="seeds")
    assert (run.stamps, run.computational, run.is_private) == ((stamp,), True, False)
    assert dataclasses.replace(run, stamps=(), computational=False) == network
    answer = tacit.solve(ridge(2), privacy=AffineMasks(2.0))
    assert answer.certificate(any=1).epsilon == network.epsilon
    assert answer.certificate(any=1).coverage == answer.record.phase1.coverage
