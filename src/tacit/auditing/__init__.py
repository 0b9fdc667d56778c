"""Attack what is shipped, and publish the verdict."""

from tacit.auditing.attacks.estimate import Attack, Estimate
from tacit.auditing.conduct import audit, overhear
from tacit.auditing.experiments import EXPERIMENTS, Setting, settle
from tacit.auditing.judging.verdict import Verdict
from tacit.auditing.knowledge.public import Public
from tacit.auditing.knowledge.view import Exchange, Published, View
from tacit.auditing.recording.watch import public_knowledge, watch
from tacit.auditing.report import AuditReport, BestEstimate, Row
from tacit.auditing.trials.game import Game, play
from tacit.auditing.trials.phase2 import play_messages
from tacit.auditing.trials.runs import ATTACKS

__all__ = [
    "ATTACKS",
    "EXPERIMENTS",
    "Attack",
    "AuditReport",
    "BestEstimate",
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
    "overhear",
    "play",
    "play_messages",
    "public_knowledge",
    "settle",
    "watch",
]
