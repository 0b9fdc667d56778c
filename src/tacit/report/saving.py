"""Figures as files for papers and pages: SVG and PNG, by kaleido and a Chromium that is installed.

The same figure that a report shows is drawn by the same plotly, so that there is no second drawing to keep alike.
An SVG has the same bytes whenever the same figure is drawn by the same versions on the same fonts.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import plotly.graph_objects as go

from tacit.errors import FileError, InputError
from tacit.report.palette import DARK, LIGHT
from tacit.report.style import alternative, dark

Scheme = Literal["light", "dark", "both"]
WIDTH = 830  # pixels of a picture, unless told otherwise
_NAMES = re.compile(r"\b(clip|defs-|topdefs-|legend|trace|cb|g)[0-9a-f]{6}(?=[a-z0-9\"')_-]*)")
_PICTURE = 'role="img"'
_FORMATS = (".svg", ".png")


def save(
    figure: go.Figure,
    path: str | Path,
    *,
    scheme: Scheme = "light",
    width: int = WIDTH,
    height: int | None = None,
    scale: float = 2.0,
) -> Path:
    """Write *figure* as SVG or PNG, as the name ends; an older file of that name is replaced.

    *width* and *height* are in pixels, of which a PNG has *scale* times as many. An SVG can be for light and dark
    pages at once: with the scheme "both" it follows its reader.
    """
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in _FORMATS:
        raise InputError(f"{target}: pictures are saved as .svg or .png.")
    if scheme == "both" and kind != ".svg":
        raise InputError("only an SVG can be for light and dark pages at once; choose the scheme light or dark.")
    shown = dark(figure) if scheme == "dark" else figure
    tall = height or figure.layout.height or 400
    size = {"width": width, "height": tall, "scale": scale if kind == ".png" else 1}
    drawn = _drawn(shown, {"format": kind[1:], **size})
    if kind == ".svg":
        text = finished(drawn.decode("utf-8"), alternative(figure))
        drawn = (adaptive(text) if scheme == "both" else text).encode("utf-8")
    try:
        target.write_bytes(drawn)
    except OSError as error:
        raise FileError(f"{target}: cannot be written ({error.strerror}).") from error
    return target


def finished(svg: str, says: str) -> str:
    r"""Return an SVG with the same names every time, and with what it says to whoever cannot see it.

    >>> finished('<svg class="main-svg"><defs id="defs-1a2b3c"/></svg>', "A line rises.")
    '<svg class="main-svg" role="img"><desc>A line rises.</desc><defs id="defs-tacit"/></svg>\n'
    """
    named = _NAMES.sub(r"\1tacit", svg)
    head, rest = named.split(">", 1)
    spoken = f"<desc>{html.escape(says, quote=False)}</desc>" if says else ""
    return f"{head} {_PICTURE}>{spoken}{rest}\n"


def adaptive(svg: str) -> str:
    """Return an SVG of light colours as one that is dark where its reader prefers that."""
    for name, colour in vars(LIGHT).items():
        red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
        svg = re.sub(rf"rgb\({red}, {green}, {blue}\)|{colour}\b", f"var(--{name})", svg, flags=re.IGNORECASE)
    light, deep = _variables(vars(LIGHT)), _variables(vars(DARK))
    rules = f"svg {{ {light} }} @media (prefers-color-scheme: dark) {{ svg {{ {deep} }} }}"
    head, rest = svg.split(">", 1)
    return f"{head}><style>{rules}</style>{rest}"


def _variables(palette: Mapping[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in palette.items())


def _drawn(figure: go.Figure, options: dict[str, Any]) -> bytes:
    """Return what kaleido makes of a figure."""
    try:
        import kaleido
    except ModuleNotFoundError as error:
        raise InputError("pictures in files need kaleido: pip install 'tacit[picture]'.") from error
    try:
        return bytes(kaleido.calc_fig_sync(figure, opts=options))
    except Exception as error:
        if type(error).__name__ not in ("ChromeNotFoundError", "BrowserFailedError", "BrowserClosedError"):
            raise
        raise InputError(
            "pictures in files are drawn by Chromium, and none could be started: install chromium, or name one in "
            "the variable BROWSER_PATH."
        ) from error
