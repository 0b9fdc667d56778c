"""Libraries that are loaded when something of them is first used: an agent that needs none of them stays small.

    if TYPE_CHECKING:
        import networkx as nx
    else:
        nx = later("networkx")

For scipy and networkx, which take longer to load, and more memory, than everything else of an agent.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


class _Later(ModuleType):
    """Stands for a module until something of it is used."""

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(import_module(self.__name__), name)
        setattr(self, name, attribute)
        return attribute


def later(name: str) -> ModuleType:
    """Return what stands for the module of that name."""
    return _Later(name)
