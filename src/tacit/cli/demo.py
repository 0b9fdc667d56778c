"""`tacit demo`: what a neighbour reads, a private problem from end to end, and the paper's illustration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from tacit.cli.progress import progress_bar
from tacit.cli.summary import show_answer

if TYPE_CHECKING:
    from tacit.certificates import Certificate
    from tacit.solving import Answer, Problem
    from tacit.typing import Array

_SIGMA = 1e3
_HIDE = 10.0  # some labels' worth: what the demonstration declares to be hidden


def demo() -> None:
    """Show what a neighbour reads without masks and with them, solve privately, and replay the paper's example."""
    from tacit.cli.illustration import replay
    from tacit.masks import AffineMasks
    from tacit.solving import solve
    from tacit.solving.centralised import centralised
    from tacit.solving.clinics import clinics

    console = Console(highlight=False)
    problem = clinics()
    console.rule("Twenty clinics fit one model; what does clinic 0 read of its neighbours?")
    console.print(
        "Each clinic keeps its own records. Together they fit a logistic regression, talking only to four "
        "neighbours each. The records here are made up on the spot, and the masks are drawn afresh.\n"
    )
    _overheard(console, problem)
    console.rule("The answer is that of the pooled data; nobody shows its diagnoses")
    with progress_bar("Agreeing") as on_progress:
        answer = solve(problem, privacy=AffineMasks(_SIGMA), hide=_HIDE, on_progress=on_progress)
    show_answer(answer, answer.privacy(), console)
    _compare(console, problem, answer, centralised(problem), (answer.certificate({0}), answer.certificate(any=2)))
    console.rule("The same model, with the features (covariates) hidden too")
    console.print(
        "Masks on the affine part leave the features in the open. Secret sums hide whole costs: the clinics learn "
        "the sums of their gradients and Hessians, and nothing else. There is no σ to choose.\n"
    )
    whole = solve(problem, protect="whole")
    show_answer(whole, whole.privacy(), console)
    console.print(
        f"\nThe same coefficients, to {abs(whole.x - answer.x).max():.1e}, after {whole.record.phase2.exchanges} "
        f"hops instead of {answer.record.phase2.exchanges} rounds of gossip.\n"
    )
    console.rule("The paper's illustration: three agents, h_i(x) = (x − x_i)²")
    replay(console)
    console.print(
        "\nNext: `tacit init` writes a problem file to change, and `tacit solve problem.toml` solves it.",
        markup=False,
    )


def _overheard(console: Console, problem: Problem) -> None:
    from tacit.auditing import overhear
    from tacit.auditing.report import headline
    from tacit.masks import AffineMasks

    rows = [row for row in overhear(problem, [0], privacy=AffineMasks(_SIGMA)) if row.without_masks is not None]
    table = Table(
        "clinic", "its private gradient", "clinic 0 believes, without masks", "clinic 0 believes, with masks"
    )
    for cells in headline(rows):
        table.add_row(*cells)
    console.print(table)
    console.print(
        f"Without masks clinic 0 computes the gradients of its {len(rows)} neighbours from their messages, and "
        "gradients tell diagnoses. With masks the same attacks are off by thousands.\n"
    )


def _compare(
    console: Console, problem: Problem, answer: Answer, pooled: Array, certificates: tuple[Certificate, Certificate]
) -> None:
    apart = abs(answer.x - pooled).max()
    console.print(f"\nAgainst the pooled data: the largest difference of any coefficient is {apart:.1e}.\n")
    table = Table("who looks", "what it learns exactly", "each honest clinic's coefficients", "hidden differences")
    for who, certificate in zip(("clinic 0", "any two clinics"), certificates, strict=True):
        least = min(certificate.uncertainty.values())
        table.add_row(
            who,
            "only the sum over the other clinics",
            f"to ± {least:.0f} at best",
            f"up to {certificate.hidden_difference():.3g}",
        )
    console.print(table)
    console.print(
        f"The largest coefficient that is hidden is {abs(problem.stack.affine).max():.0f}. Differences are between "
        "two worlds of the same sum: up to there a guess is right at most 51 % of the time, and a coin is right "
        "50 %. (Only this simulation can know the first number.)\n"
    )
