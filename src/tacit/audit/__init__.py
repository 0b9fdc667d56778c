"""Attack what is shipped, and publish the verdict."""

from tacit.audit.attacks.estimate import Attack, Estimate
from tacit.audit.conduct import audit
from tacit.audit.experiments import EXPERIMENTS, Setting, settle
from tacit.audit.game import Game, play
from tacit.audit.phase2 import play_messages
from tacit.audit.public import Public
from tacit.audit.report import AuditReport, Belief, Row
from tacit.audit.runs import ATTACKS
from tacit.audit.verdict import Verdict
from tacit.audit.view import Exchange, Published, View
from tacit.audit.watch import public_knowledge, watch

__all__ = [
    "ATTACKS",
    "EXPERIMENTS",
    "Attack",
    "AuditReport",
    "Belief",
    "Estimate",
    "Exchange",
    "Game",
    "Public",
    "Published",
    "Row",
    "Setting",
    "Verdict",
    "View",
    "audit",
    "play",
    "play_messages",
    "public_knowledge",
    "settle",
    "watch",
]
