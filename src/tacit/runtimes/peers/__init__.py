"""Real agents: one process each, over mutually authenticated TLS, durable across crashes.

    agent = tacit.peers.Agent(job, seat, cost, key="north.key")
    agent.run().x                                              # waits for the others; the same at all of them

The job is what all members run, without their costs; the seat says who this member is and who the others are.
Between organisations both follow from a manifest: `tacit.federation.join` makes them. `run` starts all members as
processes on this machine. A `Diary` logs what happens around one agent and keeps its `Bulletin`, which
`serve_monitoring` shows to Prometheus; a `Timekeeper` knows when links were up, and a `Noticeboard` has the last
bulletin of every process.
"""

from tacit.runtimes.peers.agent import Agent
from tacit.runtimes.peers.bulletin import Bulletin
from tacit.runtimes.peers.diary import Diary
from tacit.runtimes.peers.local import run
from tacit.runtimes.peers.monitoring import serve_monitoring
from tacit.runtimes.peers.noticeboard import Noticeboard, serve_noticeboard
from tacit.runtimes.peers.reports import Report
from tacit.runtimes.peers.seat import Endpoint, Seat
from tacit.runtimes.peers.spells import LinkTimes, Timekeeper

__all__ = [
    "Agent",
    "Bulletin",
    "Diary",
    "Endpoint",
    "LinkTimes",
    "Noticeboard",
    "Report",
    "Seat",
    "Timekeeper",
    "run",
    "serve_monitoring",
    "serve_noticeboard",
]
