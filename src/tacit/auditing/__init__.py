"""Attack what is shipped, and publish the verdict."""

from tacit.auditing.attacks.estimate import Attack, Estimate
from tacit.auditing.conduct import audit
from tacit.auditing.experiments import EXPERIMENTS, Setting, settle
from tacit.auditing.game import Game, play
from tacit.auditing.phase2 import play_messages
from tacit.auditing.public import Public
from tacit.auditing.report import AuditReport, Belief, Row
from tacit.auditing.runs import ATTACKS
from tacit.auditing.verdict import Verdict
from tacit.auditing.view import Exchange, Published, View
from tacit.auditing.watch import public_knowledge, watch

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
