"""Walks of n steps on the square grid that never cross themselves, compiled by Numba."""

from __future__ import annotations

import sys
from typing import Any

import pleach
from pleach import native


def compiled(steps: int) -> native.Compiled:
    """Compile the tree; a node is how many squares were visited, and each of them as one number."""

    @native.expand(words=steps + 2, children=4)
    def walks(data: Any, node: Any, best: Any, children: Any, found: Any) -> int:
        """Add a child for each free square next to the last one."""
        visited = node[0]
        if visited > steps:
            found[native.COUNT] = 1
            return 0
        made = 0
        for direction in range(4):
            step = node[visited] + (1000, -1000, 1, -1)[direction]
            free = True
            for i in range(1, visited + 1):
                if node[i] == step:
                    free = False
                    break
            if free:
                children[made, 1] = visited + 1
                for i in range(1, visited + 1):
                    children[made, 1 + i] = node[i]
                children[made, 2 + visited] = step
                made += 1
        return made

    return walks


def count(steps: int, threads: int) -> pleach.TreeResult:
    """Count the walks of at most 62 steps."""
    return native.solve(compiled(steps), [1] + [0] * (steps + 1), goal="count", threads=threads)


if __name__ == "__main__":
    result = count(int(sys.argv[1]), pleach.cores())
    print(f"{result.count} walks, {result.nodes} nodes, {result.nodes / result.seconds:,.0f} nodes a second")
