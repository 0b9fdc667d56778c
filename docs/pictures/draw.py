"""Draw the pictures of the documentation: python docs/pictures/draw.py [folder].

phases.svg        the two phases on the paper's triangle, with its own random numbers
convergence.svg   rounds against error, for masks of different sizes
guess.svg         σ against how often the worst coalition guesses right
sums.svg          hops against error: a few secret sums, or hundreds of rounds of gossip
dashboard.svg     the dashboard of one member, as deploy/grafana-dashboard.json lays it out

Every number in them is computed by tacit when this script runs, but for those of the dashboard, which are made up.
Masks come from a seed here: a picture is a simulation, and is NOT PRIVATE.
"""

from __future__ import annotations

import sys
from pathlib import Path

from convergence import convergence
from dashboard import dashboard
from guesses import guesses
from phases import phases
from sums_and_gossip import sums


def main(folder: Path) -> None:
    """Write all pictures."""
    drawings = (
        ("phases", phases),
        ("convergence", convergence),
        ("guess", guesses),
        ("sums", sums),
        ("dashboard", dashboard),
    )
    for name, drawing in drawings:
        (folder / f"{name}.svg").write_text(drawing(), encoding="utf-8")
        print(f"Wrote {name}.svg.")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
