"""A tree that processes share in the tests: a module that all of them can import."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pleach


class Strings(pleach.Tree[int]):
    """Strings of n zeros and ones; the first process is slow until another one has expanded a node."""

    goal = "count"

    def __init__(self, n: int, flag: str, first: int, slow: str = "") -> None:
        """Set the length, the file by which another process shows itself, the first process, and a file that lets it hurry."""
        self.n, self.flag, self.first, self.slow = n, flag, first, slow or flag

    def root(self) -> int:
        """Return the length of the empty string."""
        return 0

    def expand(self, node: int, best: int | None, out: pleach.Children) -> None:
        """Add a zero or a one."""
        if os.getpid() != self.first:
            Path(self.flag).touch()
        elif not Path(self.slow).exists():
            time.sleep(0.001)
        if node == self.n:
            return out.count(1)
        out.child(node + 1)
        out.child(node + 1)


class Wrong(pleach.Tree[int]):
    """A tree with a wrong bound."""

    goal = "minimise"

    def root(self) -> int:
        """Return the root."""
        return 0

    def expand(self, node: int, best: int | None, out: pleach.Children) -> None:
        """Promise less than what is there."""
        if node == 6:
            return out.solution(0, [])
        out.child_within(5, node + 1)
        out.child(node + 1)


class WrongElsewhere(pleach.Tree[int]):
    """A tree with bounds that are wrong outside the first process, which is slow."""

    goal = "minimise"

    def __init__(self, first: int) -> None:
        """Set the first process."""
        self.first = first

    def fingerprint(self) -> str:
        """Return the same in all processes."""
        return "wrong elsewhere"

    def root(self) -> int:
        """Return the root, which has no bound."""
        return 0

    def expand(self, node: int, best: int | None, out: pleach.Children) -> None:
        """Promise less than what is there, outside the first process."""
        if os.getpid() == self.first:
            time.sleep(0.001)
        elif node > 0:
            out.solution(0, [])
        if node < 15:
            out.child_within(5, node + 1)
            out.child_within(5, node + 1)
