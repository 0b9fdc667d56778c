"""A commented problem file, to start from."""

from __future__ import annotations

from pathlib import Path

from tacit.errors import FileError

EXAMPLE = """\
# A private problem for `tacit solve`. Lines that start with # are alternatives.

[graph]                                 # who may talk to whom
generator = "circulant_graph"           # any graph generator of networkx …
arguments = { n = 6, offsets = [1, 2] } # … with its arguments
# links = [["north", "south"], ["south", "west"], ["west", "north"]]
# file = "network.graphml"              # or .gml, or .edges with one link per line

[costs]                                 # one private cost per agent
family = "quadratic"                    # ½ xᵀPx + qᵀx
# family = "logistic"                   # or least-squares, poisson, huber: one data file per agent
# files = "data/*.csv"                  # sorted by name; or a list; or { north = "n.csv", … }; or .npz
# target = "y"                          # the label's column; the last one unless named
# intercept = true
# l2 = 1.0                              # total penalties, shared equally among the agents
# l1 = 0.1

# [data]                                # what the columns mean: `tacit data draft` writes it from a file

[costs.agents]                          # inline data by agent, instead of files
0 = { P = [[2.0, 0.0], [0.0, 2.0]], q = [-2.0, 4.0] }
1 = { P = [[3.0, 1.0], [1.0, 2.0]], q = [1.0, -1.0] }
2 = { P = [[1.0, 0.0], [0.0, 4.0]], q = [-5.0, 0.5] }
3 = { P = [[2.0, 0.5], [0.5, 1.0]], q = [3.0, 2.0] }
4 = { P = [[4.0, 0.0], [0.0, 1.0]], q = [-1.0, -6.0] }
5 = { P = [[1.0, 0.2], [0.2, 3.0]], q = [2.5, 1.0] }

[privacy]
level = "affine"                        # hide affine parts (labels); "quadratic": whole quadratic costs;
                                        #    "sums": whole costs of any kind, no sigma; "none": nothing
sigma = 1000.0                          # standard deviation of the masks: far above what they hide
# bound = 65536.0                       # public limit on what is masked, agreed by all beforehand
# words = 2                             # for "sums": 128 bits a number instead of 64
# pairing = "seeds"                     # masks from keys that neighbours agree on: no messages, computational
# protect = "whole"                     # refuse to run if less than this is hidden; or "affine"
# hide = 10.0                           # how large a difference is to be hidden: how often is a guess right then?

[algorithm]
name = "auto"                           # gossip: admm, dgd, dgd-diminishing, extra, gradient-tracking,
                                        #    multi-consensus, nids, opapc, pg-extra
                                        # sums over a tree: direct, fista, lbfgs, newton
# step_size = 0.01                      # its settings, where you know better
# weights = "metropolis"                # or lazy, laplacian
# tree = false                          # gossip only: no sums over a spanning tree

[stop]
tolerance = 1e-9                        # relative, of the estimated error and of the disagreement
max_rounds = 100000
"""


def write_example(path: Path, *, replace: bool = False) -> None:
    """Write the example to a file; over one that is there only to *replace* it."""
    try:
        with path.open("w" if replace else "x", encoding="utf-8") as file:
            file.write(EXAMPLE)
    except FileExistsError as error:
        raise FileError(
            f"{path}: is already there; name another file, or replace it.", command="--force replaces it."
        ) from error
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror}).") from error
