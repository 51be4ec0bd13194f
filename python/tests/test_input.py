"""Wrong input: one line that names the argument, the place, the value and what was expected."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pleach

shop: Callable[..., Any] = pleach.flowshop.solve
tour: Callable[..., Any] = pleach.atsp.solve
pack: Callable[..., Any] = pleach.knapsack.solve
clique: Callable[..., Any] = pleach.clique.solve
assign: Callable[..., Any] = pleach.qap.solve
board: Callable[..., Any] = pleach.queens.count
T = [[1, 2], [3, 4]]

CASES: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: shop([[1, True], [3, 4]]), TypeError, "times[0][1]: True, expected a number, not a truth value"),
    (lambda: shop(np.array([[True, False]])), TypeError, "times[0][0]: True, expected a number, not a truth value"),
    (lambda: shop([[1, "2"], [3, 4]]), TypeError, "times[0][1]: '2', expected a number"),
    (lambda: shop([[1, None], [3, 4]]), TypeError, "times[0][1]: None, expected a number"),
    (lambda: shop([[1, float("nan")]]), ValueError, "times[0][1]: nan, expected a finite number"),
    (lambda: shop(pd.DataFrame([[1, float("nan")]])), ValueError, "times[0][1]: nan, expected a finite number"),
    (lambda: shop([[1, float("inf")]]), ValueError, "times[0][1]: inf, expected a finite number"),
    (lambda: shop([[1, 2**70]]), ValueError, f"times[0][1]: {2**70}, expected a number, within 64 bits, from 0"),
    (lambda: shop([[1, -2]]), ValueError, "times[0][1]: -2, expected a number from 0 to 2147483647"),
    (lambda: shop([[1, 2], [3]]), ValueError, "times[1]: 1, expected 2 numbers in this row"),
    (lambda: shop([1, 2]), TypeError, "times[0]: 1, expected a row of numbers"),
    (lambda: shop([]), ValueError, "times: [], expected a row for each job"),
    (lambda: shop(5), TypeError, "times: 5, expected a sequence of numbers"),
    (lambda: shop([[2**31 - 1, 2**31 - 1]]), ValueError, "times: times that may add up to 6442450941"),
    (lambda: shop([[1e-12, 1]]), ValueError, "times: numbers with 12 decimals, expected at most 9"),
    (lambda: shop("ta999"), ValueError, "times: 'ta999', expected the name of a known instance"),
    (lambda: shop(Path("no.txt")), ValueError, "times: 'no.txt', expected a file that can be read"),
    (lambda: shop(T, objective="span"), ValueError, "objective: 'span', expected one of makespan"),
    (lambda: shop(T, objective="tardiness"), ValueError, "due: missing, expected due dates"),
    (lambda: shop(T, due=[1]), ValueError, "due: 1, expected 2 numbers"),
    (lambda: shop(T, weights=[1, -1], objective="flow-time"), ValueError, "weights[1]: -1, expected a number from 0"),
    (lambda: shop(T, setups=[[[0]]]), ValueError, "setups: 1, expected a matrix for each of 2 machines"),
    (lambda: shop(T, no_wait=1), TypeError, "no_wait: 1, expected True or False"),
    (lambda: shop(T, no_wait=True, no_buffers=True), ValueError, "no_buffers: True, expected False with no_wait"),
    (lambda: shop(T, best=1.5), ValueError, "best: 1.5, expected a whole number"),
    (lambda: shop(pd.DataFrame(T, index=["a", "a"])), ValueError, "times.index[1]: 'a', expected names that all"),
    (lambda: shop(pd.DataFrame(T, index=["a", "b"]), release={"a": 1, "c": 2}), ValueError, "release: 'b', expected"),
    (lambda: shop(T, threads=0), ValueError, "threads: 0, expected a number from 1 to 1024"),
    (lambda: shop(T, threads=True), TypeError, "threads: True, expected a number"),
    (lambda: shop(T, time_limit=-1), ValueError, "time_limit: -1, expected a time of 0 seconds or more"),
    (lambda: shop(T, time_limit=timedelta(-1)), ValueError, "time_limit: -86400.0, expected a time"),
    (lambda: shop(T, time_limit=float("nan")), ValueError, "time_limit: nan, expected a finite number"),
    (lambda: shop(T, node_limit=2**64), ValueError, f"node_limit: {2**64}, expected a number from 1"),
    (lambda: shop(T, gap="x"), TypeError, "gap: 'x', expected a number"),
    (lambda: shop(T, on_progress=3), TypeError, "on_progress: 3, expected a function"),
    (lambda: shop(T, thread=3), TypeError, "thread: no such argument, expected one of threads, "),
    (lambda: shop(T, blocking=0), TypeError, "blocking: 0, expected True or False"),
    (lambda: tour([[0, 1], [2]]), ValueError, "costs[1]: 1, expected 2 numbers in this row"),
    (lambda: tour([[0, 1]]), ValueError, "costs: (1, 2), expected a square matrix"),
    (lambda: tour([[0, 2**63], [1, 0]]), ValueError, f"costs[0][1]: {2**63}, expected a number of 64 bits"),
    (lambda: tour([[0, 0.5], [1, 0]]), ValueError, "costs[0][1]: 0.5, expected a whole number"),
    (lambda: tour([[0, 10**10], [1, 0]]), ValueError, "costs: cost 10000000000, expected from -1000000000"),
    (lambda: tour([[0, 10**5000], [1, 0]]), ValueError, "costs[0][1]: an int of too many digits, expected a number"),
    (lambda: shop([[Decimal("1e400000")]]), ValueError, "times[0][0]: 1E+400000, expected a number of at most 400"),
    (lambda: pleach.queens.count(6, time_limit=10**400), ValueError, "time_limit: 1000"),
    (lambda: tour("nowhere"), ValueError, "costs: 'nowhere', expected the name of a known instance"),
    (lambda: assign([[0]]), ValueError, "distances: missing, expected a square matrix"),
    (lambda: assign("nug12", [[0]]), TypeError, "distances: a matrix, expected none with a name"),
    (lambda: pack([[1, 2]]), ValueError, "capacity: missing, expected the weight that fits"),
    (lambda: pack([[1, 2, 3]], 1), ValueError, "items[0]: 3, expected 2 numbers in this row"),
    (lambda: pack([[1, -2]], 1), ValueError, "items, capacity: -2: expected a number from 0"),
    (lambda: pack(pd.DataFrame({"a": [1]}), 1), ValueError, "items: ['a'], expected the columns 'value' and 'weight'"),
    (lambda: clique([[0, 2], [2, 0]]), ValueError, "graph[0][1]: 2, expected True, False, 0 or 1"),
    (lambda: clique([[0, 1, 0], [0, 0, 0], [1, 0, 0]]), ValueError, "graph[0][1]: 1, expected the same as graph[1][0]"),
    (lambda: clique({"a": ["b"]}), ValueError, "graph['a']: 'b', expected neighbours that are vertices"),
    (lambda: clique({}), ValueError, "graph: 0 vertices, expected from 1 to 4096"),
    (lambda: pleach.queens.count(0), ValueError, "n: 0, expected a number from 1"),
    (lambda: board(8, whole=1), TypeError, "whole: 1, expected True or False"),
    (lambda: pleach.queens.count(99), ValueError, "queens 99: expected a board"),
    (lambda: pleach.uts.count("x=1"), ValueError, "tree: "),
    (lambda: pleach.uts.count("type=binomial,b0=2,q=0.5,m=2"), ValueError, "the tree may be infinite"),
]


@pytest.mark.parametrize(("call", "kind", "line"), CASES, ids=[case[2][:40] for case in CASES])
def test_wrong_input_is_refused_in_one_line(call: Callable[[], Any], kind: type[Exception], line: str) -> None:
    with pytest.raises(kind) as raised:
        call()
    said = str(raised.value)
    assert line in said and "\n" not in said


def test_files_with_faults_name_the_line(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.txt"
    wrong.write_text("3 2\n1 2 3\n4 x 6\n")
    with pytest.raises(ValueError, match="wrong.txt, line 3: 'x', expected a whole number"):
        pleach.flowshop.solve(wrong)
    wrong.write_text("2 10\n1 2\n1 x\n")
    with pytest.raises(ValueError, match="wrong.txt, line 3: '1 x', expected two whole numbers"):
        pleach.knapsack.solve(wrong)
    wrong.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="expected a file of text in UTF-8"):
        pleach.atsp.solve(wrong)
