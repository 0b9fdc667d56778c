"""Run every benchmark and print its table: python -m benchmarks [rounds] [masks] [sums] …."""

import sys

from benchmarks import (
    audit,
    bending,
    certificates,
    clicks,
    compiled,
    dispatch,
    distance,
    levels,
    masks,
    memory,
    optimality,
    peers,
    private_answers,
    records,
    reports,
    rounds,
    startup,
    sums,
    telling,
)

_ALL = {
    "rounds": rounds.main,
    "compiled": compiled.main,
    "masks": masks.main,
    "sums": sums.main,
    "optimality": optimality.main,
    "bending": bending.main,
    "certificates": certificates.main,
    "peers": peers.main,
    "audit": audit.main,
    "levels": levels.main,
    "dispatch": dispatch.main,
    "telling": telling.main,
    "distance": distance.main,
    "startup": startup.main,
    "memory": memory.main,
    "records": records.main,
    "private_answers": private_answers.main,
    "reports": reports.main,
    "clicks": clicks.main,
}

if __name__ == "__main__":
    for name in [word for word in sys.argv[1:] if not word.isdigit()] or _ALL:
        _ALL[name]()
