"""Flowshops from lists, arrays, frames, names and files: results as the command has them."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError, fields
from decimal import Decimal, localcontext
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pleach

TIMES = [[3, 6], [5, 2], [1, 2]]


def makespan(times: list[list[int]], order: tuple[int, ...]) -> int:
    """Compute the makespan of an order from the definition."""
    free = [0] * len(times[0])
    for job in order:
        end = 0
        for k, time in enumerate(times[job]):
            end = max(end, free[k]) + time
            free[k] = end
    return free[-1]


def test_a_known_instance_has_its_optimum() -> None:
    schedule = pleach.flowshop.solve("ta001")
    assert (schedule.value, schedule.bound, schedule.gap) == (1278, 1278, 0.0)
    assert (schedule.status, schedule.stopped_by, schedule.makespan) == ("optimal", None, 1278)
    assert schedule.order is not None and sorted(schedule.order) == list(range(20))


def test_lists_arrays_and_frames_are_read_alike() -> None:
    frame = pd.DataFrame(TIMES, index=["a", "b", "c"], columns=["saw", "drill"])
    for times in (TIMES, tuple(map(tuple, TIMES)), np.array(TIMES), np.array(TIMES, np.uint8), frame):
        schedule = pleach.flowshop.solve(times)
        assert schedule.makespan == 12
        assert schedule.order is not None and makespan(TIMES, schedule.order) == 12
    assert schedule.jobs is not None and sorted(schedule.jobs) == ["a", "b", "c"]
    table = schedule.to_pandas()
    assert list(table.columns) == ["job", "machine", "start", "end"] and len(table) == 6
    assert set(table["machine"]) == {"saw", "drill"} and table["end"].max() == 12


def test_numbers_follow_the_labels_of_their_jobs() -> None:
    frame = pd.DataFrame({"saw": [5, 3, 4], "due": [5, 100, 9]})
    by_label = pleach.flowshop.solve(frame[["saw"]], due=frame["due"], objective="tardiness").value
    assert by_label == 0
    for order in ([2, 0, 1], [1, 2, 0], [2, 1, 0]):
        moved = frame.iloc[order]
        for times, due in (
            (moved[["saw"]], frame["due"]),
            (frame[["saw"]], moved["due"]),
            (frame[["saw"]].to_numpy(), moved["due"]),
            (moved[["saw"]], moved["due"]),
        ):
            assert pleach.flowshop.solve(times, due=due, objective="tardiness").value == 0
    assert pleach.flowshop.solve(frame[["saw"]][::-1], due=frame["due"], objective="tardiness").value == 0
    # Labels that have nothing to do with the jobs do not matter; those of some jobs only do.
    named = pd.Series([5, 100, 9], index=["a", "b", "c"])
    assert pleach.flowshop.solve(frame[["saw"]], due=named, objective="tardiness").value == 0
    with pytest.raises(ValueError, match="a number for each job of times"):
        pleach.flowshop.solve(frame[["saw"]], due=pd.Series([5, 100, 9], index=[1, 2, 3]), objective="tardiness")


def test_the_decimal_context_of_the_user_changes_nothing() -> None:
    with localcontext() as context:
        context.prec = 3
        assert pleach.flowshop.solve([[Decimal("123456.75")]]).makespan == 123456.75


def test_files_are_read_and_win_over_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ta001").write_text("3 2\n3 5 1\n6 2 2\n")
    assert pleach.flowshop.solve(tmp_path / "ta001").makespan == 12
    assert pleach.flowshop.solve(str(tmp_path / "ta001")).makespan == 12
    monkeypatch.chdir(tmp_path)
    assert pleach.flowshop.solve("ta001").makespan == 12
    (tmp_path / "due.txt").write_text("3\n2\n10 12 4\n3 6\n5 2\n1 2\n")
    late = pleach.flowshop.solve("due.txt", objective="tardiness")
    assert (late.value, late.bound) == (0, 0)


def test_decimals_are_exact() -> None:
    schedule = pleach.flowshop.solve([[0.1, 0.2], [0.3, 0.1]])
    assert schedule.makespan == 0.5 and schedule.operations[-1].end == 0.5
    for short in (np.float16, np.float32):
        array = np.array([[0.1, 0.2], [0.3, 0.1]], short)
        for times in (array, list(array), array.T.copy().T, pd.DataFrame(array)):
            assert pleach.flowshop.solve(times).makespan == 0.5
    for kind in ("float16", "float32", "Float32"):
        mixed = pd.DataFrame({"saw": [0.1, 0.3], "oven": [0.2, 0.1]}).astype({"saw": kind})
        assert pleach.flowshop.solve(mixed).makespan == 0.5
        assert pleach.flowshop.solve(mixed.assign(oven=[1, 2])).makespan == 3.1
    # Whole numbers are exact, though shorter ones read as the same value.
    for times in (np.array([[16432]], np.float16), np.array([[123456792]], np.float32)):
        for same in (times, [list(times[0])]):
            assert pleach.flowshop.solve(same).makespan == int(times[0, 0])
    assert pleach.flowshop.solve([[Decimal("1.25"), 1]]).makespan == 2.25
    assert pleach.flowshop.solve([[2.0, 1.0]]).makespan == 3


def test_objectives_and_conditions() -> None:
    due = {"b": 12, "a": 10, "c": 4}
    frame = pd.DataFrame(TIMES, index=list("abc"))
    late = pleach.flowshop.solve(frame, objective="tardiness", due=due)
    assert (late.value, late.order) == (0, (2, 0, 1))
    assert pleach.flowshop.solve(frame, objective="tardiness", due=pd.Series(due)).value == 0
    assert pleach.flowshop.solve(TIMES, objective="tardiness", due={2: 4, 0: 10, 1: 12}).value == 0
    assert pleach.flowshop.solve(TIMES, objective="lateness", due=[10, 12, 4]).value == 0
    assert pleach.flowshop.solve(TIMES, objective="tardy-jobs", due=[1, 1, 1]).value == 3
    flow = pleach.flowshop.solve(TIMES, objective="flow-time")
    weighted = pleach.flowshop.solve(TIMES, objective="flow-time", weights=[0.5, 0.5, 0.5])
    assert flow.value is not None and weighted.value == flow.value / 2
    released = pleach.flowshop.solve(TIMES, release=[0, 0, 20])
    assert released.makespan == 23
    setups = [[[0, 9, 9], [0, 0, 9], [0, 9, 0]]] * 2
    plain = pleach.flowshop.solve(TIMES, setups=setups)
    assert plain.makespan is not None
    # What stands on the diagonal does not matter.
    nan, inf = float("nan"), float("inf")
    odd = np.array([[nan, 9, 9], [0, 0.5, 9], [0, 9, inf]])
    assert pleach.flowshop.solve(TIMES, setups=[odd, odd]).makespan == plain.makespan
    # Labels say which rows and columns are which, however they are sorted.
    matrix = pd.DataFrame(setups[0], index=list("abc"), columns=list("abc"))
    for rows, columns in (("cab", "cab"), ("abc", "bca"), ("bac", "abc")):
        named = [matrix.loc[list(rows), list(columns)]] * 2
        assert pleach.flowshop.solve(frame, setups=named).makespan == plain.makespan
    with pytest.raises(ValueError, match=r"setups\[0\]\.columns"):
        pleach.flowshop.solve(frame, setups=[matrix.rename(index={"c": "d"}, columns={"c": "d"})] * 2)


def test_jobs_that_may_not_wait_are_numbered_as_jobs() -> None:
    seen: list[pleach.Progress] = []
    schedule = pleach.flowshop.solve(TIMES, no_wait=True, on_improvement=seen.append)
    assert schedule.order is not None and sorted(schedule.order) == [0, 1, 2]
    for job, first, second in zip(schedule.order, schedule.operations[::2], schedule.operations[1::2], strict=True):
        assert first.end == second.start and first.job == job
    assert seen[-1].solution == schedule.order and seen[-1].best == schedule.value
    blocked = pleach.flowshop.solve(TIMES, no_buffers=True)
    assert blocked.makespan is not None and schedule.makespan is not None
    assert 12 <= blocked.makespan <= schedule.makespan


def test_a_value_to_beat() -> None:
    better = pleach.flowshop.solve(TIMES, best=12)
    assert (better.status, better.value, better.order, better.bound) == ("no-better", None, None, 12)
    assert better.to_pandas().empty and "no-better" in better._repr_html_()


def test_node_counts_are_those_of_the_library() -> None:
    """`pleach solve flowshop VFR10_10_2 --best 1125` explores one tree, whatever the number of threads."""
    counts = {pleach.flowshop.solve("VFR10_10_2", best=1097, threads=n).nodes for n in (1, 2, 3)}
    assert len(counts) == 1 and counts.pop() > 0


def test_results_are_frozen_and_shown() -> None:
    schedule = pleach.flowshop.solve(pd.DataFrame(TIMES, index=["<a>", "b", "c"]))
    with pytest.raises(FrozenInstanceError):
        schedule.value = 1  # type: ignore[misc]
    shown = schedule._repr_html_()
    assert shown.count("<text") == shown.count('pointer-events="none"'), "names do not hide tooltips"
    assert shown.count("<rect") == 7 and "&lt;a&gt;" in shown and "<a>" not in shown
    assert "Schedule(status='optimal'" in repr(schedule)


def test_no_bound_is_none_and_not_0() -> None:
    stopped = pleach.flowshop.solve("ta056", time_limit=0)
    assert stopped.status == "stopped" and stopped.stopped_by == "time-limit"
    assert stopped.bound is None or stopped.bound > 0


def test_choices_of_the_search() -> None:
    counted = pleach.flowshop.solve("VFR10_5_1", count_optimal=True)
    assert (counted.status, counted.optimal_schedules) == ("optimal", 2228)
    best = counted.makespan
    one = pleach.flowshop.solve("VFR10_5_1", bound="one", branching="forward", best=best)
    two = pleach.flowshop.solve("VFR10_5_1", bound="two", branching="backward", best=best)
    assert (one.status, two.status, one.optimal_schedules) == ("no-better", "no-better", None)
    assert one.nodes != two.nodes
    for wrong, said in (
        ({"bound": "three"}, "bound: 'three': expected auto, one, one-tight"),
        ({"branching": "both"}, "branching: 'both': expected auto, forward"),
        ({"bound": "one", "no_wait": True}, "bound: expected only for the makespan without side conditions"),
        ({"count_optimal": True, "objective": "flow-time"}, "count_optimal: expected only for the makespan"),
    ):
        with pytest.raises(ValueError, match=said):
            pleach.flowshop.solve([[1, 2], [3, 4]], **wrong)


def test_charts_mark_setups_blocked_machines_and_late_jobs() -> None:
    setups = [[[0, 3], [9, 0]], [[0, 0.5], [9, 0]]]
    schedule = pleach.flowshop.solve([[1, 4], [4, 5]], setups=setups, due=[5, 7])
    shown = schedule._repr_html_()
    for title in (
        "setup from 0 to 1 on M0: 1 to 4",
        # Job 1 arrives at 8.
        "setup from 0 to 1 on M1: 5 to 5.5",
        "0 on M1: 1 to 5, due 5",
        "1 on M1: 8 to 13, due 7, late by 6",
        "due 5: 0",
        "due 7: 1",
    ):
        assert f"<title>{title}</title>" in shown
    name = re.findall('<pattern id="(.*?)"', shown)[0]
    assert shown.count(f'fill="url(#{name})"') == 2
    # Each picture of a notebook has a hatching of its own, since the first one may be hidden.
    assert name not in schedule._repr_html_()
    assert not any(field.name.startswith("_") for field in fields(schedule))
    assert shown.count("late by") == shown.count('l-4,8h8z" fill="black"') == 1
    blocked = pleach.flowshop.solve([[1, 4], [2, 5], [3, 1]], no_buffers=True)
    bars = zip(blocked.operations[::2], blocked.operations[1::2], strict=True)
    stays = [f"{one.job_name} stays on M0: {one.end} to {two.start}" for one, two in bars if one.end < two.start]
    shown = blocked._repr_html_()
    assert stays and shown.count("stays on") == len(stays)
    assert all(f"<title>{title}</title>" in shown for title in stays)
