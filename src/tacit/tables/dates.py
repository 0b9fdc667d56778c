"""Dates become days since a day that all agree on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from tacit.errors import InputError

FORMATS = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S")
SINCE = "2000-01-01"
_SECONDS = 86_400.0


def format_of(texts: Sequence[str]) -> str | None:
    """Return the first known format that all *texts* have; None where there is none.

    >>> format_of(["2024-02-29", "2023-01-01"]), format_of(["31.12.2023"]), format_of(["soon"])
    ('%Y-%m-%d', '%d.%m.%Y', None)
    """
    return next((form for form in FORMATS if texts and all(days(text, form) is not None for text in texts)), None)


def days(text: str, form: str, since: str = SINCE) -> float | None:
    """Return the days from *since* to a date, with the time of day as a fraction; None where it is no date.

    >>> days("2000-01-31", "%Y-%m-%d"), days("31.01.2000", "%Y-%m-%d")
    (30.0, None)
    """
    try:
        moment = datetime.strptime(text, form)
    except ValueError:
        return None
    return (moment - datetime.combine(day(since), datetime.min.time())).total_seconds() / _SECONDS


def day(text: str) -> date:
    """Return a day written as 2000-01-31."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InputError(f"since = {text!r} is no day such as {SINCE}.") from None
