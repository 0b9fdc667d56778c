"""`tacit federation check`: everything that can be checked before a run, without anything private."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from tacit.certificates import Certificate, certify
from tacit.cli.graphs import Json, print_json
from tacit.coverage import GENERAL
from tacit.errors import InputError
from tacit.federation import Manifest, fingerprint
from tacit.federation.declared import UNCOUNTED, coverage_of, told_by
from tacit.federation.identity import spelled
from tacit.federation.manifest import address_of
from tacit.listing import listed
from tacit.solving.stamping import NO_MASKS, nothing_hidden, of_network

_REACHABLE = 3.0  # seconds
_PAIRING = {
    "both": "each end of a link draws half of its masks and sends it to the other",
    "one-sided": "one end of every link draws its masks and sends them to the other",
    "seeds": "the ends of a link draw its masks from keys that they agree on, so all guarantees are computational",
}
_DROPOUT = {
    "wait": "if somebody stays away, all others wait for it or give up",
    "exclude": "if somebody stays away for good, the others may go on without it, and that can expose it",
}


def check(
    file: Annotated[Path, typer.Argument(help="The manifest.")],
    any_: Annotated[
        int | None, typer.Option("--any", help="Certify against so many members; as many as it was made for.")
    ] = None,
    me: Annotated[str | None, typer.Option(help="Also try to reach this member's neighbours.")] = None,
    json: Json = False,
) -> None:
    """Check everything that can be checked before a run; nothing private is needed.

    Exit code 1 if a coalition would learn something exactly, 3 if a neighbour cannot be reached.
    """
    manifest = Manifest.read(file)
    if me is not None:
        refuse_strangers(manifest, me)
    certificate = certified(manifest, any_)
    answers = {} if me is None else asyncio.run(_reach(manifest, manifest.neighbours()[me]))
    problems = _problems(manifest, certificate, answers)
    if json:
        print_json(_told(manifest, certificate, answers, problems))
    else:
        _show(manifest, certificate, answers, problems)
    if certificate is not None and not certificate.is_private:
        raise typer.Exit(1)
    if not all(answers.values()):
        raise typer.Exit(3)


def refuse_strangers(manifest: Manifest, me: str) -> None:
    """Refuse a name that no member has."""
    if me not in manifest.members:
        raise InputError(f"{me!r} is no member; the manifest has {listed(list(manifest.members))}.")


def certified(manifest: Manifest, any_: int | None = None) -> Certificate | None:
    """Return what is guaranteed against so many members; None where nothing is hidden, or nothing can be."""
    network, masks = manifest.network(), manifest.privacy
    if masks.level == "none" or len(network) < 3:
        return None
    sigma = math.inf if masks.sigma is None else masks.sigma
    t = min(masks.any if any_ is None else any_, len(network) - 2)
    certificate = certify(network, any=t, sigma=sigma, hide=masks.hide)
    counted, coverage = told_by(manifest), coverage_of(manifest) or GENERAL[masks.level]
    return replace(
        certificate,
        coverage=coverage,
        computational=masks.pairing == "seeds",
        stamps=(*nothing_hidden(coverage, []), *(() if counted is None else counted.stamps)),
    )


def _problems(manifest: Manifest, certificate: Certificate | None, answers: dict[str, bool]) -> list[str]:
    """Return all that is not as it should be, a sentence each."""
    found = []
    stamps = [NO_MASKS] if manifest.privacy.level == "none" else [*of_network(manifest.network())]
    stamps += [] if certificate is None else [stamp for stamp in certificate.stamps if stamp.voids]
    found += [str(stamp) for stamp in stamps]
    if certificate is not None and not certificate.is_private and not stamps:
        found.append(
            "A coalition would learn something exactly: make a manifest with more links (--links), or against "
            "fewer members (--any)."
        )
    found += [
        f"{name} does not answer at {manifest.members[name].address}: it may not be running yet."
        for name, answered in answers.items()
        if not answered
    ]
    return found


def _show(
    manifest: Manifest, certificate: Certificate | None, answers: dict[str, bool], problems: list[str]
) -> None:
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
        reached = "; reached" if answers.get(name) else ""
        say(f"{name}, {member.address}, {len(near)} neighbour{'s' * (len(near) != 1)}{reached}")
        for line in spelled(fingerprint(member.certificate)):
            say(f"  {line}")
    masks = manifest.privacy
    width = "" if masks.sigma is None else f", σ = {masks.sigma:g}"
    say("")
    settings = manifest.algorithm
    how = f"{settings['inner']} in standard units" if "inner" in settings else settings["name"]
    say(f"{manifest.unknowns} unknown(s), {how}, level {masks.level}{width}.")
    if masks.level != "none":
        say(f"Pairing {masks.pairing}: {_PAIRING[masks.pairing]}.")
    say(f"Dropout {manifest.dropout}: {_DROPOUT[manifest.dropout]}.")
    if certificate is not None:
        counted = told_by(manifest)
        say(certificate.statement())
        say(UNCOUNTED if counted is None or counted.tells is None else counted.tells.sentence())
    for problem in problems:
        console.print(f"Problem: {problem}", style="yellow", markup=False)


def _told(
    manifest: Manifest, certificate: Certificate | None, answers: dict[str, bool], problems: list[str]
) -> dict[str, Any]:
    near = manifest.neighbours()
    members = [
        {
            "name": name,
            "address": member.address,
            "neighbours": near[name],
            "fingerprint": fingerprint(member.certificate),
            "reached": answers.get(name),
        }
        for name, member in manifest.members.items()
    ]
    return {
        "title": manifest.title,
        "run": manifest.run,
        "session": manifest.session(),
        "unknowns": manifest.unknowns,
        "algorithm": manifest.algorithm["name"],
        "level": manifest.privacy.level,
        "pairing": manifest.privacy.pairing,
        "dropout": manifest.dropout,
        "epoch": manifest.epoch,
        "members": members,
        "private": certificate is not None and certificate.is_private,
        "certificate": None if certificate is None else certificate.to_dict(),
        "problems": problems,
    }


async def _reach(manifest: Manifest, names: list[str]) -> dict[str, bool]:
    """Return whether each of these members answers, asked all at once."""
    answered = await asyncio.gather(*(_answers(*address_of(manifest.members[name])) for name in names))
    return dict(zip(names, answered, strict=True))


async def _answers(host: str, port: int) -> bool:
    try:
        async with asyncio.timeout(_REACHABLE):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True
