"""One function per picture, from records and certificates: no secret can reach them."""

from tacit.report.figures.audit import beliefs, game, verdicts
from tacit.report.figures.believed import believed
from tacit.report.figures.coefficients import coefficients
from tacit.report.figures.compare import compared, raced
from tacit.report.figures.convergence import convergence, looks
from tacit.report.figures.dispatch import day
from tacit.report.figures.hiding import guess, hidden_difference, tradeoff
from tacit.report.figures.links import links
from tacit.report.figures.network import network
from tacit.report.figures.one_line import one_line
from tacit.report.figures.traffic import traffic
from tacit.report.figures.who_learns import who_learns

__all__ = [
    "beliefs",
    "believed",
    "coefficients",
    "compared",
    "convergence",
    "day",
    "game",
    "guess",
    "hidden_difference",
    "links",
    "looks",
    "network",
    "one_line",
    "raced",
    "tradeoff",
    "traffic",
    "verdicts",
    "who_learns",
]
