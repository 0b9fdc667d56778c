"""What is guaranteed against a coalition, and how to choose σ and the graph from it. Public parameters only."""

from tacit.certificates.allocate import allocate
from tacit.certificates.augment import Augmentation, augment, remedy
from tacit.certificates.calibrate import calibrate, calibrated
from tacit.certificates.certificate import GUESSES, Certificate, Component
from tacit.certificates.certifying import certify, leakage, worst_coalition
from tacit.certificates.composition import exposures
from tacit.certificates.design import Design, design
from tacit.certificates.exposure import Exposure
from tacit.certificates.leakage import Leakage
from tacit.certificates.ledger import Ledger
from tacit.certificates.ledger_file import Entry
from tacit.certificates.release import Release
from tacit.certificates.reviewing import Review
from tacit.certificates.statement import exposing, headline, limits, privacy_lines
from tacit.differential.tradeoff import TradeOff

__all__ = [
    "GUESSES",
    "Augmentation",
    "Certificate",
    "Component",
    "Design",
    "Entry",
    "Exposure",
    "Leakage",
    "Ledger",
    "Release",
    "Review",
    "TradeOff",
    "allocate",
    "augment",
    "calibrate",
    "calibrated",
    "certify",
    "design",
    "exposing",
    "exposures",
    "headline",
    "leakage",
    "limits",
    "privacy_lines",
    "remedy",
    "worst_coalition",
]
