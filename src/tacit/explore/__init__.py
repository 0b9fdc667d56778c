"""A local page on which one understands: networks and who learns what, runs and attacks, federations as they go.

Everything that is computed here is computed by others. A module of this folder holds what is shown, as values that
need no browser; `views` puts them on a page, and nothing else here knows of one.
"""

from tacit.explore.insight import Insight, look_at
from tacit.explore.sketch import Sketch

__all__ = ["Insight", "Sketch", "look_at"]
