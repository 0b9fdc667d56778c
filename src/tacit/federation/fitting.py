"""What is fitted: the [model] of a manifest, from what somebody has said about it."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from tacit.errors import InputError
from tacit.federation.sections import Model
from tacit.listing import conjoined
from tacit.solving.cost_files import FAMILIES, refuse_target
from tacit.spelling import did_you_mean
from tacit.tables import Sheet
from tacit.tables.dictionary import GAPS
from tacit.tables.drafting import Draft, draft

OF_ROWS = tuple(name for name in FAMILIES if name not in ("quadratic", "distance", "absolute-value"))
"""The families whose data are records: rows with a label each."""
DELTA = Model("huber").delta


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitting:
    """What all members fit, as far as somebody has said it. Fields are options of `tacit federation new`."""

    cost: str | None = None
    target: str | None = None
    intercept: bool = False
    l1: float = 0.0
    l2: float = 0.0
    delta: float | None = None
    records: int | None = None

    def model(self) -> Model | None:
        """Return the section; None where everybody chooses a cost of its own. Refuse what means nothing."""
        used = [name for name, value in self._settings.items() if value]
        if self.cost is None:
            if used:
                needs = "needs" if len(used) == 1 else "need"
                raise InputError(f"{conjoined(used)} {needs} a cost, which says what is fitted.")
            return None
        self._refuse_what_means_nothing(self.cost, used)
        delta = DELTA if self.delta is None else self.delta
        return Model(self.cost, self.target, self.intercept, self.l1, self.l2, delta, records=self.records)

    @property
    def _settings(self) -> dict[str, object]:
        return {
            "target": self.target,
            "intercept": self.intercept,
            "l1": self.l1,
            "l2": self.l2,
            "delta": self.delta,
            "records": self.records,
        }

    def _refuse_what_means_nothing(self, family: str, used: list[str]) -> None:
        if family not in FAMILIES:
            meant = did_you_mean(family, FAMILIES)
            raise InputError(f"no cost family is called {family!r}; choose one of {', '.join(FAMILIES)}.{meant}")
        wrong = [name for name in used if name == "delta" and family != "huber"]
        wrong += [name for name in used if name not in ("delta", "l1") and family not in OF_ROWS]
        if wrong:
            means, it = ("means", "it") if len(wrong) == 1 else ("mean", "them")
            raise InputError(f"{conjoined(wrong)} {means} nothing to a {family} cost; leave {it} out.")
        if min(self.l1, self.l2) < 0 or (self.delta is not None and not self.delta > 0):
            raise InputError("l1 and l2 must not be negative, and delta must be positive.")
        if family in ("lasso", "elastic-net") and not self.l1:
            raise InputError(f"a {family} cost needs l1, the weight of its penalty.")


def dictionary_like(sheet: Sheet, model: Model, *, missing: str = "refuse") -> Draft:
    """Return the data dictionary that a file suggests for a model, and what to look at before it is sent.

    *missing* says what happens to records with gaps: "refuse" or "drop".
    """
    if missing not in GAPS:
        raise InputError(f"missing = {missing!r} is not one of {conjoined(GAPS)}.{did_you_mean(missing, GAPS)}")
    suggested = draft(sheet, model.target)
    refuse_target(suggested.dictionary, model.family, model.target)
    return suggested._replace(dictionary=msgspec.structs.replace(suggested.dictionary, gaps=missing))
