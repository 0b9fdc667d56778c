"""Members with cards, for manifests that are drawn up from Python."""

import pytest

from tacit.federation.cards import Card
from tacit.runtimes.peers.identity import generate

NAMES = ("east", "north", "south", "west")


@pytest.fixture(scope="session")
def cards():
    """Return the cards of four members."""
    return [Card(name, f"127.0.0.1:{7601 + k}", generate(name)[1].decode()) for k, name in enumerate(NAMES)]
