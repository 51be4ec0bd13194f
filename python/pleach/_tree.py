"""Your own problems as Python classes: a root, and how a node branches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar, overload

from pleach import _numbers, _pleach, _run
from pleach._pleach import Children
from pleach._result import Optimised, View, frame

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Unpack

N = TypeVar("N")

Goal = Literal["minimise", "maximise", "count", "find"]
"""What a search is for: the best solution, the number of solutions, or any one."""

_GOALS = ("minimise", "maximise", "count", "find")


class Tree(ABC, Generic[N]):
    """A search tree: derive a class with a goal, a root, and what the children of a node are.

    Nodes may be any objects. The root must be picklable, and all nodes if several threads or processes search, if the
    search is saved or looks at the best nodes first, or if a limit may stop a search by layers. A method
    ``check(solution)`` is optional: it returns the value of a solution, computed from the problem alone, and every
    result is then checked.
    So is a method ``fingerprint()``: it returns bytes or a str that tell this tree from others, for checkpoints;
    without it, a sample of nodes is used.

    With the methods ``key(node)``, which must give the root a key as well, and ``dominates(one, other)``, a search for
    the best solution begins by layers: it expands all nodes of a depth at once, without those that others with the
    same key dominate. A key is None or a number from 0 to 2**128 - 1. ``guide(node, bound)`` says how promising a node
    is, the lower the better.
    """

    goal: ClassVar[Goal]

    @abstractmethod
    def root(self) -> N:
        """Return the node that stands for the whole tree."""

    @abstractmethod
    def expand(self, node: N, best: int | None, out: Children) -> None:
        """Add the children of a node to `out`, in the order in which to explore them, and report solutions.

        It returns nothing: any other value, such as a list of children, is an error.

        best: the value that a solution must beat; None before there is one. Use it only to prune.
        """


@dataclass(frozen=True, kw_only=True)
class TreeResult(Optimised):
    """The result of a search of your own tree.

    solution: the numbers of the best solution; None if none was found.
    count: what the tree counted.
    tally: the tree's own counters, up to the last one that is not 0.
    """

    solution: tuple[int, ...] | None
    count: int
    tally: tuple[int, ...]

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each number of the solution."""
        return frame([[number] for number in self.solution or ()], ["solution"])

    def _facts(self) -> list[tuple[str, object]]:
        """Return what is worth showing, as pairs of a name and a value."""
        facts = super()._facts()
        if self.status == "counted" or self.count:
            facts.append(("count", f"{self.count:,}"))
        return facts


def goal_number(goal: object) -> int:
    """Return the number by which the compiled part knows a goal."""
    if goal not in _GOALS:
        _numbers.wrong(ValueError, "goal", goal, "one of " + ", ".join(_GOALS))
    return _GOALS.index(str(goal))


def value_to_beat(best: object, goal: int) -> int | None:
    """Return the value that solutions must beat, if the goal has values."""
    if best is not None and _GOALS[goal] in ("count", "find"):
        _numbers.wrong(ValueError, "best", best, f"None for the goal {_GOALS[goal]!r}")
    return None if best is None else _numbers.whole("best", best)


def tree_view() -> View:
    """Return how solutions of your own trees are shown: as they are."""
    return View(items=lambda solution: solution)


def tree_result(raw: Mapping[str, Any]) -> TreeResult:
    """Return the result of a search of your own tree."""
    view = tree_view()
    solution, tally = view.solution(raw["solution"]), tuple(raw["tally"])
    return TreeResult(solution=solution, count=raw["count"], tally=tally, **view.optimised(raw))


def _layers(tree: Tree[Any]) -> dict[str, Any] | None:
    """Return the methods of a tree that is searched by layers."""
    methods = {name: getattr(tree, name, None) for name in ("key", "dominates", "guide")}
    missing = [name for name in ("key", "dominates") if methods[name] is None]
    if len(missing) == 1:
        raise TypeError(f"tree: no method {missing[0]}, expected key and dominates, or neither")
    return None if missing else methods


def _fingerprint(tree: Tree[Any]) -> bytes | None:
    """Return what tells a tree from others, if it has a fingerprint."""
    method = getattr(tree, "fingerprint", None)
    if method is None:
        return None
    found = method()
    if isinstance(found, str):
        return found.encode()
    if not isinstance(found, bytes):
        _numbers.wrong(TypeError, "fingerprint", found, "bytes or a str")
    return found


@overload
def solve(
    tree: Tree[Any], *, best: int | None = None, blocking: Literal[True] = True, **options: Unpack[_run.Options]
) -> TreeResult: ...


@overload
def solve(
    tree: Tree[Any], *, best: int | None = None, blocking: Literal[False], **options: Unpack[_run.Options]
) -> _run.Run[TreeResult]: ...


def solve(
    tree: Tree[Any], *, best: int | None = None, blocking: bool = True, **options: Unpack[_run.Options]
) -> TreeResult | _run.Run[TreeResult]:
    """Search the whole tree of your own problem, and prove the result.

    The interpreter expands one node at a time, so one thread searches unless `threads` says otherwise; more threads
    help only where `expand` spends its time in code that releases the interpreter. `pleach.native` uses all cores.

    best: search only for solutions better than this.
    blocking: whether to wait for the result; if not, a Run is returned at once.
    **options: when to stop, how many threads, and functions to call; see `pleach.Options`.
    """
    if not isinstance(tree, Tree):
        _numbers.wrong(TypeError, "tree", tree, "an object of a class derived from pleach.Tree")
    goal = goal_number(getattr(tree, "goal", None))
    to_beat = value_to_beat(best, goal)
    given = {
        "root": tree.root(),
        "expand": tree.expand,
        "check": getattr(tree, "check", None),
        "layers": _layers(tree),
        "fingerprint": _fingerprint(tree),
        "goal": goal,
        "best": to_beat,
    }
    return _run.start("own", (given,), tree_result, tree_view(), options, blocking, threads=1)
