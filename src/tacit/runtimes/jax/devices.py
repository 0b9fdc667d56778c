"""Whether JAX is here, and which device it computes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tacit.errors import InputError


def needs_jax() -> Any:
    """Return the package, or say how to install it."""
    try:
        import jax
    except ImportError as error:
        raise InputError("runtime 'jax' needs JAX: pip install 'tacit[jax]'.") from error
    return jax


@contextmanager
def computing(platform: str | None = None, *, single: bool = False) -> Iterator[Any]:
    """Compute on a device of that platform, JAX's own choice unless one is named, in 64 bits unless in *single*."""
    jax = needs_jax()
    device = _first_device(jax, platform)
    in_double = jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64
    with in_double(not single), jax.default_device(device):
        yield device


def _first_device(jax: Any, platform: str | None) -> Any:
    try:
        return jax.devices(platform)[0]
    except RuntimeError as error:
        raise InputError(
            f"JAX finds no {platform or 'device'} here; use runtime 'jax', which takes what there is, or install "
            "JAX for your card."
        ) from error
