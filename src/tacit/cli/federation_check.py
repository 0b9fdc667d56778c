"""`tacit federation check`: everything that can be checked before a run, without anything private."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from tacit.cli.graphs import Json, print_json

if TYPE_CHECKING:
    from tacit.federation.checking import Assessment

_PAIRING = {
    "both": "each end of a link draws half of its masks and sends it to the other",
    "one-sided": "one end of every link draws its masks and sends them to the other",
    "seeds": "the ends of a link draw its masks from keys that they agree on, so all guarantees are computational",
}
_DROPOUT = {
    "wait": "if somebody stays away, all others wait for it or give up",
    "exclude": "if somebody stays away for good, the others may go on without it, and that can expose it",
}
_CHANGES = {
    "refuse": "nobody's records may change in between",
    "accept": "records may change in between, and the difference of two runs tells what has",
}


def check(
    file: Annotated[Path, typer.Argument(help="The manifest.")],
    any_: Annotated[
        int | None, typer.Option("--any", help="Certify against so many members; as many as it was made for.")
    ] = None,
    me: Annotated[str | None, typer.Option(help="Also try to reach this member's neighbours.")] = None,
    proxy: Annotated[
        str | None,
        typer.Option(envvar="TACIT_PROXY", help="With --me: dial through this proxy, as `tacit agent` would."),
    ] = None,
    json: Json = False,
) -> None:
    """Check everything that can be checked before a run; nothing private is needed.

    Exit code 1 if a coalition would learn something exactly, 3 if a neighbour cannot be reached.
    """
    from tacit.federation import Manifest
    from tacit.federation import check as check_manifest

    result = check_manifest(Manifest.read(file), any=any_, me=me, proxy=proxy)
    if json:
        print_json(result.to_dict())
    else:
        _show(result)
    if result.is_exposed:
        raise typer.Exit(1)
    if not result.all_answer:
        raise typer.Exit(3)


def _show(result: Assessment) -> None:
    from tacit.federation.declared import UNCOUNTED
    from tacit.federation.durations import spoken
    from tacit.federation.identity import fingerprint, spelled
    from tacit.masks import has_sigma

    manifest, certificate, telling = result.manifest, result.certificate, result.telling
    console = Console(highlight=False, soft_wrap=True)

    def say(text: str) -> None:
        console.print(text, markup=False)

    epoch = f", epoch {manifest.epoch}" if manifest.epoch else ""
    say(f"{manifest.title}, run {manifest.run}{epoch}, session")
    for line in spelled(manifest.session()):
        say(f"  {line}")
    say("")
    for name, near in manifest.neighbours().items():
        member = manifest.members[name]
        reached = "; reached" if result.reached.get(name) else ""
        place = member.address or "only dials out"
        say(f"{name}, {place}, {len(near)} neighbour{'s' * (len(near) != 1)}{reached}")
        for line in spelled(fingerprint(member.certificate)):
            say(f"  {line}")
    masks = manifest.privacy
    width = f", σ = {masks.sigma:g}" if has_sigma(masks.level) else ""
    say("")
    settings = manifest.algorithm
    how = f"{settings['inner']} in standard units" if "inner" in settings else settings["name"]
    say(f"{manifest.unknowns} unknown(s), {how}, level {masks.level}{width}.")
    if masks.level != "none":
        say(f"Pairing {masks.pairing}: {_PAIRING[masks.pairing]}.")
    say(f"Dropout {manifest.dropout}: {_DROPOUT[manifest.dropout]}.")
    if manifest.repeat.runs > 1:
        repeated = manifest.repeat
        say(f"{repeated.runs} runs, one every {spoken(repeated.every)}: {_CHANGES[repeated.changes]}.")
    for one, other in manifest.met_at_a_relay():
        say(f"{one} and {other} both only dial out, and meet at the relay {manifest.relay}.")
    say(f"Protocol {manifest.protocol}: all members need a tacit that speaks it, and this one does.")
    if certificate is not None:
        say(certificate.statement())
        counted = UNCOUNTED if telling is None or telling.tells is None else telling.tells.sentence()
        say(counted if result.guarantee is None else result.guarantee.statement())
    for warning in result.warnings:
        console.print(f"Warning: {warning}", style="yellow", markup=False)
    for problem in result.problems:
        console.print(f"Problem: {problem}", style="yellow", markup=False)
