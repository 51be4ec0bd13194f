"""Walks of n steps on the square grid that never cross themselves, as a Python class."""

from __future__ import annotations

import sys

import pleach

Walk = tuple[int, ...]


class Walks(pleach.Tree[Walk]):
    """A node is a walk so far: the squares visited, each as one number."""

    goal = "count"

    def __init__(self, steps: int) -> None:
        """Set the number of steps."""
        self.steps = steps

    def root(self) -> Walk:
        """Return the walk of no steps."""
        return (0,)

    def expand(self, walk: Walk, best: int | None, out: pleach.Children) -> None:
        """Add a child for each free square next to the last one."""
        if len(walk) > self.steps:
            out.count(1)
            return
        last = walk[-1]
        for step in (last + 1000, last - 1000, last + 1, last - 1):
            if step not in walk:
                out.child((*walk, step))


if __name__ == "__main__":
    result = pleach.solve(Walks(int(sys.argv[1])))
    print(f"{result.count} walks, {result.nodes} nodes, {result.nodes / result.seconds:,.0f} nodes a second")
