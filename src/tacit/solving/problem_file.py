"""`problem.toml`: a problem, its privacy and its algorithm as one typed file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from inspect import signature
from pathlib import Path
from typing import Any, Literal

import msgspec
import networkx as nx
import numpy as np

from tacit.algorithms import ALGORITHMS, AnyAlgorithm
from tacit.errors import AlgorithmError, FileError, InputError
from tacit.masks import AffineMasks, Mechanism, QuadraticMasks, SumMasks, Way
from tacit.network import Network, read_graph
from tacit.runtimes import MAX_ROUNDS, TOLERANCE, Progress
from tacit.solving.answer import Answer
from tacit.solving.cost_files import CostsSection, read_costs
from tacit.solving.problem import Problem
from tacit.solving.protection import Protection
from tacit.solving.solve import solve
from tacit.spelling import did_you_mean, misspelt
from tacit.tables import Dictionary


class GraphSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Exactly one of generator, links and file."""

    generator: str | None = None
    arguments: dict[str, Any] = {}
    links: list[tuple[str | int, str | int]] | None = None
    file: str | None = None


class PrivacySection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The level of protection and its parameters."""

    level: Literal["none", "affine", "quadratic", "sums"]
    sigma: float | None = None
    bound: float | None = None
    words: int | None = None
    protect: Protection | None = None
    hide: float | None = None
    seed: int | None = None
    pairing: Way = "both"


class StopSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When to stop."""

    tolerance: float = TOLERANCE
    max_rounds: int = MAX_ROUNDS


class FileContents(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    graph: GraphSection
    costs: CostsSection
    privacy: PrivacySection
    algorithm: dict[str, Any] = {}
    stop: StopSection = StopSection()
    runtime: str = "stacked"
    data: Dictionary | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemFile:
    """A problem with everything that `solve` needs to know about it."""

    problem: Problem
    names: tuple[str, ...]
    """Of the unknowns, where the files name their columns."""
    notes: tuple[str, ...]
    """What was assumed about the files."""
    privacy: Mechanism | None
    protect: Protection | None
    hide: float | None
    algorithm: str | AnyAlgorithm
    tree: bool
    weights: str | None
    tolerance: float
    max_rounds: int
    runtime: str

    def solve(self, on_progress: Callable[[Progress], None] | None = None) -> Answer:
        """Solve the problem as the file says."""
        settings = {
            f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("problem", "names", "notes")
        }
        answer = solve(self.problem, **settings, on_progress=on_progress)
        answer.record = msgspec.structs.replace(answer.record, names=self.names)
        return answer


def load_problem(path: str | Path) -> ProblemFile:
    """Return the problem in a TOML file. Paths in it are relative to its folder."""
    path = Path(path)
    contents = _decode(path)
    graph = _graph(contents.graph, path)
    network = Network(graph)
    read = read_costs(contents.costs, network.agents, path.parent, dictionary=_dictionary(contents))
    algorithm, weights, tree = _algorithm(contents.algorithm)
    return ProblemFile(
        problem=Problem(network, read.costs),
        names=read.names,
        notes=read.notes,
        privacy=_privacy(contents.privacy),
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


def _decode(path: Path) -> FileContents:
    try:
        text = path.read_bytes()
        return msgspec.toml.decode(text, type=FileContents)
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror}); `tacit init` writes an example.") from error
    except msgspec.ValidationError as error:
        meant = misspelt(text, FileContents)
        raise FileError(f"{path}: {error}; `tacit init` writes an example.{meant}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: is not valid TOML ({error}).") from error


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


def _privacy(section: PrivacySection) -> Mechanism | None:
    if section.level == "none":
        return None
    if section.level == "sums":
        if section.sigma is not None:
            raise InputError("[privacy] level = 'sums' has no sigma: its masks are uniform; remove it.")
        names = ("bound", "words", "seed", "pairing")
        return SumMasks(**{name: value for name in names if (value := getattr(section, name)) is not None})
    if section.sigma is None:
        raise InputError(f"[privacy] level = {section.level!r} needs sigma, the standard deviation of the masks.")
    if section.words is not None:
        raise InputError(f"[privacy] words goes with level = 'sums', not with {section.level!r}.")
    masks = AffineMasks if section.level == "affine" else QuadraticMasks
    return masks(section.sigma, bound=section.bound, seed=section.seed, pairing=section.pairing)


def _algorithm(section: dict[str, Any]) -> tuple[str | AnyAlgorithm, str | None, bool]:
    """Return the name, or the settings where the file gives any, the weights, and whether a tree is allowed."""
    settings = dict(section)
    name, weights = str(settings.pop("name", "auto")), settings.pop("weights", None)
    tree = settings.pop("tree", True)
    if not isinstance(tree, bool):
        raise AlgorithmError(f"[algorithm] tree = {tree!r} must be true or false.")
    if not settings:
        return name, weights, tree
    if name not in ALGORITHMS:
        raise AlgorithmError(
            f"[algorithm] {', '.join(settings)} need a name, one of {', '.join(ALGORITHMS)}."
            f"{did_you_mean(name, ALGORITHMS)}"
        )
    known = {f.name for f in fields(ALGORITHMS[name]) if f.type in ("float", float, "int", int)}
    if not known or not known >= {f.name for f in fields(ALGORITHMS[name]) if f.default is MISSING}:
        raise AlgorithmError(
            f"[algorithm] {name} tunes itself from the costs and the network; remove {', '.join(settings)}."
        )
    strange = sorted(set(settings) - known)
    if strange:
        raise AlgorithmError(
            f"[algorithm] {name} has no setting {strange[0]!r}; it has {', '.join(sorted(known))}."
            f"{did_you_mean(strange[0], known)}"
        )
    bad = [key for key, value in settings.items() if not _is_positive(value)]
    if bad:
        raise AlgorithmError(f"[algorithm] {bad[0]} = {settings[bad[0]]!r} must be a positive number.")
    try:
        return ALGORITHMS[name](**settings), weights, tree
    except TypeError as error:
        missing = sorted(known - set(settings))
        raise AlgorithmError(f"[algorithm] {name} needs {', '.join(missing)} too.") from error


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and bool(np.isfinite(value)) and value > 0
