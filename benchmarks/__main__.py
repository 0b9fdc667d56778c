"""Run every benchmark and print its table: python -m benchmarks [rounds] [masks]."""

import sys

from benchmarks import masks, rounds

_ALL = {"rounds": rounds.main, "masks": masks.main}

if __name__ == "__main__":
    for name in sys.argv[1:] or _ALL:
        _ALL[name]()
