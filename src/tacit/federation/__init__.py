"""Federations: what members agree on before a run, and what each of them does at home.

Everybody has a key of its own, all have the same manifest, and each starts an agent with its own cost:

    key, certificate = tacit.federation.write_key(".", "north")   # or `tacit keygen`; others get the certificate
    agent = tacit.federation.join("federation.toml", cost, me="north", key="north.key")
    agent.run().x                                                 # waits for the others; the same at all of them

A cost is one of tacit's families, `tacit.CallableCost` around functions of yours, or an object of your own class
with what `tacit.typing.Cost` lists. `tacit federation new` writes the manifest, and `Manifest.read` reads it; its
parts are `Member`, `Model`, `Masks` and `Stop`.
"""

from tacit.federation.epochs import without
from tacit.federation.identity import fingerprint
from tacit.federation.joining import join
from tacit.federation.manifest import Manifest, Masks, Member, Model, Stop
from tacit.runtimes.peers.identity import write_key

__all__ = [
    "Manifest",
    "Masks",
    "Member",
    "Model",
    "Stop",
    "fingerprint",
    "join",
    "without",
    "write_key",
]
