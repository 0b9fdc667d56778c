"""Results that show themselves: as a report in a file, and in a notebook.

Whoever draws stands above everything that is drawn, and nothing below may import it. So a result asks whoever
has registered here, and `tacit` itself registers `tacit.report` when it is first imported.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any, Protocol

from tacit.errors import InputError


class Renderer(Protocol):
    """Whoever draws."""

    def write(self, result: Any, path: str | Path, **context: Any) -> Path:
        """Write a report of *result* to a new file."""
        ...

    def fragment(self, result: Any) -> str:
        """Return *result* as HTML for a notebook's cell."""
        ...


_registered: list[Callable[[], Renderer]] = []


def show_with(renderer: Callable[[], Renderer]) -> None:
    """Let results be drawn by what *renderer* returns; it is called when the first one is to be shown."""
    _registered[:] = [renderer]


class Shown:
    """A result that can be looked at."""

    __slots__ = ()

    def report(self, path: str | Path, **context: Any) -> Path:
        """Write a self-contained HTML report to a new file: the statement, pictures and tables.

        *context* is what the result does not hold and a picture needs: a certificate's `network`.
        """
        return _renderer().write(self, path, **context)

    def _repr_html_(self) -> str | None:
        try:
            return _renderer().fragment(self)
        except InputError:  # without the extra a notebook shows the plain summary
            return None


class Readable:
    """A result that is told in a line or a few: a notebook shows what `print` does."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(line)}</p>" for line in str(self).splitlines())


def frame(rows: list[dict[str, Any]], index: str, columns: tuple[str, ...] = ()) -> Any:
    """Return rows as a table of pandas, by the column *index*; *columns* are there even without a row."""
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        raise InputError("tables need pandas: pip install pandas.") from error
    return pd.DataFrame(rows, columns=[index, *columns] if columns else None).set_index(index)


def _renderer() -> Renderer:
    if not _registered:
        raise InputError("nobody draws reports here: import tacit first.")
    try:
        return _registered[0]()
    except ModuleNotFoundError as error:
        raise InputError(f"reports need {error.name}: pip install 'tacit[report]'.") from error
