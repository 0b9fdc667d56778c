"""The page: a tab for networks, one for runs, one for federations."""

from __future__ import annotations

from importlib.resources import files

from nicegui import ui

from tacit.explore.sketch import Sketch
from tacit.explore.views.federation_view import FederationView
from tacit.explore.views.network_view import NetworkView
from tacit.explore.views.parts import box, words
from tacit.explore.views.run_view import RunView
from tacit.explore.views.tabs import Tabs
from tacit.report.palette import DARK, LIGHT


def colours() -> str:
    """Return the house's colours as variables of a style sheet, light and dark."""
    light, dark = (" ".join(f"--{name}: {value};" for name, value in vars(each).items()) for each in (LIGHT, DARK))
    return f":root {{ {light} }} @media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"


def page(sketch: Sketch, name: str, watched: str = "") -> None:
    """Write the whole page for one visitor; it begins with the federation that is *watched*, if there is one."""
    style = files("tacit.explore").joinpath("views", "style.css").read_text("utf-8")
    ui.add_head_html(f'<meta name="color-scheme" content="light dark"><style>{colours()}\n{style}</style>')
    with box("explorer"):
        with ui.element("header"):
            words("tacit explore", "h1")
            tabs = Tabs(("Network", "Run", "Federation"))
        box("rule")
        with tabs.panel("Network"):
            NetworkView(sketch, name)
        with tabs.panel("Run"):
            RunView()
        with tabs.panel("Federation"):
            FederationView(watched)
        tabs.choose("Federation" if watched else "Network")
