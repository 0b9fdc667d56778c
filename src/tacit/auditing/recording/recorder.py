"""Recording a view: what was heard at the links of a coalition, put together exchange by exchange.

The same in every runtime. Agents apart also hear the looks that decide when to stop, which the stacked runtime has
no messages for. How they build their tree follows from the network, and is not written down.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.knowledge.view import Exchange
from tacit.auditing.recording.listening import ENOUGH, Listening, ListeningAlone, Wiretap
from tacit.network import Network
from tacit.runtimes import Together
from tacit.typing import Peers


class Recorder:
    """A tap on the links of a coalition, for all agents at once, for agents apart, and for peers."""

    def __init__(self, network: Network, weights: str, coalition: Collection[int]) -> None:
        self._wiretap = Wiretap(network, weights, coalition)
        self._heard: dict[int, list[Exchange]] = {}

    @property
    def agents(self) -> tuple[int, ...]:
        """The coalition."""
        return self._wiretap.agents

    @property
    def words(self) -> list[NDArray[Any]]:
        """All masked words of secret sums, as the worst case publishes them; where all agents are at once."""
        return self._wiretap.words

    def together(self, peers: Peers) -> Peers:
        """Return peers of all agents at once that pass everything on."""
        self._heard[-1] = []
        return Listening(peers, self._wiretap, self._heard[-1])

    def apart(self, agent: int, peers: Together) -> Together:
        """Return peers of a member that pass everything on."""
        self._heard[agent] = []
        return ListeningAlone(peers, self._wiretap, self._heard[agent], agent)

    def heard(self, agent: int) -> list[Exchange]:
        """Return what was heard at that agent."""
        return self._heard.get(agent, [])

    def take(self, agent: int, heard: list[Exchange]) -> None:
        """Take over what was heard at that agent in another process."""
        self._heard[agent] = heard

    def exchanges(self) -> list[Exchange]:
        """Return all that was said, exchange by exchange; what two members said to each other is there once."""
        logs = self._heard.items()
        if any(agent < 0 for agent, _ in logs):
            return self._heard[-1]
        each = [[self._once(agent, exchange) for exchange in heard] for agent, heard in sorted(logs)]
        return [_merged(parts) for parts in zip(*each, strict=False)][:ENOUGH]

    def _once(self, agent: int, exchange: Exchange) -> Exchange:
        """Return what was heard at a member, but for what another one with a smaller number heard as well."""
        other = np.where(exchange.senders == agent, exchange.receivers, exchange.senders)
        kept = ~(np.isin(other, self.agents) & (other < agent))
        return Exchange(
            kind=exchange.kind,
            senders=exchange.senders[kept],
            receivers=exchange.receivers[kept],
            values=exchange.values[kept],
        )


def _merged(parts: Sequence[Exchange]) -> Exchange:
    senders = np.concatenate([part.senders for part in parts])
    receivers = np.concatenate([part.receivers for part in parts])
    order = np.lexsort((receivers, senders))
    values = np.concatenate([part.values for part in parts])
    return Exchange(kind=parts[0].kind, senders=senders[order], receivers=receivers[order], values=values[order])
