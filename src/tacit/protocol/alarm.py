"""What a member tells everybody when it stops a run: who has noticed what, and at which link.

Whoever has noticed that a neighbour deviates, or was told something else, says nothing more; those farther away
would wait for it as long as their patience lasts. So it says that it has stopped, its neighbours stop and pass that
on, and after as many hops as it is away everybody knows. Nobody vouches for it: a liar can say so too, and stops
the run by that, as it could by staying away. Nothing is decided by it but that this member waits no longer.

    "stopped" ‖ {"fault", "member", "neighbour"}       the body of BYE

A member that takes no part in a run of a series says so in the same way: that it is so, and nothing of the reason.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from tacit.errors import ProtocolError
from tacit.protocol.frames import Parting

Fault = Literal["refused", "equivocation", "declined"]


class Alarm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why a run was stopped."""

    fault: Fault
    member: str
    """Who has noticed, or takes no part."""
    neighbour: str = ""
    """At the other end of the link; empty where it is not known which."""

    def encode(self) -> bytes:
        """Return the body of a goodbye."""
        return Parting.STOPPED.value + msgspec.json.encode(self)

    @classmethod
    def decode(cls, body: bytes) -> Alarm | None:
        """Return the alarm in the body of a goodbye; None where it is another goodbye."""
        if not body.startswith(Parting.STOPPED.value):
            return None
        try:
            return msgspec.json.decode(body[len(Parting.STOPPED.value) :], type=cls)
        except (msgspec.MsgspecError, ValueError) as error:  # ValueError: text that is none
            raise ProtocolError("a peer's alarm cannot be read.") from error
