"""What is in deploy/: linted, and true. Units, containers and dashboards name commands, exit codes and metrics that exist.

The linters come with the package's `dev` extra; systemd's own with systemd. A test is skipped where its linter cannot
be had.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from typer.main import get_command

from tacit.cli import app
from tacit.cli import main as documented
from tacit.runtimes.peers.bulletin import Bulletin, LinkNews
from tacit.runtimes.peers.metrics import registry

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
UNIT, SYSUSERS = DEPLOY / "tacit-agent@.service", DEPLOY / "tacit.sysusers"
CONTAINERFILE, COMPOSE = DEPLOY / "Containerfile", DEPLOY / "compose.yaml"
DASHBOARD = DEPLOY / "grafana-dashboard.json"
HERE = Path(sys.executable).parent


def linted(name, *words, **settings):
    """Run a linter, and return all that it says; it must have nothing against the file."""
    program = shutil.which(name) or shutil.which(name, path=HERE)
    if program is None:
        pytest.skip(f"{name} is not here")
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=False, **settings)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def parsed(words):
    """Return what tacit makes of a command line, without running it: the command's name, and its options."""
    name, *rest = words
    group = get_command(app)
    command = group.get_command(group.make_context("tacit", [name]), name)
    return name, command.make_context(name, list(rest)).params


def sections(path):
    """Return the settings of a unit, each with all its values."""
    settings = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        name, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            settings.setdefault(name, []).append(value)
    return settings


@pytest.fixture
def unit(tmp_path):
    """Return the unit of one member, with a command that is there."""
    path = tmp_path / "tacit-agent@north.service"
    text = UNIT.read_text(encoding="utf-8").replace("ExecStart=tacit ", f"ExecStart={sys.executable} ")
    path.write_text(text, encoding="utf-8")
    return path


def test_systemd_finds_no_fault_with_the_unit(unit):
    assert linted("systemd-analyze", "verify", unit) == ""


def test_systemd_finds_the_unit_well_locked_up(unit):
    """2.0 of 10, and most of it for having a network."""
    assert "OK" in linted("systemd-analyze", "security", "--offline=yes", "--threshold=20", unit)


def test_systemd_makes_the_user_that_the_unit_runs_as(tmp_path):
    said = linted("systemd-sysusers", "--dry-run", f"--root={tmp_path}", SYSUSERS)
    assert "tacit" in said
    assert sections(UNIT)["User"] == ["tacit"]


def test_the_unit_starts_an_agent():
    settings = sections(UNIT)
    (line,) = settings["ExecStart"]
    filled = line.replace("%i", "north").replace("${DATA}", "records.csv").replace("$OPTIONS", "--metrics 7419")
    program, *words = shlex.split(filled)
    name, options = parsed(words)
    assert (program, name, options["me"], options["metrics"]) == ("tacit", "agent", "north", 7419)
    assert settings["WorkingDirectory"] == ["%S/tacit/%i"]
    assert settings["StateDirectory"] == ["tacit/%i"]


def test_the_unit_starts_again_what_can_go_on_and_nothing_else():
    """What the exit codes mean is said in tacit.cli.main."""
    settings = sections(UNIT)
    meanings = dict(re.findall(r"^(\d+)  (.+)$", documented.__globals__["__doc__"], flags=re.MULTILINE))
    assert (settings["Restart"], settings["RestartPreventExitStatus"]) == (["on-failure"], ["1 2"])
    assert settings["SuccessExitStatus"] == ["130"]
    assert "says no" in meanings["1"]
    assert "bad input" in meanings["2"]
    assert "network" in meanings["3"]
    assert "still needs" in meanings["4"]
    assert "stopped" in meanings["130"]
    assert settings["ConditionPathExistsGlob"] == ["!%S/tacit/%i/%i-*.evidence"]


def test_the_unit_keeps_secrets_in_one_folder():
    settings = sections(UNIT)
    wanted = {"ProtectSystem": "strict", "NoNewPrivileges": "yes", "LimitCORE": "0", "UMask": "0077"}
    wanted |= {"StateDirectoryMode": "0700", "ProtectHome": "yes", "CapabilityBoundingSet": ""}
    assert {name: settings[name][0] for name in wanted} == wanted
    assert "AF_UNIX" in settings["RestrictAddressFamilies"][0], "an event loop wakes itself by a pair of sockets"


def test_hadolint_finds_no_fault_with_the_containerfile():
    assert linted("hadolint", CONTAINERFILE) == ""


def instructions():
    text = re.sub(r"^#.*\n", "", CONTAINERFILE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [line.split(maxsplit=1) for line in text.replace("\\\n", "").splitlines() if line.strip()]


def test_the_container_runs_without_root_and_keeps_its_state_in_a_volume():
    last = dict(instructions())
    assert last["USER"] == "10001:10001"
    assert json.loads(last["VOLUME"]) == ["/state"]
    assert json.loads(last["ENTRYPOINT"]) == ["tacit"]
    for kind, value in instructions():
        if kind == "COPY" and not value.startswith("--from"):
            *sources, _ = value.split()
            assert all((ROOT / source).exists() for source in sources)


def test_the_container_is_healthy_as_its_agent_is():
    health = dict(instructions())["HEALTHCHECK"]
    (command,) = re.findall(r"exec (tacit status .*?)\"\]", health)
    program, *words = shlex.split(command.replace('\\"', '"').replace("$MEMBER", "north"))
    name, options = parsed(words)
    assert (program, name, options["me"], options["folder"]) == ("tacit", "status", "north", Path("/state"))


@pytest.mark.parametrize("path", sorted(DEPLOY.glob("*.yaml")), ids=lambda path: path.name)
def test_yamllint_finds_no_fault(path):
    assert linted("yamllint", "--strict", path) == ""


@pytest.fixture
def service():
    return yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]["agent"]


def filled(words):
    """Return words with the defaults that the compose file gives, and north for the member."""
    text = re.sub(r"\$\{MEMBER(:\?[^}]*)?\}", "north", "\0".join(words))
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text).split("\0")


def test_the_composed_service_is_locked_up(service):
    assert service["user"] == "10001:10001"
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["ulimits"]["core"] == 0
    bind, volume = service["volumes"]
    assert (bind["target"], bind["read_only"]) == ("/member", True)
    assert (volume["type"], volume["target"]) == ("volume", "/state")
    assert not {"privileged", "cap_add", "network_mode", "pid", "ipc"} & set(service)


def test_the_composed_service_runs_an_agent_and_asks_how_it_is(service):
    name, options = parsed(filled(service["command"]))
    assert (name, options["me"], options["folder"], options["data"]) == (
        "agent", "north", Path("/state"), "records.csv",
    )  # fmt: skip
    kind, program, *words = filled(service["healthcheck"]["test"])
    name, options = parsed(words)
    assert (kind, program, name, options["me"], options["folder"]) == (
        "CMD",
        "tacit",
        "status",
        "north",
        Path("/state"),
    )
    assert options["federation"].name == "federation.toml"


BULLETIN = Bulletin(
    name="north", session="abc", protocol=1, pid=1, since=0.0, at=0.0, phase="rounds", round=1,
    links=(
        LinkNews(
            neighbour="east", up=True, trouble="", connections=1, violations=0, used=1, waiting=0, sent=1, received=1,
            heard=0.0,
        ),
    ),
)  # fmt: skip


@pytest.fixture
def panels():
    return json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]


def test_every_metric_that_wakes_somebody_is_exported():
    (group,) = yaml.safe_load((DEPLOY / "prometheus-rules.yaml").read_text(encoding="utf-8"))["groups"]
    used = {name for rule in group["rules"] for name in re.findall(r"\btacit_\w+", rule["expr"])}
    assert len(used) == 3
    assert used <= {sample.name for family in registry(lambda: BULLETIN).collect() for sample in family.samples}


def test_every_metric_of_the_dashboard_is_exported(panels):
    exported = {
        (sample.name, frozenset(sample.labels))
        for family in registry(lambda: BULLETIN).collect()
        for sample in family.samples
    }
    names = {name for name, _ in exported}
    queries = [target["expr"] for panel in panels for target in panel["targets"]]
    used = {name for query in queries for name in re.findall(r"\b(?:tacit|process)_\w+", query)}
    assert len(used) >= 12
    if not Path("/proc/self/stat").exists():  # figures of processes are of Linux
        used = {name for name in used if not name.startswith("process_")}
    assert used <= names
    for panel in panels:
        for target in panel["targets"]:
            assert target["expr"].count('{instance=~"$instance"}') == len(
                re.findall(r"\b(?:tacit|process)_\w+", target["expr"])
            )
            labels = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) - {"instance"}
            metric = re.search(r"\b(?:tacit|process)_\w+", target["expr"])[0]
            assert any(labels <= had for name, had in exported if name == metric), target


def test_the_dashboard_has_what_grafana_needs(panels):
    board = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    assert 8 <= len(board["uid"]) <= 40
    assert isinstance(board["schemaVersion"], int)
    assert board["title"]
    assert {v["name"]: v["type"] for v in board["templating"]["list"]} == {
        "datasource": "datasource",
        "instance": "query",
    }
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken = set()
    for panel in panels:
        assert panel["type"] in {"stat", "timeseries", "state-timeline"}
        assert panel["title"]
        assert panel["description"].endswith(".")
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"]) >= 1
        at = panel["gridPos"]
        cells = {(at["x"] + i, at["y"] + k) for i in range(at["w"]) for k in range(at["h"])}
        assert at["x"] + at["w"] <= 24
        assert not cells & taken, f"{panel['title']} lies over another panel"
        taken |= cells


@pytest.mark.parametrize("path", sorted(DEPLOY.iterdir()), ids=lambda path: path.name)
def test_nothing_names_a_registry(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\bpy" + r"pi\b|https?://|\bgh" + r"cr\b|\bquay\b|docker\.io", text, flags=re.IGNORECASE)
