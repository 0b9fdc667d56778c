"""The tabs of the page, and what stands under each of them."""

from __future__ import annotations

from collections.abc import Sequence

from nicegui import ui
from nicegui.element import Element

from tacit.explore.views.parts import box, button, mark


class Tabs:
    """One panel at a time."""

    def __init__(self, names: Sequence[str]) -> None:
        self.panels: dict[str, Element] = {}
        with mark(ui.element("nav"), role="tablist", aria_label="Pages"):
            self.buttons = {
                name: button(name, lambda name=name: self.choose(name), role="tab", id=f"tab-{name}")
                for name in names
            }

    def panel(self, name: str) -> Element:
        """Return the place under a tab."""
        self.panels[name] = mark(box("panel"), role="tabpanel", aria_labelledby=f"tab-{name}")
        return self.panels[name]

    def choose(self, name: str) -> None:
        """Show the panel of a tab."""
        for each, panel in self.panels.items():
            panel.set_visibility(each == name)
            mark(self.buttons[each], aria_selected="true" if each == name else "false")
