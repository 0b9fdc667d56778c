"""Run every benchmark and print its table: python -m benchmarks [rounds] [masks] [certificates]."""

import sys

from benchmarks import certificates, masks, rounds

_ALL = {"rounds": rounds.main, "masks": masks.main, "certificates": certificates.main}

if __name__ == "__main__":
    for name in sys.argv[1:] or _ALL:
        _ALL[name]()
