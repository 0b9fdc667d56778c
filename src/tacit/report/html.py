"""A page as one file of HTML that fetches nothing: style, pictures and plotly are in it."""

from __future__ import annotations

import json
import os
from functools import cache
from importlib.resources import files
from pathlib import Path

import jinja2
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from tacit.errors import FileError
from tacit.report.page import Page
from tacit.report.palette import DARK, LIGHT, twins
from tacit.report.style import alternative


def html(page: Page) -> str:
    """Return the whole file."""
    pictured = any(section.figures for section in page.sections)
    return _template("page.html").render(
        page=page, light=vars(LIGHT), dark=vars(DARK), twins=_script(twins()),
        figure=_figure, headline=_title, says=alternative, caption=_caption,
        plotly=get_plotlyjs() if pictured else "",
    )  # fmt: skip


def fragment(page: Page) -> str:
    """Return the statement and the tables for a notebook's cell, without pictures."""
    return _template("fragment.html").render(page=page, light=vars(LIGHT), dark=vars(DARK))


def write(page: Page, path: str | Path) -> Path:
    """Write the page to a new file, readable by its owner alone where it holds a simulation's truth."""
    target = Path(path)
    mode, text = 0o600 if page.simulation else 0o644, html(page)
    try:
        with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise FileError(f"{target}: is already there; move it away, or name another file.") from None
    except OSError as error:
        raise FileError(f"{target}: cannot be written ({error.strerror}).") from error
    return target


@cache
def _template(name: str) -> jinja2.Template:
    source = jinja2.FunctionLoader(
        lambda name: files("tacit.report").joinpath("templates", name).read_text("utf-8")
    )
    return jinja2.Environment(
        loader=source, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    ).get_template(name)


def _figure(figure: go.Figure) -> str:
    """Return the figure as JSON without its title, which the page sets: there it wraps on a phone."""
    bare = json.loads(figure.to_json())
    layout = bare["layout"]
    layout.pop("meta", None)
    title = layout.pop("title", {}).get("text", "")
    layout["margin"]["t"] -= 22 * (1 + title.count("<br>"))
    layout["height"] -= 22 * (1 + title.count("<br>"))
    return _script(bare)


def _title(figure: go.Figure) -> str:
    return str(figure.layout.title.text or "").replace("<br>", " ")


def _caption(figure: go.Figure) -> str:
    """Return what a picture says beyond its headline."""
    rest = alternative(figure).removeprefix(_title(figure)).lstrip(".,;: ")
    return rest[:1].upper() + rest[1:]


def _script(value: object) -> str:
    """Return JSON that cannot end the script element that it stands in."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c").replace("\u2028", "\\u2028")
