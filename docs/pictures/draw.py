"""Draw the conceptual pictures of the documentation: python docs/pictures/draw.py [folder].

phases.svg        the two phases on the paper's triangle, with its own random numbers
dashboard.svg     the dashboard of one member, as deploy/grafana-dashboard.json lays it out; its numbers are made up

Pictures of data are drawn by data.py, with the figures of reports.
"""

from __future__ import annotations

import sys
from pathlib import Path

from dashboard import dashboard
from phases import phases


def main(folder: Path) -> None:
    """Write both."""
    for name, drawing in (("phases", phases), ("dashboard", dashboard)):
        (folder / f"{name}.svg").write_text(drawing(), encoding="utf-8")
        print(f"Wrote {name}.svg.")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
