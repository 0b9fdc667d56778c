"""Every error that tacit raises, on one page.

    TacitError
    ├── InputError            what was given cannot be used; nothing was computed or written
    │   ├── GraphError        the graph is not a simple, undirected, connected network
    │   ├── CostError         a cost's data, dimensions or constants are unusable
    │   ├── DataError         a party's records cannot be fitted; also a ValueError, as scikit-learn's are
    │   │   └── MismatchError a file is not what the data dictionary says; for the eyes of whoever holds the file
    │   ├── UnboundedError    the sum of the costs has no minimum
    │   ├── MaskError         σ, the public bound or the lattice does not fit the problem
    │   │   └── RangeError    a number to be added up in secret exceeds the public bound
    │   ├── ProtectionError   mechanism, algorithm and the protection asked for do not go together
    │   ├── AlgorithmError    the algorithm cannot solve these costs, or its settings are impossible
    │   ├── FileError         a file is missing, unreadable or does not say what it must
    │   │   └── DamagedError  a file is not what was written: a disk has changed it, or it was cut short
    │   ├── LedgerError       a ledger is damaged, or was asked to forget
    │   └── VacuousError      a guarantee was asked for that cannot mean anything
    ├── NetworkError          peers cannot be reached, or a link is not what it should be
    │   ├── ProtocolError     a peer did wrong: what it sent is refused, and the link is closed
    │   │   └── EquivocationError   two neighbours were not told the same; nothing more was sent
    │   ├── OutdatedError     by word of its neighbours, this member's file of the run is lost or an older one
    │   ├── StillNeededError  this member has its answer, and a neighbour has not said goodbye
    │   └── StoppedError      another member has stopped the run, and says why
    ├── NotPrivateError       no σ protects somebody on this graph
    ├── InfeasibleError       generators cannot meet the demand within their limits
    └── RefusedError          the ledger says no: the run would exceed the budget or expose somebody

A message states the fact, the offending public value and the remedy, in words that files, commands and Python
share: sigma, secret sums, affine masks. What only a command can do about it stands apart, as `command`, and is
printed after the message by commands alone. No message holds a mask, a key, a cost coefficient or any other private
number.
"""

from collections.abc import Sequence
from typing import Any, Literal


class TacitError(Exception):
    """The root: `except tacit.TacitError` catches all that tacit raises on purpose."""

    def __init__(self, sentence: str = "", *, command: str = "") -> None:
        super().__init__(sentence)
        self.command = command
        """A sentence for whoever typed a command: the remedy as an option, or as another command."""


class InputError(TacitError):
    """What was given cannot be used; nothing was computed or written."""


class GraphError(InputError):
    """The graph is not a simple, undirected, connected network of at least two agents."""


class CostError(InputError):
    """A cost's data, dimensions or constants are unusable."""


class DataError(InputError, ValueError):
    """A party's records cannot be fitted; names the party and the column, and never a value."""


class MismatchError(DataError):
    """A file's columns, levels or limits are not those of the data dictionary; names them, and is never sent."""


class UnboundedError(InputError):
    """The sum of the costs has no minimum."""


class MaskError(InputError):
    """σ, the public bound or the lattice does not fit the problem."""


class RangeError(MaskError):
    """A number to be added up in secret exceeds the public bound."""


class ProtectionError(InputError):
    """Mechanism, algorithm and the protection asked for do not go together: something would be left in the open."""


class AlgorithmError(InputError):
    """The algorithm cannot solve these costs, or its settings are impossible."""


class FileError(InputError):
    """A file is missing, unreadable or does not say what it must."""


class DamagedError(FileError):
    """A file is not what was written: a disk has changed it, or it was cut short."""


class LedgerError(InputError):
    """A ledger is damaged, or was asked to forget."""


class VacuousError(InputError):
    """A guarantee was asked for that cannot mean anything."""


class NetworkError(TacitError):
    """Peers cannot be reached, or a link is not what it should be."""


class ProtocolError(NetworkError):
    """A peer did wrong: what it sent is refused, and the link is closed."""

    fault: Literal["refused", "equivocation"] = "refused"
    member = ""
    """Who has noticed; empty for this one."""

    def __init__(self, sentence: str, *, neighbour: str = "", row: int | None = None) -> None:
        super().__init__(sentence)
        self.neighbour, self.row = neighbour, row
        """Who sent it, empty where that is not known or they are several; or its row, where it has no name.

        A sentence about a row begins with what it did: whoever knows the name puts it before it.
        """


class EquivocationError(ProtocolError):
    """Two neighbours were not told the same totals: a member tells different things to different neighbours."""

    fault = "equivocation"

    def __init__(self, neighbour: str, own: str, theirs: str, totals: int) -> None:
        super().__init__(
            f"{neighbour} was not told what this agent was told in {totals} sum(s): a member tells different "
            "neighbours different things. Nothing more was sent; compare records with this neighbour, and find the "
            "member between the two before another run.",
            neighbour=neighbour,
        )
        self.own, self.theirs, self.totals = own, theirs, totals
        """Both digests, in hexadecimal, and of how many totals they are."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.neighbour, self.own, self.theirs, self.totals)


class OutdatedError(NetworkError):
    """By word of its neighbours this member has said more in the run than its file knows of."""

    def __init__(self, neighbours: Sequence[str]) -> None:
        super().__init__(
            f"by word of {', '.join(neighbours)} more was said in this run than the state file of this member "
            "knows of: it is lost, or an older one was put back. The run cannot go on with it, nothing was sent. "
            "Start again with the file as it was last, if there is one; otherwise tell the others, who can go on "
            "without this member if that was agreed, or begin a new run."
        )
        self.neighbours = tuple(neighbours)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.neighbours,)


class StillNeededError(NetworkError):
    """A member has its answer, and a neighbour that is away may still need something of it."""

    def __init__(self, neighbours: Sequence[str]) -> None:
        super().__init__(
            f"this member has its answer, and {', '.join(neighbours)} may still need something of it. The state "
            "file is kept: start this agent again when they are back, or remove the file when they have an answer."
        )
        self.neighbours = tuple(neighbours)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.neighbours,)


class StoppedError(NetworkError):
    """Another member has stopped the run, for a reason that this one knows by hearsay."""

    def __init__(
        self,
        messenger: str,
        fault: Literal["refused", "equivocation", "declined"],
        member: str,
        neighbour: str = "",
    ) -> None:
        at = neighbour or "a neighbour"
        noticed = f"This member has noticed nothing itself and sends nothing more; ask {member} before another run."
        what = {
            "refused": f"has refused what {at} sent. {noticed}",
            "equivocation": f"was not told what {at} was told: somebody tells neighbours different things. "
            f"{noticed}",
            "declined": f"takes no part in it, and does not say why. The state is kept: start this agent again "
            f"when {member} takes part, or agree on a new run.",
        }
        super().__init__(f"the run was stopped: by word of {messenger}, {member} {what[fault]}")
        self.messenger, self.fault, self.member, self.neighbour = messenger, fault, member, neighbour

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.messenger, self.fault, self.member, self.neighbour)


class NotPrivateError(TacitError):
    """No σ protects somebody on this graph."""


class InfeasibleError(TacitError):
    """Generators cannot meet the demand within their limits."""


class RefusedError(TacitError):
    """The ledger says no: the run would exceed the budget or expose somebody."""
