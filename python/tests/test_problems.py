"""The other problems of the library: known values, names, pictures and tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pleach


def test_tours() -> None:
    costs = [[0, 1, 9], [9, 0, 1], [1, 9, 0]]
    for given in (costs, np.array(costs), np.array(costs, float), [[float("nan"), 1, 9], [9, None, 1], [1, 9, "x"]]):
        tour = pleach.atsp.solve(given)
        assert (tour.value, tour.order, tour.legs) == (3, (0, 1, 2), (1, 1, 1))
    named = pleach.atsp.solve(pd.DataFrame(costs, index=list("xyz"), columns=list("xyz")))
    assert named.cities == ("x", "y", "z") and "<svg" in named._repr_html_()
    assert named.to_pandas().to_dict("list") == {"from": list("xyz"), "to": list("yzx"), "length": [1, 1, 1]}
    assert pleach.atsp.solve("br17").value == 39
    assert pleach.atsp.solve("br17", bound="assignment").nodes != pleach.atsp.solve("br17", bound="arborescence").nodes
    with pytest.raises(ValueError, match="bound: 'path': expected auto, partial"):
        pleach.atsp.solve(costs, bound="path")  # type: ignore[call-overload]
    # Labels count, not places; rows that only count are as they are.
    frame = pd.DataFrame(costs, index=list("xyz"), columns=list("xyz"))
    assert pleach.atsp.solve(frame.loc[list("zxy")]).cities == ("x", "y", "z")
    assert pleach.atsp.solve(pd.DataFrame(costs, columns=list("xyz"))).cities == ("x", "y", "z")
    with pytest.raises(ValueError, match=r"costs.index: \['x', 'y', 'w'\], expected the labels of the columns"):
        pleach.atsp.solve(frame.set_axis(list("xyw"), axis=0))


def test_rows_in_another_order() -> None:
    names = list("abc")
    flows = pd.DataFrame([[0, 5, 1], [5, 0, 0], [1, 0, 0]], index=names, columns=names)
    distances = pd.DataFrame([[0, 1, 2], [1, 0, 3], [2, 3, 0]], index=names, columns=names)
    assert pleach.qap.solve(flows.loc[list("bca")], distances.loc[list("cab")]).value == 14
    edges = pd.DataFrame([[0, 1, 1], [1, 0, 0], [1, 0, 0]], index=names, columns=names)
    assert pleach.clique.solve(edges.loc[list("cba")]).value == 2


def test_assignments(tmp_path: Path) -> None:
    flows, distances = [[0, 5, 1], [5, 0, 0], [1, 0, 0]], [[0, 1, 2], [1, 0, 3], [2, 3, 0]]
    cheapest = pleach.qap.solve(flows, distances)
    assert (cheapest.value, cheapest.places, cheapest.status) == (14, (0, 1, 2), "optimal")
    assert cheapest.to_pandas()["location"].tolist() == ["0", "1", "2"]
    (tmp_path / "a.dat").write_text("3\n0 5 1 5 0 0 1 0 0\n0 1 2 1 0 3 2 3 0\n")
    assert pleach.qap.solve(tmp_path / "a.dat").value == 14
    assert pleach.qap.solve("nug12").value == 578


def test_packings(tmp_path: Path) -> None:
    items = [[6, 4], [5, 3], [8, 6]]
    packing = pleach.knapsack.solve(items, 10)
    assert (packing.value, packing.items, packing.weight, packing.bound) == (14, (0, 2), 10, 14)
    frame = pd.DataFrame({"weight": [4, 3, 6], "value": [6, 5, 8]}, index=["tent", "stove", "rope"])
    packed = pleach.knapsack.solve(frame, 10)
    assert packed.to_pandas()["item"].tolist() == ["tent", "rope"]
    (tmp_path / "a.txt").write_text("3 10\n6 4\n5 3\n8 6\n")
    assert pleach.knapsack.solve(tmp_path / "a.txt").value == 14
    none = pleach.knapsack.solve(items, 10, best=14)
    assert (none.status, none.items, none.weight) == ("no-better", None, None)


def test_cliques() -> None:
    neighbours = {"a": ["b", "c"], "b": ["c"], "c": [], "d": ["a"]}
    assert pleach.clique.solve(neighbours).names == ("a", "b", "c")
    matrix = np.zeros((4, 4), bool)
    for i, j in ((0, 1), (1, 2), (0, 2), (2, 3)):
        matrix[i, j] = True
    assert pleach.clique.solve(matrix | matrix.T).vertices == (0, 1, 2)
    clique = pleach.clique.solve(matrix)
    assert (clique.value, clique.vertices) == (3, (0, 1, 2))
    assert pleach.clique.solve(pd.DataFrame(matrix.astype(int), columns=list("wxyz"))).names == ("w", "x", "y")
    assert pleach.clique.solve("brock200_4").value == 17


def test_a_graph_of_networkx_is_read_by_what_it_offers() -> None:
    class Graph:
        def adjacency(self) -> object:
            return iter([("a", {"b": {}}), ("b", {"a": {}})])

    assert pleach.clique.solve(Graph()).names == ("a", "b")

    class Directed(Graph):
        def is_directed(self) -> bool:
            return True

    with pytest.raises(ValueError, match="graph: directed, expected one whose edges have no direction"):
        pleach.clique.solve(Directed())


def test_queens_and_trees_are_counted_exactly() -> None:
    counted = pleach.queens.count(8)
    assert (counted.count, counted.status) == (92, "counted")
    assert {pleach.queens.count(9, threads=n).nodes for n in (1, 2)} == {pleach.queens.count(9).nodes}
    whole = pleach.queens.count(8, whole=True)
    assert (whole.count, whole.nodes) == (counted.count, counted.nodes)
    columns = pleach.queens.solve(8).columns
    assert columns is not None
    assert len({c + r for r, c in enumerate(columns)} | {c - r + 99 for r, c in enumerate(columns)}) == 16
    assert pleach.queens.solve(3).status == "infeasible" and pleach.queens.solve(3).columns is None
    tree = pleach.uts.count("T1")
    assert (tree.count, tree.nodes) == (4_130_071, 4_130_070)


@pytest.mark.parametrize("limit", [1, 1000])
def test_a_node_limit_stops_a_search(limit: int) -> None:
    stopped = pleach.uts.count("T1XXL", node_limit=limit)
    assert (stopped.status, stopped.stopped_by) == ("stopped", "node-limit")
    assert "node-limit" in stopped._repr_html_()


def test_searches_begin_with_a_start() -> None:
    """A start that nothing beats comes back."""
    times = [[3, 6], [5, 2], [1, 2]]
    for start in ([2, 0, 1], (2, 0, 1)):
        found = pleach.flowshop.solve(times, start=start, node_limit=1)
        assert found.makespan == 12
    # Without names, results show places as names.
    jobs = pleach.flowshop.solve(times, start=[2, 0, 1], node_limit=1).jobs
    assert jobs is not None and pleach.flowshop.solve(times, start=jobs, node_limit=1).makespan == 12
    assert pleach.atsp.solve([[0, 1, 9], [9, 0, 1], [1, 9, 0]], start=[1, 2, 0]).value == 3
    assert pleach.qap.solve("nug12", start=list(range(12)), node_limit=1).value is not None
    frame = pd.DataFrame(times, index=["door", "desk", "shelf"], columns=["saw", "drill"])
    assert pleach.flowshop.solve(frame, start=["shelf", "door", "desk"]).jobs is not None
    for wrong, why in [
        ([0, 1], r"start: 2, expected 3 items"),
        ([0, 1, 1], r"start\[2\]: 1, expected items that all differ"),
        ([0, 1, 3], r"start\[2\]: 3, expected a number from 0 to 2"),
        (["door", "desk", "chair"], r"start\[2\]: 'chair', expected a name of the input, or a place from 0"),
    ]:
        with pytest.raises(ValueError, match=why):
            pleach.flowshop.solve(frame, start=wrong)
