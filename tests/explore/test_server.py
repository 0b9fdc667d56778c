"""The page is served on the loopback, and a missing extra is one sentence."""

import pytest

from tacit.errors import InputError, NetworkError
from tacit.explore import server


def test_a_missing_extra_is_one_sentence_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(server, "find_spec", lambda name: None if name == "nicegui" else name)
    with pytest.raises(InputError, match=r"^the explorer needs nicegui: pip install 'tacit\[report\]'\.$"):
        server.refuse_without_extra()


def test_the_page_listens_on_the_loopback_alone_and_says_where_a_port_is_taken():
    with server.listen(0) as sock:
        host, port = sock.getsockname()
        assert host == "127.0.0.1"
        sock.listen()
        with pytest.raises(NetworkError, match=f"port {port} of the loopback"):
            server.listen(port)
