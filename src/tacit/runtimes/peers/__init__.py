"""Real agents: one process each, over mutually authenticated TLS, durable across crashes."""

from tacit.runtimes.peers.agent import Agent
from tacit.runtimes.peers.local import run
from tacit.runtimes.peers.manifest import Manifest, Member

__all__ = ["Agent", "Manifest", "Member", "run"]
