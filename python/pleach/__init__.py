"""Exact search of irregular trees on all cores: schedules, tours, packing, and your own problems."""

from __future__ import annotations

from pleach import atsp, clique, cluster, flowshop, knapsack, loops, native, qap, queens, sim, uts
from pleach._live import Live
from pleach._pleach import Children, __version__, cores
from pleach._result import Counted, Moment, Optimised, Progress, Result
from pleach._run import Options, Run
from pleach._tree import Tree, TreeResult, solve
from pleach._versions import show_versions

__all__ = [
    "Children",
    "Counted",
    "Live",
    "Moment",
    "Optimised",
    "Options",
    "Progress",
    "Result",
    "Run",
    "Tree",
    "TreeResult",
    "__version__",
    "atsp",
    "clique",
    "cluster",
    "cores",
    "flowshop",
    "knapsack",
    "loops",
    "native",
    "qap",
    "queens",
    "show_versions",
    "sim",
    "solve",
    "uts",
]
