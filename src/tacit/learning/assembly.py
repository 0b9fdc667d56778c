"""The parties together: their network, what they add up, and the account of it.

Two things happen here and nowhere else: numbers are added up over the network (`total`), and a model is fitted
(`solve`). Both go through the same masks and the same runtime, and both are entered in the account.

Secret sums need a public limit on every number. Records are standardised first, so that no sum of a regression
exceeds a few times the number of records, whatever units the parties use; 128 bits a number then hold everything up
to 2⁶⁰, to less than 2⁻⁴⁵ for a thousand parties.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Self

import msgspec
import numpy as np

from tacit.certificates import Certificate, certify, exposing, headline
from tacit.costs import Family
from tacit.errors import DataError, InputError, RangeError, VacuousError
from tacit.learning.account import Account, PartyColumns
from tacit.learning.parties import Table
from tacit.learning.party_network import connected
from tacit.listing import conjoined
from tacit.masks import Afresh, Mechanism, SumMasks, drawn_afresh, drawn_once
from tacit.solving import Answer, Problem, choose, solve
from tacit.solving.by_name import runtime_called
from tacit.solving.guarantee import of_run
from tacit.solving.solve import CollinearWarning, InexactWarning, NotPrivateWarning
from tacit.solving.stamping import of_masks
from tacit.solving.telling import Telling, stamps_of
from tacit.solving.total import adding_up
from tacit.stamps import Stamp, voided
from tacit.typing import Array, Summand

BOUND = 2.0**60
_MADE_UP = Stamp(
    reason="made-up parties",
    sentence=(
        "rows were dealt out to parties that do not exist, for trying out: whoever dealt them has all records; "
        "name the party of every row."
    ),
)
_GOSSIP = 100  # rounds of gossip that are allowed for one of sums


class Assembly:
    """Parties on a network. *privacy* is "sums", a mechanism, or None for no masks at all."""

    def __init__(
        self,
        names: Sequence[Any],
        *,
        privacy: str | Mechanism | None = "sums",
        network: Any = "auto",
        runtime: str = "stacked",
        any: int = 1,
        ledger: Any = None,
        records: PartyColumns | None = None,
        accept_changes: Iterable[Any] = (),
        dealt: bool = False,
        title: str = "fit",
    ) -> None:
        if len(names) < 2:
            raise DataError(
                "there is one party, and nobody to hide anything from: name at least three, or fit its "
                "records with scikit-learn."
            )
        self._runs = runtime_called(runtime)
        if not 0 <= any <= max(len(names) - 2, 1):
            raise VacuousError(f"any = {any} of {len(names)} parties: at least two must be honest.")
        self.privacy = mechanism(privacy)
        self.network = connected(names, network, any=any)
        self.runtime, self.any = runtime, any
        self.account = Account.opened(
            title, self.network, self.privacy, ledger, any=any, records=records or {},
            accept_changes=accept_changes,
        )  # fmt: skip
        if dealt and self.privacy is not None:
            self.account = replace(self.account, stamps=(*self.account.stamps, _MADE_UP))
        self._run_numbers = 0  # numbers that the model's own run has told
        self._fitted: Problem | None = None
        self._at = np.zeros(0)
        for stamp in self.account.stamps:
            warnings.warn(str(stamp), NotPrivateWarning, stacklevel=5)

    @classmethod
    def of(cls, estimator: Any, table: Table, *, target: bool) -> Self:
        """Return the parties of a *table*, together as an estimator's settings say; *target* if labels are used."""
        if estimator.ledger is not None and table.dealt:
            raise InputError(
                "a ledger keeps account of parties, and these rows were dealt out to some that do not exist: name "
                "the party of every row."
            )
        return cls(
            table.names, privacy=estimator.privacy, network=estimator.network, runtime=estimator.runtime,
            any=estimator.any, ledger=estimator.ledger,
            records={} if estimator.ledger is None else table.records(target=target),
            accept_changes=estimator.accept_changes, dealt=table.dealt, title=type(estimator).__name__,
        )  # fmt: skip

    @property
    def sums(self) -> Afresh | None:
        """The masks of plain sums: secret ones, unless nothing is to be hidden."""
        if self.privacy is None:
            return None
        return self.privacy if drawn_afresh(self.privacy) else secret_sums()

    @property
    def bound(self) -> float:
        """The public limit on every number of a plain sum; infinite where nothing is hidden."""
        return np.inf if self.sums is None else self.sums.bound

    @property
    def resolution(self) -> float:
        """To how much a plain sum is exact."""
        return 0.0 if self.sums is None else self.sums.fixed_point(agents=len(self.network)).error

    @property
    def gained(self) -> float:
        """By how much the last fit made the loss fall."""
        return 0.0 if self._fitted is None else self._loss(self._fitted.x0) - self._loss(self._at)

    def _loss(self, x: Array) -> float:
        return 0.0 if self._fitted is None else self._fitted.value(x)

    def bend(self, x: Array) -> float:
        """Return about Σ ρ'' over all records at x: the largest curvature along an unknown, in standard units."""
        if self._fitted is None:
            return 0.0
        H = self._fitted.stack.hess(x).sum(axis=0)
        return float(np.diag(H).max())

    def total(self, terms: Sequence[Array], what: str, *, columns: Sequence[str] = ()) -> Array:
        """Return the sum of one vector per party. *columns* names its entries, should a number be too large."""
        masks = self.sums
        if masks is not None:
            self._refuse_large(terms, masks.bound, columns)
        job = adding_up(self.network, terms, privacy=masks)
        run = self._runs(job, None)
        self.account = self.account.entered(what, numbers=len(terms[0]), sums=1)
        return np.array(run.x[0])

    def solve(self, costs: Sequence[Family], what: str, *, x0: Array, tol: float, max_iter: int) -> Answer:
        """Return the minimiser of the sum of all parties' costs."""
        self.account = self.account.drawn()
        problem = Problem(self.network, list(costs), x0=x0)
        algorithm = "auto" if self.privacy is not None else choose(problem, privacy=secret_sums()).algorithm
        rounds = max_iter * _GOSSIP if drawn_once(self.privacy) else max_iter
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                answer = solve(
                    problem, privacy=self.privacy, protect=None if self.privacy is None else "affine",
                    algorithm=algorithm, runtime=self.runtime, tolerance=tol,
                    max_rounds=rounds,
                )  # fmt: skip
            except RangeError as error:
                raise DataError(
                    f"the sums of this model exceed the public limit on numbers: {error} Leave privacy at 'sums', "
                    "whose limit fits standardised records."
                ) from error
        for caution in caught:
            if issubclass(caution.category, CollinearWarning):
                continue  # the model says it, with the names of the columns
            if (
                issubclass(caution.category, InexactWarning)
                and self.privacy is not None
                and self.privacy.words == 2
            ):
                continue  # nothing finer is to be had: columns that say the same leave directions without curvature
            warnings.warn(str(caution.message), caution.category, stacklevel=5)
        self._fitted, self._at = problem, answer.x
        phase2 = answer.record.phase2
        if phase2.sums:
            numbers = sum(Summand(part).size(problem.dim) for part in phase2.sums)
            line = f"{what}: {conjoined(phase2.sums)}"
            self.account = self.account.entered(line, numbers=numbers, sums=phase2.rounds)
            self._run_numbers = self.account.sums[-1].total
        else:  # effective costs are in the open, and with them the sum of what the masks hide
            line = f"{what}, by gossip: the sum of what the masks hide"
            hidden = self.privacy.basis.scales(problem.dim) if drawn_once(self.privacy) else x0
            self.account = self.account.entered(line, numbers=len(hidden), sums=1)
        return self._stamped(answer)

    def add(self, stamp: Stamp) -> None:
        """Keep a stamp for the record of the fit, and warn where it makes the fit NOT PRIVATE."""
        self.account = replace(self.account, stamps=(*self.account.stamps, stamp))
        if stamp.voids:
            warnings.warn(str(stamp), NotPrivateWarning, stacklevel=6)

    def closed(self, answer: Answer) -> Answer:
        """Return the answer with all that the fit tells beside its run: other sums of the same records."""
        tells = answer.record.tells
        if tells is None or not answer.record.phase2.sums:
            return answer
        tells = tells.beside(sum(line.total for line in self.account.sums) - self._run_numbers)
        others = [stamp for stamp in answer.record.stamps if stamp.reason != "answer tells"]
        stamps = stamps_of(tells)
        if answer.record.private and voided(stamps):  # else `solve` has said it
            warnings.warn(str(stamps[0]), NotPrivateWarning, stacklevel=5)
        return _with(answer, [*others, *stamps], tells)

    def _stamped(self, answer: Answer) -> Answer:
        """Return the answer with what its run and earlier ones tell together in its record."""
        return _with(answer, [*answer.record.stamps, *self.account.stamps], answer.record.tells)

    def certificate(self, answer: Answer | None = None) -> Certificate | None:
        """Return what is guaranteed against every coalition of the size asked for; None where nothing is."""
        if self.privacy is None:
            return None
        if len(self.network) == 2:
            if answer is None:  # `solve` has said it of a model
                sentence = "NOT PRIVATE: of two parties, each learns the other's part from the sum."
                warnings.warn(sentence, NotPrivateWarning, stacklevel=4)
            return None
        if answer is None:
            stamps = (*of_masks(self.privacy), *self.account.stamps)
            network = certify(self.network, any=self.any, sigma=math.inf)
            certificate = of_run(network, stamps=stamps, pairing=self.privacy.pairing)
        else:
            certificate = answer.certificate(any=self.any)
        if not certificate.is_private and (answer is None or answer.record.private):  # else `solve` has said it
            word = next(stamp.word for stamp in exposing(certificate.stamps, certificate) if stamp.voids)
            sentence = headline(certificate) if voided(certificate.stamps) else f"{word}: {headline(certificate)}"
            warnings.warn(sentence, NotPrivateWarning, stacklevel=4)
        return certificate

    def exposing(self, answer: Answer, certificate: Certificate | None) -> Answer:
        """Return the answer with a stamp where so many parties as may collude learn something exactly."""
        if certificate is None:
            return answer
        return _with(answer, exposing(answer.record.stamps, certificate), answer.record.tells)

    def _refuse_large(self, terms: Sequence[Array], bound: float, columns: Sequence[str]) -> None:
        """Refuse what no party should send: each would see this of its own numbers, and nobody else's."""
        for name, numbers in zip(self.network.agents, terms, strict=True):
            large = np.flatnonzero(~(np.abs(numbers) <= bound))
            if len(large):
                place = f", column {columns[large[0]]!r}" if len(columns) else ""
                raise DataError(
                    f"party {name}{place}: its numbers are too large to be added up in secret under the public "
                    f"limit of {bound:g}; use larger units."
                )


def _with(answer: Answer, stamps: list[Stamp], tells: Telling | None) -> Answer:
    """Return the answer with these stamps, and this count, in its record."""
    private = answer.record.phase1 is not None and not voided(stamps)
    return Answer(
        msgspec.structs.replace(answer.record, stamps=stamps, tells=tells, private=private), answer.network
    )


def secret_sums() -> SumMasks:
    """Return the masks that fit standardised records of any kind."""
    return SumMasks(bound=BOUND, words=2)


def mechanism(privacy: str | Mechanism | None) -> Mechanism | None:
    """Return the mechanism that a parameter means."""
    if isinstance(privacy, str):
        if privacy != "sums":
            raise InputError(f"privacy = {privacy!r} is not 'sums', a mechanism such as affine masks, or None.")
        return secret_sums()
    if privacy is not None and privacy.answer is not None:
        raise InputError(
            "answer does not go with estimators: their means, scales, numbers of records and standard errors are "
            "exact, and would undo the promise; use solve, with costs in public units."
        )
    return privacy
