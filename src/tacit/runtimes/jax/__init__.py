"""All agents at once on whatever JAX finds: a graphics card, or the cores of this machine.

The algorithms and costs are those of every runtime, word for word: they are written in NumPy, and `arrays` lets
NumPy's functions work on JAX's arrays. Rounds between two looks are one compiled loop. Phase 1 stays on the host,
where the cryptographic source and the lattice are; the effective costs move to the device after it.

    jax           float64, on JAX's own choice of device
    jax-gpu       the same, and refused where there is no graphics card
    jax-float32   half the memory, and about 1e-4 of the answer's size at best; refused under masks
"""

from __future__ import annotations

from collections.abc import Callable

from tacit.runtimes.job import Job, Run
from tacit.runtimes.stopping import Progress


def run(job: Job, on_progress: Callable[[Progress], None] | None = None) -> Run:
    """Run both phases, the second on JAX's own choice of device."""
    from tacit.runtimes.jax import running  # JAX is heavy, and an extra

    return running.run(job, on_progress)


def run_on_gpu(job: Job, on_progress: Callable[[Progress], None] | None = None) -> Run:
    """Run both phases, the second on a graphics card."""
    from tacit.runtimes.jax import running

    return running.run(job, on_progress, platform="gpu")


def run_in_single(job: Job, on_progress: Callable[[Progress], None] | None = None) -> Run:
    """Run without masks in numbers of 32 bits."""
    from tacit.runtimes.jax import running

    return running.run(job, on_progress, single=True)
