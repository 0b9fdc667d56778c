"""Rewrite the generated parts of the documentation from the code: python docs/generate.py [file …].

A generated part stands between `<!-- generated: name -->` and `<!-- end -->`, in any page of this folder.
Everything else in a page is written by hand and is kept. Run this after changing a public name, a command, an
algorithm, a mechanism or an error; a test notices if you forget.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import house
import networkx
from typer.main import get_command

import tacit
from tacit import errors
from tacit.algorithms import ALGORITHMS, name_of
from tacit.cli import app
from tacit.protocol.versions import EDITIONS, common
from tacit.solving.promised import promised

MADE_BY_TACIT = (
    tacit.federation.SeriesAccount,
    tacit.federation.Assessment,
    tacit.federation.Leaving,
    tacit.federation.Participation,
    tacit.federation.Permit,
    tacit.federation.Standing,
    tacit.federation.Statements,
    tacit.federation.TakingIn,
)


def table(headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """Return a Markdown table."""
    lines = [headings, ("---",) * len(headings), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


def first_sentence(thing: Any) -> str:
    """Return the first line of a docstring, or of the module's where an algorithm's own says only its name."""
    said = (inspect.getdoc(thing) or "").partition("\n")[0]
    if said.startswith("Settings of"):
        said = (inspect.getdoc(sys.modules[thing.__module__]) or said).partition("\n")[0]
        said = said.partition(": ")[2] or said
    if re.match(r"[a-z]{2,} ", said):  # a word, and not the letter of a formula
        said = said[:1].upper() + said[1:]
    return re.sub(r"\*(\w+)\*", r"`\1`", said.rstrip("."))


def call(name: str, thing: Any) -> str:
    """Return how something is called: its parameters with their defaults, without types."""
    if not callable(thing) or (isinstance(thing, type) and issubclass(thing, (Exception, Enum))):
        return name
    if thing in MADE_BY_TACIT or (
        isinstance(thing, type) and thing.__module__.startswith(("tacit.certificates", "tacit.solving"))
    ):
        return name if thing is not tacit.Problem else f"{name}{parameters(thing)}"  # made by tacit, not by hand
    return f"{name}{parameters(thing)}"


def parameters(thing: Callable[..., Any]) -> str:
    """Return a signature without types."""
    given = inspect.signature(thing).parameters.values()
    bare = inspect.Signature([parameter.replace(annotation=inspect.Parameter.empty) for parameter in given])
    return str(bare).replace("<factory>", "…")


def names(module: Any = tacit) -> list[str]:
    """Return everything that `import tacit` gives, or that a module of it does."""
    rows = []
    for name in sorted(module.__all__, key=str.lower):
        thing = getattr(module, name)
        rows.append((f"`{module.__name__}.{call(name, thing)}`", first_sentence(thing)))
    return table(("name", "one line"), rows)


def federation_names() -> list[str]:
    """Return everything that `tacit.federation` gives."""
    return names(tacit.federation)


def commands() -> list[str]:
    """Return every command with its arguments and options."""
    lines: list[str] = []
    for words, command in each_command(get_command(app), "tacit"):
        arguments = [p for p in command.params if p.param_type_name == "argument"]
        shown = [f"{p.name.upper()}" if p.required else f"[{p.name.upper()}]" for p in arguments]
        lines += [f"### `{' '.join([words, *shown])}`", "", plain(command.help or ""), ""]
        rows = [(f"`{p.name.upper()}`", plain(p.help or "") + default(p)) for p in arguments]
        for option in command.params:
            if option.param_type_name == "option":
                spelled = ", ".join(f"`{word}`" for word in (*option.opts, *option.secondary_opts))
                rows.append((spelled, plain(option.help or "") + default(option)))
        lines += [*table(("argument or option", "meaning"), rows), ""] if rows else []
    return lines[:-1]


def each_command(group: Any, words: str) -> Iterator[tuple[str, Any]]:
    """Yield the commands of a group, and of the groups inside it."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from each_command(command, f"{words} {name}")
        else:
            yield f"{words} {name}", command


def plain(text: str) -> str:
    """Return help text as Markdown on one line."""
    text = re.sub(r"\[/?bold\]", "`", text)
    return " ".join(text.split())


def default(parameter: Any) -> str:
    """Return what holds where nothing is given, if that is worth saying."""
    worth = (
        parameter.default not in (None, False, "") and not parameter.required and not callable(parameter.default)
    )
    return f" Default: `{parameter.default}`." if worth else ""


def algorithms() -> list[str]:
    """Return the algorithms by the names that files and commands use."""
    rows = []
    for name, kind in ALGORITHMS.items():
        settings = ", ".join(f"`{field.name}`" for field in dataclasses.fields(kind)) or "–"
        yes = ("no", "yes")
        told = (", ".join(kind.sums), "–") if kind.sums else ("–", kind.weights)
        manner = (yes[kind.exact], yes[kind.handles_rough], yes[kind.handles_nonconvex])
        rows.append((f"`{name}`", f"`{kind.__name__}`", settings, *told, *manner))
    return table(("name", "class", "settings", "adds up", "weights", "exact", "rough", "non-convex"), rows)


MECHANISMS = {
    "no masks": None,
    "`AffineMasks`": tacit.AffineMasks(1.0),
    "`QuadraticMasks`": tacit.QuadraticMasks(1.0),
    "`BasisMasks`": tacit.BasisMasks(1.0, functions=tacit.Monomials(dim=1, degree=4)),
    "`SumMasks`": tacit.SumMasks(),
}
IN_SHORT = {
    "it gossips": "it gossips",
    "these masks make single costs bend downwards": "needs convex costs",
    "leave curvature in the open": "Hessians in the open",
    "their differences are in the open": "differences in the open",
}
"""What a refusal says, and how a cell of the table says it."""


def combinations() -> list[str]:
    """Return what is allowed and what is refused, and why, for costs that are not known to be covered."""
    notes: list[str] = []

    def cell(mechanism: Any, kind: Any) -> str:
        why = mechanism.refuses(kind, None) if mechanism else None
        if why is None:
            return "allowed"
        few = next((few for part, few in IN_SHORT.items() if part in why), None)
        if few is None:
            raise SystemExit(f"IN_SHORT in {__file__} has no few words for: {why}")
        sentence = why.replace(joined(kind.sums), "…") if kind.sums else why
        if sentence not in notes:
            notes.append(sentence)
        return f"refused: {few} [{notes.index(sentence) + 1}]"

    rows = []
    for name, kind in ALGORITHMS.items():
        adds_up = ", ".join(kind.sums) or "–"
        rows.append((f"`{name}`", adds_up, *(cell(mechanism, kind) for mechanism in MECHANISMS.values())))
    listed = [f"{number}. {note[:1].upper()}{note[1:]}" for number, note in enumerate(notes, start=1)]
    return [*table(("algorithm", "adds up", *MECHANISMS), rows), "", *listed]


PROMISED = {
    "least squares": lambda: tacit.LeastSquares([[1.0], [0.5]], [1.0, 0.0]),
    "logistic": lambda: tacit.Logistic([[1.0], [0.5]], [1.0, 0.0]),
    "logistic, ridge on every unknown": lambda: tacit.Logistic([[1.0], [0.5]], [1.0, 0.0], l2=0.1),
    "Huber": lambda: tacit.Huber([[1.0], [0.5]], [1.0, 0.0]),
    "Poisson": lambda: tacit.Poisson([[1.0], [0.5]], [1.0, 0.0]),
    "with rough terms": lambda: tacit.LeastSquares([[1.0], [0.5]], [1.0, 0.0]) + tacit.L1(0.1),
    "quadratic, affine, your own": lambda: tacit.Quadratic([[1.0]], [1.0]),
}
"""A cost of every kind, to ask what can be promised of it."""


def promises() -> list[str]:
    """Return what is promised of the answer, for which costs and masks, by asking for it."""
    promise = tacit.DifferentialPrivacy(epsilon=1.0, delta=1e-6, clip=1.0, labels=1.0)
    mechanisms = {
        "`SumMasks`": tacit.SumMasks(answer=promise),
        "`QuadraticMasks`": tacit.QuadraticMasks(10.0, answer=promise),
        "`AffineMasks`": tacit.AffineMasks(10.0, answer=promise),
    }

    def cell(kind: str, masks: Any) -> str:
        problem = tacit.Problem(networkx.complete_graph(4), [PROMISED[kind]() for _ in range(4)])
        try:
            made = promised(problem, masks, promise, "auto", weights=None, tree=True)
        except errors.CostError:
            return "refused: no bounded sensitivity"
        except errors.ProtectionError:
            return "refused: least squares only"
        by = "any that gossips" if masks.kind == "affine" else f"`{name_of(type(made.choice.algorithm))}`"
        public = "; records for the public, by `for_public`" if made.guarantee.public is not None else ""
        return f"{made.guarantee.unit}s, by {by}{public}"

    rows = [(kind, *(cell(kind, masks) for masks in mechanisms.values())) for kind in PROMISED]
    return table(("costs", *mechanisms), rows)


AUDIENCES: dict[str, tuple[type, str, str]] = {
    "affine masks, logistic, ridge on every unknown": (
        tacit.AffineMasks,
        "logistic, ridge on every unknown",
        "auto",
    ),
    "affine masks, logistic, some unknown without": (tacit.AffineMasks, "logistic", "auto"),
    "affine masks, least squares": (tacit.AffineMasks, "least squares", "auto"),
    "quadratic masks, least squares": (tacit.QuadraticMasks, "least squares", "auto"),
    "secret sums, least squares": (tacit.SumMasks, "least squares", "auto"),
    "secret sums, logistic": (tacit.SumMasks, "logistic", "auto"),
    "one noise in the objective, exact sums": (tacit.AffineMasks, "logistic, ridge on every unknown", "newton"),
}
"""Runs of which to ask what agents, and what a public who sees the answer alone, are promised to learn."""


def audiences() -> list[str]:
    """Return who is promised what, run by run, by asking for it; refusals with their reasons."""
    promise = tacit.DifferentialPrivacy(epsilon=1.0, delta=1e-6, clip=1.0, labels=1.0)

    def row(title: str, kind: type, family: str, algorithm: str) -> tuple[str, str, str]:
        masks = kind(answer=promise) if kind is tacit.SumMasks else kind(10.0, answer=promise)
        problem = tacit.Problem(networkx.complete_graph(4), [PROMISED[family]() for _ in range(4)])
        try:
            guarantee = promised(problem, masks, promise, algorithm, weights=None, tree=True).guarantee
        except errors.TacitError as error:
            return title, f"refused: {str(error).split(': ', 1)[-1]}", "refused, for the same reason"
        if guarantee.unit == "record":
            return title, "records", "records: the answer as it is"
        if guarantee.public is not None:
            return title, "labels", "records, by `for_public`; labels: the answer as it is"
        return title, "labels", f"labels: the answer as it is; records refused: {guarantee.not_public}"

    rows = [row(title, *run) for title, run in AUDIENCES.items()]
    return table(("run", "agents who collude", "a public who sees the answer alone"), rows)


def joined(parts: tuple[str, ...]) -> str:
    """Return a list in words, as refusals spell it."""
    return " and ".join([", ".join(parts[:-1])] * bool(parts[:-1]) + [parts[-1]])


def exceptions() -> list[str]:
    """Return every error, each below the one that it is a kind of."""
    rows = []
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, tacit.TacitError):
            parent = "" if kind is tacit.TacitError else f"`{kind.__mro__[1].__name__}`"
            rows.append((f"`{kind.__name__}`", parent, first_sentence(kind)))
    return table(("error", "a kind of", "meaning"), rows)


def releases() -> list[str]:
    """Return which versions of tacit can take part in one run, and in which protocol."""
    heads = ("tacit", "speaks", *(f"with {release.software}" for release in EDITIONS))
    rows = []
    for one in EDITIONS:
        shared = (common(one, other) for other in EDITIONS)
        cells = ("–" if number is None else f"protocol {number}" for number in shared)
        rows.append((f"from {one.software} on", ", ".join(map(str, one.protocols)), *cells))
    return table(heads, rows)


PARTS: dict[str, Callable[[], list[str]]] = {
    "commands": commands,
    "names": names,
    "federation": federation_names,
    "algorithms": algorithms,
    "combinations": combinations,
    "promises": promises,
    "audiences": audiences,
    "errors": exceptions,
    "releases": releases,
    "house": house.drawing,
    "rooms": house.table,
}


def rewritten(page: str) -> str:
    """Return *page* with its generated parts made anew."""

    def part(match: re.Match[str]) -> str:
        return "\n".join([match[1], *PARTS[match[2]](), "<!-- end -->"])

    return re.sub(r"(<!-- generated: (\w+) -->)\n.*?<!-- end -->", part, page, flags=re.DOTALL)


def main(files: list[Path]) -> None:
    """Rewrite these pages; all pages with a generated part, if none is named."""
    folder = Path(__file__).parent
    for file in files or sorted(folder.glob("*.md")):
        page = file.read_text(encoding="utf-8")
        if files or "<!-- generated: " in page:
            file.write_text(rewritten(page), encoding="utf-8")
            print(f"Wrote {file.name}.")


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
