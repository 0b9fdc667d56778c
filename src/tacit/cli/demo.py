"""`tacit demo`: a private problem solved from end to end, and the paper's illustration replayed."""

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
    """Solve a private problem on this machine, check it against the pooled data, and replay the paper's example."""
    from tacit.cli.illustration import replay
    from tacit.masks import AffineMasks
    from tacit.solving import solve
    from tacit.solving.centralised import centralised
    from tacit.solving.clinics import clinics

    console = Console(highlight=False)
    console.rule("Twenty clinics fit one model; nobody shows its diagnoses")
    console.print(
        "Each clinic keeps its own records. Together they fit a logistic regression, talking only to four "
        "neighbours each. The records here are made up on the spot, and the masks are drawn afresh.\n"
    )
    problem = clinics()
    with progress_bar("Agreeing") as on_progress:
        answer = solve(problem, privacy=AffineMasks(_SIGMA), hide=_HIDE, on_progress=on_progress)
    show_answer(answer, answer.privacy(), console)
    _compare(console, problem, answer, centralised(problem), (answer.certificate({0}), answer.certificate(any=2)))
    console.rule("The same model, with the features hidden too")
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
