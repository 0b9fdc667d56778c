"""Real agents: one process each, over mutually authenticated TLS, durable across crashes.

Everybody has a key of its own, all have the same manifest, and each starts an agent with its own cost:

    key, certificate = tacit.peers.write_key(".", "north")     # or `tacit keygen`; the others get the certificate
    agent = tacit.peers.Agent("federation.toml", cost, me="north", key="north.key")
    agent.run().x                                              # waits for the others; the same at all of them

A cost is one of tacit's families, `tacit.CallableCost` around functions of yours, or an object of your own class
with what `tacit.typing.Cost` lists. `tacit federation new` writes the manifest, and `Manifest.read` reads it; its
parts are `Member`, `Model`, `Masks` and `Stop`.
"""

from tacit.runtimes.peers.agent import Agent
from tacit.runtimes.peers.identity import fingerprint, write_key
from tacit.runtimes.peers.local import Report, run
from tacit.runtimes.peers.manifest import Manifest, Masks, Member, Model, Stop

__all__ = [
    "Agent",
    "Manifest",
    "Masks",
    "Member",
    "Model",
    "Report",
    "Stop",
    "fingerprint",
    "run",
    "write_key",
]
