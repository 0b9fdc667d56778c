"""What pictures are made of: a style sheet for light and dark, texts, lines and nodes."""

from __future__ import annotations

Point = tuple[float, float]

LIGHT = {
    "card": "fill: #ffffff; stroke: #d4d7dd",
    "ink": "fill: #1f2430",
    "soft": "fill: #5b6270",
    "rule": "stroke: #d4d7dd",
    "edge": "stroke: #9aa1ad",
    "node": "fill: #e8eefc; stroke: #2f5fd0",
    "a": "--: #6b7280",
    "b": "--: #0f8a7e",
    "c": "--: #2f5fd0",
    "d": "--: #8a3fc4",
    "e": "--: #c2410c",
}
DARK = {
    "card": "fill: #14171e; stroke: #343a46",
    "ink": "fill: #eceff4",
    "soft": "fill: #a3abb9",
    "rule": "stroke: #343a46",
    "edge": "stroke: #6f7787",
    "node": "fill: #1b2a4d; stroke: #7ea6ff",
    "a": "--: #a3abb9",
    "b": "--: #3fd0c0",
    "c": "--: #7ea6ff",
    "d": "--: #cb95f5",
    "e": "--: #ff9457",
}
"""One rule per class; a class whose rule starts with `--` is a colour for a line and its label."""


def style() -> str:
    """Return the style sheet: light unless the reader prefers dark."""

    def rules(theme: dict[str, str]) -> str:
        out = []
        for name, rule in theme.items():
            colour = rule.removeprefix("--: ")
            if colour == rule:
                out.append(f".{name} {{ {rule} }}")
            else:
                out.append(f".line-{name} {{ stroke: {colour} }} .text-{name} {{ fill: {colour} }}")
        return "\n".join(out)

    return (
        "<style>\n"
        "text { font-family: system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; font-size: 15px }\n"
        ".small { font-size: 13px } .title { font-size: 17px; font-weight: 600 } .strong { font-weight: 600 }\n"
        ".line { fill: none; stroke-width: 2.2; stroke-linejoin: round }\n"
        f"{rules(LIGHT)}\n@media (prefers-color-scheme: dark) {{\n{rules(DARK)}\n}}\n"
        "</style>"
    )


def picture(width: int, height: int, title: str, description: str, body: list[str]) -> str:
    """Return a whole SVG file with a card behind it, so that it is readable on any page."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" role="img" aria-labelledby="title description">',
            f'<title id="title">{title}</title>',
            f'<desc id="description">{description}</desc>',
            style(),
            f'<rect class="card" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="10"/>',
            *body,
            "</svg>\n",
        ]
    )


def text(at: Point, words: str, kind: str = "ink", anchor: str = "middle") -> str:
    """Return one line of text; `_{…}` lowers what is inside."""
    words = words.replace("_{", '<tspan dy="4" font-size="75%">').replace("}", '</tspan><tspan dy="-4">&#8203;')
    words += "</tspan>" * (words.count("<tspan") - words.count("</tspan>"))
    return f'<text class="{kind}" x="{at[0]:.1f}" y="{at[1]:.1f}" text-anchor="{anchor}">{words}</text>'


def segment(start: Point, end: Point, kind: str, extra: str = "") -> str:
    """Return a straight line."""
    return (
        f'<line class="{kind}" x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"{extra}/>'
    )


def node(at: Point, name: object) -> list[str]:
    """Return an agent."""
    circle = f'<circle class="node" cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="22" stroke-width="2"/>'
    return [circle, text((at[0], at[1] + 6), str(name), "ink title")]
