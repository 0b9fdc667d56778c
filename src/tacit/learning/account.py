"""What fitting a model has told: every sum, over whom, and what it cost.

An `Account` is a value that goes with the fitted model. With a file (`tacit.Ledger`) the fit is judged before
anything is added up, together with all earlier ones. Fits that leave one party out and are followed by one with it,
as in cross-validation by party, expose that party by subtraction; fits of the same parties with a record more or
less, as in leave-one-out, expose that record. Both are refused. Which records a party brought is known by keyed
digests, so nobody has to remember to say it.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tacit.certificates import Ledger, Release, Review
from tacit.differential import DifferentialPrivacy, certify_answer
from tacit.errors import LedgerError, RefusedError
from tacit.masks import Mechanism, effective_sigma
from tacit.network import Network
from tacit.records.digest import LongColumns
from tacit.showing import Readable
from tacit.solving.versions import SINGLE, Digests
from tacit.stamps import Stamp

PartyColumns = Mapping[Any, Mapping[str, NDArray[Any]] | LongColumns]
"""Every party's columns by name; of very many records their digests."""


@dataclass(frozen=True, slots=True)
class Sums:
    """One thing that was added up over all parties."""

    what: str
    numbers: int
    """How many numbers of the parties' each sum told; weights of penalties, which all know, are not among them."""
    sums: int
    """How often."""

    @property
    def total(self) -> int:
        """How many numbers were told."""
        return self.numbers * self.sums

    def __str__(self) -> str:
        often, width = (f"{k} {noun}{'s' * (k != 1)}" for k, noun in ((self.sums, "sum"), (self.numbers, "number")))
        return f"{self.what} ({often} of {width}{f', {self.total} in all' if self.sums > 1 else ''})"


@dataclass(frozen=True, slots=True)
class Account(Readable):
    """The sums that one fit has told, and the run as others see it; no release where nothing was hidden."""

    release: Release | None
    sums: tuple[Sums, ...] = ()
    stamps: tuple[Stamp, ...] = ()
    """What this fit and earlier ones in the ledger tell together, although it was accepted."""
    ledger: Path | None = None
    """The file that it is entered in, if any."""
    draws: int = 0
    """How often masks were drawn for the parties' costs."""

    @classmethod
    def opened(
        cls,
        title: str,
        network: Network,
        privacy: Mechanism | None,
        ledger: str | Path | None,
        *,
        any: int,
        records: PartyColumns,
        accept_changes: Iterable[Any] = (),
    ) -> Account:
        """Return an empty account; enter the run in the *ledger*, a file, and refuse what that refuses."""
        if ledger is not None and (privacy is None or privacy.seed is not None):
            raise RefusedError(
                f"{title} is refused: {'nothing is hidden' if privacy is None else 'its masks come from a seed'}, "
                "and no budget of a ledger covers that; leave ledger= out."
            )
        if privacy is None:
            return cls(None)
        terms = privacy.terms(network, 1)
        release = Release.of(
            f"{title} {secrets.token_hex(4)}",
            network.graph,
            sigma=effective_sigma(terms),
            basis=privacy.kind,
            link_scales={(a, b): scale for a, b, scale in terms.link_scales},
        )
        if ledger is None:
            return cls(release)
        path, accepted = Path(ledger), _names(accept_changes)
        with Ledger(path) if path.exists() else Ledger(path, any=any) as book:
            if book.guards < any:
                raise LedgerError(
                    f"{path}: was made against coalitions of {book.guards}, and this fit has any = {any}: what "
                    f"larger ones learn was not counted. Fit with any = {book.guards}."
                )
            known = [version for entry in book.entries() for _, _, version in entry.release.versions]
            digests = Digests.beside(path, known)
            versions, single = [], []
            for name, columns in records.items():
                if isinstance(columns, LongColumns):
                    versions += digests.of_long(str(name), columns)
                    continue
                versions += digests.of(str(name), columns)
                if all(len(values) <= SINGLE for values in columns.values()):
                    single.append((str(name), digests.records(columns)))
            release = replace(release, versions=tuple(sorted(versions)), records=tuple(sorted(single)))
            review = book.check(release, accept_changes=accepted)
            _refuse(title, release, review)
            book.add(release, accept_changes=accepted)
        return cls(release, stamps=_stamps(review), ledger=path)

    def drawn(self) -> Account:
        """Return the account with one more draw of masks for the parties' costs.

        The first is entered when the account is opened. Every further one of Gaussian masks is another view of the
        same costs, and is entered, or refused, before it is shown.
        """
        if self.draws and self.ledger is not None and self.release is not None and self.release.sigmas:
            with Ledger(self.ledger) as book:
                book.add(replace(self.release, run=f"{self.release.run}, again {self.draws + 1}"))
        return replace(self, draws=self.draws + 1)

    def entered(self, what: str, *, numbers: int, sums: int) -> Account:
        """Return the account with one more line."""
        return replace(self, sums=(*self.sums, Sums(what, numbers, sums)))

    def to_dict(self) -> dict[str, Any]:
        """Return everything for JSON."""
        run = None if self.release is None else self.release.run
        sums = [{"what": s.what, "numbers": s.numbers, "sums": s.sums, "total": s.total} for s in self.sums]
        return {"run": run, "sums": sums}

    def __str__(self) -> str:
        return "\n".join(map(str, self.sums))


def _names(accept_changes: Any) -> list[str]:
    return [accept_changes] if isinstance(accept_changes, str) else [str(name) for name in accept_changes]


def _refuse(title: str, release: Release, review: Review) -> None:
    """Refuse with the ledger's reasons; where records have changed, say what that has to do with."""
    if review.accepted:
        return
    why = ""
    if any(exposure.is_change for exposure in review.exposed):
        why = (
            " The totals of both fits are told, and their difference is that of the records that came or went: "
            "leave-one-out and cross-validation do this by design, and so does last month's fit with one record "
            "more. If that may be known, accept the changes of these parties."
        )
    if any(exposure.kind == "unclear" for exposure in review.exposed):
        why = (
            " The same parties were fitted before, and so much is different at them that one record more or less "
            "would not be noticed: other units, other digits, or other records throughout; of a party with more "
            f"than {SINGLE} records the ledger does not know which have stayed. Fit the table as it was; or, if "
            "the records are all new or a change of single ones may be known, accept the changes of these parties."
        )
    raise RefusedError(
        f"run {release.run} is refused: {'; '.join(review.reasons)}.{why}",
        command="--accept-change names a party whose change may be known." if why else "",
    )


def _stamps(review: Review) -> tuple[Stamp, ...]:
    """Return what was accepted, and the sums over few parties, for the record of the run."""
    exposed = [Stamp(reason="history", sentence=f"{e}.", agents=e.agents) for e in review.exposed]
    joint = [Stamp(reason="history", sentence=f"{e}.", agents=e.agents, voids=False) for e in review.joint]
    return (*exposed, *joint)


def enter_noisy(title: str, network: Network, promise: DifferentialPrivacy, ledger: str | Path) -> None:
    """Enter a fit whose answer carries noise, by secret sums, before it begins; refuse what the *ledger* refuses.

    Nothing of it depends on records, and no digest of them is kept.
    """
    release = Release.of(
        f"{title} {secrets.token_hex(4)}",
        network.graph,
        sigma=math.inf,
        basis="sums",
        answer=certify_answer(network, promise).guarantee,
    )
    path = Path(ledger)
    with Ledger(path) if path.exists() else Ledger(path, any=promise.any) as book:
        book.add(release)
