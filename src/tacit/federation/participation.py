"""Taking part with a file of records: what `tacit agent` does, from the data to the answer and what was hidden.

    part = participate(Manifest.read("federation.toml"), Path("north.csv"), me="north", key=Path("north.key"))
    part.run().x
    part.statements().lines

Nothing is sent before the data match, the masks hide something and the ledger, if one is kept, agrees.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tacit.errors import MismatchError, RangeError
from tacit.federation.account import Permit, accepted_before, ask_ledger
from tacit.federation.checking import refuse_unspoken
from tacit.federation.earlier import refuse_exposure, refuse_unfollowed
from tacit.federation.entries import Consent
from tacit.federation.expiry import last_days, refuse_ended
from tacit.federation.guarantees import refuse_nothing_hidden
from tacit.federation.joining import join, seat_of
from tacit.federation.manifest import Manifest, refuse_strangers
from tacit.federation.own_data import cost_of, digest_of, feature_names, records_of, versions_of
from tacit.federation.statements import Statements, statements_of
from tacit.masks.sums import BOUND
from tacit.protocol.versions import unspoken
from tacit.records import RecordSource
from tacit.runtimes.peers import Agent
from tacit.runtimes.peers.proxies import Proxy
from tacit.runtimes.peers.refusing import tell_unfit, tell_version
from tacit.runtimes.phases import Outcome
from tacit.runtimes.stopping import Progress
from tacit.tables import Sheet

log = logging.getLogger("tacit.peers")


@dataclass(frozen=True, slots=True)
class Participation:
    """One member's part in a run."""

    manifest: Manifest
    agent: Agent
    columns: tuple[str, ...]
    """The names of the unknowns, where the data have any."""
    ledger: Path | None
    permit: Permit | None
    """What its ledger has agreed to; None without a ledger, and where the run was over already."""
    records: str = ""
    """A digest of the records, keyed by the private key, where runs are repeated: changes are noticed by it."""

    def run(
        self,
        on_progress: Callable[[Progress], None] | None = None,
        on_wait: Callable[[str, float], None] | None = None,
        on_answer: Callable[[Outcome], None] | None = None,
    ) -> Outcome:
        """Wait for the others, agree, and return the answer; it is entered before anything is published.

        *on_answer* gets it at once, before this member stays for neighbours that may still need something.
        """
        for sentence in last_days(self.manifest):
            log.warning(sentence)
        enter = None if self.permit is None else self.permit.enter
        try:
            return self.agent.run(on_progress=on_progress, on_wait=on_wait, on_commit=enter, on_answer=on_answer)
        except RangeError as error:
            bound = self.manifest.privacy.bound or BOUND
            raise RangeError(
                f"somebody's numbers exceed the public bound of the sums, {bound:g}: make a manifest with a larger "
                "one and two words a number, or one whose records are standardised in secret, as 'auto' does.",
                command="See --bound, --words and --algorithm of `tacit federation new`.",
            ) from error

    def statements(self) -> Statements:
        """Return what the run hides of this member."""
        accepted = () if self.permit is None else self.permit.accepted
        if self.permit is None and self.ledger is not None:
            accepted = accepted_before(self.manifest, self.agent, self.ledger)
        return statements_of(self.manifest, self.agent.me, self.agent.cost, accepted=accepted)


def participate(
    manifest: Manifest,
    data: Path | Sheet | RecordSource,
    *,
    me: str,
    key: Path,
    folder: Path | None = None,
    family: str | None = None,
    listen: tuple[str, int] | None = None,
    ledger: Path | None = None,
    consent: Consent | None = None,
    proxy: str | None = None,
) -> Participation:
    """Return a member's part in the run of a manifest, with its own records; refuse whatever does not go together.

    Where the records do not match, the neighbours that are there hear that it is so, and nothing more. The state
    is kept in *folder*, beside the key unless given. *family* is for manifests without a model. *consent* is what
    the member says to its *ledger*; the versions of its records are worked out here. *proxy* is the URL of one to
    dial through.
    """
    refuse_strangers(manifest, [me])
    refuse_nothing_hidden(manifest)
    through = None if proxy is None else Proxy.read(proxy)
    if unspoken(manifest.protocol):
        tell_version(manifest.job(), seat_of(manifest, me), key, listen=listen, proxy=through)
    refuse_unspoken(manifest)
    refuse_ended(manifest)
    folder = folder or key.parent
    if isinstance(data, Path):
        data = records_of(manifest, data)
    try:
        cost = cost_of(manifest, me, data, family=family)
    except MismatchError:
        seat = seat_of(manifest, me)
        if not list(folder.glob(f"{seat.stem}.*")):  # nothing was said before
            tell_unfit(manifest.job(), seat, key, listen=listen, proxy=through)
        raise
    columns = feature_names(manifest, data)
    agent = join(manifest, cost, me=me, key=key, folder=folder, listen=listen, columns=columns, proxy=proxy)
    consent, permit = consent or Consent(), None
    versioned = ledger is not None or manifest.repeat.runs > 1
    versions = versions_of(manifest, me, data, key=key) if versioned else ()
    if not agent.result.exists():
        refuse_unfollowed(manifest, me=me, folder=folder)
        refuse_exposure(manifest, accepted=consent.accept_exposure)
    if ledger is not None and not agent.result.exists():
        consent = consent._replace(versions=versions)
        permit = ask_ledger(manifest, agent, ledger, consent)
    return Participation(manifest, agent, columns, ledger, permit, digest_of(versions) if versions else "")
