"""Own trees as Python classes and compiled by Numba: the results and counts of the same trees in Rust."""

from __future__ import annotations

import runpy
import traceback
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import pleach
from pleach import _pleach, _run, native

EXAMPLES = Path(__file__).parent.parent / "examples"
ITEMS = [(6, 4), (5, 3), (8, 6), (7, 5), (3, 2), (9, 7)]


class Knapsack(pleach.Tree[tuple[int, int, int, tuple[int, ...]]]):
    """A node is: items decided, room, value, items taken."""

    goal = "maximise"

    def __init__(self, capacity: int, items: list[tuple[int, int]]) -> None:
        self.capacity, self.items = capacity, items

    def root(self) -> tuple[int, int, int, tuple[int, ...]]:
        return (0, self.capacity, 0, ())

    def expand(self, node: tuple[int, int, int, tuple[int, ...]], best: int | None, out: pleach.Children) -> None:
        at, room, value, taken = node
        if at == len(self.items):
            out.solution(value, taken)
            return
        gain, weight = self.items[at]
        rest = sum(gain for gain, _ in self.items[at + 1 :])
        if weight <= room:
            out.child_within(value + gain + rest, (at + 1, room - weight, value + gain, (*taken, at)))
        out.child_within(value + rest, (at + 1, room, value, taken))

    def check(self, solution: list[int]) -> int:
        assert sum(self.items[i][1] for i in solution) <= self.capacity
        return sum(self.items[i][0] for i in solution)


class Raises(pleach.Tree[Any]):
    """Does what it is given."""

    goal: ClassVar[Any] = "minimise"

    def __init__(self, act: Any) -> None:
        self.act = act

    def root(self) -> Any:
        return 0

    def expand(self, node: Any, best: int | None, out: pleach.Children) -> None:
        self.act(node, out)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_class_is_searched(threads: int) -> None:
    result = pleach.solve(Knapsack(14, ITEMS), threads=threads)
    known = pleach.knapsack.solve(ITEMS, 14)
    assert (result.status, result.value, result.bound) == ("optimal", known.value, known.value)
    assert result.solution is not None and sum(ITEMS[i][0] for i in result.solution) == known.value
    assert result.to_pandas()["solution"].tolist() == list(result.solution)
    best_first = pleach.solve(Knapsack(14, ITEMS), threads=threads, best_first=True)
    assert (best_first.status, best_first.value) == ("optimal", known.value)
    with pytest.raises(ValueError, match="cannot be searched best first"):
        pleach.queens.count(8, best_first=True)
    better = pleach.solve(Knapsack(14, ITEMS), threads=threads, best=known.value)  # type: ignore[arg-type]
    assert (better.status, better.value, better.solution) == ("no-better", None, None)


class Layered(Knapsack):
    """The same by layers, with a counter for each depth."""

    def expand(self, node: tuple[int, int, int, tuple[int, ...]], best: int | None, out: pleach.Children) -> None:
        out.tally(node[0], 1)
        super().expand(node, best, out)

    def key(self, node: tuple[int, int, int, tuple[int, ...]]) -> int | None:
        return node[0]

    def dominates(self, one: Any, other: Any) -> bool:
        return bool(one[1] >= other[1] and one[2] >= other[2])


@pytest.mark.parametrize("threads", [1, 3])
def test_layers_need_fewer_nodes(threads: int) -> None:
    items = [(i * 7 % 23 + 5, i * 11 % 19 + 3) for i in range(20)]
    layers, depth = (pleach.solve(tree(60, items), threads=threads) for tree in (Layered, Knapsack))
    assert (layers.status, layers.value, layers.bound) == (depth.status, depth.value, depth.bound)
    assert layers.nodes < depth.nodes
    assert sum(layers.tally) == layers.branched and depth.tally == ()


def test_counters_are_exact() -> None:
    class Subsets(pleach.Tree[tuple[int, int]]):
        goal = "count"

        def root(self) -> tuple[int, int]:
            return (0, 0)

        def expand(self, node: tuple[int, int], best: int | None, out: pleach.Children) -> None:
            at, size = node
            if at == 8:
                out.tally(size, 1)
                return
            out.child((at + 1, size))
            out.child((at + 1, size + 1))

    for threads in (1, 3):
        assert pleach.solve(Subsets(), threads=threads).tally == (1, 8, 28, 56, 70, 56, 28, 8, 1)


def test_wrong_keys_and_counters_raise() -> None:
    for counter, n, said in [(4096, 1, "counter: 4096, expected at most 4095"), (0, -1, "tally: -1, expected 0 or more")]:
        with pytest.raises(ValueError, match=said):
            pleach.solve(Raises(lambda node, out, c=counter, n=n: out.tally(c, n)))
    for key in (-1, "a", True, 2**128):
        wrong: Any = Layered(14, ITEMS)
        wrong.key = lambda node, key=key: key
        with pytest.raises(ValueError, match="key: .*expected None or a whole number from 0"):
            pleach.solve(wrong)
    half: Any = Raises(lambda node, out: None)
    half.key = lambda node: 0
    with pytest.raises(TypeError, match="no method dominates, expected key and dominates, or neither"):
        pleach.solve(half)
    tree: Any = Layered(14, ITEMS)
    tree.dominates = lambda one, other: 1 // 0
    with pytest.raises(ZeroDivisionError):
        pleach.solve(tree)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_walks_are_those_of_the_rust_example(threads: int) -> None:
    """`cargo run --release --example walks -- 9 --json` has the same count and the same nodes."""
    walks = runpy.run_path(str(EXAMPLES / "walks.py"))["Walks"]
    result = pleach.solve(walks(9), threads=threads)
    assert (result.count, result.nodes, result.status, result.depth) == (16268, 25572, "counted", 9)
    compiled = runpy.run_path(str(EXAMPLES / "walks_native.py"))["count"](9, threads)
    assert (compiled.count, compiled.nodes, compiled.branched) == (result.count, result.nodes, result.branched)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_compiled_knapsack_explores_the_nodes_of_rust(threads: int) -> None:
    solve = runpy.run_path(str(EXAMPLES / "knapsack_native.py"))["solve"]
    result, known = solve(14, ITEMS, threads), pleach.knapsack.solve(ITEMS, 14, threads=threads)
    assert (result.status, result.value, result.bound) == ("optimal", known.value, known.bound)
    if threads == 1:
        assert (result.nodes, result.branched, result.depth) == (known.nodes, known.branched, known.depth)
    assert known.items is not None
    assert sorted(number - 1 for number in result.solution) == sorted(known.items)


class Semigroups(pleach.Tree[tuple[int, int]]):
    """Numerical semigroups by genus: the elements above 0 and the generators beyond the largest gap, as bits."""

    goal = "count"
    full = (1 << 128) - 1

    def __init__(self, genus: int) -> None:
        self.genus = genus

    def root(self) -> tuple[int, int]:
        return (self.full ^ 1, 2)

    def expand(self, node: tuple[int, int], best: int | None, out: pleach.Children) -> None:
        elements, rest = node
        least, gaps = (elements & -elements).bit_length() - 1, 127 - elements.bit_count()
        shifted, mirrored = elements >> least, int(f"{elements:0128b}"[::-1], 2)
        while rest:
            x = (rest & -rest).bit_length() - 1
            rest &= rest - 1
            sums = shifted & (mirrored >> (127 - x))
            new = 3 << (2 * x) if x == least else 1 << (x + least) if sums == 1 | 1 << (x - least) else 0
            if gaps + 2 < self.genus:
                out.child((elements & ~(1 << x), rest | new))
            else:
                children = (rest | new).bit_count()
                out.leaves(1 + children)
                out.count(children)


def test_nodes_of_long_integers_and_leaves_are_counted() -> None:
    """Every semigroup except the root counts as a node."""
    result = pleach.solve(Semigroups(15))
    assert (result.count, result.status) == (2857, "counted")
    assert result.nodes == sum([1, 2, 4, 7, 12, 23, 39, 67, 118, 204, 343, 592, 1001, 1693, 2857])


def test_any_object_can_be_a_node() -> None:
    class Node:
        pass

    seen: list[Any] = []

    def act(node: Any, out: pleach.Children) -> None:
        seen.append(node)
        if node == 0:
            out.child_within(1, [b"bytes", {"a": frozenset([1])}])
            out.child_within(2, Node())
        elif isinstance(node, Node):
            out.solution(2, range(3))

    result = pleach.solve(Raises(act))
    assert (result.value, result.solution) == (2, (0, 1, 2)) and len(seen) == 3


def test_solutions_do_not_lengthen_stretches() -> None:
    """They end a stretch early, which does not mean that nodes are cheap."""

    def act(node: int, out: pleach.Children) -> None:
        if node < 20:
            out.solution(-node, [node])
        if node < 5000:
            out.child(node + 1)

    result = pleach.solve(Raises(act), node_limit=100)
    assert result.stopped_by == "node-limit" and result.nodes < 1000


def test_a_goal_can_be_to_find_one() -> None:
    class Find(Raises):
        goal = "find"

    found = pleach.solve(Find(lambda node, out: out.solution(0, [node]) if node == 5 else out.child(node + 1)))
    assert (found.status, found.solution, found.value, found.bound) == ("found", (5,), None, None)
    assert pleach.solve(Find(lambda node, out: None)).status == "infeasible"
    with pytest.raises(ValueError, match="best: 0, expected None for the goal 'find'"):
        pleach.solve(Find(lambda node, out: out.solution(0, [1])), best=0)


@pytest.mark.parametrize(
    ("act", "kind", "line"),
    [
        (lambda node, out: 1 / 0, ZeroDivisionError, "division by zero"),
        (lambda node, out: out.child_within(2**63, 1), ValueError, f"bound: {2**63}, expected a number of 64 bits"),
        (lambda node, out: out.child_within(True, 1), TypeError, "bound: True, expected a whole number"),
        (lambda node, out: out.child_within(1.5, 1), TypeError, "bound: 1.5, expected a whole number"),
        (lambda node, out: out.leaves(-1), ValueError, "leaves: -1, expected 0 or more"),
        (
            lambda node, out: [out.leaves(2**40), out.leaves(1)],
            ValueError,
            f"leaves: {2**40 + 1} in a node, expected at most 2**40",
        ),
        (lambda node, out: out.count("x"), TypeError, "count: 'x', expected a whole number"),
        (lambda node, out: out.solution(1, ["x"]), TypeError, "solution: 'x', expected a whole number"),
        (lambda node, out: out.solution(1, 2), TypeError, "not iterable"),
        (lambda node, out: out.solution(2**63 - 1, [1]), ValueError, f"value: {2**63 - 1}, expected one that is better"),
        (
            lambda node, out: out.solution(1, [1]) if node else out.child_within(2, 1),
            ValueError,
            "the bound of the tree is wrong: below a node with the bound 2 there is a solution of value 1",
        ),
    ],
)
@pytest.mark.parametrize("blocking", [True, False])
def test_faults_of_a_tree_are_raised(act: Any, kind: type[Exception], line: str, blocking: bool) -> None:
    with pytest.raises(kind) as raised:
        if blocking:
            pleach.solve(Raises(act))
        else:
            pleach.solve(Raises(act), blocking=False).wait()
    assert line in str(raised.value)


def test_a_traceback_does_not_keep_the_search_that_keeps_it() -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        pleach.solve(Raises(lambda node, out: 1 / 0))
    frames = [frame for frame, _ in traceback.walk_tb(raised.value.__traceback__)]
    assert any(frame.f_code is _run.waited.__code__ for frame in frames)
    kept = [value for frame in frames for value in frame.f_locals.values()]
    assert not any(isinstance(value, _pleach.Search) for value in kept)


def test_an_expand_that_returns_children_is_refused() -> None:
    class Returns(Raises):
        goal = "count"

        def expand(self, node: Any, best: int | None, out: pleach.Children) -> Any:
            return self.act(node, out)

    def yields(node: Any, out: pleach.Children) -> Any:
        yield
        out.count(1)

    cases: list[tuple[Any, str]] = [(lambda node, out: [1], "list"), (yields, "generator"), (lambda node, out: 0, "int")]
    for act, kind in cases:
        with pytest.raises(TypeError, match=f"expand returned a value of type {kind}, expected None: add children"):
            pleach.solve(Returns(act))


def test_nodes_that_cannot_be_pickled_and_wrong_checks_are_raised() -> None:
    class Lambda(Raises):
        def root(self) -> Any:
            return lambda: 0

    with pytest.raises(Exception, match="pickle"):
        pleach.solve(Lambda(None))

    class Liar(Knapsack):
        def check(self, solution: list[int]) -> int:
            return 1

    with pytest.raises(ValueError, match="a solution is wrong"):
        pleach.solve(Liar(14, ITEMS))
    with pytest.raises(TypeError, match="tree: 5, expected an object of a class derived from pleach.Tree"):
        pleach.solve(5)  # type: ignore[call-overload]

    class NoGoal(Raises):
        goal = "best"

    with pytest.raises(ValueError, match="goal: 'best', expected one of minimise"):
        pleach.solve(NoGoal(None))


@native.expand(words=1, children=2, solution=2)
def faulty(data: Any, node: Any, best: Any, children: Any, found: Any) -> int:
    """Do what the data say."""
    if data[0] == 2:
        found[native.SOLVED], found[native.LENGTH] = 1, 3
    if data[0] == 3:
        found[native.COUNT] = -1
    if data[0] == 4:
        found[native.SOLUTION + 2] = 7
    if data[0] == 5:
        found[native.LEAVES] = -7
    if data[0] == 6 and node[0] == 0:
        children[0, 0], children[0, 1] = 5, 1
        return 1
    if data[0] == 6:
        found[native.SOLVED], found[native.VALUE] = 1, 4
    if data[0] == 7:
        found[native.SOLVED], found[native.VALUE] = 1, data[1]
    return 3 if data[0] == 1 else 0


def test_faults_of_compiled_trees_are_raised() -> None:
    for fault, line in (
        (1, "expand returned 3, expected from 0 to 2 children"),
        (2, "a solution of 3 numbers, expected at most 2"),
        (3, r"found\[COUNT\]: -1, expected from 0 to 2\*\*61"),
        (4, "expand wrote beyond its arrays"),
        (5, r"found\[LEAVES\]: -7, expected from 0 to 2\*\*40; preview shows where: the node is \[0\]"),
        (6, "the bound of the tree is wrong: below a node with the bound 5 there is a solution of value 4"),
    ):
        with pytest.raises(ValueError, match=line):
            native.solve(faulty, [0], [fault], goal="minimise")
    goals: list[tuple[Any, int]] = [("minimise", 2**63 - 1), ("maximise", -(2**63))]
    for goal, worst in goals:
        for best_first in (False, True):
            with pytest.raises(ValueError, match=rf"found\[VALUE\]: {worst}, expected one that is better than none"):
                native.solve(faulty, [0], [7, worst], goal=goal, best_first=best_first)
    assert native.solve(faulty, [0], [7, 2**63 - 1], goal="find").status == "found"
    with pytest.raises(ValueError, match="root: 2, expected 1 numbers"):
        native.solve(faulty, [0, 1], [0], goal="count")
    with pytest.raises(ValueError, match=r"data\[0\]: 0.5, expected a whole number"):
        native.solve(faulty, [0], [0.5], goal="count")
    with pytest.raises(TypeError, match="expand: .*, expected a function with the decorator"):
        native.solve(len, [0], goal="count")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="words: 65, expected a number from 1 to 64"):
        native.expand(words=65, children=1)


@native.expand(words=1, children=2, solution=1)
def strings_that_solve(data: Any, node: Any, best: Any, children: Any, found: Any) -> int:
    """Make all strings of zeros and ones, and report each as a solution of the best value."""
    if node[0] == data[0] + data[3]:
        found[native.COUNT] = found[native.SOLVED] = 1
        found[native.VALUE] = -(2**63)
        return 0
    children[0, 1] = children[1, 1] = node[0] + 1
    return 2


def test_counting_keeps_no_solutions_and_data_have_any_shape() -> None:
    for data in ([[2, 0], [0, 4]], ((2, 0), [0, 4]), np.array([[2, 0], [0, 4]]), [2, 0, 0, 4]):
        counted = native.solve(strings_that_solve, [0], data, goal="count")
        assert (counted.status, counted.count, counted.solution) == ("counted", 64, None)


@native.expand(words=2, children=2)
def raising(data: Any, node: Any, best: Any, children: Any, found: Any) -> Any:
    """Raise, at one leaf, what the data say."""
    if node[0] == 12:
        found[native.COUNT] = 1
        if node[1] == data[1]:
            if data[0] == 0:
                return data[0] // data[2]
            if data[0] == 1:
                raise ValueError("no")
            if data[0] == 2:
                children[0, 1:] = data[:3]
            if data[0] == 3:
                return None
            if data[0] == 4:
                # Column 0 stays, as in all functions that count.
                children[2, 1], children[2, 2] = 1, 2
        return 0
    for i in range(2):
        children[i, 0], children[i, 1], children[i, 2] = 0, node[0] + 1, 2 * node[1] + i
    return 2


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("best_first", [False, True])
def test_exceptions_of_compiled_trees_end_the_search(threads: int, best_first: bool) -> None:
    goal: Any = "minimise" if best_first else "count"
    for fault in range(4):
        with pytest.raises(ValueError, match=r"expand raised an exception, printed above; .*the node is \[12, 2300\]"):
            native.solve(raising, [0, 0], [fault, 2300, 0], goal=goal, threads=threads, best_first=best_first)
    with pytest.raises(ValueError, match=r"expand wrote beyond its arrays; .*the node is \[12, 2300\]"):
        native.solve(raising, [0, 0], [4, 2300, 0], goal=goal, threads=threads, best_first=best_first)
    if not best_first:
        assert native.solve(raising, [0, 0], [5, 2300, 0], goal=goal, threads=threads).count == 4096


@native.expand(words=64, children=1000)
def wide(data: Any, node: Any, best: Any, children: Any, found: Any) -> int:
    """Add a thousand children at each of two levels."""
    if node[63] == 2:
        found[native.COUNT] = 1
        return 0
    for i in range(1000):
        for j in range(63):
            children[i, 1 + j] = node[j] + i
        children[i, 64] = node[63] + 1
    return 1000


@native.expand(words=1, children=1)
def deep(data: Any, node: Any, best: Any, children: Any, found: Any) -> int:
    """Add a child and a leaf, down to a depth."""
    found[native.LEAVES] = found[native.COUNT] = 1
    children[0, 1] = node[0] + 1
    return 1 if node[0] < data[0] else 0


@pytest.mark.parametrize("threads", [1, 2])
def test_compiled_trees_may_be_wide_and_deep(threads: int) -> None:
    result = native.solve(wide, [0] * 64, goal="count", threads=threads)
    assert (result.count, result.nodes, result.branched, result.depth) == (1_000_000, 1_001_000, 1_001_001, 2)
    result = native.solve(deep, [0], [100_000], goal="count", threads=threads)
    assert (result.count, result.nodes, result.branched, result.depth) == (100_001, 200_001, 100_001, 100_001)


def test_a_compiled_tree_is_the_same_best_bounds_first() -> None:
    knapsack: Any = runpy.run_path(str(EXAMPLES / "knapsack_native.py"))["knapsack"]
    numbered = sorted(((value, weight, i) for i, (value, weight) in enumerate(ITEMS)), key=lambda item: -item[0] / item[1])
    result = native.solve(knapsack, [0, 14, 0, 0], sum(numbered, ()), goal="maximise", threads=1, best_first=True)
    known = pleach.knapsack.solve(ITEMS, 14, threads=1, best_first=True)
    assert (result.value, result.nodes, result.branched) == (known.value, known.nodes, known.branched)


def test_a_compiled_function_can_be_run_as_plain_python() -> None:
    with pytest.raises(IndexError):
        faulty.preview([4], [0])
    knapsack = runpy.run_path(str(EXAMPLES / "knapsack_native.py"))["knapsack"]
    data = np.array([(6, 4, 1), (5, 3, 2)])
    preview = knapsack.preview(data, [0, 4, 0, 0], goal="maximise")
    assert preview.children == ((6, (1, 0, 6, 1)), (5, (1, 4, 0, 0)))
    assert knapsack.preview(data, [2, 0, 6, 1]).solution == (1,)
    for fault, line in (
        (1, "what expand returned: 3, expected a number from 0 to 2"),
        (2, r"found\[LENGTH\]: 3, expected a number from 0 to 2"),
        (3, r"found\[COUNT\]: -1, expected a number from 0"),
        (5, r"found\[LEAVES\]: -7, expected a number from 0"),
    ):
        with pytest.raises(ValueError, match=line):
            faulty.preview([fault], [0])
    with pytest.raises(TypeError, match="what expand returned: None"):
        raising.preview([3, 7, 0], [12, 7])
