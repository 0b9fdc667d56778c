"""An agent as the unit and the container confine it: another user, no capability, and one folder that can be written.

The file system is really read-only here, /tmp included, and there is no HOME: mount namespaces do what a container
does. It needs root and util-linux; images are not built.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.federation import Condition, standing_of
from tacit.runtimes.peers.bulletin import read_bulletin

NAMES = ("north", "east", "west")
OPTIONS = ("--unknowns", "2", "--cost", "ridge", "--l2", "1", "--patience", "600", "--any", "1")
USER = 10001
NEEDED = ("unshare", "mount", "setpriv")
CONFINED = """
set -e
mount --make-rprivate /
if [ -n "$HIDDEN" ]; then  # Python itself lies where only root looks
    mount --bind "$PREFIX" /mnt
    mount -t tmpfs -o mode=755 tmpfs "$HIDDEN"
    mkdir -p "$PREFIX"
    mount --bind /mnt "$PREFIX"
    mount -o remount,bind,ro "$HIDDEN"
    mount -o remount,bind,ro "$PREFIX"
    umount /mnt
fi
mount --bind . /mnt  # where everybody may look
cd /mnt
mount --bind state state
mount -o remount,bind,ro /mnt
mount -o remount,bind,ro /
if touch outside 2> /dev/null || touch /tmp/outside 2> /dev/null; then echo 'the file system can be written' >&2; exit 99; fi
exec env --unset=HOME --unset=TMPDIR setpriv --reuid=10001 --regid=10001 --clear-groups --no-new-privs \
    --bounding-set=-all --inh-caps=-all "$@"
"""

pytestmark = [
    pytest.mark.network,
    pytest.mark.skipif(
        not hasattr(os, "geteuid") or os.geteuid() != 0 or not all(map(shutil.which, NEEDED)),
        reason="needs root, unshare and setpriv",
    ),
]


def hidden(path):
    """Return the first folder on the way to a file that only its owner can pass; nothing where all can."""
    shut = (
        folder
        for folder in (*reversed(Path(path).resolve().parents), path)
        if not Path(folder).stat().st_mode & 0o001
    )
    return next(map(str, shut), "")


@pytest.fixture
def three(members):
    """Return members who own their folders and may write one folder in them."""
    if hidden(sys.prefix) or hidden(Path(tacit.__file__).parent):
        pytest.skip("other users cannot read tacit")
    rng = np.random.default_rng(4)
    tables = {name: rng.standard_normal((9, 3)) for name in NAMES}
    made = members(
        tables, family="ridge", options=OPTIONS, wrap=lambda _: ["unshare", "--mount", "bash", "-c", CONFINED, "-"]
    )
    made.environment |= {"PREFIX": sys.base_prefix, "HIDDEN": hidden(sys.base_prefix)}
    for name in NAMES:
        home = made.folder / name
        (home / "state").mkdir(mode=0o700)
        for path in (home, *home.rglob("*")):
            os.chown(path, USER, USER)
    return made


def facts_of(pid):
    """Return what the system says of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def test_an_agent_needs_no_root_no_home_and_one_folder_to_write(three, gauge, until, tacit_words):
    before = {path: path.read_bytes() for path in (three.folder / "north").iterdir() if path.is_file()}
    words = ("--folder", "state", "--json")
    three.start("north", *words, "--metrics", str(gauge.port))
    file = three.folder / "north" / "state" / three.state("north").with_suffix(".status").name
    bulletin = until(lambda: read_bulletin(file), 60.0)
    assert bulletin, three.err("north")
    facts = facts_of(bulletin.pid)
    assert set(facts["Uid"].split()) == set(facts["Gid"].split()) == {str(USER)}
    assert {facts[f"Cap{kind}"] for kind in ("Inh", "Prm", "Eff", "Bnd")} == {"0" * 16}
    assert facts["NoNewPrivs"] == "1"
    figures = re.findall(
        r"^process_(resident_memory_bytes|open_fds|cpu_seconds_total) ", gauge.text(), flags=re.MULTILINE
    )
    assert len(figures) == 3, "a process that cannot be dumped still sees its own figures"

    health = subprocess.run(
        [*three.wrap("north"), *tacit_words, "status", "federation.toml", "--me", "north", "--folder", "state"],
        cwd=three.folder / "north", env=three.environment, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert health.returncode == 0, health.stderr
    assert "north: running since " in health.stdout

    three.kill("north")
    for name in NAMES:
        three.start(name, *words)
    for name in NAMES:
        assert three.wait(name) == 0, three.err(name)
    answers = [json.loads(three.out(name))["x"] for name in NAMES]
    assert answers[0] == answers[1] == answers[2]
    here = three.folder / "north"
    assert standing_of(three.manifest, me="north", folder=here / "state").condition is Condition.DONE
    assert {path: path.read_bytes() for path in here.iterdir() if path.is_file()} == before
    assert [path.suffix for path in (here / "state").iterdir()] == [".done"]
