"""What can be run on the page: three made-up problems, or a problem file of one's own, whose data stay hidden."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import networkx as nx

from tacit.algorithms import ALGORITHMS
from tacit.auditing import AuditReport, BestEstimate, audit
from tacit.costs import Quadratic
from tacit.masks import LEVELS, Level, has_sigma, masks_at
from tacit.runtimes import MAX_ROUNDS, TOLERANCE, Progress
from tacit.solving import Answer, Problem, ProblemFile, load_problem
from tacit.solving.clinics import clinic_records, clinics
from tacit.solving.illustration import POINTS, TRIANGLE

CHOICES = ("auto", *ALGORITHMS)
"""Algorithms by name, and the choice of tacit."""
PROTECTIONS: tuple[Level, ...] = LEVELS
_BUSES = ((20.0, 0.050, 60.0), (25.0, 0.080, 35.0), (18.0, 0.060, 80.0), (30.0, 0.040, 20.0),
          (22.0, 0.070, 55.0), (27.0, 0.090, 40.0))  # fmt: skip
_SURE = 1e-6  # a deviation, relative, that is rounding


@dataclass(frozen=True, slots=True)
class Case:
    """A problem to run, with what its file or its maker says about it."""

    name: str
    task: ProblemFile
    says: str
    file: Path | None = None
    """Where somebody's own data are: then no number of theirs is shown."""

    @property
    def is_own(self) -> bool:
        """Whether these are somebody's own data."""
        return self.file is not None

    @property
    def agents(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(str(agent) for agent in self.task.problem.network.agents)


@dataclass(frozen=True, slots=True)
class Choices:
    """How it is to be run."""

    level: Level = "affine"
    sigma: float = 100.0
    algorithm: str = "auto"
    seed: int | None = None
    """For a run that can be repeated; it is NOT PRIVATE."""

    def of(self, case: Case) -> ProblemFile:
        """Return the problem as it is to be run."""
        masks = masks_at(self.level, sigma=self.sigma, seed=self.seed)
        return replace(case.task, privacy=masks, protect=None, algorithm=self.algorithm, runtime="stacked")


def triangle() -> Problem:
    """Return the three agents of the paper, who agree on the mean of their points."""
    return Problem(TRIANGLE, [Quadratic.distance([point]) for point in POINTS.values()])


def small_grid() -> Problem:
    """Return six buses that agree on a price, by the dual of their dispatch; units have no limits here.

    f(P) = c₁P + c₂P² and a demand d make h(λ) = λ²/(4c₂) − (c₁/(2c₂) + d)·λ, and the sum is least at the price.
    """
    costs = [Quadratic([[0.5 / c2]], [-(0.5 * c1 / c2) - need]) for c1, c2, need in _BUSES]
    return Problem(nx.circulant_graph(len(_BUSES), [1, 2]), costs)


CLINICS = "Twenty clinics"
_MADE_UP: tuple[tuple[str, Callable[[], Problem], str], ...] = (
    ("The paper's triangle", triangle, "Three agents agree on the mean of their points."),
    (CLINICS, clinics, "Twenty clinics fit one logistic regression on made-up records."),
    ("A small grid", small_grid, "Six buses agree on a price; what each needs and what its unit costs is private."),
)
EXAMPLES: Mapping[str, Callable[[], Problem]] = {name: make for name, make, _ in _MADE_UP}


def example(name: str) -> Case:
    """Return a made-up problem, about which everything may be shown."""
    make, says = next((make, says) for called, make, says in _MADE_UP if called == name)
    task = ProblemFile(
        problem=_reached_in_order(make()), names=(), notes=(), privacy=None, protect=None, hide=None,
        algorithm="auto", tree=True, weights=None, tolerance=TOLERANCE, max_rounds=MAX_ROUNDS, runtime="stacked",
    )  # fmt: skip
    return Case(name, task, says)


def _reached_in_order(problem: Problem) -> Problem:
    """Return the problem with its agents in an order in which each is linked to one before it.

    So a file of links names them in that order, and a seed makes the same masks of it.
    """
    network = problem.network
    graph: nx.Graph[Any] = nx.Graph([(network.agents[i], network.agents[j]) for i, j in network.links])
    order = [network.agents[0], *(agent for _, agent in nx.bfs_edges(graph, network.agents[0]))]
    ordered: nx.Graph[Any] = nx.Graph()
    ordered.add_nodes_from(order)
    ordered.add_edges_from(graph.edges())
    costs = dict(zip(network.agents, problem.costs, strict=True))
    return Problem(ordered, [costs[agent] for agent in order])


def own(path: str | Path) -> Case:
    """Return the problem in somebody's file."""
    file = Path(path).expanduser()
    task = load_problem(file)
    return Case(file.name, task, " ".join(task.notes), file)


def run_case(case: Case, choices: Choices, on_progress: Callable[[Progress], None]) -> Answer:
    """Solve it, as the command of that name does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the answer says what they say
        return choices.of(case).solve(on_progress)


def attack(case: Case, choices: Choices, coalition: str, on_progress: Callable[[float, str], None]) -> AuditReport:
    """Attack the run with all that a coalition sees; *coalition* has names with commas between them."""
    names = [name.strip() for name in coalition.split(",") if name.strip()]
    members = case.task.problem.network.named(names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the report says what they say
        return audit(choices.of(case), members, seed=choices.seed, on_progress=on_progress)


HEAD = ("agent", "truth", "believed without masks", "believed with masks")


def beliefs(case: Case, report: AuditReport) -> list[tuple[str, ...]]:
    """Return what is believed of every other agent, beside the truth; of somebody's own data, only how surely."""
    if not case.is_own:
        return list(report.table())
    return [(row.agent, "hidden", _surely(row.without_masks), _surely(row.with_masks)) for row in report.rows]


def _surely(belief: BestEstimate | None) -> str:
    if belief is None:
        return "–"
    return "exact" if belief.deviation <= _SURE * max(1.0, *map(abs, belief.value)) else f"± {belief.deviation:.3g}"


def as_problem_file(case: Case, choices: Choices) -> str | None:
    """Return a made-up problem as a file, with how it is to be run; nothing of somebody's own data."""
    import tomli_w

    if case.is_own:
        return None
    links = sorted(case.task.problem.network.links, key=lambda ends: (max(ends), min(ends)))
    costs = _logistic if case.name == CLINICS else _quadratics
    contents = {
        "graph": {"links": [[case.agents[min(ends)], case.agents[max(ends)]] for ends in links]},
        "costs": costs(case),
        **settings(choices),
    }
    return f"# {case.name}\n\n" + tomli_w.dumps(contents)


def settings(choices: Choices) -> dict[str, Any]:
    """Return how a problem is to be run, as a problem file has it."""
    privacy: dict[str, Any] = {"level": choices.level}
    if has_sigma(choices.level):
        privacy["sigma"] = choices.sigma
    if choices.seed is not None and choices.level != "none":
        privacy["seed"] = choices.seed
    return {"privacy": privacy, "algorithm": {"name": choices.algorithm}}


def _quadratics(case: Case) -> dict[str, Any]:
    costs = cast(Sequence[Quadratic], case.task.problem.costs)
    agents = {
        agent: {"P": cost.P.tolist(), "q": cost.affine.tolist()}
        for agent, cost in zip(case.agents, costs, strict=True)
    }
    return {"family": "quadratic", "agents": agents}


def _logistic(case: Case) -> dict[str, Any]:
    made_up = dict(zip(map(str, clinics().network.agents), clinic_records(), strict=True))
    agents = {agent: {"A": made_up[agent][0].tolist(), "y": made_up[agent][1].tolist()} for agent in case.agents}
    return {"family": "logistic", "l2": 1.0, "intercept": True, "agents": agents}
