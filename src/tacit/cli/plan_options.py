"""What `tacit federation new` can be told: its options, in the order of `tacit.federation.drawing_up.Plan`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.completing import ALGORITHMS, DROPOUTS, FAMILIES, LEVELS, PAIRINGS, one_of
from tacit.cli.defaults import DELTA

NewManifest = Annotated[Path, typer.Argument(help="The manifest to write.")]
Cards = Annotated[list[Path] | None, typer.Argument(help="The members' cards; all *.card here unless given.")]
Unknowns = Annotated[int, typer.Option(help="How many unknowns the costs have, an intercept included.")]
Degree = Annotated[int, typer.Option("--links", help="How many neighbours each member has.")]

# how costs are hidden: `tacit.federation.hiding.Hiding`
ProtectionLevel = Annotated[
    str, typer.Option("--level", help="sums, affine, quadratic or none.", autocompletion=one_of(*LEVELS))
]
MaskSigma = Annotated[float | None, typer.Option(help="σ of affine or quadratic masks.")]
Colluding = Annotated[
    int, typer.Option("--any", help="How many members may collude. Links, σ, checks and statements follow it.")
]
RightGuesses = Annotated[float | None, typer.Option(help="Choose σ so that they guess right at most so often …")]
Difference = Annotated[
    float | None, typer.Option(help="… between worlds that differ by so much. Statements are about it, too.")
]
PublicBound = Annotated[
    float | None, typer.Option(help="Public limit on every number that is masked; chosen unless given.")
]
Words = Annotated[
    int | None, typer.Option(help="Of secret sums: 64-bit words a number, 1 or 2; chosen unless given.")
]
Pairing = Annotated[
    str,
    typer.Option(
        help="How the ends of a link come to share its masks. both: each draws and sends half. one-sided: one "
        "draws and sends all. seeds: they agree on keys and send none; all guarantees are then computational.",
        autocompletion=one_of(*PAIRINGS),
    ),
]

# what is promised of the answer itself: `tacit.solving.sections.AnswerSection`
Epsilon = Annotated[
    float | None,
    typer.Option(help="Make the answer (ε, δ)-differentially private: ε. Needs --delta and --clip."),
]
Delta = Annotated[
    float | None,
    typer.Option(
        help="With --epsilon: δ, far below one over all records. Of huber: up to where residuals are squared; "
        f"{DELTA} unless given."
    ),
]
Clip = Annotated[
    float | None,
    typer.Option(help="With --epsilon: every member shortens its rows to this length, the intercept's 1 included."),
]
LabelLimit = Annotated[
    float | None, typer.Option("--labels", help="With --epsilon: every member cuts its labels off at ±this.")
]
NoisySums = Annotated[
    int | None, typer.Option("--sums", min=1, help="With --epsilon: sums of gradients that logistic costs take.")
]

# what the columns mean: `tacit.tables.Dictionary`
Like = Annotated[
    Path | None, typer.Option(help="Draft the data dictionary from this CSV file: names, types, levels.")
]
Gaps = Annotated[
    str, typer.Option(help="With --like. refuse: no record may have gaps. drop: those that have are left out.")
]

# what is fitted: `tacit.federation.fitting.Fitting`
CostFamily = Annotated[
    str | None,
    typer.Option(help="What is fitted: ridge, logistic, poisson, lasso, …", autocompletion=one_of(*FAMILIES)),
]
Target = Annotated[str | None, typer.Option(help="The label's column in the members' files.")]
Intercept = Annotated[bool, typer.Option("--intercept", help="Fit an intercept, the last unknown.")]
L1Penalty = Annotated[float, typer.Option(help="Total L1 penalty.")]
L2Penalty = Annotated[float, typer.Option(help="Total L2 penalty.")]
FewestRecords = Annotated[
    int | None,
    typer.Option(min=1, help="Every member holds at least so many records; what the answer tells is counted."),
]
CountColumns = Annotated[
    bool,
    typer.Option(
        "--count-columns",
        help="Count in secret, before the fit, how many members have each column; refuse those of one or two.",
    ),
]

# what everybody runs, and until when: `tacit.federation.sections.Stop`
AlgorithmName = Annotated[str, typer.Option(help="auto, or a name.", autocompletion=one_of("auto", *ALGORITHMS))]
Settings = Annotated[
    list[str] | None,
    typer.Option("--setting", help="A setting of the algorithm, such as step_size=0.01."),
]
Tolerance = Annotated[float, typer.Option(help="Stop at this relative error.")]
MaxRounds = Annotated[int, typer.Option(help="Stop after so many rounds.")]
Patience = Annotated[
    float, typer.Option(help="Seconds to wait for a neighbour before giving up; a day unless given.")
]
Silence = Annotated[float, typer.Option("--idle", help="Seconds of silence after which a link is dialled again.")]
Dropout = Annotated[
    str,
    typer.Option(
        help="If somebody stays away for good. wait: all wait or give up. exclude: the others may go on "
        "without it, and that can expose it (`tacit federation without`).",
        autocompletion=one_of(*DROPOUTS),
    ),
]
Title = Annotated[str, typer.Option(help="A name for people.")]
RunNumber = Annotated[int, typer.Option(help="The number of this run with these members.")]
RelayPlace = Annotated[
    str, typer.Option("--relay", help="Where neighbours meet who both only dial out: host:port of a `tacit relay`.")
]
Every = Annotated[str | None, typer.Option(help="With --runs: how often the run is repeated, such as 1d or 12h.")]
Runs = Annotated[int, typer.Option(min=1, help="How many runs there are, with masks of their own each.")]
Changes = Annotated[
    str,
    typer.Option(
        help="Records that change from run to run. refuse: nobody's may. accept: everybody knows that the "
        "difference of two runs tells what has.",
        autocompletion=one_of("refuse", "accept"),
    ),
]
