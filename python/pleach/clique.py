"""The maximum clique: the largest set of vertices of a graph that are all adjacent to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

from pleach import _numbers, _pleach, _run
from pleach._result import Optimised, View, frame

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Unpack

__all__ = ["Clique", "solve"]


@dataclass(frozen=True, kw_only=True)
class Clique(Optimised):
    """The result of a search for a clique; its value is the number of vertices.

    vertices: the vertices, by their places in the input, from 0; None if none were found.
    vertex_names: the names of all vertices, in the order of the input.
    """

    vertices: tuple[int, ...] | None
    vertex_names: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the vertices of the clique; None if none were found."""
        return None if self.vertices is None else tuple(self.vertex_names[i] for i in self.vertices)

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each vertex of the clique."""
        return frame([[name] for name in self.names or ()], ["vertex"])


@overload
def solve(
    graph: object, *, best: int | None = None, blocking: Literal[True] = True, **options: Unpack[_run.Options]
) -> Clique: ...


@overload
def solve(
    graph: object, *, best: int | None = None, blocking: Literal[False], **options: Unpack[_run.Options]
) -> _run.Run[Clique]: ...


def solve(
    graph: object, *, best: int | None = None, blocking: bool = True, **options: Unpack[_run.Options]
) -> Clique | _run.Run[Clique]:
    """Search for the largest clique, and prove that none is larger.

    graph: a square matrix of truth values, or of 0 and 1, as lists, a NumPy array or a pandas DataFrame, whose columns name
        the vertices; a mapping from each vertex to its neighbours; an undirected NetworkX graph; or the name of a known
        graph such as "brock200_4", or the path of a DIMACS file. A matrix is symmetric or has all edges on one side of
        the diagonal; a mapping may list an edge at only one of its ends.
    best: search only for cliques with more vertices than this.
    blocking: whether to wait for the result; if not, a Run is returned at once.
    **options: when to stop, how many threads, and functions to call; see `pleach.Options`.
    """
    made, names = _read(graph)
    to_beat = None if best is None else _numbers.whole("best", best)
    view = View()

    def clique(raw: Mapping[str, Any]) -> Clique:
        """Return the result as a clique."""
        vertex_names = tuple(names or map(str, range(made.vertices)))
        return Clique(vertices=view.solution(raw["solution"]), vertex_names=vertex_names, **view.optimised(raw))

    return _run.start("clique", (made, to_beat), clique, view, options, blocking)


def _read(graph: object) -> tuple[_pleach.Graph, list[str] | None]:
    """Return the graph, and the names of its vertices if it has some."""
    found = _numbers.text_of("graph", graph)
    if found is not None:
        read = _pleach.Graph.read(*found)
        if read is None:
            _numbers.wrong(ValueError, "graph", found[0], "the name of a known graph (brock200_4), or a file")
        return read, None
    is_directed = getattr(graph, "is_directed", None)
    if callable(is_directed) and is_directed():
        raise ValueError("graph: directed, expected one whose edges have no direction, such as graph.to_undirected()")
    adjacency = getattr(graph, "adjacency", None)
    if callable(adjacency):
        graph = dict(adjacency())
    if isinstance(graph, Mapping):
        return _of_neighbours(graph)
    if isinstance(graph, (int, float)) or graph is None:
        _numbers.wrong(TypeError, "graph", graph, "neighbours by vertex, a square matrix, a NetworkX graph, a name or a file")
    graph = _numbers.aligned("graph", graph)
    names = getattr(graph, "columns", None)
    rows = [_numbers.items(f"graph[{i}]", row) for i, row in enumerate(_numbers.items("graph", graph))]
    above: set[tuple[int, int]] = set()
    below: set[tuple[int, int]] = set()
    for i, row in enumerate(rows):
        if len(row) != len(rows):
            _numbers.wrong(ValueError, f"graph[{i}]", len(row), f"{len(rows)} entries, one for each row")
        for j, value in enumerate(row):
            if value not in (0, 1):
                _numbers.wrong(ValueError, f"graph[{i}][{j}]", value, "True, False, 0 or 1")
            if value and i < j:
                above.add((i + 1, j + 1))
            if value and i > j:
                below.add((j + 1, i + 1))
    if above and below and above != below:
        i, j = (place - 1 for place in min(above ^ below))
        other = f"the same as graph[{j}][{i}]: edges have no direction"
        _numbers.wrong(ValueError, f"graph[{i}][{j}]", int(rows[i][j]), other)
    return _pleach.Graph(len(rows), sorted(above | below)), _numbers.names_of("graph.columns", names, len(rows))


def _of_neighbours(graph: Mapping[Any, Any]) -> tuple[_pleach.Graph, list[str]]:
    """Return the graph of a mapping from vertices to neighbours."""
    places = {vertex: place for place, vertex in enumerate(graph, 1)}
    edges = set()
    for vertex, neighbours in graph.items():
        if isinstance(neighbours, (str, bytes)):
            _numbers.wrong(TypeError, f"graph[{vertex!r}]", neighbours, "a collection of neighbours")
        for other in neighbours:
            if other not in places:
                _numbers.wrong(ValueError, f"graph[{vertex!r}]", other, "neighbours that are vertices, too")
            if other != vertex:
                edges.add((min(places[vertex], places[other]), max(places[vertex], places[other])))
    return _pleach.Graph(len(places), sorted(edges)), [str(vertex) for vertex in graph]
