"""Secrets are planted, and then looked for in everything that a run says and writes.

A secret may be where it must be: a member's data in its data file, its key in its key file, its masks in its state and
in that of the neighbour they were drawn for. Anywhere else it is a leak: on the screen, in a log, in an error, in the
metrics, in a public file, in a temporary one.
"""

import base64
import re
import struct
import traceback

import msgspec
import numpy as np
import pytest
from cryptography.hazmat.primitives import serialization

import tacit
from tacit.costs import Quadratic
from tacit.federation import Manifest, join
from tacit.masks import agent_keys
from tacit.protocol.run import Begin
from tacit.runtimes.linked_peers import LinkedPeers
from tacit.runtimes.peers.store import Store
from tacit.solving import CostsSection, read_cost

SEED = 7  # of conftest
NAMES = ["north", "south", "east", "west"]
LEVELS = {
    "affine": ("distance", ["--sigma", "10", "--algorithm", "gradient-tracking", "--setting", "step_size=0.01"]),
    "quadratic": ("quadratic", ["--sigma", "10"]),
    "sums": ("ridge", ["--cost", "ridge", "--l2", "1"]),
}
TIMES = re.compile(rb'"seconds": ?[0-9.e+-]+')  # other digits every time, a secret's first six once in a thousand
SPY = """
import os, sys

def note(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if isinstance(path, (str, bytes)) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            wrote(os.fsdecode(path))
    elif event == "sqlite3.connect":
        wrote(os.fsdecode(arguments[0]))

def wrote(path):
    os.write(diary, (os.path.realpath(path) + "\\n").encode())

diary = os.open(os.environ["DIARY"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
sys.addaudithook(note)
"""


# the search ---------------------------------------------------------------------------------------------------


def of_number(value):
    """Return the ways in which a number may turn up: as text of 9 digits and more, and as bytes in either order."""
    size = abs(float(value))
    texts = {
        size.hex()[2:],
        f"{size:.16e}"[:10],
        repr(size)[: len(repr(size)) - len(f"{size:.17g}".lstrip("0.")) + 10],
    }
    for digits in range(9, 18):
        texts |= {f"{size:.{digits}g}", f"{size:.{digits - 1}e}"}
    raw = struct.pack("<d", value)[:7], struct.pack(">d", value)[1:]  # without the sign
    return [text.encode() for text in texts] + [*raw, raw[0].hex().encode(), raw[1].hex().encode()]


def of_few_digits(value):
    """Return a number as people print it; only on screens, since files hold so many digits that some agree."""
    size = abs(float(value))
    texts = {f"{size:f}"} if size > 1 else set()
    for digits in (6, 7, 8):
        texts |= {f"{size:.{digits}g}", f"{size:.{digits - 1}e}"}
    return [text.encode() for text in texts if len(text) >= digits - 1]


def of_bytes(secret):
    """Return the ways in which bytes may turn up."""
    coded = base64.b64encode(secret).rstrip(b"=")[:-1]
    return [secret, secret[::-1], secret.hex().encode(), coded, repr(secret)[2:-1].encode()]


def of_key(pem):
    """Return the ways in which a private key may turn up: lines of PEM, DER, and the number itself."""
    key = serialization.load_pem_private_key(pem, None)
    number = key.private_numbers().private_value
    scalar = number.to_bytes(32)
    whole = key.private_bytes(
        serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    assert scalar in whole[:-65]  # behind what all keys have in common, and before the public point
    first, second, _ = pem.splitlines()[1:-1]
    return [*of_bytes(scalar), str(number).encode(), whole, first[-14:], second[:20]]


def is_telling(value):
    """Tell whether a number is so special that it does not turn up by chance."""
    return np.isfinite(value) and value != 0 and len(f"{abs(float(value)):.15g}") >= 12


class Secrets:
    """What must not be found, each with the files in which it may lie."""

    def __init__(self):
        self.planted = []

    def plant(self, name, forms, *allowed, spoken=()):
        """Note a secret; *allowed* are the beginnings of the paths where it belongs, *spoken* only counts on screens."""
        self.planted.append((name, forms, [*forms, *spoken], allowed))

    def found(self, heaps):
        """Return where secrets are that should not be there: (name, place) of each."""
        return [
            (name, place)
            for place, text in heaps
            for name, forms, spoken, allowed in self.planted
            if not place.startswith(allowed)
            and any(form in text for form in (spoken if place.startswith(("said/", "<")) else forms))
        ]


def files(folder):
    """Return all files under a folder, as they are now."""
    heaps = []
    for path in sorted(folder.rglob("*")):
        try:
            if path.is_file():
                heaps.append((str(path.relative_to(folder)), path.read_bytes()))
        except FileNotFoundError:  # the run went on in the meantime
            continue
    return heaps


# the federation -----------------------------------------------------------------------------------------------


def tables_of(level, seed):
    rng = np.random.default_rng(seed)
    made = {}
    for name in NAMES:
        if level == "affine":
            made[name] = {"point": 100.0 * rng.standard_normal(3)}
        elif level == "quadratic":
            A = rng.standard_normal((5, 3))
            made[name] = {"P": A.T @ A, "q": 10.0 * rng.standard_normal(3)}
        else:
            made[name] = rng.standard_normal((8, 4))
    return made


def numbers_in(table):
    arrays = table.values() if isinstance(table, dict) else [table]
    return [value for array in arrays for value in np.ravel(array).tolist()]


class Planted:
    """A federation whose data and keys are known to the test."""

    def __init__(self, members, level, **settings):
        family, options = LEVELS[level]
        self.tables, self.others = tables_of(level, 11), tables_of(level, 12)
        options = ["--unknowns", "3", "--level", level, *options]
        self.members = members(self.tables, family=family, options=options, **settings)
        self.folder, self.secrets, self.seen = self.members.folder, Secrets(), []
        spy = self.folder / "spy"
        spy.mkdir()
        (spy / "sitecustomize.py").write_text(SPY)
        environment = self.members.environment
        environment["PYTHONPATH"] = f"{spy}:{environment.get('PYTHONPATH', '')}"
        environment["DIARY"] = str(self.folder / "diary")
        for name in NAMES:
            self.members.write(name, "others", self.others[name])
            own = [str(self.members.data(name, stem).relative_to(self.folder)) for stem in ("records", "others")]
            cost = self.members.cost(name)
            derived = [cost.affine, cost.hess(np.zeros(3))]
            values = (
                numbers_in(self.tables[name])
                + numbers_in(self.others[name])
                + numbers_in({0: derived[0], 1: derived[1]})
            )
            for value in filter(is_telling, values):
                self.secrets.plant(
                    f"a number of {name}'s data",
                    of_number(value),
                    *own,
                    f"{name}/{name}-",
                    spoken=of_few_digits(value),
                )
            key = self.members.path(name, f"{name}.key")
            self.secrets.plant(f"the key of {name}", of_key(key.read_bytes()), f"{name}/{name}.key")

    def plant_masks(self, monkeypatch):
        """Fix the keys of the masks, and note all masks that the members will send: the in-memory agents send the same."""
        self.members.fix_keys()
        sent, swap = [], LinkedPeers.swap

        def noted(peers, r, **more):
            sent.append((peers._me, [np.ravel(row)[:4].copy() for row in r]))
            return swap(peers, r, **more)

        with monkeypatch.context() as patched:
            patched.setattr(LinkedPeers, "swap", noted)
            self.members.expected()
        assert sent, "no masks were noted"
        order = list(self.members.manifest.members)
        states = [f"{name}/{self.members.state(name).name}" for name in order]
        for name, state, key in zip(order, states, agent_keys(len(order), seed=SEED), strict=True):
            self.secrets.plant(f"the masks' key of {name}", of_bytes(key), state)
        network = self.members.manifest.network()
        for i, rows in sent[:200]:
            for j, row in zip(network.neighbours(i), rows, strict=True):
                for value in row:
                    forms = of_number(value) if row.dtype.kind == "f" else of_bytes(value.tobytes())[:3]
                    self.secrets.plant(f"a mask from {order[i]} to {order[j]}", forms, states[i], states[j])

    def look(self, moment, *texts):
        """Keep everything that can be seen now."""
        heaps = files(self.folder)
        self.seen += [(place, TIMES.sub(b"", text)) for place, text in heaps if not place.startswith("spy/")]
        self.seen += [(f"<{moment}>", text.encode()) for text in texts]

    def strays(self):
        """Return the files that were written somewhere else."""
        written = set((self.folder / "diary").read_text().splitlines())
        assert len(written) > 1, "the spy saw nothing"
        return {path for path in written if not path.startswith((f"{self.folder.resolve()}/", "/dev/"))}

    def leaks(self):
        return sorted(set(self.secrets.found(set(self.seen))))


@pytest.mark.network
@pytest.mark.parametrize("level", ["affine", "quadratic", "sums"])
def test_a_run_with_kills_and_wrong_data_tells_no_secret(members, gauge, until, level, monkeypatch):
    """Everybody but one meets; one is killed, comes with other data, and then with its own; then the last one comes."""
    run = Planted(members, level, apart=True)
    run.plant_masks(monkeypatch)
    all_, (first, second, third, last) = run.members, NAMES
    all_.start(first, "--metrics", str(gauge.port))
    all_.start(second, "--json")
    all_.start(third)
    assert until(lambda: gauge.read("link_up", second) and gauge.read("link_up", third))
    run.look("while all wait for one", gauge.text())
    for name, key in zip(all_.manifest.members, agent_keys(len(NAMES), seed=SEED), strict=True):
        lying = [all_.state(name), *all_.folder.glob(f"{name}/*-wal")]
        assert any(key in file.read_bytes() for file in lying), "the keys are elsewhere than this test believes"
        assert all(file.stat().st_mode & 0o777 == 0o600 for file in lying)

    all_.kill(second)
    run.look("after a kill", gauge.text())
    all_.start(second, records="others")
    assert all_.wait(second) == 1
    assert "begun with other data" in all_.err(second)
    all_.start(second, "--json")
    all_.start(last, "--json")
    if level == "affine":  # the others are over in two rounds
        assert until(lambda: gauge.read("link_messages_used_total", third) > 100)
        all_.kill(third)
        run.look("after another kill", gauge.text())
        kept = b"".join(file.read_bytes() for file in all_.folder.glob(f"{third}/{third}-*"))
        masks = [forms for name, forms, *_ in run.secrets.planted if name == f"a mask from {first} to {third}"]
        assert all(any(form in kept for form in forms) for forms in masks), (
            "the masks are not as this test believes"
        )
        all_.start(third, "--json")
    assert {name: all_.wait(name) for name in NAMES} == dict.fromkeys(NAMES, 0), [all_.err(name) for name in NAMES]
    run.look("at the end")
    assert not [place for place, _ in files(run.folder) if ".state" in place]
    assert run.leaks() == []
    assert run.strays() == set()


@pytest.mark.network
@pytest.mark.parametrize("level", LEVELS)
def test_a_peer_with_another_manifest_and_a_lost_patience_tell_no_secret(members, level, monkeypatch):
    run = Planted(members, level, stop={"patience": 6.0, "idle": 2.0}, apart=True)
    run.plant_masks(monkeypatch)
    all_, stranger = run.members, NAMES[-1]
    manifest = all_.path(stranger, "federation.toml")
    other = msgspec.structs.replace(Manifest.read(manifest), run=2)
    manifest.write_bytes(other.to_toml())
    for k, name in enumerate(NAMES):
        all_.start(name, *(["--json"] if k % 2 else []))
    assert {name: all_.wait(name) for name in NAMES} == dict.fromkeys(NAMES, 3)
    said = "".join(all_.err(name) for name in NAMES)
    assert "has another agreement, different in: run" in said
    assert "the state is kept" in said
    assert all(all_.state(name).stat().st_mode & 0o777 == 0o600 for name in NAMES[:-1])
    run.look("at the end")
    assert run.leaks() == []
    assert run.strays() == set()


# errors -------------------------------------------------------------------------------------------------------


def shown(error):
    """Return all that is ever shown of an error."""
    return "".join([str(error), repr(error), repr(error.args), *traceback.format_exception(error)])


def lost_patience(run, name):
    run.members.manifest = msgspec.structs.replace(
        run.members.manifest, stop=msgspec.structs.replace(run.members.manifest.stop, patience=0.2)
    )
    agent_of(run, name, run.members.cost(name)).run()


def other_data(run, name):
    store = Store(run.members.state(name))
    store.advance(Begin(run.members.manifest.session(), b"another digest"))
    store.close()
    agent_of(run, name, run.members.cost(name)).run()


def too_many_unknowns(run, name):
    agent_of(run, name, Quadratic.distance(np.concatenate([numbers_in(run.tables[name])[:3], [0.5]])))


def key_of_another(run, name):
    other = NAMES[NAMES.index(name) - 1]
    join(run.members.manifest, run.members.cost(name), me=name, key=run.members.path(other, f"{other}.key"))


def key_that_others_can_read(run, name):
    run.members.path(name, f"{name}.key").chmod(0o644)
    agent_of(run, name, run.members.cost(name))


def no_number_among_the_data(run, name):
    spoil(run, name, lambda text: text.replace(text.splitlines()[3].split(",")[0], "none"))


def record_too_short(run, name):
    spoil(run, name, lambda text: text.rpartition(",")[0])


def number_that_is_infinite(run, name):
    spoil(run, name, lambda text: text.replace(text.splitlines()[3].split(",")[0], "inf"))


def no_line_of_names(run, name):
    spoil(run, name, lambda text: text.partition("\n")[2], target="c3")


def spoil(run, name, change, **model):
    path = run.members.data(name)
    path.write_text(change(path.read_text()))
    read_cost(CostsSection("ridge", l2=1.0, **model), name, path, agents=4)


def agent_of(run, name, cost):
    folder = run.folder / name
    return join(run.members.manifest, cost, me=name, key=folder / f"{name}.key", folder=folder)


MISTAKES = [
    lost_patience, other_data, too_many_unknowns, key_of_another, key_that_others_can_read, no_number_among_the_data,
    record_too_short, number_that_is_infinite, no_line_of_names,
]  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
def test_an_error_tells_no_secret(members, mistake):
    run = Planted(members, "sums")
    with pytest.raises(tacit.TacitError) as caught:
        mistake(run, "south")
    assert run.secrets.found([("<error>", shown(caught.value).encode())]) == []


# the search finds what is there -------------------------------------------------------------------------------


NUMBER, WORD = 739.1842650183746, bytes(range(40, 72))


@pytest.mark.parametrize("digits", [6, 9, 12, 15, 17])
@pytest.mark.parametrize("kind", "gfe")
def test_the_search_finds_a_number_that_was_printed(digits, kind):
    secrets = Secrets()
    secrets.plant("a number", of_number(-NUMBER), "own", spoken=of_few_digits(-NUMBER))
    leak = f"x = {-NUMBER:.{digits}{kind}}, rounds = 3".encode()
    assert secrets.found([("<log>", leak), ("<other>", b"x = 739.2")]) == [("a number", "<log>")]
    assert secrets.found([("own.state", leak)]) == []


@pytest.mark.parametrize("order", "<>")
def test_the_search_finds_a_number_in_bytes(order):
    secrets = Secrets()
    secrets.plant("a number", of_number(NUMBER))
    leak = np.array([1.0, NUMBER, 2.0], dtype=f"{order}f8").tobytes()
    assert secrets.found([("file", leak)]) == [("a number", "file")]
    assert secrets.found([("file", b"f" + leak)]) == [("a number", "file")]


@pytest.mark.parametrize("code", [bytes, bytes.hex, base64.b64encode, repr, lambda word: word[::-1]])
def test_the_search_finds_a_key_of_masks(code):
    secrets, coded = Secrets(), code(WORD)
    secrets.plant("a key", of_bytes(WORD))
    leak = coded if isinstance(coded, bytes) else coded.encode()
    assert secrets.found([("log", b"key: " + leak)]) == [("a key", "log")]


def test_the_search_finds_what_a_member_leaves_where_it_should_not(members):
    """A leak of every kind in a real federation's folders."""
    run = Planted(members, "sums")
    run.look("before")
    assert run.leaks() == []
    key = run.members.path("north", "north.key").read_bytes()
    private = serialization.load_pem_private_key(key, None)
    scalar = private.private_numbers().private_value.to_bytes(32)
    value = run.tables["north"][2, 1]
    leaks = {
        "said/north-99.err": f"tacit: the cost at {value:.8g} is odd".encode(),
        "tmp/dump": run.tables["north"].tobytes(),
        "south/federation.toml": key,
        "home/der": b"\x30" + scalar,
        "south/north.key": key,
        "north/notes.draft": repr(float(value)).encode(),
    }
    for place, text in leaks.items():
        (run.folder / place).write_bytes(text)
    run.look("after")
    assert {place for _, place in run.leaks()} == set(leaks)
