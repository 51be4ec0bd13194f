"""Your own problems, compiled by Numba: all threads explore nodes, without the interpreter.

A node is a fixed number of 64-bit numbers. A function, compiled by `expand`, writes the children of a node into an array::

    @pleach.native.expand(words=2, children=2)
    def strings(data, node, best, children, found):
        ...
        return 2  # how many children it wrote

data: the numbers of the instance, the same for all nodes; read-only.
node: the numbers of the node; read-only.
best: the value that a solution must beat, or the worst 64-bit value before there is one.
children: a row for each child: first its bound, then all its numbers. The bound matters when minimising or maximising.
found: what is found at the node: ``found[COUNT]`` is added to the count, ``found[LEAVES]`` is the number of
    children that need no exploring. A solution sets ``found[SOLVED]`` to 1, ``found[VALUE]`` and ``found[LENGTH]``,
    and writes its numbers from ``found[SOLUTION]`` on.

As in all compiled code, nothing checks that indices are inside the arrays; `Compiled.preview` runs the function as plain
Python, which does. An exception ends the search: Numba prints it, and `solve` raises a ValueError that names the node.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, overload

from pleach import _numbers, _pleach, _run
from pleach._tree import Goal, TreeResult, goal_number, tree_result, tree_view, value_to_beat

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "COUNT",
    "LEAVES",
    "LENGTH",
    "SOLUTION",
    "SOLVED",
    "VALUE",
    "Compiled",
    "Preview",
    "expand",
    "solve",
]

LEAVES = 0
"""The place of the number of children that need no exploring."""
COUNT = 1
"""The place of what is added to the count."""
SOLVED = 2
"""The place that says whether there is a solution."""
VALUE = 3
"""The place of the solution's value."""
LENGTH = 4
"""The place of the solution's length."""
SOLUTION = 5
"""The place of the solution's first number."""

_WORST = {"minimise": 2**63 - 1, "maximise": -(2**63), "count": 2**63 - 1, "find": 2**63 - 1}


@dataclass(frozen=True)
class Preview:
    """What a function does with a node: bounds and numbers of its children, and what it found."""

    children: tuple[tuple[int, tuple[int, ...]], ...]
    leaves: int
    count: int
    value: int | None
    solution: tuple[int, ...] | None


@dataclass(frozen=True)
class Compiled:
    """A function that expands nodes, compiled.

    words: how many numbers a node has.
    children: the maximum number of children of a node.
    solution: the maximum length of a solution.
    function: the function as plain Python.
    code: the object of Numba that holds the compiled code, and its address.
    """

    words: int
    children: int
    solution: int
    function: Callable[..., int]
    code: Any

    def preview(self, data: object, node: object, best: int | None = None, goal: Goal = "minimise") -> Preview:
        """Expand one node as plain Python, where every index is checked.

        Numbers of children and solutions that the function does not write are 0 here. In a search, they are whatever an
        earlier node left there.
        """
        import numpy as np

        goal_number(goal)
        children = np.zeros((self.children, 1 + self.words), np.int64)
        found = np.zeros(SOLUTION + self.solution, np.int64)
        beat = _WORST[goal] if best is None else best
        numbers = np.array(_words("node", node, self.words), np.int64)
        made = self.function(np.array(_flat("data", data), np.int64), numbers, beat, children, found)
        _numbers.whole("what expand returned", made, 0, self.children)
        _numbers.whole("found[LEAVES]", int(found[LEAVES]), 0, _MOST_LEAVES)
        _numbers.whole("found[COUNT]", int(found[COUNT]), 0, _MOST_COUNT)
        _numbers.whole("found[LENGTH]", int(found[LENGTH]) if found[SOLVED] else 0, 0, self.solution)
        rows = tuple((int(row[0]), tuple(map(int, row[1:]))) for row in children[:made])
        solved = bool(found[SOLVED])
        solution = tuple(map(int, found[SOLUTION:][: found[LENGTH]])) if solved else None
        value = int(found[VALUE]) if solved else None
        return Preview(rows, int(found[LEAVES]), int(found[COUNT]), value, solution)


def expand(
    *, words: int, children: int, solution: int = 0
) -> Callable[[Callable[..., int]], Compiled]:
    """Compile a function that expands nodes; it needs the package numba.

    words: how many 64-bit numbers a node has, at most 64.
    children: the maximum number of children of a node.
    solution: the maximum length of a solution.
    """
    size = _numbers.whole("words", words, 1, 64)
    most = _numbers.whole("children", children, 1, 2**14)
    longest = _numbers.whole("solution", solution, 0, 2**14)

    def compiled(function: Callable[..., int]) -> Compiled:
        """Compile the function."""
        compiler: Any = import_module("numba")
        long = compiler.int64
        numbers = compiler.types.CPointer(long)
        # Inlined into the loop, the function is up to three times as fast as when it is called.
        loop = _loop(compiler.carray, long, compiler.njit(inline="always")(function), size, most, longest)
        code = compiler.cfunc(long(numbers, long, numbers, numbers, numbers, numbers, numbers))(loop)
        return Compiled(size, most, longest, function, code)

    return compiled


_MARK = 0x506C656163682121
"""Follows children and what was found: if it has changed, a function has written too far."""

_MOST_LEAVES = 2**40
"""The maximum number of leaves of a node."""

_WORST_SCORE = 2**63 - 1
"""The score that stands for no solution."""

_MOST_COUNT = 2**61
"""The most that a node may add to the count."""


def _loop(carray: Any, int64: Any, expand: Any, words: int, most: int, longest: int) -> Callable[..., int]:
    """Return a loop that explores depth first, for Numba to compile. The engine's native.rs knows its arguments."""
    all_children, all_found = most * (1 + words), SOLUTION + longest

    def explore(data_at: Any, n: Any, stack_at: Any, children_at: Any, found_at: Any, node_at: Any, state_at: Any) -> int:
        """Explore until the fuel, the work or the room is used up, or a solution is found."""
        state = carray(state_at, (13,))
        top, room, fuel, cutoff, flip, bounded_children = state[0], state[1], state[2], state[3], state[4], state[5]
        # If an exception or anything else ends the loop early, this stays.
        state[0] = -1
        data = carray(data_at, (n,))
        stack = carray(stack_at, (room, 3 + words))
        children = carray(children_at, (most, 1 + words))
        found = carray(found_at, (all_found,))
        node = carray(node_at, (words,))
        behind_children, behind_found = carray(children_at, (all_children + 2,)), carray(found_at, (all_found + 1,))
        used = branched = bounded = total = deepest = bound = why = 0
        while top > 0 and used < fuel and top + most <= room:
            top -= 1
            bound, depth, share = stack[top, 0], stack[top, 1], stack[top, 2]
            if bound >= cutoff:
                continue
            for j in range(words):
                node[j] = stack[top, 3 + j]
            # Go from first child to first child; none of them passes through the stack.
            while True:
                branched += 1
                for j in range(SOLUTION):
                    found[j] = 0
                # Adding 0 raises an exception if this is not a number; int64 makes it a whole one.
                made = int64(expand(data, node, cutoff ^ flip, children, found) + 0)
                # When counting, a function need not write column 0, so the mark covers column 1, too.
                if behind_children[all_children] != _MARK or behind_children[all_children + 1] != _MARK:
                    return 2
                if behind_found[all_found] != _MARK:
                    return 2
                if made < 0 or made > most:
                    state[12] = made
                    return 3
                nodes = made
                if found[LEAVES] != 0:
                    if found[LEAVES] < 0 or found[LEAVES] > _MOST_LEAVES:
                        state[12] = found[LEAVES]
                        return 4
                    nodes += found[LEAVES]
                if found[COUNT] != 0:
                    if found[COUNT] < 0 or found[COUNT] > _MOST_COUNT:
                        state[12] = found[COUNT]
                        return 5
                    total += found[COUNT]
                    if total > _MOST_COUNT:
                        fuel = 0
                used += max(nodes, 1)
                bounded += nodes
                deepest = max(deepest, depth + 1 if nodes > 0 else depth)
                depth += 1
                state[11] = bound
                first, first_bound, below = -1, bound, top
                for i in range(made - 1, -1, -1):
                    child_bound = max(bound, children[i, 0] ^ flip) if bounded_children else bound
                    if child_bound >= cutoff:
                        continue
                    if first >= 0:
                        stack[top, 0], stack[top, 1] = first_bound, depth
                        for j in range(words):
                            stack[top, 3 + j] = children[first, 1 + j]
                        top += 1
                    first, first_bound = i, child_bound
                if found[SOLVED] != 0:
                    if not bounded_children or found[VALUE] ^ flip < cutoff:
                        fuel, why = 0, 1
                    elif found[VALUE] ^ flip == _WORST_SCORE:
                        state[12] = found[VALUE]
                        return 6
                if first < 0:
                    break
                if top > below:
                    share //= top - below + 1
                    for i in range(below, top):
                        stack[i, 2] = share
                bound = first_bound
                for j in range(words):
                    node[j] = children[first, 1 + j]
                if used >= fuel or top + most > room:
                    stack[top, 0], stack[top, 1], stack[top, 2] = bound, depth, share
                    for j in range(words):
                        stack[top, 3 + j] = node[j]
                    top += 1
                    break
        state[0] = top
        state[6], state[7], state[8], state[9], state[10] = used, branched, bounded, total, deepest
        return why

    return explore


def _flat(argument: str, values: object) -> list[int]:
    """Return numbers of any shape as one list, row by row."""
    content = _numbers.plain(values)
    if isinstance(content, int) and not isinstance(values, int):
        # An array without dimensions.
        return [_numbers.whole(argument, content)]
    found: list[int] = []
    for i, value in enumerate(_numbers.items(argument, values)):
        if not isinstance(value, int) and isinstance(_numbers.plain(value), (list, tuple)):
            found += _flat(f"{argument}[{i}]", value)
        else:
            found.append(_numbers.whole(f"{argument}[{i}]", value))
    return found


def _words(argument: str, values: object, words: int) -> list[int]:
    """Return the numbers of a node."""
    found = _flat(argument, values)
    if len(found) != words:
        _numbers.wrong(ValueError, argument, len(found), f"{words} numbers, the number that expand declares as words")
    return found


_LOCAL = re.compile(r'%("[^"]*"|[\w.$-]+)|^("[^"]*"|[\w.$-]+):', re.MULTILINE)
_ADDRESS = re.compile(r"inttoptr \(i64 \d+ to")
_COMMENT = re.compile(r" +; preds = .*")
_MANGLED = re.compile(r"B\d+v\d+")


def _code_print(code: Any) -> bytes:
    """Return what tells compiled code from other code: what the compiler made, constants included.

    The names of values, and the numbers of functions, depend on what was compiled before; their order does not.
    """
    names: dict[str, int] = {}

    def number(found: re.Match[str]) -> str:
        """Return the place of a name among all names."""
        name = found[1] or found[2]
        return f"%{names.setdefault(name, len(names))}" + (":" if found[2] else "")

    functions: dict[str, int] = {}
    text = _COMMENT.sub("", str(code.inspect_llvm()))
    plain = re.sub(r'[@"][\w.$]+', lambda found: _numbered(found[0], functions), text)
    return _LOCAL.sub(number, plain).encode()


def _numbered(name: str, functions: dict[str, int]) -> str:
    """Return the name of a function with its place among all functions, if its name has a number."""
    without = _MANGLED.sub("v", name)
    return name if without == name else f"{without}.{functions.setdefault(name, len(functions))}"


@overload
def solve(
    expand: Compiled,
    root: object,
    data: object = (),
    *,
    goal: Goal,
    best: int | None = None,
    blocking: Literal[True] = True,
    **options: Unpack[_run.Options],
) -> TreeResult: ...


@overload
def solve(
    expand: Compiled,
    root: object,
    data: object = (),
    *,
    goal: Goal,
    best: int | None = None,
    blocking: Literal[False],
    **options: Unpack[_run.Options],
) -> _run.Run[TreeResult]: ...


def solve(
    expand: Compiled,
    root: object,
    data: object = (),
    *,
    goal: Goal,
    best: int | None = None,
    blocking: bool = True,
    **options: Unpack[_run.Options],
) -> TreeResult | _run.Run[TreeResult]:
    """Search the whole tree that a compiled function expands, and prove the result.

    root: the numbers of the node that stands for the whole tree.
    data: the numbers of the instance, in any shape; the function gets them as one array, row by row.
    goal: what the search is for: "minimise", "maximise", "count" or "find".
    best: search only for solutions better than this.
    blocking: whether to wait for the result; if not, a Run is returned at once.
    **options: when to stop, how many threads, and functions to call; see `pleach.Options`.
    """
    if not isinstance(expand, Compiled):
        _numbers.wrong(TypeError, "expand", expand, "a function with the decorator pleach.native.expand")
    given: dict[str, Any] = {
        "address": expand.code.address,
        "code": expand.code,
        "code_print": _code_print(expand.code),
        "data": _flat("data", data),
        "root": _words("root", root, expand.words),
        "most": expand.children,
        "longest": expand.solution,
        "goal": goal_number(goal),
        "best": value_to_beat(best, goal_number(goal)),
    }
    if options.get("checkpoint") is not None and _ADDRESS.search(str(expand.code.inspect_llvm())):
        raise ValueError("expand: compiled with a large array, which checkpoints do not see; pass it as data")
    return _run.start("native", (given,), tree_result, tree_view(), options, blocking)
