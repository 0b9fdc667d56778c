"""Where agents run: all at once as arrays, or each by itself."""

from tacit.runtimes import agents, jax, peers, ray, stacked
from tacit.runtimes.job import Hide, Job, Run, Runtime
from tacit.runtimes.linked_peers import LinkedPeers, Links, Message, Together
from tacit.runtimes.looking import Look, Observer
from tacit.runtimes.ray import Cluster
from tacit.runtimes.stacked import Stacked
from tacit.runtimes.stopping import (
    MAX_ROUNDS,
    TOLERANCE,
    Check,
    Conclusion,
    Progress,
    Status,
    StoppingRule,
    Watch,
)
from tacit.runtimes.tap import Tap
from tacit.runtimes.traffic import Traffic

RUNTIMES: dict[str, Runtime] = {
    "agents": agents.run,
    "jax": jax.run,
    "jax-float32": jax.run_in_single,
    "jax-gpu": jax.run_on_gpu,
    "peers": peers.run,
    "ray": ray.run,
    "stacked": stacked.run,
}
"""The runtimes by the names that files and commands use."""

__all__ = [
    "MAX_ROUNDS",
    "RUNTIMES",
    "TOLERANCE",
    "Check",
    "Cluster",
    "Conclusion",
    "Hide",
    "Job",
    "LinkedPeers",
    "Links",
    "Look",
    "Message",
    "Observer",
    "Progress",
    "Run",
    "Runtime",
    "Stacked",
    "Status",
    "StoppingRule",
    "Tap",
    "Together",
    "Traffic",
    "Watch",
]
