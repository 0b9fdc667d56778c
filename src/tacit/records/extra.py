"""The extra that reads records: pyarrow."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from tacit.errors import InputError


@cache
def arrow(module: str = "pyarrow") -> Any:
    """Return a module of the extra; say how it is installed where it is missing."""
    try:
        return import_module(module)
    except ImportError:
        raise InputError(
            f"{module.partition('.')[0]} is not installed, which reads records in batches: "
            "pip install 'tacit[data]'."
        ) from None
