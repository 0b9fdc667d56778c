"""Memory of `solve`: the most that a process of its own takes, against three times the data and 200 MB.

Every problem is solved in a process of its own, because a peak is that of a process's whole life.
"""

from __future__ import annotations

import json
import subprocess
import sys

_AGENTS, _UNKNOWNS = 500, 1000
_TIMES, _BESIDE = 3.0, 200.0

_SUMS, _AFFINE = "tacit.SumMasks()", "tacit.AffineMasks(sigma=10.0)"

_CASES = {
    "least squares by sums": ("LeastSquares", _SUMS, "auto", 10),
    "least squares by sums, of two words": ("LeastSquares", "tacit.SumMasks(bound=2.0**40, words=2)", "auto", 10),
    "least squares with affine masks": ("LeastSquares", _AFFINE, "auto", 10),
    "logistic by sums": ("Logistic", _SUMS, "auto", 10),
    "logistic by sums, with Hessians": ("Logistic", _SUMS, "newton", 10),
    "logistic with affine masks": ("Logistic", _AFFINE, "auto", 10),
}

_SCRIPT = """
import json, resource, time, warnings
import networkx as nx, numpy as np, tacit
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
costs = []
for _ in range({agents}):
    A = rng.standard_normal(({records}, {unknowns}))
    y = (rng.random({records}) < 0.5).astype(float)
    costs.append(tacit.{family}(A, y, l2=1.0))
start = time.process_time()
problem = tacit.Problem(nx.random_regular_graph(4, {agents}, seed=1), costs)
answer = tacit.solve(problem, privacy={privacy}, algorithm="{algorithm}")
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
print(json.dumps([answer.record.status, answer.record.phase2.algorithm, time.process_time() - start, peak]))
"""


def main() -> None:
    """Print the table."""
    print(f"\nPeak memory of solve, n = {_AGENTS}, m = {_UNKNOWNS} (target: 3 × data + 200 MB)")
    print(f"{'problem':<38}{'algorithm':>20}{'status':>12}{'CPU s':>9}{'data MB':>9}{'peak MB':>9}{'allowed':>9}")
    for name, (family, privacy, algorithm, records) in _CASES.items():
        data = _AGENTS * _UNKNOWNS * records * 8 / 1e6
        script = _SCRIPT.format(
            agents=_AGENTS,
            unknowns=_UNKNOWNS,
            records=records,
            family=family,
            privacy=privacy,
            algorithm=algorithm,
        )
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )
        status, chosen, seconds, peak = json.loads(done.stdout)
        allowed = _TIMES * data + _BESIDE
        verdict = "  over the target" if peak > allowed else ""
        print(
            f"{name:<38}{chosen:>20}{status:>12}{seconds:9.1f}{data:9.0f}{peak:9.0f}{allowed:9.0f}{verdict}",
            flush=True,
        )


if __name__ == "__main__":
    main()
