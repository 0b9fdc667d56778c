"""A PostgreSQL server of the test's own, where Debian's is installed."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

PASSWORD = "hunter2-of-the-clinic"  # noqa: S105


class Server(NamedTuple):
    """A server that runs, and how it is reached."""

    port: int
    programs: Path

    @property
    def string(self):
        """The connection string, with the password."""
        return f"host=127.0.0.1 port={self.port} user=tacit dbname=postgres password={PASSWORD}"

    def cut(self):
        """End every session that is open."""
        self.do("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")

    def do(self, statement):
        """Run a statement as the owner."""
        words = [self.programs / "psql", "-qh", "127.0.0.1", "-p", str(self.port), "-U", "tacit", "postgres"]
        settings = {"env": {"PGPASSWORD": PASSWORD}, "check": True, "capture_output": True}
        subprocess.run([*words, "-v", "ON_ERROR_STOP=1"], input=statement.encode(), **settings)


def _programs():
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / "initdb").exists():
            return folder
    return None


def _as_somebody(folder):
    """Return how programs are started that refuse to run as root."""
    if os.geteuid() != 0:
        return {}
    try:
        somebody = pwd.getpwnam("postgres")
    except KeyError:
        somebody = pwd.getpwnam("nobody")
    os.chown(folder, somebody.pw_uid, somebody.pw_gid)
    return {"user": somebody.pw_uid, "group": somebody.pw_gid, "extra_groups": []}


@pytest.fixture(scope="session")
def postgres():
    """Return a server that only this session knows; skip where none is installed."""
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed.")
    folder = Path(tempfile.mkdtemp(prefix="tacit-postgres-"))
    settings = {"cwd": folder, "env": {"LC_ALL": "C"}, "stderr": subprocess.STDOUT, **_as_somebody(folder)}
    words = folder / "words"
    words.write_text(PASSWORD)
    words.chmod(0o644)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    records = folder / "records"
    first = [programs / "initdb", "-D", records, "-U", "tacit", "-A", "scram-sha-256", f"--pwfile={words}", "-N"]
    subprocess.run([*first, "-E", "UTF8"], stdout=subprocess.DEVNULL, check=True, **settings)
    control = [programs / "pg_ctl", "-D", records, "-s", "-w", "-t", "120"]
    options = f"-p {port} -h 127.0.0.1 -k {folder} -F"
    start = [*control, "-o", options, "-l", folder / "log", "start"]
    subprocess.run(start, stdout=subprocess.DEVNULL, check=True, **settings)
    try:
        yield Server(port, programs)
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], stdout=subprocess.DEVNULL, check=True, **settings)
        shutil.rmtree(folder)
