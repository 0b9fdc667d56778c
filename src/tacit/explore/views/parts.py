"""The parts of every view: buttons, fields and tables as a browser has them, which screen readers know."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from nicegui import ui
from nicegui.element import Element

Act = Callable[..., Any]
_VALUE = "(event) => emit(event.target.value)"
_FIRST_VALUE = "^value"  # the attribute: what people type afterwards is theirs


def words(text: str, tag: str = "p", style: str = "") -> Element:
    """Write a text into an element."""
    element = ui.element(tag)
    if style:
        element.classes(style)
    return say(element, text)


def say(element: Element, text: str) -> Element:
    """Put another text into an element."""
    element._text = text
    element.update()
    return element


def mark(element: Element, **attributes: str) -> Element:
    """Give an element attributes; an underscore stands for a dash."""
    element._props.update({name.replace("_", "-"): value for name, value in attributes.items()})
    element.update()
    return element


def put(field: Element, value: float | str) -> None:
    """Put another value into a field or a slider."""
    field.client.run_javascript(f"getHtmlElement({field.id}).value = {json.dumps(value)}")


def box(style: str, tag: str = "div") -> Element:
    """Return a place for other parts."""
    return ui.element(tag).classes(style)


def button(text: str, act: Act, style: str = "", **attributes: str) -> Element:
    """Return a button that calls *act*."""
    made = mark(words(text, "button", f"button {style}"), type="button", **attributes)
    return made.on("click", lambda: act())


def field(label: str, value: str, act: Act | None, *, style: str = "", **attributes: str) -> Element:
    """Return a field with its label; *act* takes what is in it when it is left."""
    with words(label, "label", style):
        made = mark(ui.element("input"), autocomplete="off", **attributes)
        made._props[_FIRST_VALUE] = value
    return made if act is None else made.on("change", lambda event: act(event.args), js_handler=_VALUE)


def slider(label: str, value: float, ends: tuple[float, float], act: Act, *, step: float) -> Element:
    """Return a slider that calls *act* while it moves, at most ten times a second."""
    with words("", "label", "wide"):
        made = ui.element("input")
        made._props.update({"type": "range", "min": ends[0], "max": ends[1], "step": step, _FIRST_VALUE: value})
        made._props["aria-label"] = label
    return made.on("input", lambda event: act(float(event.args)), js_handler=_VALUE, throttle=0.1)


def choice(label: str, options: Iterable[str], act: Act, *, value: str | None = None) -> Element:
    """Return a list to choose from."""
    with words(label, "label"):
        made = ui.element("select")
        with made:
            for option in options:
                each = words(option, "option")
                each._props["value"] = option
                if option == value:
                    each._props["selected"] = True
    return made.on("change", lambda event: act(event.args), js_handler=_VALUE)


def tick(label: str, act: Act) -> Element:
    """Return a box to tick."""
    with box("tick", "label"):
        made = mark(ui.element("input"), type="checkbox")
        words(label, "span")
    return made.on("change", lambda event: act(event.args), js_handler="(event) => emit(event.target.checked)")


def file_field(label: str, act: Act) -> Element:
    """Return a field for a file, whose name and text *act* takes; the file itself stays where it is."""
    handler = "async (event) => { const f = event.target.files[0]; if (f) emit(f.name, await f.text()); }"
    with words(label, "label"):
        made = mark(ui.element("input"), type="file")
    return made.on("change", lambda event: act(*event.args), js_handler=handler)


def table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    styles: Callable[[int, str], str] | None = None,
) -> None:
    """Write a table; *styles* gives a cell its look, by column and text."""
    with mark(box("scroll"), role="region", aria_label=caption, tabindex="0"), ui.element("table"):
        words(caption, "caption")
        with ui.element("thead"), ui.element("tr"):
            for name in head:
                mark(words(name, "th"), scope="col")
        with ui.element("tbody"):
            for row in rows:
                with ui.element("tr"):
                    for column, text in enumerate(row):
                        words(text, "td", "" if styles is None else styles(column, text))
