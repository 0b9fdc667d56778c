"""Records in a Parquet file against NumPy on the same records in memory: time, peak memory, and the coefficients.

python -m benchmarks records [RECORDS]

One party has all records but two thousand; two others have a thousand each. The reference is Newton's method in
NumPy, on arrays that are already loaded: means and deviations, and the same steps. Both run in processes of their
own, because a peak is that of a process's whole life, in turns, and with every core.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

_RECORDS, _COLUMNS, _TURNS = 1_000_000, 30, 3
_TIMES, _MEGABYTES, _CLOSE = 1.5, 400.0, 1e-9

_WRITE = """
import sys
import numpy as np, pyarrow as pa, pyarrow.parquet as pq
folder, records, columns = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = np.random.default_rng(0)
truth = rng.normal(size=columns) / np.sqrt(columns)
centre, scale = rng.normal(size=columns) * 10.0, np.exp(rng.normal(size=columns))
for name, size in (("north", records - 2000), ("south", 1000), ("west", 1000)):
    writer = None
    for start in range(0, size, 1 << 18):
        here = min(1 << 18, size - start)
        Z = rng.standard_normal((columns, here))
        y = (rng.random(here) < 1 / (1 + np.exp(0.5 - truth @ Z))).astype(np.int8)
        table = pa.table({**{f"x{k:02}": centre[k] + scale[k] * Z[k] for k in range(columns)}, "y": y})
        writer = writer or pq.ParquetWriter(f"{folder}/{name}.parquet", table.schema)
        writer.write_table(table)
    writer.close()
"""

_NUMPY = """
import json, resource, sys, time
import numpy as np, pyarrow.parquet as pq
folder = sys.argv[1]
parts = [pq.read_table(f"{folder}/{name}.parquet") for name in ("north", "south", "west")]
columns = [name for name in parts[0].column_names if name != "y"]
A = np.empty((sum(len(part) for part in parts), len(columns)))
for k, name in enumerate(columns):
    A[:, k] = np.concatenate([part[name].to_numpy() for part in parts])
y = np.concatenate([part["y"].to_numpy() for part in parts]).astype(float)
del parts
start = time.perf_counter()
centre = A.mean(axis=0)
scale = np.sqrt(((A - centre) ** 2).mean(axis=0))
Z = np.column_stack([(A - centre) / scale, np.ones(len(A))])
x = np.zeros(Z.shape[1])
for steps in range(50):
    p = 1.0 / (1.0 + np.exp(-(Z @ x)))
    step = np.linalg.solve(Z.T @ ((p * (1.0 - p))[:, None] * Z), Z.T @ (y - p))
    x += step
    if np.abs(step).max() < 1e-11:
        break
w = x[:-1] / scale
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
print(json.dumps([seconds, peak, [*w, x[-1] - centre @ w], steps + 1]))
"""

_TACIT = """
import json, resource, sys, time, warnings
import numpy as np
from tacit.learning import Dataset, PrivateLogisticRegression
warnings.simplefilter("ignore")
folder = sys.argv[1]
start = time.perf_counter()
parties = {name: Dataset.at(f"{folder}/{name}.parquet", "y") for name in ("north", "south", "west")}
model = PrivateLogisticRegression(C=np.inf, tol=1e-11).fit_parties(parties)
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
print(json.dumps([seconds, peak, [*model.coef_[0], model.intercept_[0]], model.n_iter_]))
"""


def main() -> None:
    """Print the table."""
    sizes = [int(word) for word in sys.argv[2:] if word.isdigit()] or [_RECORDS]
    for records in sizes:
        with tempfile.TemporaryDirectory() as folder:
            _run(_WRITE, folder, records, _COLUMNS)
            _print(Path(folder), records)


def _print(folder: Path, records: int) -> None:
    gigabytes = (folder / "north.parquet").stat().st_size / 1e9
    print(f"\nLogistic regression by secret sums, {records} records × {_COLUMNS} in Parquet ({gigabytes:.2f} GB)")
    print(f"target: at most {_TIMES} × NumPy's time, {_MEGABYTES:.0f} MB, coefficients within {_CLOSE:g}")
    print(f"{'':<10}{'seconds':>10}{'sums':>8}{'peak MB':>10}")
    turns = [(_run(_NUMPY, folder), _run(_TACIT, folder)) for _ in range(_TURNS)]
    ratios = sorted(tacit[0] / numpy[0] for numpy, tacit in turns)
    for name, which in (("NumPy", 0), ("tacit", 1)):
        seconds = sorted(turn[which][0] for turn in turns)[_TURNS // 2]
        print(f"{name:<10}{seconds:>10.1f}{turns[0][which][3]:>8}{max(turn[which][1] for turn in turns):>10.0f}")
    apart = max(abs(a - b) for numpy, tacit in turns for a, b in zip(numpy[2], tacit[2], strict=True))
    print(
        f"ratio {ratios[_TURNS // 2]:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}); coefficients differ by {apart:.1e}"
    )


def _run(script: str, *words: object) -> list[object]:
    command = [sys.executable, "-c", script, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    return json.loads(done.stdout) if done.stdout else []
