"""Walks of n steps on the square grid that never cross themselves, compiled by Numba."""

from __future__ import annotations

import sys
from typing import Any

import pleach
from pleach import native


@native.expand(words=34, children=4)
def walks(data: Any, node: Any, best: Any, children: Any, found: Any) -> int:
    """Add a child for each free square; a node is the number of squares visited, and each as one number."""
    visited = node[0]
    if visited > data[0]:
        found[native.COUNT] = 1
        return 0
    made = 0
    for direction in range(4):
        step = node[visited] + (1000, -1000, 1, -1)[direction]
        free = True
        for i in range(1, visited + 1):
            if node[i] == step:
                free = False
        if free:
            child = children[made]
            for i in range(1, visited + 1):
                child[1 + i] = node[i]
            child[1] = visited + 1
            child[2 + visited] = step
            made += 1
    return made


def count(steps: int, threads: int) -> pleach.TreeResult:
    """Count the walks of at most 32 steps."""
    return native.solve(walks, [1] + [0] * 33, [steps], goal="count", threads=threads)


if __name__ == "__main__":
    result = count(int(sys.argv[1]), pleach.cores())
    print(f"{result.count} walks, {result.nodes} nodes, {result.nodes / result.seconds:,.0f} nodes a second")
