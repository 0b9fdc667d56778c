"""Lines of a log: stamped, graded, and each sentence once."""

import json
import logging

import pytest

from tacit.cli.completing import LOG_LEVELS
from tacit.cli.lines import JsonLines, TextLines, level_of, logged
from tacit.errors import InputError


def record(level=logging.INFO, at=1_800_000_000.25):
    made = logging.LogRecord("tacit.peers.diary", level, "", 0, "connected to %s", ("east",), None)
    made.created = at
    return made


@pytest.mark.parametrize(
    ("at", "stamp"),
    [(1_800_000_000.25, "2027-01-15T08:00:00.250Z"), (0.0, "1970-01-01T00:00:00.000Z")],
)
def test_text_begins_with_the_time_in_utc_and_the_level(at, stamp, monkeypatch):
    monkeypatch.setenv("TZ", "America/New_York")
    assert TextLines().format(record(at=at)) == f"{stamp} INFO connected to east"
    assert TextLines().format(record(logging.WARNING, at)) == f"{stamp} WARNING connected to east"


def test_json_has_the_same_three_things():
    assert json.loads(JsonLines().format(record())) == {
        "at": 1_800_000_000.25, "level": "INFO", "said": "connected to east",
    }  # fmt: skip


def test_levels_have_the_names_that_everybody_knows():
    assert [level_of(word) for word in LOG_LEVELS] == [logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR]
    with pytest.raises(InputError, match="'wraning' is no level of a log; .* Did you mean 'warning'?"):
        level_of("wraning")


@pytest.mark.parametrize(("level", "count"), [(logging.DEBUG, 3), (logging.INFO, 2), (logging.ERROR, 0)])
def test_what_is_below_the_level_is_not_printed(level, count, capsys):
    log = logging.getLogger("tacit.peers.test")
    before = logging.getLogger("tacit.peers").level
    with logged(level, "tacit.peers", json_lines=False):
        log.debug("%s cannot be reached: %s", "east", "no answer")
        log.info("connected to %s", "east")
        log.warning("no way to %s", "west")
    log.warning("said after the end")
    assert len(capsys.readouterr().err.splitlines()) == count
    assert logging.getLogger("tacit.peers").level == before


def test_an_unknown_level_is_refused_before_anything_is_read(run):
    code, out, err = run("agent", "nowhere.toml", "--me", "a", "--data", "d.csv", "--log-level", "loud")
    assert (code, out) == (2, "")
    assert "'loud' is no level of a log" in err
