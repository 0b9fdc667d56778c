"""Federations on this machine, for tests that stop, kill and disturb their members."""

import contextlib
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from urllib.request import urlopen

import msgspec
import networkx as nx
import numpy as np
import pytest
from typer.testing import CliRunner

import tacit
from tacit.cli.main import app
from tacit.federation import Manifest
from tacit.federation.joining import seat_of
from tacit.federation.local import manifest_of
from tacit.masks import agent_keys
from tacit.protocol.record import Record, Stage
from tacit.runtimes import Job, StoppingRule, agents
from tacit.runtimes.peers.local import free_ports
from tacit.runtimes.peers.processes import Process
from tacit.runtimes.peers.store import Store
from tacit.solving import CostsSection, choose, read_cost

collect_ignore = ["lockstep.py", "proxies.py"]  # no tests in them
SEED = 7
_ROUNDS = msgspec.msgpack.encode("stage") + msgspec.msgpack.encode(Stage.ROUNDS)
TACIT = [sys.executable, "-P", "-c", "from tacit.cli import main; main()"]


def loaded(name):
    """Return a module beside this one: tests have no package to import it from."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


lockstep = loaded("lockstep")
power = loaded("power")


@pytest.fixture
def proxy():
    """Return a function that starts a real proxy, of a kind; it is gone after the test."""
    module, made = loaded("proxies"), []

    def start(kind, **settings):
        made.append(module.TestProxy(module.SPEAKERS[kind], **settings))
        return made[-1]

    yield start
    for each in made:
        each.close()


@pytest.fixture
def memory():
    """Return where agents run in memory, one at a time."""
    return lockstep.Lockstep


@pytest.fixture
def power_cuts():
    """Return where agents run in memory, and what their disks were not told to keep dies with them."""
    return power.PowerCuts


class Federation:
    """A small problem, what the in-memory agents make of it, and its members as processes with the same keys."""

    def __init__(self, folder, *, algorithm="gradient-tracking", privacy=None, n=5, tolerance=1e-9, rounds=3000):
        rng = np.random.default_rng(0)
        graph = nx.circulant_graph(n, [1, 2])
        m = 1 if algorithm == "bracket" else 4  # it looks at every unknown by itself
        costs = [tacit.LeastSquares(rng.standard_normal((6, m)), rng.standard_normal(6), l2=0.5) for _ in range(n)]
        problem = tacit.Problem(graph, costs)
        choice = choose(problem, algorithm, privacy=privacy)
        self.job = Job(
            network=problem.network,
            costs=problem.costs,
            stack=problem.stack,
            x0=problem.x0,
            algorithm=choice.algorithm,
            exact=choice.algorithm.exact,
            weights=choice.weights,
            privacy=privacy,
            rule=StoppingRule(tolerance=tolerance, max_rounds=rounds),
        )
        self.folder, self.names = folder, [f"member-{i}" for i in range(n)]
        self.members = []

    def expected(self):
        """Return the run of the in-memory agents with the same masks."""
        privacy = self.job.privacy
        return agents.run(replace(self.job, privacy=None if privacy is None else replace(privacy, seed=SEED)))

    def found(self, **stop):
        """Draw up the manifest, and give everybody its key."""
        manifest = manifest_of(self.job, self.names, self.folder)
        self.manifest = msgspec.structs.replace(manifest, stop=msgspec.structs.replace(manifest.stop, **stop))
        for name, key in zip(self.names, agent_keys(len(self.names), seed=SEED), strict=True):
            store = Store(self.state(name))
            store.write(Record(key=key))
            store.close()

    def play(self, memory, deaths=None, late=(), **stop):
        """Run all members in memory, killed at some acts; return how each of them ends."""
        self.found(**stop)
        return self.play_again(memory, deaths, late)

    def play_again(self, memory, deaths=None, late=()):
        """Do so with the files that are there."""
        world = memory(seed=len(str(deaths)))

        def play(name, cost):
            def part():
                while name in late and world.now < late[name]:
                    world.pause(late[name])
                return world.agent(self.manifest, cost, name, self.folder).run()

            return part

        plays = {name: play(name, cost) for name, cost in zip(self.names, self.job.costs, strict=True)}
        return world, world.run(plays, deaths)

    def start(self):
        """Start all members; one killed in its last moment waits for a goodbye as long as there is patience."""
        self.found(patience=300.0)
        self.members = [
            Process(self.manifest.job(), seat_of(self.manifest, name), cost, self.folder)
            for name, cost in zip(self.names, self.job.costs, strict=True)
        ]
        return self.members

    def state(self, name):
        return self.folder / f"{name}-{self.manifest.session()[:12]}.state"

    def stop(self):
        for member in self.members:
            member.stop()


@pytest.fixture
def federation(tmp_path):
    """Return a function that makes a federation; its processes are gone after the test."""
    made = []

    def make(**settings):
        made.append(Federation(tmp_path, **settings))
        return made[-1]

    yield make
    for each in made:
        each.stop()


class Members:
    """Members as people run them: each with a folder, a key, a file of data and a `tacit agent` of its own.

    Everything that any of them writes or says lies under *folder*: the current folder, HOME and TMPDIR are there too.
    """

    def __init__(
        self, folder, tables, *, family, options, stop=None, hosts=None, wrap=None, apart=False, inward=()
    ):
        self.apart, self.folder, self.family, self.names = apart, folder, family, list(tables)
        self.wrap = wrap or (lambda name: [])
        self.running, self.said = {}, folder / "said"
        for name in (*self.names, "said", "home", "tmp"):
            (folder / name).mkdir()
        self.environment = {
            **os.environ,
            "HOME": str(folder / "home"),
            "TMPDIR": str(folder / "tmp"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        hosts = hosts or dict.fromkeys(self.names, "127.0.0.1")
        for name, port in zip(self.names, free_ports(len(self.names)), strict=True):
            self.write(name, "records", tables[name])
            place = ["--dial-out"] if name in inward else ["--address", f"{hosts[name]}:{port}"]
            self.call(name, "keygen", "--name", name, *place)
        first = self.names[0]
        cards = [f"../{name}/{name}.card" for name in self.names]
        self.call(first, "federation", "new", "federation.toml", *cards, *options)
        text = self.path(first, "federation.toml").read_text()
        for key, value in (stop or {}).items():
            text, count = re.subn(rf"(?m)^{key} = .*$", f"{key} = {value}", text)
            assert count == 1
        for name in self.names:
            self.path(name, "federation.toml").write_text(text)
        self.manifest = Manifest.read(self.path(first, "federation.toml"))

    def path(self, name, file):
        return self.folder / name / file

    def write(self, name, stem, table):
        """Write a table for one member: arrays by name as NPZ, else rows as CSV."""
        if isinstance(table, dict):
            np.savez(self.path(name, f"{stem}.npz"), **table)
            return
        columns = ",".join(f"c{k}" for k in range(table.shape[1]))
        np.savetxt(self.path(name, f"{stem}.csv"), table, delimiter=",", header=columns, comments="", fmt="%.17g")

    def data(self, name, stem="records"):
        return next(self.folder.joinpath(name).glob(f"{stem}.*"))

    def cost(self, name):
        model = self.manifest.model
        section = CostsSection(self.family) if model is None else CostsSection(self.family, l2=model.l2)
        facts = self.manifest.algorithm["name"] == "standardised"
        return read_cost(section, name, self.data(name), agents=len(self.names), facts=facts)

    def call(self, name, *arguments):
        """Run one command in a member's folder, and wait for it: in this process unless *apart*."""
        if self.apart:
            done = subprocess.run(
                [*TACIT, *arguments], cwd=self.folder / name, env=self.environment, capture_output=True, timeout=60
            )
            code, out, err = done.returncode, done.stdout, done.stderr
        else:
            with contextlib.chdir(self.folder / name):
                result = CliRunner().invoke(app, arguments, catch_exceptions=False)
            code, out, err = result.exit_code, result.stdout_bytes, result.stderr_bytes
        for tail, text in ((".out", out), (".err", err)):
            (self.said / f"{name}-{len(list(self.said.iterdir()))}{tail}").write_bytes(text or b"")
        assert code == 0, err

    def fix_keys(self):
        """Let everybody draw the masks that the in-memory agents draw."""
        for name, key in zip(self.names, agent_keys(len(self.names), seed=SEED), strict=True):
            store = Store(self.state(name))
            store.write(Record(key=key))
            store.close()

    def expected(self):
        """Return the run of the in-memory agents with the same masks."""
        job = self.manifest.job()
        privacy = None if job.privacy is None else replace(job.privacy, seed=SEED)
        return agents.run(replace(job, costs=[self.cost(name) for name in self.names], privacy=privacy))

    def state(self, name):
        return self.path(name, f"{name}-{self.manifest.session()[:12]}.state")

    def start(self, name, *options, records="records", federation="federation.toml"):
        """Start a member's agent, for the first time or again."""
        model = [] if self.manifest.model is not None else ["--cost", self.family]
        command = [
            *self.wrap(name), *TACIT, "agent", federation, "--me", name,
            "--data", self.data(name, records).name, *model, *options,
        ]  # fmt: skip
        turn = len(list(self.said.iterdir()))
        with (
            (self.said / f"{name}-{turn}.out").open("wb") as out,
            (self.said / f"{name}-{turn + 1}.err").open("wb") as err,
        ):
            self.running[name] = subprocess.Popen(
                command,
                cwd=self.folder / name,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            )
        self.running[name].told = (Path(out.name), Path(err.name))
        return self.running[name]

    def kill(self, name):
        """Kill a member as a power cut would."""
        self.running[name].kill()
        self.running[name].wait()

    def wait(self, name, seconds=90.0):
        """Wait until a member is done; return its exit code."""
        return self.running[name].wait(timeout=seconds)

    def at_work(self, name):
        """Tell whether a member has its masks, and has begun with the rounds: its record says so, in plain letters."""
        state = self.state(name)
        files = (state.with_name(state.name + "-wal"), state)
        return any(_ROUNDS in file.read_bytes() for file in files if file.exists())

    def out(self, name):
        return self.running[name].told[0].read_text()

    def err(self, name):
        return self.running[name].told[1].read_text()

    def answers(self, seconds=90.0):
        """Wait for all members, who were started with --json; return what they found, one row each."""
        for name in self.names:
            assert self.wait(name, seconds) == 0, self.err(name)
        return np.array([json.loads(self.out(name))["x"] for name in self.names])

    def stop(self):
        for process in self.running.values():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()


@pytest.fixture
def members(tmp_path):
    """Return a function that makes members; their processes are gone after the test."""
    made = []

    def make(*tables, **settings):
        made.append(Members(tmp_path, *tables, **settings))
        return made[-1]

    yield make
    for each in made:
        each.stop()


@pytest.fixture
def tacit_words():
    """Return how a command of tacit begins, as a process of its own."""
    return TACIT


@pytest.fixture
def until():
    """Return a function that waits until something holds."""

    def wait(true, seconds=30.0):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if value := true():
                return value
            time.sleep(0.02)
        return true()

    return wait


class Gauge:
    """The metrics of one agent, on a port of their own."""

    def __init__(self):
        (self.port,) = free_ports(1)

    def text(self):
        with contextlib.suppress(OSError), urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=5) as page:
            return page.read().decode()
        return ""

    def read(self, counter, neighbour):
        """Return a counter of the link to a neighbour; 0 while nobody answers."""
        label = f'tacit_{counter}{{neighbour="{neighbour}"}} '
        return next((float(line[len(label) :]) for line in self.text().splitlines() if line.startswith(label)), 0.0)


@pytest.fixture
def gauge():
    return Gauge()
