"""JAX's arrays as NumPy's functions see them.

Costs and algorithms call `np.where`, `np.matvec` or `expit`, and add and multiply. NumPy hands all of that to its
arguments where they ask for it (`__array_ufunc__`, `__array_function__`): a `DeviceArray` does, and calls the
function of the same name in JAX. So one text runs on NumPy's arrays, with nothing in its way, and on a device,
where JAX may trace it and compile it.

What is not there by its name is refused, never computed on the host behind one's back. A part of an array can be
set, as in NumPy: the wrapper then holds another array, and nobody else's changes.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from scipy.special import expit


class DeviceArray(NDArrayOperatorsMixin):
    """An array on a device, or the trace of one."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        function = _OTHERWISE.get(ufunc) or getattr(jnp, ufunc.__name__, None)
        if method != "__call__" or function is None:
            return NotImplemented
        return wrapped(function(*map(bare, inputs), **{name: bare(option) for name, option in options.items()}))

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        home = jnp.linalg if function.__module__ == "numpy.linalg" else jnp
        known = _OTHERWISE.get(function) or getattr(home, function.__name__, None)
        if known is None:
            return NotImplemented
        return wrapped(known(*map(bare, args), **{name: bare(option) for name, option in options.items()}))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Bring it to the host."""
        return np.asarray(self.value, dtype=dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """As of any array."""
        return tuple(self.value.shape)

    @property
    def ndim(self) -> int:
        """As of any array."""
        return int(self.value.ndim)

    @property
    def dtype(self) -> Any:
        """As of any array."""
        return self.value.dtype

    @property
    def nbytes(self) -> int:
        """As of any array; those of the agents' numbers, where it is a trace."""
        return int(self.value.size) * int(self.dtype.itemsize)

    @property
    def T(self) -> DeviceArray:
        """The transpose."""
        return DeviceArray(self.value.T)

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        return bool(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __getitem__(self, key: Any) -> DeviceArray:
        return DeviceArray(self.value[bare(key)])

    def __setitem__(self, key: Any, part: Any) -> None:
        self.value = self.value.at[bare(key)].set(bare(part))

    def __repr__(self) -> str:  # what it holds is private: never shown
        return f"DeviceArray({self.shape}, {self.dtype})"

    def astype(self, dtype: Any, copy: bool = True) -> DeviceArray:
        """As of any array."""
        return DeviceArray(self.value.astype(dtype))

    def reshape(self, *shape: Any) -> DeviceArray:
        """As of any array."""
        return DeviceArray(self.value.reshape(*shape))

    def sum(self, axis: Any = None, keepdims: bool = False) -> DeviceArray:
        """As of any array."""
        return DeviceArray(self.value.sum(axis=axis, keepdims=keepdims))

    def max(self, axis: Any = None, keepdims: bool = False) -> DeviceArray:
        """As of any array."""
        return DeviceArray(self.value.max(axis=axis, keepdims=keepdims))

    def min(self, axis: Any = None, keepdims: bool = False) -> DeviceArray:
        """As of any array."""
        return DeviceArray(self.value.min(axis=axis, keepdims=keepdims))

    def any(self, axis: Any = None) -> DeviceArray:
        """As of any array."""
        return DeviceArray(self.value.any(axis=axis))

    def all(self, axis: Any = None) -> DeviceArray:
        """As of any array."""
        return DeviceArray(self.value.all(axis=axis))


def bare(thing: Any) -> Any:
    """Return JAX's array, or a list of such."""
    if isinstance(thing, DeviceArray):
        return thing.value
    if isinstance(thing, list | tuple):
        return type(thing)(map(bare, thing))
    return thing


def wrapped(result: Any) -> Any:
    """Return what NumPy's functions can go on with."""
    if isinstance(result, jax.Array):
        return DeviceArray(result)
    if isinstance(result, list | tuple):
        return tuple(map(wrapped, result))
    return result


def _empty_like(prototype: Any, dtype: Any = None, order: str = "C", subok: bool = True, shape: Any = None) -> Any:
    return jnp.zeros(prototype.shape if shape is None else shape, dtype or prototype.dtype)


_OTHERWISE: dict[Any, Any] = {
    np.empty_like: _empty_like,
    np.concatenate: lambda parts, axis=0: jnp.concatenate([jnp.asarray(part) for part in parts], axis=axis),
    np.stack: lambda parts, axis=0: jnp.stack([jnp.asarray(part) for part in parts], axis=axis),
    np.matvec: lambda A, x: jnp.einsum("...ij,...j->...i", A, x),
    np.vecmat: lambda s, A: jnp.einsum("...i,...ij->...j", s, A),
    np.vecdot: lambda x, y: (x * y).sum(axis=-1),
    expit: jax.nn.sigmoid,
}
"""What has another name in JAX, or takes other arguments."""
