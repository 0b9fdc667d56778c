"""A bulletin as metrics for Prometheus. Nothing in them depends on a cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tacit.protocol.record import Stage
from tacit.runtimes.peers.bulletin import Bulletin, LinkNews

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Metric

_LINK_GAUGES: dict[str, tuple[str, Callable[[LinkNews], float]]] = {
    "up": ("1 after the greeting, 0 while there is no link.", lambda n: n.up),
    "messages_waiting": ("Messages that have come and are not used yet.", lambda n: n.waiting),
    "last_heard_seconds": (
        "Seconds since something came; -1 if nothing ever did.",
        lambda n: -1.0 if n.heard is None else n.heard,
    ),
}
_LINK_COUNTERS: dict[str, tuple[str, Callable[[LinkNews], float]]] = {
    "connections": ("How often the link has come up.", lambda n: n.connections),
    "violations": ("How often it was closed because of what the neighbour sent.", lambda n: n.violations),
    "sent_bytes": ("Bytes sent, inside TLS.", lambda n: n.sent),
    "received_bytes": ("Bytes received, inside TLS.", lambda n: n.received),
    "messages_used": ("Messages that the algorithm has used.", lambda n: n.used),
}


def families(bulletin: Bulletin) -> Iterator[Metric]:
    """Yield the metrics of one bulletin."""
    from prometheus_client.core import (  # few ask for it
        CounterMetricFamily,
        GaugeMetricFamily,
        InfoMetricFamily,
        StateSetMetricFamily,
    )

    b = bulletin
    build = {"version": b.software, "protocol": str(b.protocol)}
    yield InfoMetricFamily("tacit_build", "The version of tacit, and the protocol of the run.", value=build)
    run = {"member": b.name, "session": b.session[:12]}
    yield InfoMetricFamily("tacit_run", "Which member this is, and in which run.", value=run)
    phases = {stage.value: stage.value == b.phase for stage in Stage}
    yield StateSetMetricFamily("tacit_phase", "How far the run has come.", value=phases)
    yield GaugeMetricFamily("tacit_round", "The last round that was heard of.", value=b.round)
    yield GaugeMetricFamily("tacit_failed", "1 if the agent's own links have failed.", value=b.failed)
    waiting = GaugeMetricFamily(
        "tacit_waiting_seconds",
        "Seconds for which a neighbour is waited for; 0 for the others.",
        labels=["neighbour"],
    )
    for n in b.links:
        waiting.add_metric([n.neighbour], b.waited if n.neighbour == b.awaited else 0.0)
    yield waiting
    for kind, facts in ((GaugeMetricFamily, _LINK_GAUGES), (CounterMetricFamily, _LINK_COUNTERS)):
        for name, (meaning, value) in facts.items():
            family = kind(f"tacit_link_{name}", meaning, labels=["neighbour"])
            for n in b.links:
                family.add_metric([n.neighbour], value(n))
            yield family


def registry(bulletin: Callable[[], Bulletin]) -> CollectorRegistry:
    """Return what Prometheus collects from: this process, and the bulletin of the moment."""
    from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector
    from prometheus_client.registry import Collector

    class Bulletins(Collector):
        def collect(self) -> Iterator[Metric]:
            """Yield the metrics of now."""
            return families(bulletin())

    everything = CollectorRegistry()
    ProcessCollector(registry=everything)
    PlatformCollector(registry=everything)
    everything.register(Bulletins())
    return everything
