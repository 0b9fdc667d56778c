"""Real agents, one process each: `tacit.runtimes.peers` under the name that people import."""

from tacit.runtimes.peers import (
    Agent,
    Bulletin,
    Diary,
    Endpoint,
    LinkTimes,
    Noticeboard,
    Report,
    Seat,
    Timekeeper,
    run,
    serve_monitoring,
    serve_noticeboard,
)

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
