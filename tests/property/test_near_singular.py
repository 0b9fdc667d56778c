"""Near-singular designs: no run says "converged" and misses the optimum, unless it says by how much at most.

A design is a float64 matrix as it stands: columns that are alike to 10⁻¹⁶ are not called equal. The optimum f* is
found in sixty digits: losses, gradients and Hessians by mpmath, Newton's method to thirty digits, and directions
along which the Hessian is zero to forty are left out, since there the loss does not depend on x at all. What an
answer may miss is 10⁻⁶ of f(0) − f*, or the bound that was given with a warning.

`make test-search` looks at some hundred times as many.
"""

import warnings
from typing import NamedTuple

import mpmath as mp
import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import DataError, TacitError
from tacit.learning import (
    PrivateLasso,
    PrivateLinearRegression,
    PrivateLogisticRegression,
    PrivatePoissonRegressor,
    PrivateRidge,
)
from tacit.masks import SumMasks

mp.mp.dps = 60
_ZERO = mp.mpf(10) ** -40


class Design(NamedTuple):
    X: np.ndarray
    signal: np.ndarray  # what y is made of, with noise
    rng: np.random.Generator


@st.composite
def designs(draw, *, largest=1e9):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p = draw(st.integers(6, 30)), draw(st.integers(1, 4))
    columns = [rng.standard_normal(n) for _ in range(p)]
    signal = sum(rng.standard_normal() * column for column in columns)
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(
            st.sampled_from(["alike", "alike", "sum", "rare", "constant", "huge", "tiny", "far", "one-hot"])
        )
        k = draw(st.integers(0, len(columns) - 1))
        size = 10.0 ** draw(st.integers(1, int(np.log10(largest))))
        if kind == "alike":
            apart = rng.standard_normal(n)
            distance = draw(st.sampled_from([0.0, *(10.0**-e for e in range(1, 17))])) * np.abs(columns[k]).max()
            columns.append(columns[k] + distance * apart)
            signal = signal + draw(st.sampled_from([0.0, 3.0])) * apart
        elif kind == "sum":
            columns.append(columns[k] + columns[-1])
        elif kind == "rare":
            columns.append((np.arange(n) == rng.integers(n)) * size)
        elif kind == "constant":
            columns.append(np.full(n, size / 3.0))
        elif kind == "huge":
            columns[k] = columns[k] * size
        elif kind == "tiny":
            columns[k] = columns[k] / size
        elif kind == "far":
            columns[k] = columns[k] + size
        else:
            columns += list(np.eye(3)[rng.integers(0, 3, n)].T)
    return Design(np.column_stack(columns), np.asarray(signal) / max(1.0, np.abs(signal).std()), rng)


def squares(z, y):
    return (z - y) ** 2 / 2, z - y, mp.mpf(1)


def logistic(z, y):
    s = 1 / (1 + mp.exp(-z))
    return mp.log1p(mp.exp(z)) - y * z, s - y, s * (1 - s)


def poisson(z, y):
    return mp.exp(z) - y * z, mp.exp(z) - y, mp.exp(z)


def huber(z, y):
    u, delta = z - y, mp.mpf("1.35")
    if abs(u) <= delta:
        return u**2 / 2, u, mp.mpf(1)
    return delta * abs(u) - delta**2 / 2, delta * mp.sign(u), mp.mpf(0)


class Exact:
    """Σ ρ(aⱼᵀx, yⱼ) + ½ Σ l2 x², in sixty digits."""

    def __init__(self, A, y, rho, l2=None):
        self.A = [[mp.mpf(float(a)) for a in row] for row in A]
        self.y, self.rho, self.m = [mp.mpf(float(v)) for v in y], rho, len(self.A[0])
        self.l2 = [mp.mpf(float(v)) for v in (np.zeros(self.m) if l2 is None else l2)]

    def value(self, x):
        x = [mp.mpf(float(v)) if isinstance(v, float | np.floating) else v for v in x]
        rows = (mp.fdot(row, x) for row in self.A)
        loss = mp.fsum(self.rho(z, y)[0] for z, y in zip(rows, self.y, strict=True))
        return loss + mp.fsum(w * v**2 for w, v in zip(self.l2, x, strict=True)) / 2

    def _derivatives(self, x):
        g, H = [w * v for w, v in zip(self.l2, x, strict=True)], mp.diag(self.l2)
        for row, y in zip(self.A, self.y, strict=True):
            _, slope, bend = self.rho(mp.fdot(row, x), y)
            for j in range(self.m):
                g[j] += slope * row[j]
                for k in range(j + 1):
                    H[j, k] += bend * row[j] * row[k]
                    H[k, j] = H[j, k]
        return g, H

    def least(self):
        """Return the least value, by damped Newton steps; None where the loss has no minimum."""
        x = [mp.mpf(0)] * self.m
        value = self.value(x)
        for _ in range(200):
            g, H = self._derivatives(x)
            p = _solve(H, [-v for v in g])
            if p is None:
                return None
            promise, t = mp.fdot(g, p), mp.mpf(1)
            if -promise <= mp.mpf(10) ** -30 * (1 + abs(value)):
                return value
            while True:
                trial = [a + t * b for a, b in zip(x, p, strict=True)]
                new = self.value(trial)
                if new <= value + t * promise / 4:
                    break
                t /= 2
                if t < mp.mpf(10) ** -20:
                    return value
            x, value = trial, new
            if max(map(abs, x)) > mp.mpf(10) ** 25:
                return None
        return None


def _solve(H, b):
    """Return a solution of Hx = b by elimination with pivots, zero where a pivot is; None where b has no solution."""
    m = H.rows
    D = [1 / mp.sqrt(H[k, k]) if H[k, k] > _ZERO else mp.mpf(1) for k in range(m)]
    M = [[H[j, k] * D[j] * D[k] for k in range(m)] for j in range(m)]
    r, order = [b[k] * D[k] for k in range(m)], list(range(m))
    used = []
    while order:
        k = max(order, key=lambda j: M[j][j])
        order.remove(k)
        if M[k][k] <= _ZERO:
            size = max([abs(v) for v in r] + [mp.mpf(1)])
            if any(abs(r[j]) > mp.mpf(10) ** -18 * size for j in [k, *order]):
                return None
            break
        used.append(k)
        for j in order:
            f = M[j][k] / M[k][k]
            for i in [*order, k]:
                M[j][i] -= f * M[k][i]
            r[j] -= f * r[k]
    x = [mp.mpf(0)] * m
    for at in range(len(used) - 1, -1, -1):
        k = used[at]
        x[k] = (r[k] - mp.fsum(M[k][j] * x[j] for j in used[at + 1 :])) / M[k][k]
    return [x[k] * D[k] for k in range(m)]


MISSED = 1e-6
QUICK, LONG = 14, 600


def parts(rows, n=3):
    return [np.arange(len(rows)) % n == k for k in range(n)]


def labels(kind, signal, rng):
    if kind == "logistic":
        return (rng.random(len(signal)) < 1 / (1 + np.exp(-2 * signal))).astype(float)
    if kind == "poisson":
        return rng.poisson(np.exp(np.clip(signal, -2, 2))).astype(float)
    return signal + 0.5 * rng.standard_normal(len(signal))


LOSSES = {"squares": squares, "logistic": logistic, "poisson": poisson, "huber": huber}
COSTS = {
    "squares": tacit.LeastSquares,
    "logistic": tacit.Logistic,
    "poisson": tacit.Poisson,
    "huber": tacit.Huber,
}


def judge(exact, x, doubt, start, said):
    """Fail where x misses f* by more than it may."""
    if not np.isfinite(x).all():
        return
    best = exact.least()
    if best is None:
        pytest.fail(f"{said}: converged, and there is no minimum")
    gap, reference = exact.value(x) - best, exact.value(np.zeros(exact.m)) - best
    if gap <= MISSED * reference or gap <= 1e-25 * (1 + abs(best)):
        return
    share = None if doubt is None else doubt.share
    assert share is not None, f"{said}: misses {float(gap / reference):.2g} without a bound"
    allowed = share * (exact.value(start) - exact.value(x))
    assert gap <= allowed, f"{said}: misses {float(gap):.2g}, with a bound of {float(allowed):.2g}"


def solved(design, kind, name, privacy):
    X, signal, rng = design
    y = labels(kind, signal, rng)
    problem = tacit.Problem(nx.complete_graph(3), [COSTS[kind](X[rows], y[rows]) for rows in parts(X)])
    try:
        answer = tacit.solve(problem, algorithm=name, privacy=privacy, max_rounds=3000)
    except TacitError as error:
        return f"{type(error).__name__}"
    if answer.converged:
        exact = Exact(X, y, LOSSES[kind])
        judge(exact, answer.x, answer.record.doubt, np.zeros(X.shape[1]), f"{kind} by {name}")
    return answer.status


ALGORITHMS = ["auto", "direct", "newton", "lbfgs", "fista", "nids", "extra", "admm", "gradient-tracking", "opapc"]


def search_solve(design, kind, name, secret):
    assume(name != "direct" or kind == "squares")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return solved(design, kind, name, SumMasks(bound=2.0**60, words=2) if secret else None)


def search_estimators(design, kind, intercept):
    X, signal, rng = design
    models = {
        "linear": (PrivateLinearRegression(), "squares", 0.0),
        "ridge": (PrivateRidge(alpha=1e-3), "squares", 1e-3),
        "logistic": (PrivateLogisticRegression(C=np.inf), "logistic", 0.0),
        "logistic, penalised": (PrivateLogisticRegression(C=10.0), "logistic", 0.1),
        "poisson": (PrivatePoissonRegressor(alpha=0.0), "poisson", 0.0),
    }
    model, loss, weight = models[kind]
    y = labels(loss, signal, rng)
    assume(loss == "squares" or 0 < y.mean() < y.max())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.set_params(fit_intercept=intercept).fit(X, y, groups=np.arange(len(X)) % 3)
        except DataError:
            return "refused"
    if not model.answer_.converged:
        return model.answer_.status
    A = np.column_stack([X, np.ones(len(X))]) if intercept else X
    exact = Exact(A, y, LOSSES[loss], l2=[weight] * X.shape[1] + [0.0] * intercept)
    x = np.append(model.coef_.ravel(), np.atleast_1d(model.intercept_)) if intercept else model.coef_.ravel()
    start = np.zeros(A.shape[1])
    if intercept and loss != "logistic":
        start[-1] = y.mean() if loss == "squares" else np.log(y.mean())
    judge(exact, x, model.doubt_, start, kind)
    if loss == "squares" and intercept and model.doubt_ is None and y.std() > 0:
        printed = dict(model.summary_.facts).get("R²")
        assert abs(printed - model.score(X, y)) < 1e-6
    return "converged"


def search_lasso(design, alpha):
    """The duality gap, in sixty digits, bounds what a lasso misses."""
    X, signal, rng = design
    y = labels("squares", signal, rng)
    model = PrivateLasso(alpha=alpha, fit_intercept=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(X, y, groups=np.arange(len(X)) % 3)
        except DataError:
            return
    if not model.answer_.converged:
        return
    w, weight = [mp.mpf(float(v)) for v in model.coef_], mp.mpf(alpha) * len(y)
    rows = [[mp.mpf(float(a)) for a in row] for row in X]
    labels_ = [mp.mpf(float(v)) for v in y]
    r = [v - mp.fdot(row, w) for row, v in zip(rows, labels_, strict=True)]
    steepest = max(abs(mp.fsum(row[k] * v for row, v in zip(rows, r, strict=True))) for k in range(len(w)))
    theta = [v * min(1, weight / steepest) for v in r]
    primal = mp.fsum(v**2 for v in r) / 2 + weight * mp.fsum(map(abs, w))
    dual = mp.fsum(b**2 - (b - v) ** 2 for b, v in zip(labels_, theta, strict=True)) / 2
    gained = mp.fsum(v**2 for v in labels_) / 2 - primal
    assert primal - dual <= MISSED * max(gained, primal - dual) or primal - dual <= 1e-9 * primal


kinds = st.sampled_from(["squares", "logistic", "poisson", "huber"])
estimators = st.sampled_from(["linear", "ridge", "logistic", "logistic, penalised", "poisson"])
solves = (designs(), kinds, st.sampled_from(ALGORITHMS), st.booleans())
fits = (designs(), estimators, st.booleans())


@settings(max_examples=QUICK)
@given(*solves)
def test_no_run_says_converged_far_from_the_optimum(design, kind, name, secret):
    search_solve(design, kind, name, secret)


@settings(max_examples=QUICK)
@given(*fits)
def test_no_summary_is_printed_far_from_the_optimum(design, kind, intercept):
    search_estimators(design, kind, intercept)


@settings(max_examples=QUICK)
@given(designs(), st.sampled_from([1e-4, 1e-2, 1.0]))
def test_no_lasso_is_far_from_the_optimum(design, alpha):
    search_lasso(design, alpha)


@pytest.mark.search
@settings(max_examples=LONG)
@given(*solves)
def test_search_runs(design, kind, name, secret):
    search_solve(design, kind, name, secret)


@pytest.mark.search
@settings(max_examples=2 * LONG)
@given(*fits)
def test_search_fits(design, kind, intercept):
    search_estimators(design, kind, intercept)


@pytest.mark.search
@settings(max_examples=LONG)
@given(designs(), st.sampled_from([1e-4, 1e-2, 1.0]))
def test_search_lassos(design, alpha):
    search_lasso(design, alpha)
