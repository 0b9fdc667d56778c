"""A problem file with some of its settings changed by whoever runs it."""

from __future__ import annotations

from dataclasses import replace

from tacit.errors import InputError
from tacit.masks import Mechanism, SumMasks, drawn_afresh, with_sigma
from tacit.runtimes import Cluster
from tacit.solving.problem_file import ProblemFile
from tacit.solving.protection import Protection


def overridden(
    task: ProblemFile,
    *,
    sigma: float | None = None,
    sums: bool = False,
    protect: Protection | None = None,
    hide: float | None = None,
    tree: bool = True,
    algorithm: str | None = None,
    runtime: str | None = None,
    workers: int | None = None,
    address: str | None = None,
    max_rounds: int | None = None,
) -> ProblemFile:
    """Return the same problem with what is given here instead of what its file says.

    *sigma* and *sums* choose other masks. *protect* asks for no less than the file does, and *tree* = False forbids
    a spanning tree where the file allows one. *workers* and *address* say where the runtime "ray" runs.
    """
    return replace(
        task,
        privacy=_masks(task.privacy, sigma, sums=sums),
        protect="whole" if "whole" in (protect, task.protect) else protect or task.protect,
        hide=task.hide if hide is None else hide,
        tree=task.tree and tree,
        algorithm=algorithm or task.algorithm,
        runtime=_runtime(runtime or task.runtime, workers, address),
        max_rounds=task.max_rounds if max_rounds is None else max_rounds,
    )


def _runtime(runtime: str | Cluster, workers: int | None, address: str | None) -> str | Cluster:
    if workers is None and address is None:
        return runtime
    if not isinstance(runtime, Cluster) and runtime != "ray":
        raise InputError(f"workers and an address are for the runtime ray, and this one is {runtime}.")
    return Cluster(workers=workers, address=address)


def _masks(masks: Mechanism | None, sigma: float | None, *, sums: bool) -> Mechanism | None:
    if sigma is not None and sums:
        raise InputError("secret sums have no sigma: ask for one of the two.")
    if sums:
        return masks if drawn_afresh(masks) else SumMasks(answer=None if masks is None else masks.answer)
    if sigma is None:
        return masks
    if drawn_afresh(masks):
        raise InputError("the file asks for secret sums, which have no sigma; change its level, or give none.")
    return with_sigma(masks, sigma)
