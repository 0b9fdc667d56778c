"""`tacit agent`: each party its own process on its own file, with standard errors from the Hessian that Newton summed."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm

from tacit.runtimes.peers.local import free_ports

TACIT = Path(sys.executable).parent / "tacit"
SIZES = {"east": 40, "north": 1, "south": 25}


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Make keys and records for three members, and return the pooled records."""
    monkeypatch.chdir(tmp_path)
    rng, pooled = np.random.default_rng(9), []
    for (name, size), port in zip(SIZES.items(), free_ports(len(SIZES)), strict=True):
        subprocess.run(
            [TACIT, "keygen", "--name", name, "--address", f"127.0.0.1:{port}"], check=True, capture_output=True
        )
        X = rng.standard_normal((size, 2))
        y = (X @ [1.0, -0.5] + rng.logistic(size=size) > 0).astype(float)
        table = np.column_stack([X, y])
        np.savetxt(f"{name}.csv", table, delimiter=",", header="age,dose,relapse", comments="", fmt="%.17g")
        pooled.append(table)
    return np.vstack(pooled)


@pytest.mark.network
def test_standard_errors_of_separate_processes(made):
    words = ["--links", "2", "--unknowns", "3", "--cost", "logistic", "--target", "relapse", "--intercept"]
    words += ["--bound", "1e15", "--words", "2", "--patience", "60"]
    subprocess.run([TACIT, "federation", "new", "f.toml", *words], check=True, capture_output=True)
    running = [
        subprocess.Popen(
            [TACIT, "agent", "f.toml", "--me", name, "--data", f"{name}.csv", *(["--json"] * (name == "east"))],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
        )
        for name in SIZES
    ]  # fmt: skip
    said = [agent.communicate(timeout=90) for agent in running]
    assert [agent.returncode for agent in running] == [0, 0, 0], said
    rows = json.loads(said[0][0])["coefficients"]
    reference = sm.Logit(made[:, 2], np.column_stack([made[:, :2], np.ones(len(made))])).fit(disp=0, tol=1e-12)
    assert [row["name"] for row in rows] == ["age", "dose", "(intercept)"]
    np.testing.assert_allclose([row["coef"] for row in rows], reference.params, rtol=1e-6)
    np.testing.assert_allclose([row["std_err"] for row in rows], reference.bse, rtol=1e-5)
    assert "P>|z|" in said[1][0]
