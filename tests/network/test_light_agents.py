"""What an agent does not need is not loaded: networkx never, and scipy only for what asks for it."""

import subprocess
import sys

import msgspec
import pytest

import tacit
from tacit.federation.local import manifest_of

AGENT = """
import sys
from pathlib import Path
from tacit.costs import Quadratic
from tacit.federation import Manifest, join
import msgspec
folder = Path(sys.argv[1])
manifest = msgspec.json.decode((folder / "agreed.json").read_bytes(), type=Manifest)
cost = Quadratic.distance([1.0, 2.0, 3.0, 4.0])
agent = join(manifest, cost, me="member-0", key=folder / "member-0.key", folder=folder)
agent.job.network.tree
print(*sorted({name.partition(".")[0] for name in sys.modules} & {"networkx", "scipy"}))
"""


@pytest.mark.parametrize("privacy", [tacit.SumMasks(), tacit.AffineMasks(10.0)], ids=["sums", "affine"])
def test_an_agent_that_has_joined_has_loaded_neither_networkx_nor_scipy(federation, tmp_path, privacy):
    made = federation(algorithm="direct" if privacy.kind == "sums" else "nids", privacy=privacy, n=4)
    manifest = manifest_of(made.job, [f"member-{i}" for i in range(4)], tmp_path)
    (tmp_path / "agreed.json").write_bytes(msgspec.json.encode(manifest))
    words = [sys.executable, "-c", AGENT, str(tmp_path)]
    told = subprocess.run(words, capture_output=True, text=True, check=False)
    assert told.stdout == "\n", told.stderr
