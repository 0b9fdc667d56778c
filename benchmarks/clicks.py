"""What a click on the explorer's network costs: the certificate, its words, and everybody's role."""

from __future__ import annotations

from time import perf_counter

from tacit.explore import Sketch, look_at
from tacit.explore.insight import describe
from tacit.explore.sources import GENERATORS

_LIMITS = {200: 0.3, 1000: 2.0}  # seconds
_CLICKS = 5


def main() -> None:
    """Print the slowest of some clicks, beside what a page may take."""
    print("\nA click on an agent of the explorer's network")
    for agents, limit in _LIMITS.items():
        sketch = Sketch.of(GENERATORS["four links each"](agents))
        seconds = []
        for agent in sketch.agents[:: agents // _CLICKS][:_CLICKS]:
            start = perf_counter()
            sketch = sketch.clicked(agent)
            describe(sketch, look_at(sketch))
            seconds.append(perf_counter() - start)
        print(f"{agents:5} agents: at most {max(seconds):.3f} s in {_CLICKS} clicks; a page may take {limit} s")
        assert max(seconds) <= limit, seconds
