"""Economic dispatch: a grid in, prices and outputs out, and nobody's demand shown."""

from tacit.dispatch.agents import Agents, agents_of
from tacit.dispatch.curves import Curve
from tacit.dispatch.dispatch import dispatch
from tacit.dispatch.dual import Supply
from tacit.dispatch.generators import Generator, piecewise, polynomial
from tacit.dispatch.grid import DAY, Grid
from tacit.dispatch.grid_files import read_grid
from tacit.dispatch.profiles import PROFILES, read_profile
from tacit.dispatch.ramped import RampedSupply
from tacit.dispatch.schedule import Schedule
from tacit.dispatch.statement import protecting_links
from tacit.dispatch.summary import summary

__all__ = [
    "DAY",
    "PROFILES",
    "Agents",
    "Curve",
    "Generator",
    "Grid",
    "RampedSupply",
    "Schedule",
    "Supply",
    "agents_of",
    "dispatch",
    "piecewise",
    "polynomial",
    "protecting_links",
    "read_grid",
    "read_profile",
    "summary",
]
