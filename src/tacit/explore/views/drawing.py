"""The drawing of a network on the page: `network.js` draws, this passes words to and fro."""

from __future__ import annotations

from nicegui.element import Element

from tacit.explore.insight import Insight
from tacit.explore.sketch import Sketch

SCALE = 250.0
"""Units of the drawing per unit of a place."""
_LARGE = 4.0  # how much larger a drawing of very many agents is


class Drawing(Element, component="network.js"):
    """A network that one can take hold of."""

    def __init__(self) -> None:
        super().__init__()
        self._props["mode"] = "corrupt"
        self.scale, self._key = SCALE, 0

    def show(self, sketch: Sketch, insight: Insight, says: str, *, anew: bool = False) -> None:
        """Draw a sketch; *anew* looks at the whole of it again."""
        if anew:
            self._key += 1
            self.scale = SCALE * min(max((len(sketch.agents) / 20) ** 0.5, 1.0), _LARGE)
        self._props["network"] = {
            "key": self._key,
            "agents": [[str(agent), x * self.scale, y * self.scale] for agent, (x, y) in
                       ((agent, sketch.places[agent]) for agent in sketch.agents)],
            "links": [[str(a), str(b)] for a, b in map(sorted_pair, sketch.links)],
        }  # fmt: skip
        self._props.update(_seen(sketch, insight, says))
        self.update()

    def dress(self, sketch: Sketch, insight: Insight, says: str) -> None:
        """Show what everybody is to the coalition, in the drawing that is there."""
        news = _seen(sketch, insight, says)
        self._props.update(news)
        self.run_method("reveal", news)

    def set_mode(self, mode: str) -> None:
        """Say what a click means: corrupt, links or agents."""
        self._props["mode"] = mode
        self.run_method("reveal", {"mode": mode})

    def save(self, kind: str) -> None:
        """Let the browser save the drawing as svg or png."""
        self.run_method("save", kind)


def sorted_pair(link: frozenset[object]) -> list[object]:
    """Return both ends of a link, in an order that stays."""
    return sorted(link, key=str)


def _seen(sketch: Sketch, insight: Insight, says: str) -> dict[str, object]:
    suggested = [[str(a), str(b)] for a, b in sketch.suggested]
    return {"roles": insight.roles, "suggested": suggested, "says": says}
