"""`tacit demo`: a private problem solved from end to end, and the paper's illustration replayed."""

from __future__ import annotations

import networkx as nx
import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.optimize import minimize

from tacit.cli.illustration import replay
from tacit.cli.progress import progress_bar
from tacit.cli.summary import show_answer
from tacit.costs import Logistic
from tacit.masks import AffineMasks
from tacit.solving import Answer, Problem, solve
from tacit.typing import Array

_CLINICS, _FEATURES, _SIGMA = 20, 4, 1e3
_HIDE = 10.0  # some labels' worth: what the demonstration declares to be hidden


def demo() -> None:
    """Solve a private problem on this machine, check it against the pooled data, and replay the paper's example."""
    console = Console(highlight=False)
    console.rule("Twenty clinics fit one model; nobody shows its diagnoses")
    console.print(
        "Each clinic keeps its own records. Together they fit a logistic regression, talking only to four "
        "neighbours each. The records here are made up on the spot, and the masks are drawn afresh.\n"
    )
    problem = _clinics()
    with progress_bar("Agreeing") as on_progress:
        answer = solve(problem, privacy=AffineMasks(_SIGMA), hide=_HIDE, on_progress=on_progress)
    show_answer(answer, console)
    _compare(console, problem, answer)
    console.rule("The same model, with the features hidden too")
    console.print(
        "Masks on the affine part leave the features in the open. Secret sums hide whole costs: the clinics learn "
        "the sums of their gradients and Hessians, and nothing else. There is no σ to choose.\n"
    )
    whole = solve(problem, protect="whole")
    show_answer(whole, console)
    apart = float(np.abs(whole.x - answer.x).max())
    console.print(
        f"\nThe same coefficients, to {apart:.1e}, after {whole.record.phase2.exchanges} hops instead of "
        f"{answer.record.phase2.exchanges} rounds of gossip.\n"
    )
    console.rule("The paper's illustration: three agents, h_i(x) = (x − x_i)²")
    replay(console)
    console.print(
        "\nNext: `tacit init` writes a problem file to change, and `tacit solve problem.toml` solves it.",
        markup=False,
    )


def _clinics() -> Problem:
    """Return made-up records of clinics of different sizes."""
    rng = np.random.default_rng(2026)  # the data of a demonstration; masks never come from here
    truth = rng.standard_normal(_FEATURES + 1)
    costs = []
    for _ in range(_CLINICS):
        features = rng.standard_normal((int(rng.integers(15, 60)), _FEATURES))
        chance = 1.0 / (1.0 + np.exp(-(features @ truth[:-1] + truth[-1])))
        diagnosed = (rng.random(len(features)) < chance).astype(float)
        costs.append(Logistic(features, diagnosed, l2=1.0 / _CLINICS, intercept=True))
    return Problem(nx.random_regular_graph(4, _CLINICS, seed=1), costs)


def centralised(problem: Problem) -> Array:
    """Return the optimum that somebody with everybody's cost would compute: what privacy must not change."""

    def everywhere(x: Array) -> Array:
        return np.tile(x, (len(problem.costs), 1))

    found = minimize(
        lambda x: float(problem.stack.value(everywhere(x)).sum()),
        problem.x0,
        jac=lambda x: problem.stack.grad(everywhere(x)).sum(axis=0),
        hess=lambda x: problem.stack.hess(everywhere(x)).sum(axis=0),
        method="trust-exact",
        options={"gtol": 1e-9},
    )
    return np.asarray(found.x)


def _compare(console: Console, problem: Problem, answer: Answer) -> None:
    pooled = centralised(problem)
    apart = float(np.abs(answer.x - pooled).max())
    console.print(f"\nAgainst the pooled data: the largest difference of any coefficient is {apart:.1e}.\n")
    one, two = answer.certificate({0}), answer.certificate(any=2)
    table = Table("who looks", "what it learns exactly", "each honest clinic's coefficients", "hidden differences")
    for who, certificate in (("clinic 0", one), ("any two clinics", two)):
        least = min(certificate.uncertainty.values())
        table.add_row(
            who,
            "only the sum over the other clinics",
            f"to ± {least:.0f} at best",
            f"up to {certificate.hidden_difference():.3g}",
        )
    console.print(table)
    largest = float(np.abs(problem.stack.affine).max())
    console.print(
        f"The largest coefficient that is hidden is {largest:.0f}. Differences are between two worlds of "
        "the same sum: up to there a guess is right at most 51 % of the time, and a coin is right 50 %. (Only this "
        "simulation can know the first number.)\n"
    )
