"""The 0/1 knapsack with Dantzig's bound, compiled by Numba."""

from __future__ import annotations

import sys
from typing import Any

import numba

import pleach
from pleach import native


@numba.njit
def bound(data: Any, at: int, room: int, value: int) -> Any:
    """Fill the room with the best items left, the last one fractionally."""
    for i in range(at, len(data) // 3):
        gain, weight = data[3 * i], data[3 * i + 1]
        if weight > room:
            return value + gain * room // weight
        room -= weight
        value += gain
    return value


@native.expand(words=5, children=2, solution=128)
def knapsack(data: Any, node: Any, best: Any, children: Any, found: Any) -> int:
    """Take the next item or leave it; a node is items decided, room, value, and a bit for each item taken."""
    at, room, value = node[0], node[1], node[2]
    if at == len(data) // 3:
        found[native.SOLVED], found[native.VALUE] = 1, value
        length = 0
        for i in range(at):
            if node[3 + i // 64] >> (i % 64) & 1:
                found[native.SOLUTION + length] = data[3 * i + 2]
                length += 1
        found[native.LENGTH] = length
        return 0
    made = 0
    gain, weight = data[3 * at], data[3 * at + 1]
    for taken in range(1, -1, -1):
        if taken * weight > room:
            continue
        left, worth = room - taken * weight, value + taken * gain
        child = children[made]
        child[0] = bound(data, at + 1, left, worth)
        child[1], child[2], child[3], child[4], child[5] = at + 1, left, worth, node[3], node[4]
        child[4 + at // 64] |= taken << (at % 64)
        made += 1
    return made


def solve(capacity: int, items: list[tuple[int, int]], threads: int) -> pleach.TreeResult:
    """Find the most valuable of at most 128 items, given by value and weight."""
    numbered = [(value, weight, number) for number, (value, weight) in enumerate(items, 1)]
    numbered.sort(key=lambda item: (item[1] > 0, -item[0] / item[1] if item[1] else 0))
    return native.solve(knapsack, [0, capacity, 0, 0, 0], sum(numbered, ()), goal="maximise", threads=threads)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = [(int(a), int(b)) for a, b in (line.split() for line in file if line.strip())]
    result = solve(rows[0][1], rows[1:], pleach.cores())
    print(f"{result.value}, {result.nodes} nodes, {result.nodes / result.seconds:,.0f} nodes a second")
