"""Members that sleep and networks that lose, split and heal: a delay, and never another answer.

In the namespaces every member is a host of its own on one bridge, and `nft` drops packets as a bad network does.
"""

import contextlib
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

NAMES = ["north", "south", "east", "west"]
POINTS = dict(zip(NAMES, np.random.default_rng(5).standard_normal((4, 3)), strict=True))
GOSSIP = ["--unknowns", "3", "--level", "affine", "--sigma", "10", "--algorithm", "gradient-tracking"]
LONG, SHORT = ([*GOSSIP, "--setting", f"step_size={step}"] for step in (0.01, 0.1))  # 1100 and 110 rounds
SUMS = ["--unknowns", "3", "--level", "sums", "--algorithm", "lbfgs"]


def of_points(members, options, **settings):
    tables = {name: {"point": point} for name, point in POINTS.items()}
    return members(tables, family="distance", options=options, **settings)


@pytest.mark.network
def test_a_member_that_sleeps_for_20_seconds_only_delays(members, gauge, until):
    """Longer than *idle*: its links are closed and dialled again."""
    all_ = of_points(members, LONG, stop={"idle": 3.0})
    all_.fix_keys()
    expected = all_.expected()
    for name in NAMES:
        all_.start(name, "--json", *(["--metrics", str(gauge.port)] if name == "north" else []))
    assert until(lambda: gauge.read("link_messages_used_total", "east") > 50)
    asleep = all_.running["east"]
    os.kill(asleep.pid, signal.SIGSTOP)
    began = time.monotonic()
    assert until(lambda: gauge.text() and not gauge.read("link_up", "east"), seconds=20), "no link was closed"
    time.sleep(20.0 - (time.monotonic() - began))
    assert all(process.poll() is None for process in all_.running.values())
    os.kill(asleep.pid, signal.SIGCONT)
    assert until(lambda: gauge.read("link_connections_total", "east") > 1), "no link was dialled again"
    assert np.array_equal(all_.answers(), expected.x)


# hosts ------------------------------------------------------------------------------------------------------


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


def nft(space, rule):
    """Change the rules of one host."""
    ip("netns", "exec", space, "nft", rule)


class Hosts:
    """One network namespace per member, and one for the bridge that joins them."""

    def __init__(self, names):
        mark = f"t{os.getpid()}"
        self.bridge = f"{mark}-bridge"
        self.spaces = {name: f"{mark}-{name}" for name in names}
        self.addresses = {name: f"10.77.0.{k}" for k, name in enumerate(names, start=1)}

    def open(self):
        left = subprocess.run(["ip", "netns", "list"], check=True, capture_output=True, text=True).stdout
        for space in re.findall(r"^t\d+-\w+", left, re.MULTILINE):  # by a run that was itself killed
            if not Path(f"/proc/{space[1:].partition('-')[0]}").exists():
                ip("netns", "del", space)
        for space in (self.bridge, *self.spaces.values()):
            ip("netns", "add", space)
            ip("-n", space, "link", "set", "lo", "up")
            nft(space, "add table inet weather")
            nft(space, "add chain inet weather rain { type filter hook input priority 0; }")
        ip("-n", self.bridge, "link", "add", "br0", "type", "bridge")
        ip("-n", self.bridge, "link", "set", "br0", "up")
        for k, (name, space) in enumerate(self.spaces.items()):
            ip("-n", space, "link", "add", "eth0", "type", "veth", "peer", "name", f"port{k}", "netns", self.bridge)
            ip("-n", space, "addr", "add", f"{self.addresses[name]}/24", "dev", "eth0")
            ip("-n", space, "link", "set", "eth0", "up")
            ip("-n", self.bridge, "link", "set", f"port{k}", "master", "br0", "up")

    def wrap(self, name):
        return ["ip", "netns", "exec", self.spaces[name]]

    def lose(self, percent):
        """Drop so many of the packets that reach each host."""
        for space in self.spaces.values():
            nft(space, f'add rule inet weather rain iif != "lo" numgen random mod 100 < {percent} counter drop')

    def part(self, name):
        """Cut one host off."""
        nft(self.spaces[name], 'add rule inet weather rain iif != "lo" counter drop')

    def heal(self, name):
        nft(self.spaces[name], "flush chain inet weather rain")

    def dropped(self, name):
        """Return how many packets one host has lost."""
        command = ["ip", "netns", "exec", self.spaces[name], "nft", "list", "chain", "inet", "weather", "rain"]
        words = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        return sum(int(words[k + 1]) for k, word in enumerate(words) if word == "packets")

    def close(self):
        for space in (*self.spaces.values(), self.bridge):
            with contextlib.suppress(subprocess.CalledProcessError):
                ip("netns", "del", space)


@pytest.fixture
def hosts():
    made = Hosts(NAMES)
    try:
        if os.geteuid() != 0:
            pytest.skip("network namespaces need root")
        try:
            made.open()
        except FileNotFoundError as error:
            pytest.skip(f"{error.filename} is not installed")
        except subprocess.CalledProcessError as error:
            pytest.skip(f"network namespaces with nft do not work here: {error.stderr.decode().strip()}")
        yield made
    finally:
        made.close()


@pytest.mark.namespaces
@pytest.mark.parametrize("options", [SHORT, SUMS], ids=["gossip", "sums"])
@pytest.mark.parametrize("percent", [1, 5])
def test_packets_that_are_lost_change_nothing(hosts, members, options, percent):
    all_ = of_points(members, options, hosts=hosts.addresses, wrap=hosts.wrap, stop={"idle": 5.0})
    all_.fix_keys()
    expected = all_.expected()
    hosts.lose(percent)
    for name in NAMES:
        all_.start(name, "--json")
    assert np.array_equal(all_.answers(seconds=240), expected.x)
    assert sum(map(hosts.dropped, NAMES)) > 0, "nothing was lost: the test would prove nothing"


@pytest.mark.namespaces
def test_a_network_that_is_split_for_10_seconds_and_heals_changes_nothing(hosts, members, until):
    all_ = of_points(members, LONG, hosts=hosts.addresses, wrap=hosts.wrap, stop={"idle": 3.0})
    all_.fix_keys()
    expected = all_.expected()
    for name in NAMES:
        all_.start(name, "--json")
    assert until(lambda: all_.at_work("east"))
    hosts.part("east")
    time.sleep(10.0)
    assert all(process.poll() is None for process in all_.running.values())
    assert hosts.dropped("east") > 0
    hosts.heal("east")
    assert np.array_equal(all_.answers(), expected.x)
