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


@native.expand(words=4, children=2, solution=63)
def knapsack(data: Any, node: Any, best: Any, children: Any, found: Any) -> int:
    """Take the next item or leave it; a node has the items decided, room, value, and a bit for each item taken."""
    at, room, value = node[0], node[1], node[2]
    if at == len(data) // 3:
        found[native.SOLVED], found[native.VALUE] = 1, value
        length = 0
        for i in range(at):
            if node[3] >> i & 1:
                found[native.SOLUTION + length] = data[3 * i + 2]
                length += 1
        found[native.LENGTH] = length
        return 0
    made = 0
    gain, weight = data[3 * at], data[3 * at + 1]
    if weight <= room:
        children[0, 0] = bound(data, at + 1, room - weight, value + gain)
        children[0, 1], children[0, 2] = at + 1, room - weight
        children[0, 3], children[0, 4] = value + gain, node[3] | 1 << at
        made = 1
    children[made, 0] = bound(data, at + 1, room, value)
    children[made, 1], children[made, 2] = at + 1, room
    children[made, 3], children[made, 4] = value, node[3]
    return made + 1


def solve(capacity: int, items: list[tuple[int, int]], threads: int) -> pleach.TreeResult:
    """Find the most valuable of at most 63 items, given by value and weight."""
    numbered = [(value, weight, number) for number, (value, weight) in enumerate(items, 1)]
    numbered.sort(key=lambda item: (item[1] > 0, -item[0] / item[1] if item[1] else 0))
    return native.solve(knapsack, [0, capacity, 0, 0], sum(numbered, ()), goal="maximise", threads=threads)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = [(int(a), int(b)) for a, b in (line.split() for line in file if line.strip())]
    result = solve(rows[0][1], rows[1:], pleach.cores())
    print(f"{result.value}, {result.nodes} nodes, {result.nodes / result.seconds:,.0f} nodes a second")
