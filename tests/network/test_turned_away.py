"""Whether a member was turned away is known from what happened, in whatever language the system speaks."""

import errno
import os
import socket
import ssl

import pytest

from tacit.runtimes.peers.connections import _reason, _turns_away


@pytest.mark.parametrize(
    ("error", "turned_away"),
    [
        (ssl.SSLError(1, "alert unknown ca"), True),
        (OSError(errno.ECONNRESET, "Verbindung vom Partner zurückgesetzt"), True),
        (OSError(errno.EPIPE, "Datenübergabe unterbrochen"), True),
        (ConnectionError(), True),
        (OSError(errno.ECONNREFUSED, "Verbindungsaufbau abgelehnt"), False),
        (OSError(errno.ENETUNREACH, "Das Netzwerk ist nicht erreichbar"), False),
        (socket.gaierror(-2, "unbekannt"), False),
        (TimeoutError(), False),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_a_certificate_that_is_not_known_is_told_from_a_network_that_is_down(error, turned_away, monkeypatch):
    monkeypatch.setattr(os, "strerror", lambda number: f"Fehler {number}")
    assert _turns_away(error) is turned_away
    assert _reason(error), "and people have a word for it"
