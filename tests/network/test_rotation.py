"""A member's next key in the middle of a run: the run goes on, and the key of before opens no door any more."""

import socket
import ssl
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tacit.errors import NetworkError
from tacit.federation import join, read_card, rekeyed, write_next_card
from tacit.masks import AffineMasks, SumMasks
from tacit.protocol import Channel
from tacit.runtimes.peers.identity import context
from tacit.runtimes.peers.store import Store


def next_manifest(made, name, **run):
    """Return the manifest with a next key of a member."""
    address = made.manifest.members[name].address
    card = write_next_card(made.folder / f"{name}.key", address=address).card
    return rekeyed(made.manifest, read_card(card), **run)


@pytest.mark.parametrize(
    "case", [("nids", AffineMasks(10.0), 40), ("newton", SumMasks(), 8)], ids=["masks", "sums"]
)
def test_a_run_goes_on_with_a_new_key_from_where_it_was(federation, memory, case):
    """Its member knows its cost again, and nothing is hidden behind other masks than before."""
    algorithm, privacy, after = case
    made = federation(algorithm=algorithm, privacy=privacy, n=4)
    made.found(patience=3.0)
    send, sent = Store.sent, []

    class GoneError(Exception):
        pass

    def sending(self, *given):
        if self.path.name.startswith("member-1"):
            sent.append(given)
            if len(sent) > after:
                raise GoneError
        send(self, *given)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Store, "sent", sending)
        _, ends = made.play_again(memory)
    assert isinstance(ends.pop("member-1"), GoneError)
    assert all(isinstance(end, NetworkError) for end in ends.values())
    made.manifest = next_manifest(made, "member-1")
    _, ends = made.play_again(memory)
    assert not [end for end in ends.values() if isinstance(end, BaseException)], ends
    found = np.stack([ends[name].x for name in made.names])
    np.testing.assert_allclose(found, made.expected().x, atol=1e-6)


def test_the_key_of_before_opens_no_door_any_more(federation, until):
    made = federation(algorithm="nids", privacy=AffineMasks(10.0), n=4)
    made.found(patience=60.0)
    after = next_manifest(made, "member-1", run=2)
    first = after.members["member-0"]
    agent = join(after, made.job.costs[0], me="member-0", key=made.folder / "member-0.key", folder=made.folder)
    host, _, port = first.address.rpartition(":")

    def greeted(key, session):
        """Return what member-0 says to one who greets as member-1."""
        own = made.folder / f"{key}.crt"
        client = context(made.folder / f"{key}.key", own, [first.certificate], server=False)
        hello = Channel(me="member-1", neighbour="member-0", session=session, parts={}, limit=1000).hello()
        with socket.create_connection((host, int(port)), timeout=15.0) as raw:
            try:
                with client.wrap_socket(raw) as link:
                    link.sendall(hello.encode())
                    return link.recv(4096)
            except (ssl.SSLError, ConnectionError):
                return b""

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(agent.run)
        assert until(lambda: agent.connections is not None and agent.connections._ready.is_set())
        neighbour = agent.connections.neighbours["member-1"]
        for session in (made.manifest.session(), after.session()):
            assert greeted("member-1", session) == b""
        assert neighbour.connected == 0
        assert b"member-0" in greeted("member-1.2", after.session())
        agent.connections.failure = RuntimeError("the test is over")
        with pytest.raises(NetworkError):
            running.result(timeout=30.0)
