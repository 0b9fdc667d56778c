"""What a running agent says of itself, with real processes: a file, three pages, and `tacit status`."""

import json
import stat
import subprocess
from urllib.request import urlopen

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tacit.federation import Condition, standing_of
from tacit.protocol.versions import SOFTWARE
from tacit.runtimes.peers import Bulletin
from tacit.runtimes.peers.bulletin import read_bulletin

NAMES = ("north", "east", "west")
OPTIONS = ("--unknowns", "2", "--cost", "ridge", "--l2", "1", "--patience", "600", "--any", "1")

pytestmark = pytest.mark.network


@pytest.fixture
def three(members):
    rng = np.random.default_rng(4)
    tables = {name: rng.standard_normal((9, 3)) for name in NAMES}
    return members(tables, family="ridge", options=OPTIONS)


@pytest.fixture
def command(tacit_words):
    """Return a function that runs `tacit status` as a process of its own: (exit code, what it printed)."""

    def run(members, name, *words):
        done = subprocess.run(
            [*tacit_words, "status", "federation.toml", "--me", name, *words],
            cwd=members.folder / name, env=members.environment, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        return done.returncode, done.stdout

    return run


def pages(port):
    def page(path):
        with urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return answer.read().decode()

    return page


def test_status_before_during_after_a_kill_and_at_the_end(three, gauge, until, command):
    """Waiting for west; killed; started again; done."""
    assert command(three, "north") == (1, "north: has not begun this run, or keeps its state in another folder.\n")
    three.start("north", "--metrics", str(gauge.port), "--json")
    three.start("east", "--json")
    file = three.state("north").with_suffix(".status")

    def waiting():
        bulletin = read_bulletin(file)
        return bulletin is not None and bulletin.awaited == "west" and bulletin.links[0].up and bulletin

    bulletin = until(waiting, 60.0)
    assert bulletin, three.err("north")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert (bulletin.pid, bulletin.phase, bulletin.round) == (three.running["north"].pid, "masked", 0)

    code, said = command(three, "north")
    assert code == 0
    assert f"in phase masked, round 0 (tacit {SOFTWARE}, protocol 1, process {bulletin.pid})." in said
    assert "Waiting for west for " in said
    assert "│ east" in said
    code, said = command(three, "north", "--json")
    assert (code, json.loads(said)["condition"]) == (0, "running")

    page = pages(gauge.port)
    values = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(page("/metrics"))
        for sample in family.samples
    }
    assert values["tacit_build_info", "1", SOFTWARE] == 1
    assert values["tacit_phase", "masked"] == 1
    assert values["tacit_waiting_seconds", "west"] >= 1
    assert (values["tacit_link_up", "east"], values["tacit_link_up", "west"]) == (1, 0)
    assert values["process_resident_memory_bytes",] > 1e6
    assert page("/health") == "ok\n"
    assert json.loads(page("/status"))["pid"] == bulletin.pid

    three.kill("north")
    assert file.exists()
    home = three.folder / "north"
    assert until(lambda: standing_of(three.manifest, me="north", folder=home).condition is Condition.SILENT, 60.0)
    code, said = command(three, "north")
    assert code == 1
    assert "no sign of life for " in said
    assert "start it again" in said

    three.start("north", "--json")
    again = until(lambda: (b := read_bulletin(file)) is not None and b.pid != bulletin.pid and b, 60.0)
    assert isinstance(again, Bulletin), three.err("north")
    three.running["north"].terminate()
    assert three.wait("north") == 130
    assert not file.exists()
    code, said = command(three, "north")
    assert (code, said.startswith("north: not running, and its state is kept")) == (1, True)

    three.start("north", "--json")
    three.start("west", "--json")
    three.answers()
    assert command(three, "north") == (0, "north: done. Started again, the agent prints the same answer.\n")
    for name in NAMES:
        assert standing_of(three.manifest, me=name, folder=three.folder / name).condition is Condition.DONE
        assert not list((three.folder / name).glob("*.status*"))


def test_a_second_agent_of_the_same_member_leaves_the_bulletin_of_the_first(three, until):
    first = three.start("north", "--json")
    file = three.state("north").with_suffix(".status")
    assert until(file.exists, 60.0)
    three.start("north", "--json")
    assert three.wait("north") == 2
    assert "is running already" in three.err("north")
    assert read_bulletin(file).pid == first.pid
    first.kill()
    first.wait()


def test_no_secret_is_in_what_an_agent_says_of_itself(three, gauge, until):
    """Neither a number of its records nor its key, in the file and on all pages."""
    three.start("north", "--metrics", str(gauge.port), "--log-level", "debug")
    three.start("east")
    file = three.state("north").with_suffix(".status")
    assert until(lambda: (b := read_bulletin(file)) is not None and b.links[0].up, 60.0)
    page = pages(gauge.port)
    shown = (
        file.read_text() + "".join(page(path) for path in ("/metrics", "/status", "/health")) + three.err("north")
    )
    key = three.path("north", "north.key").read_text().split("\n")[1]
    assert key not in shown
    records = three.data("north").read_text().split("\n")[1:]
    for number in ",".join(records).strip(",").split(","):
        assert number[:10] not in shown
    assert " DEBUG west cannot be reached: " in shown or " DEBUG the run is in phase " in shown
