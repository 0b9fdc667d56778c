"""Rates: a bucket that fills steadily, and is emptied by whoever does something."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

_REMEMBERED = 10_000  # callers of whom a rate is known


class Bucket:
    """Room for *size* at once, and for *rate* a second in the long run. Time is an argument."""

    def __init__(self, rate: float, size: float, now: float) -> None:
        self._rate, self._size, self._level, self._at = rate, size, size, now

    def take(self, amount: float, now: float) -> float:
        """Take so much, and return for how many seconds whoever did should pause.

        >>> bucket = Bucket(10.0, 20.0, now=0.0)
        >>> bucket.take(20.0, now=0.0), bucket.take(5.0, now=0.0), bucket.take(5.0, now=2.0)
        (0.0, 0.5, 0.0)
        """
        self._level = min(self._size, self._level + self._rate * (now - self._at)) - amount
        self._at = now
        return max(0.0, -self._level / self._rate)


class Buckets:
    """A bucket for every caller; the longest unseen is forgotten where there are too many."""

    def __init__(self, rate: float, size: float, clock: Callable[[], float]) -> None:
        self._rate, self._size, self._clock = rate, size, clock
        self._by_caller: OrderedDict[str, Bucket] = OrderedDict()

    def allow(self, caller: str) -> bool:
        """Tell whether a caller may do it once more now; one that may not is not worse off for asking."""
        now = self._clock()
        bucket = self._by_caller.pop(caller, None) or Bucket(self._rate, self._size, now)
        self._by_caller[caller] = bucket
        if len(self._by_caller) > _REMEMBERED:
            self._by_caller.popitem(last=False)
        if bucket.take(1.0, now) == 0.0:
            return True
        bucket.take(-1.0, now)
        return False
