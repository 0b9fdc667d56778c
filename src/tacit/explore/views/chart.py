"""A picture of `tacit.report.figures` on the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nicegui
from nicegui.element import Element

from tacit.report.palette import twins
from tacit.report.style import alternative

_PLOTLY = Path(nicegui.__file__).parent / "elements" / "plotly" / "dist"


def headline(figure: Any) -> str:
    """Return the title of a figure, which the page writes above it: there it wraps on a phone."""
    return str(figure.layout.title.text or "").replace("<br>", " ")


class Chart(Element, component="chart.js", esm={"nicegui-plotly": str(_PLOTLY)}):
    """One figure, which may be replaced; *name* is that of its files."""

    def __init__(self, figure: Any, *, name: str) -> None:
        super().__init__()
        self._props["name"] = name
        self._props["twins"] = twins()
        self.show(figure)

    def show(self, figure: Any) -> None:
        """Draw another figure."""
        self._props["figure"] = figure.to_json()
        self._props["says"] = alternative(figure)
        self.update()

    def save(self, kind: str) -> None:
        """Let the browser save the picture as svg or png."""
        self.run_method("save", kind)
