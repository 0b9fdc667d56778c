"""Runs that came before one with more members: what all of them together tell, from the manifest alone.

Every run tells the sum of what its members brought, and sums can be subtracted. Where the same members have run
before and one newcomer takes part now, the difference is what the newcomer brings, exactly. With two of them, each
learns the other's. So a manifest that takes members in lists the runs before it: a newcomer's own ledger knows none
of them, and the newcomer is the one to whom it matters.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tacit.certificates import Exposure, Release
from tacit.certificates.composition import exposures_to_any
from tacit.certificates.release import exact
from tacit.errors import InputError, RefusedError
from tacit.federation.manifest import Manifest
from tacit.federation.sections import Earlier, Model
from tacit.later import later
from tacit.listing import conjoined, listed
from tacit.masks import has_sigma
from tacit.protocol.record import Record

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = later("networkx")

_SHOWN = 16  # letters of the session in the name of an entry


def entry_name(manifest: Manifest, epoch: int, session: str) -> str:
    """Return what a ledger calls a run: title, number, epoch, and the first letters of the session."""
    later = f", epoch {epoch}" if epoch else ""
    return f"{manifest.title}, run {manifest.run}{later}, session {session[:_SHOWN]}"


def remembered(manifest: Manifest) -> list[Earlier]:
    """Return the runs before a manifest and its own, for the one that follows."""
    masks = manifest.privacy
    sigma = masks.effective_sigma if has_sigma(masks.level) else None
    promised = manifest.promised()
    own = Earlier(
        name=entry_name(manifest, manifest.epoch, manifest.session()),
        members=list(manifest.members),
        links=manifest.links,
        level=masks.level,
        sigma=sigma,
        answer=msgspec.UNSET if promised is None else promised.guarantee,
    )
    return [*manifest.earlier, own]


def newcomers(manifest: Manifest) -> tuple[str, ...]:
    """Return who takes part now and did not in the run before."""
    if not manifest.earlier:
        return ()
    return tuple(name for name in manifest.members if name not in manifest.earlier[-1].members)


def released_by(run: Earlier) -> Release:
    """Return an earlier run as ledgers know it."""
    graph: nx.Graph[str] = nx.Graph(run.links)
    graph.add_nodes_from(run.members)
    answer = None if run.answer is msgspec.UNSET else run.answer
    return Release.of(run.name, graph, sigma=run.sigma or math.inf, basis=run.level, answer=answer)


def told_together(manifest: Manifest) -> tuple[Exposure, ...]:
    """Return what the run of a manifest and those before it tell exactly of single members.

    To everybody, or to as many as the manifest is made for. Records count as unchanged. Sums that carry noise tell
    nothing exactly.
    """
    if not manifest.earlier or manifest.privacy.level == "none":
        return ()
    now = remembered(manifest)[-1]
    releases = [released_by(run) for run in (*manifest.earlier, now) if run.level != "none"]
    return exposures_to_any(exact(releases), manifest.privacy.any)


def refuse_exposure(manifest: Manifest, *, accepted: bool) -> None:
    """Refuse a run that tells what newcomers bring, unless that was *accepted*."""
    exposed = [name for name in newcomers(manifest) if any(name in each.agents for each in told_together(manifest))]
    if exposed and not accepted:
        raise refusal(manifest, exposed)


def refusal(manifest: Manifest, exposed: list[str]) -> RefusedError:
    """Return why a run with newcomers is refused until everybody says that it knows."""
    alone, who = len(newcomers(manifest)) == 1, listed(exposed)
    reason = (
        f"the sums with {who} and without it tell what it brings, exactly"
        if alone
        else f"the sums with and without {who} tell what each of them brings, exactly, to the others of them"
    )
    run = entry_name(manifest, manifest.epoch, manifest.session())
    return RefusedError(
        f"{run} is refused: {reason}. If that may be known, accept the exposure and start again.",
        command="--accept-exposure accepts it.",
    )


def refuse_unfollowed(manifest: Manifest, *, me: str, folder: Path) -> None:
    """Refuse a manifest that takes newcomers in and says otherwise of the run before than this member remembers.

    What is left of that run is in *folder*; where it is not, there is nothing to compare.
    """
    left = folder / f"{me}-{manifest.follows[:12]}.done"
    if not manifest.follows or not left.exists():
        return
    agreement = Record.decode(left.read_bytes()).agreement
    wrong = differences(msgspec.json.decode(agreement, type=Manifest), manifest) if agreement else []
    if wrong:
        raise InputError(f"this manifest does not follow from the run before it, {left.name}: {' '.join(wrong)}")


def differences(before: Manifest, after: Manifest) -> list[str]:
    """Return what a newcomer does not explain between a manifest and the one that follows, a sentence each.

    Members may have moved to other addresses, and how long one waits and where one meets may have changed.
    """
    wrong = []
    if after.follows != before.session():
        wrong.append("It follows from another one.")
    if after.earlier != remembered(before):
        wrong.append("It does not list the runs before it as they were.")
    missing = [name for name in before.members if name not in after.members]
    if missing:
        wrong.append(f"{conjoined(missing)} took part, and would not now.")
    rekeyed = [
        name
        for name, member in before.members.items()
        if name in after.members and after.members[name].certificate != member.certificate
    ]
    if rekeyed:
        wrong.append(f"Of {conjoined(rekeyed)} it has another certificate.")
    changed = [part for part in _KEPT if getattr(before, part) != getattr(after, part)]
    if _penalties(before) != _penalties(after):
        changed.append("model")
    if changed:
        wrong.append(f"It changes {conjoined(changed)}.")
    return wrong


def _penalties(manifest: Manifest) -> Model | None:
    """Return the model without the shares of its penalties, which follow from the number of members."""
    return None if manifest.model is None else msgspec.structs.replace(manifest.model, shares=None)


_KEPT = ("title", "unknowns", "x0", "data", "dropout", "privacy", "algorithm")
"""What newcomers change nothing of."""
