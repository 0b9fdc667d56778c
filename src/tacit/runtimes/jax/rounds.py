"""Rounds between two looks as one compiled loop.

The first round runs operation by operation: it may take a branch that no later round takes (a warm start), and what
a cost works out once stays in the cost. After it a state has three kinds of parts: arrays, which the loop carries;
counters, which it carries too; and flags, whose value the step gives back as it was. Flags stay Python's, so that a
step may still decide by them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from tacit.algorithms import name_of
from tacit.errors import AlgorithmError
from tacit.runtimes.jax.arrays import DeviceArray
from tacit.runtimes.jax.mixing import DevicePeers, Tables
from tacit.runtimes.jax.moving import taken_apart
from tacit.runtimes.looking import maxima
from tacit.typing import Array


class Tally(NamedTuple):
    """How often agents gossiped, and how many bytes all of them held out each time."""

    gossips: int = 0
    bytes: int = 0

    def and_then(self, times: int, each: Tally) -> Tally:
        """Return this and so many rounds more."""
        return Tally(self.gossips + times * each.gossips, self.bytes + times * each.bytes)


class Rounds:
    """A run on the device: its state after so many rounds, and how much was exchanged."""

    def __init__(
        self, algorithm: Any, x0: Array, cost: Any, tables: Tables, error: Callable[[Any], Array | None]
    ) -> None:
        self._algorithm, self._error, self._links = algorithm, error, tables.links
        self._tables = jax.tree.map(jnp.asarray, tables.arrays)
        apart, arrays = taken_apart(cost)
        on_device = [DeviceArray(jnp.asarray(array)) for array in arrays]
        start = DeviceArray(jnp.asarray(x0))
        self._refuse_what_cannot_be_traced(apart, on_device, start)
        cost, peers = apart.together(on_device), DevicePeers(self._tables, self._links)
        self._start = algorithm.init(start, cost)
        self.state = algorithm.step(self._start, peers, cost)
        self._first = Tally(peers.gossips, peers.gossiped)
        self.done = 1
        self._cost, arrays = taken_apart(cost)
        self._arrays = [array.value if isinstance(array, DeviceArray) else jnp.asarray(array) for array in arrays]
        self._later, self._flags = self._traced_once()
        self._advance = jax.jit(self._rounds, donate_argnums=0)

    @property
    def tally(self) -> Tally:
        """How much was exchanged so far."""
        return self._first.and_then(self.done - 1, self._later)

    @property
    def x(self) -> Array:
        """All agents' estimates, on the host."""
        return np.asarray(self.state.x, dtype=np.float64)

    def until(self, round_: int) -> Array:
        """Go on to that round, and return what all agents say of it (`tacit.runtimes.looking`)."""
        more = round_ - self.done
        if more == 0:  # the first round is also the last before this look
            return np.asarray(maxima(self._start, self.state, self._start.x, self._error(self.state)))
        self._start = None
        carried, largest = self._advance(self._carried(self.state), more, self._arrays, self._tables)
        self.state, self.done = self._state(carried), round_
        return np.asarray(largest, dtype=np.float64)

    def _rounds(self, carried: list[Any], rounds: Any, arrays: list[Any], tables: dict[str, Any]) -> Any:
        def step(_: Any, carried: list[Any]) -> list[Any]:
            following, _ = self._step(self._state(carried), arrays, tables)
            return self._carried(following)

        last = jax.lax.fori_loop(0, rounds - 1, step, carried)
        end = step(0, last)
        before, after = self._state(last), self._state(end)
        largest: Any = maxima(before, after, self._state(carried).x, self._error(after))
        return end, largest.value

    def _step(self, state: Any, arrays: list[Any], tables: dict[str, Any]) -> tuple[Any, Tally]:
        cost = self._cost.together([DeviceArray(array) for array in arrays])
        peers = DevicePeers(tables, self._links)
        following = self._algorithm.step(state, peers, cost)
        return following, Tally(peers.gossips, peers.gossiped)

    def _traced_once(self) -> tuple[Tally, dict[str, Any]]:
        """Return what a later round says, and the flags: what the step gives back as it was, and no array."""
        kept: dict[str, Any] = {}
        tally = []

        def trace(arrays: list[Any], tables: dict[str, Any], parts: dict[str, Any]) -> None:
            state = self.state._replace(**{name: DeviceArray(part) for name, part in parts.items()})
            following, counted = self._step(state, arrays, tables)
            tally.append(counted)
            for name, part in following._asdict().items():
                before = getattr(state, name)
                if not isinstance(part, DeviceArray) and not isinstance(before, DeviceArray) and part == before:
                    kept[name] = part

        parts = {n: p.value for n, p in self.state._asdict().items() if isinstance(p, DeviceArray)}
        jax.eval_shape(trace, self._arrays, self._tables, parts)
        return tally[0], kept

    def _refuse_what_cannot_be_traced(self, apart: Any, arrays: list[DeviceArray], start: DeviceArray) -> None:
        def trace(values: list[Any], x: Any, tables: dict[str, Any]) -> None:
            cost = apart.together([DeviceArray(value) for value in values])
            self._algorithm.step(self._algorithm.init(DeviceArray(x), cost), DevicePeers(tables, self._links), cost)

        try:
            jax.eval_shape(trace, [array.value for array in arrays], start.value, self._tables)
        except jax.errors.JAXTypeError as error:
            raise AlgorithmError(
                f"{name_of(type(self._algorithm))} on these costs cannot be compiled: in the middle of a round "
                "something is decided by numbers that a compiler does not know, as in a proximal step without a "
                "closed form or a cost that is a Python function; use runtime 'stacked'."
            ) from error

    def _carried(self, state: Any) -> list[Any]:
        parts = [part for name, part in state._asdict().items() if name not in self._flags]
        arrays = [jnp.asarray(part.value if isinstance(part, DeviceArray) else part) for part in parts]
        owned = {id(array): k for k, array in reversed(list(enumerate(arrays)))}  # the first place of each
        return [array if owned[id(array)] == k else jnp.copy(array) for k, array in enumerate(arrays)]

    def _state(self, carried: list[Any]) -> Any:
        names = [name for name in self.state._fields if name not in self._flags]
        parts = {name: DeviceArray(part) for name, part in zip(names, carried, strict=True)}
        return type(self.state)(**parts, **self._flags)
