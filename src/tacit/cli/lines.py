"""Lines of a log: when, how grave, what. As text in UTC, so that members far apart can compare, or as JSON objects.

A sentence is said once, until there is another one about the same neighbour: a neighbour that is dialled every
second is not news every second.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Annotated

import typer

from tacit.cli.completing import LOG_LEVELS, one_of
from tacit.errors import InputError
from tacit.spelling import did_you_mean

LogLevel = Annotated[
    str | None,
    typer.Option(
        help="Log from this level on: debug, info, warning or error.",
        autocompletion=one_of(*LOG_LEVELS),
    ),
]


def level_of(word: str) -> int:
    """Return a level of logging by its name.

    >>> level_of("warning")
    30
    """
    if word not in LOG_LEVELS:
        meant = did_you_mean(word, LOG_LEVELS)
        raise InputError(f"{word!r} is no level of a log; there are {', '.join(LOG_LEVELS)}.{meant}")
    return logging.getLevelNamesMapping()[word.upper()]


@contextmanager
def logged(level: int, logger_name: str, *, json_lines: bool) -> Iterator[None]:
    """Print what agents log, or relays, on standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if json_lines else TextLines())
    handler.addFilter(EachOnce())
    logger = logging.getLogger(logger_name)
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


class EachOnce(logging.Filter):
    """Lets a sentence through once, until there is another one about the same neighbour."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, str] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether this is news."""
        about = str(record.args[0]) if isinstance(record.args, tuple) and record.args else ""
        sentence = record.getMessage()
        if record.levelno >= logging.WARNING:
            about = f"warning {about}"  # what is wrong is not said again when a link comes and goes
        if self._last.get(about) == sentence:
            return False
        self._last[about] = sentence
        return True


class TextLines(logging.Formatter):
    """One line of text a record: 2026-11-16T09:30:00.250Z INFO connected to east."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        return f"{at.removesuffix('+00:00')}Z {record.levelname} {record.getMessage()}"


class JsonLines(logging.Formatter):
    """One JSON object a record, with the same three things."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line = {"at": record.created, "level": record.levelname, "said": record.getMessage()}
        return json.dumps(line, ensure_ascii=False)
