"""The compiled part of Pleach; its functions are private to the package."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, final

__all__ = [
    "Children",
    "Cluster",
    "Graph",
    "Search",
    "SearchLost",
    "WrongTree",
    "__version__",
    "atsp",
    "atsp_instance",
    "clique",
    "command",
    "cores",
    "dense_product",
    "flowshop",
    "flowshop_instance",
    "knapsack",
    "native",
    "own",
    "qap",
    "qap_instance",
    "queens",
    "sparse_product",
    "uts",
]

__version__: str

def cores() -> int:
    """The number of cores that this process may use."""

def command(program: str, words: Sequence[str]) -> int:
    """Runs a command line, which owns signals and standard streams from here on, and returns the exit code. `program`
    is what runs the command again in another process."""

def sparse_product(a: dict[str, Any], b: dict[str, Any], threads: int, sorted: bool) -> tuple[Any, Any, Any]:
    """The product of two sparse matrices of the same precision."""

def dense_product(a: dict[str, Any], b: Any, threads: int) -> tuple[Any, int]:
    """The product of a sparse matrix and a dense one of the same precision."""

class SearchLost(RuntimeError):
    """The first process has given up the search, or begun another one."""

class WrongTree(ValueError):
    """A bound or a solution of the tree is wrong."""

@final
class Search:
    """A search on threads of its own. It is cancelled when nothing refers to it any more."""

    def wait(
        self,
        timeout: float | None = None,
        on_improvement: Callable[[dict[str, Any]], object] | None = None,
        on_progress: Callable[[dict[str, Any]], object] | None = None,
    ) -> dict[str, Any] | None:
        """Waits for the result, for at most `timeout` seconds, and calls back from this thread."""

    def cancel(self) -> None:
        """Asks the search to stop, if it runs in this process."""

    def hold(self, paused: bool) -> None:
        """Pauses the search, or lets it continue."""

    @property
    def paused(self) -> bool:
        """Whether the search is paused."""

    @property
    def done(self) -> bool:
        """Whether the search has ended."""

    def latest(self) -> dict[str, Any]:
        """What is known so far."""

@final
class Cluster:
    """The processes that search together: the first one, which listens, and those that join it."""

    @staticmethod
    def listen(address: str, key: str) -> Cluster:
        """Opens an address at which others join; the key file is created if missing."""

    @staticmethod
    def join(address: str, key: str, patience: float) -> Cluster:
        """Joins the process that listens on an address, and waits until a search begins there, each for at most `patience`
        seconds."""

    @property
    def address(self) -> str | None:
        """The address at which others join, if this process listens."""

    def next(self) -> str | None:
        """Waits for the next search, and returns what the first process says about it; `None` when no other follows."""

    def wait_for(self, others: int, timeout: float | None = None) -> bool:
        """Waits until this number of other processes have joined, for at most `timeout` seconds; returns whether they have."""

    def close(self, leaves: bool = False) -> None:
        """Leaves the others in the middle of a search, or ends their wait for further searches."""

@final
class Graph:
    """A graph."""

    def __new__(cls, vertices: int, edges: Sequence[tuple[int, int]]) -> Graph:
        """A graph of vertices numbered from 1, with these edges."""

    def __reduce__(self) -> tuple[type[Graph], tuple[int, list[tuple[int, int]]]]:
        """How the graph is pickled: its class, and the arguments that make it."""

    @staticmethod
    def read(name: str, text: str | None = None) -> Graph | None:
        """The graph with this name, or in this text; `None` if there is no such name."""

    @property
    def vertices(self) -> int:
        """The number of vertices."""

@final
class Children:
    """Collects what ``expand`` finds at a node."""

    def child(self, node: object) -> None:
        """Adds a child that must be explored."""

    def child_within(self, bound: int, node: object) -> None:
        """Adds a child below which no solution is better than ``bound``."""

    def leaves(self, n: int) -> None:
        """Adds children that need no exploring; they are counted as nodes."""

    def count(self, n: int) -> None:
        """Adds ``n`` to what the search counts."""

    def tally(self, counter: int, n: int) -> None:
        """Adds ``n`` to one of the tree's own counters."""

    def solution(self, value: int, solution: Iterable[int]) -> None:
        """Reports a finished solution, a sequence of whole numbers."""

def flowshop_instance(
    name: str, text: str | None = None
) -> tuple[int, list[int], list[int] | None, list[int] | None] | None:
    """The flowshop with this name, or in this text; `None` if there is no such name."""

def flowshop(given: dict[str, Any], limits: dict[str, Any]) -> Search:
    """Searches for the best schedule."""

def atsp_instance(name: str, text: str | None = None) -> tuple[int, list[int]] | None:
    """The cities and costs of an instance with this name, or in this text; `None` if there is no such name."""

def atsp(
    cities: int,
    costs: list[int],
    best: int | None,
    start: list[int] | None,
    bound: str | None,
    limits: dict[str, Any],
) -> Search:
    """Searches for the shortest tour."""

def qap_instance(name: str, text: str | None = None) -> tuple[int, list[int], int, list[int]] | None:
    """The flows and distances of an instance with this name, or in this text; `None` if there is no such name."""

def qap(
    flows: tuple[int, list[int]],
    distances: tuple[int, list[int]],
    best: int | None,
    start: list[int] | None,
    limits: dict[str, Any],
) -> Search:
    """Searches for the cheapest assignment."""

def knapsack(
    capacity: int, items: list[tuple[int, int]], best: int | None, limits: dict[str, Any]
) -> Search:
    """Searches for the most valuable items that fit."""

def clique(graph: Graph, best: int | None, limits: dict[str, Any]) -> Search:
    """Searches for the largest clique."""

def queens(n: int, count: bool, whole: bool, limits: dict[str, Any]) -> Search:
    """Counts the ways to place queens, on the whole board or on half of it, or finds one."""

def uts(tree: str, limits: dict[str, Any]) -> Search:
    """Counts the nodes of a tree."""

def own(tree: dict[str, Any], limits: dict[str, Any]) -> Search:
    """Searches a tree that is a Python object."""

def native(tree: dict[str, Any], limits: dict[str, Any]) -> Search:
    """Searches a tree that compiled code expands."""
