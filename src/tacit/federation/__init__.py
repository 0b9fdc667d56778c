"""Federations: what members agree on before a run, and what each of them does at home.

Everybody has a key of its own, all have the same manifest, and each starts an agent with its own cost:

    key, certificate = tacit.federation.write_key(".", "north")   # or `tacit keygen`; others get the certificate
    agent = tacit.federation.join("federation.toml", cost, me="north", key="north.key")
    agent.run().x                                                 # waits for the others; the same at all of them

A cost is one of tacit's families, `tacit.CallableCost` around functions of yours, or an object of your own class
with what `tacit.typing.Cost` lists. `draw_up` makes the manifest from the members' cards and a `Plan`, as
`tacit federation new` does, and `Manifest.read` reads it; its parts are `Member`, `Model`, `Masks` and `Stop`. A
member's next key is made by `write_next_card`, and taken into the manifest by `rekeyed`.
"""

from tacit.federation.account import Permit, ask_ledger
from tacit.federation.cards import Card, read_card, write_card
from tacit.federation.checking import Assessment, check
from tacit.federation.drawing_up import Plan, draw_up
from tacit.federation.entries import Consent
from tacit.federation.epochs import without
from tacit.federation.expiry import last_days
from tacit.federation.fitting import Fitting
from tacit.federation.hiding import Hiding
from tacit.federation.identity import fingerprint
from tacit.federation.joining import join
from tacit.federation.leaving import Leaving, leave_out
from tacit.federation.manifest import Manifest
from tacit.federation.participation import Participation, participate
from tacit.federation.repeating import Series, SeriesAccount, repeat
from tacit.federation.rotation import rekeyed, write_next_card
from tacit.federation.sections import Masks, Member, Model, Repeat, Stop
from tacit.federation.standing import Condition, Standing, standing_of
from tacit.federation.statements import Statements, statements_of
from tacit.federation.taking_in import TakingIn, take_in
from tacit.runtimes.peers.identity import write_key

__all__ = [
    "Assessment",
    "Card",
    "Condition",
    "Consent",
    "Fitting",
    "Hiding",
    "Leaving",
    "Manifest",
    "Masks",
    "Member",
    "Model",
    "Participation",
    "Permit",
    "Plan",
    "Repeat",
    "Series",
    "SeriesAccount",
    "Standing",
    "Statements",
    "Stop",
    "TakingIn",
    "ask_ledger",
    "check",
    "draw_up",
    "fingerprint",
    "join",
    "last_days",
    "leave_out",
    "participate",
    "read_card",
    "rekeyed",
    "repeat",
    "standing_of",
    "statements_of",
    "take_in",
    "without",
    "write_card",
    "write_key",
    "write_next_card",
]
