"""`problem.toml`: a problem, its privacy and its algorithm as one typed file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from tacit.algorithms import AnyAlgorithm
from tacit.errors import FileError, InputError
from tacit.fields import read_fields
from tacit.later import later
from tacit.masks import Mechanism, SumMasks, drawn_afresh
from tacit.network import Network, read_graph
from tacit.runtimes import Cluster, Progress
from tacit.showing import Readable
from tacit.solving.algorithm_section import chosen
from tacit.solving.answer import Answer
from tacit.solving.cost_files import CostsSection, read_costs
from tacit.solving.problem import Problem
from tacit.solving.protection import Protection
from tacit.solving.sections import AnswerSection, Privacy, Stopping
from tacit.solving.solve import solve
from tacit.solving.total import total
from tacit.spelling import did_you_mean
from tacit.tables import Dictionary

if TYPE_CHECKING:
    import networkx as nx
else:
    nx = later("networkx")


class GraphSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Exactly one of generator, links and file."""

    generator: str | None = None
    arguments: dict[str, Any] = {}
    links: list[tuple[str | int, str | int]] | None = None
    file: str | None = None


class PrivacySection(Privacy, frozen=True, forbid_unknown_fields=True):
    """The [privacy] of a problem file."""

    protect: Protection | None = None
    """What must be hidden."""
    hide: float | None = None
    """How large a difference is to be hidden."""
    seed: int | None = None
    """For simulations: the run is NOT PRIVATE."""
    answer: AnswerSection | None = None
    """What is promised of the answer itself; it is exact where nothing is."""

    def mechanism(self) -> Mechanism | None:
        """Return the mechanism; refuse settings that mean nothing to the level."""
        for sentence in self.misfits():
            raise InputError(sentence)
        masks = self.masks(seed=self.seed)
        return masks if self.answer is None else self.answer.promised_with(masks)


class FileContents(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    graph: GraphSection
    costs: CostsSection
    privacy: PrivacySection
    algorithm: dict[str, Any] = {}
    stop: Stopping = Stopping()
    runtime: str = "stacked"
    data: Dictionary | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemFile(Readable):
    """A problem with everything that `solve` needs to know about it."""

    problem: Problem
    names: tuple[str, ...]
    """Of the unknowns, where the files name their columns."""
    notes: tuple[str, ...]
    """What was assumed about the files."""
    dropped: tuple[int, ...] | None = None
    """How many records each agent has left out because of gaps, where the dictionary lets them."""
    privacy: Mechanism | None
    protect: Protection | None
    hide: float | None
    algorithm: str | AnyAlgorithm
    tree: bool
    weights: str | None
    tolerance: float
    max_rounds: int
    runtime: str | Cluster

    def __str__(self) -> str:
        masks = "no masks" if self.privacy is None else f"{self.privacy.kind} masks"
        masks = "secret sums" if drawn_afresh(self.privacy) else masks
        name = self.algorithm if isinstance(self.algorithm, str) else type(self.algorithm).__name__
        return f"{self.problem} With {masks} and the algorithm {name}, on the {self.runtime} runtime."

    def solve(self, on_progress: Callable[[Progress], None] | None = None) -> Answer:
        """Solve the problem as the file says."""
        others = ("problem", "names", "notes", "dropped")
        settings = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in others}
        answer = solve(self.problem, **settings, on_progress=on_progress)
        answer.record = msgspec.structs.replace(answer.record, names=self.names, left_out=self._left_out())
        return answer

    def _left_out(self) -> int | None:
        """Return how many records all agents together have left out: one secret sum, where anything is hidden."""
        if self.dropped is None:
            return None
        terms = [np.array([float(count)]) for count in self.dropped]
        masks = None if self.privacy is None else SumMasks(seed=self.privacy.seed)
        return round(float(total(self.problem.network, terms, privacy=masks, runtime="stacked").x[0]))


def load_problem(path: str | Path) -> ProblemFile:
    """Return the problem in a TOML file. Paths in it are relative to its folder."""
    path = Path(path)
    contents = read_fields(path, FileContents, command="`tacit init` writes an example.")
    graph = _graph(contents.graph, path)
    network = Network(graph)
    read = read_costs(
        contents.costs,
        network.agents,
        path.parent,
        dictionary=_dictionary(contents),
        unquestioned=contents.privacy.answer is not None,
    )
    algorithm, weights, tree = chosen(contents.algorithm)
    return ProblemFile(
        problem=Problem(network, read.costs),
        names=read.names,
        notes=read.notes,
        dropped=read.dropped,
        privacy=contents.privacy.mechanism(),
        protect=contents.privacy.protect,
        hide=contents.privacy.hide,
        algorithm=algorithm,
        tree=tree,
        weights=weights,
        tolerance=contents.stop.tolerance,
        max_rounds=contents.stop.max_rounds,
        runtime=contents.runtime,
    )


def _dictionary(contents: FileContents) -> Dictionary | None:
    if contents.data is not None and contents.costs.files is None:
        raise InputError("[data] is about files, and [costs] has none.")
    return None if contents.data is None else contents.data.checked()


def _graph(section: GraphSection, path: Path) -> nx.Graph[Any]:
    ways = [name for name in ("generator", "links", "file") if getattr(section, name) is not None]
    if len(ways) != 1:
        raise FileError(
            f"{path}: [graph] needs exactly one of generator, links and file, and has {', '.join(ways) or 'none'}."
        )
    if section.file is not None:
        return read_graph(path.parent / section.file)
    if section.links is not None:
        graph: nx.Graph[Any] = nx.Graph()
        graph.add_edges_from(section.links)
        return graph
    return _generated(section.generator or "", section.arguments, path)


def _generated(name: str, arguments: dict[str, Any], path: Path) -> nx.Graph[Any]:
    generator: Any = getattr(nx, name, None)
    if not _is_generator(generator):
        known = (other for other in dir(nx) if _is_generator(getattr(nx, other)))
        raise FileError(f"{path}: networkx has no graph generator called {name!r}.{did_you_mean(name, known)}")
    if "seed" not in arguments and "seed" in signature(generator).parameters:
        raise FileError(f"{path}: {name} draws at random; give it a seed, so that every run has the same network.")
    try:
        graph = generator(**arguments)
    except (TypeError, ValueError, nx.NetworkXException) as error:
        raise FileError(f"{path}: {name} does not work with these arguments ({error}).") from error
    if not isinstance(graph, nx.Graph):
        raise FileError(f"{path}: {name} makes no graph.")
    return graph


def _is_generator(thing: Any) -> bool:
    return callable(thing) and str(getattr(thing, "__module__", "")).startswith("networkx.generators")
