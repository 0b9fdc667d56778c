"""`tacit federation without`: the manifest of the next epoch, and what it costs to go on without somebody."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.certificates import Certificate
from tacit.cli.federation_check import certified
from tacit.cli.graphs import Json, print_json, refuse_to_overwrite
from tacit.errors import InputError, RefusedError
from tacit.federation import Manifest, without
from tacit.federation.identity import spelled
from tacit.listing import conjoined


def without_command(
    federation: Annotated[Path, typer.Argument(help="The manifest of the run as it was.")],
    file: Annotated[Path, typer.Argument(metavar="NEW_FILE", help="The manifest to write.")],
    member: Annotated[list[str] | None, typer.Option(help="A member who has left for good; once for each.")] = None,
    link: Annotated[
        list[str] | None, typer.Option(help="A link that stays down, as two members A,B who both stay.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    not_private: Annotated[
        bool, typer.Option("--not-private", help="Write it even if those who stay are no longer private.")
    ] = False,
    json: Json = False,
) -> None:
    """Write the manifest of the same run without some members or links: its next epoch.

    Says first what that costs, and asks. Everybody who accepts it starts an agent with the new file; nobody can be
    made to. Exit code 1 if the answer is no, or those who stay would no longer be private.
    """
    refuse_to_overwrite(file)
    before = Manifest.read(federation)
    members, links = list(dict.fromkeys(member or [])), [_pair(text) for text in link or []]
    after = without(before, members=members, links=links)
    certificate = certified(after)
    costs, warnings = _costs(before, members, links), _warnings(after, certificate)
    if not json:
        typer.echo(_headline(before, after, members, links))
        for sentence in [*costs, *([] if certificate is None else [certificate.statement()])]:
            typer.echo(sentence)
    for sentence in warnings:
        typer.echo(f"NOT PRIVATE: {sentence}", err=True)
    _ask(after, warnings, yes=yes, not_private=not_private)
    file.write_bytes(after.to_toml())
    if json:
        told = {"file": str(file), "session": after.session(), "epoch": after.epoch, "members": list(after.members)}
        judged = None if certificate is None else certificate.to_dict()
        print_json({**told, "links": after.links, "costs": costs, "warnings": warnings, "certificate": judged})
    else:
        _say_what_is_next(file, after)


def _pair(text: str) -> tuple[str, str]:
    one, _, other = text.partition(",")
    if not one.strip() or not other.strip():
        raise InputError(f"--link {text}: must be two members with a comma between them, such as north,south.")
    return one.strip(), other.strip()


def _headline(before: Manifest, after: Manifest, members: list[str], links: list[tuple[str, str]]) -> str:
    gone = members + [f"the link of {a} and {b}" for a, b in links]
    return (
        f"Without {conjoined(gone)}: {len(after.members)} of {len(before.members)} members stay, and "
        f"{len(after.links)} of {len(before.links)} links."
    )


def _costs(manifest: Manifest, members: list[str], links: list[tuple[str, str]]) -> list[str]:
    """Return what going on tells; that depends on whether anything was published, which no manifest knows."""
    level, found = manifest.privacy.level, []
    if level == "none":
        return ["Nothing is hidden in this run, so there is nothing to lose by going on."]
    if members:
        who, its = conjoined(members), "its" if len(members) == 1 else "their"
        summed = "" if len(members) == 1 else ", summed over them at least"
        told = (
            f"the sums at the points visited so far, with and without {who}, tell {its} contribution there{summed}"
            if level == "sums"
            else f"whoever saw all effective costs before and after learns what {its} masks hid, exactly{summed}"
        )
        found.append(
            f"What it costs {who}: nothing, if nothing was published yet, since all draw new masks then. Once "
            f"anything was published: {told}."
        )
        found.append(
            f"What it costs those who stay: {who} count{'s' * (len(members) == 1)} as corrupted from now on. What "
            "holds for them is below."
        )
        if manifest.model is not None and (manifest.model.l1 or manifest.model.l2):
            found.append("Everybody keeps its share of the penalties, so in total they shrink.")
    if links:
        lost = "What the link costs" if len(links) == 1 else "What the links cost"
        found.append(
            f"{lost}: masks go over fewer links now; what holds is below."
            if level == "sums"
            else f"{lost}: nothing, once anything was published; the terms stay in the masks of both ends, and "
            "still cancel. Before that, all draw new masks over fewer links."
        )
    return found


def _warnings(manifest: Manifest, certificate: Certificate | None) -> list[str]:
    """Return why those who stay would not be private any more, if that is so."""
    if manifest.privacy.level == "none":
        return []
    if certificate is None:
        return ["two members would stay, and each learns the other's part from the sum."]
    if certificate.is_private and manifest.privacy.any <= len(manifest.members) - 2:
        return []
    if certificate.is_private:
        return [
            f"{manifest.privacy.any} members may collude, and {len(manifest.members)} would stay: fewer than two "
            "of them are honest then."
        ]
    return [
        f"some {manifest.privacy.any} of those who stay can cut the others apart, and learn more than sums over "
        "all of them, exactly."
    ]


def _ask(manifest: Manifest, warnings: list[str], *, yes: bool, not_private: bool) -> None:
    if warnings and yes and not not_private:
        raise RefusedError("refused: those who stay would no longer be private. --yes does not cover that.")
    if not yes:
        typer.confirm(f"Go on in epoch {manifest.epoch}?", abort=True, err=True)
        if warnings and not not_private:
            typer.confirm("THOSE WHO STAY WILL NOT BE PRIVATE. Write it all the same?", abort=True, err=True)


def _say_what_is_next(file: Path, manifest: Manifest) -> None:
    typer.echo(f"Wrote {file}: epoch {manifest.epoch}, {len(manifest.members)} members. Session:")
    for line in spelled(manifest.session()):
        typer.echo(f"  {line}")
    typer.echo(
        f"Next: send it to {conjoined(list(manifest.members))}. Whoever accepts it compares the session, and runs"
    )
    typer.echo(f"  tacit agent {file.name} --me NAME --data FILE")
    typer.echo(
        "with the key, folder and data of before; with --ledger, --accept-exposure says that it knows. All must "
        "accept for the run to go on, nobody can be made to, and nobody can go back."
    )
