"""The permutation flowshop: jobs visit all machines in the same order, and each machine takes them in the same order."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import MAX_PREC, Context, Decimal
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

from pleach import _draw, _numbers, _pleach, _run
from pleach._result import Number, Optimised, View, frame

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Unpack

__all__ = ["Bound", "Branching", "Objective", "Operation", "Schedule", "solve"]

Objective = Literal["makespan", "flow-time", "tardiness", "lateness", "tardy-jobs"]
"""What a schedule is judged by; less is better."""

Bound = Literal["one", "one-tight", "two", "two-adjacent", "two-last"]
"""A lower bound on the makespan: by single machines, or by pairs of them."""

Branching = Literal["forward", "backward", "alternate", "max-sum", "min-branch", "min-min"]
"""From which end a schedule is extended."""

_OBJECTIVES = ("makespan", "flow-time", "tardiness", "lateness", "tardy-jobs")
_MOST_TIME = 2**31 - 1
_MOST_WEIGHT = 2**32 - 1


@dataclass(frozen=True)
class Operation:
    """A job on a machine, by their places in the input and by name, from start to end."""

    job: int
    machine: int
    job_name: str
    machine_name: str
    start: Number
    end: Number


@dataclass(frozen=True, kw_only=True)
class Schedule(Optimised):
    """The result of a search for a schedule.

    order: the jobs in their order, by their places in the input, from 0; None if no schedule was found.
    job_names, machine_names: all names, in the order of the input.
    operations: each job on each machine, in the order of the schedule.
    optimal_schedules: the number of optimal schedules, if it was asked for and all were counted.
    """

    objective: Objective
    order: tuple[int, ...] | None
    job_names: tuple[str, ...]
    machine_names: tuple[str, ...]
    operations: tuple[Operation, ...] = field(repr=False)
    optimal_schedules: int | None = None

    _marks: ClassVar[Mapping[str, Any]] = {}
    """What a chart shows in addition, as arguments of `gantt`; each schedule has its own."""

    @property
    def jobs(self) -> tuple[str, ...] | None:
        """The names of the jobs in their order; None if no schedule was found."""
        return None if self.order is None else tuple(self.job_names[job] for job in self.order)

    @property
    def makespan(self) -> Number | None:
        """When the last job is finished; None if no schedule was found."""
        return max((operation.end for operation in self.operations), default=None)

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each operation: job, machine, start, end."""
        table = [[o.job_name, o.machine_name, o.start, o.end] for o in self.operations]
        return frame(table, ["job", "machine", "start", "end"])

    def _picture(self) -> str:
        """Return a Gantt chart."""
        if self.order is None:
            return ""
        bars = [(o.job, o.machine, o.job_name, o.start, o.end) for o in self.operations]
        return _draw.gantt(bars, self.machine_names, **self._marks)


@dataclass
class _Shop:
    """A flowshop as it was given: numbers as they are, and names."""

    times: list[list[int | Decimal]]
    due: list[int | Decimal] | None = None
    setups: list[list[list[int | Decimal]]] | None = None
    jobs: list[str] | None = None
    machines: list[str] | None = None


@overload
def solve(
    times: object,
    *,
    objective: Objective = "makespan",
    due: object = None,
    weights: object = None,
    release: object = None,
    setups: object = None,
    no_wait: bool = False,
    no_buffers: bool = False,
    best: Number | None = None,
    start: object = None,
    bound: Bound | None = None,
    branching: Branching | None = None,
    count_optimal: bool = False,
    blocking: Literal[True] = True,
    **options: Unpack[_run.Options],
) -> Schedule: ...


@overload
def solve(
    times: object,
    *,
    objective: Objective = "makespan",
    due: object = None,
    weights: object = None,
    release: object = None,
    setups: object = None,
    no_wait: bool = False,
    no_buffers: bool = False,
    best: Number | None = None,
    start: object = None,
    bound: Bound | None = None,
    branching: Branching | None = None,
    count_optimal: bool = False,
    blocking: Literal[False],
    **options: Unpack[_run.Options],
) -> _run.Run[Schedule]: ...


def solve(
    times: object,
    *,
    objective: Objective = "makespan",
    due: object = None,
    weights: object = None,
    release: object = None,
    setups: object = None,
    no_wait: bool = False,
    no_buffers: bool = False,
    best: Number | None = None,
    start: object = None,
    bound: Bound | None = None,
    branching: Branching | None = None,
    count_optimal: bool = False,
    blocking: bool = True,
    **options: Unpack[_run.Options],
) -> Schedule | _run.Run[Schedule]:
    """Search for the best schedule, and prove that it is the best.

    times: a row for each job with a time for each machine, as lists, a NumPy array or a pandas DataFrame, whose index and
        columns name jobs and machines; or the name of a known instance such as "ta001", or the path of a file.
    objective: what counts: the makespan, or the sum of flow times, the sum of tardiness, the largest lateness or
        the number of tardy jobs.
    due, weights, release: a number for each job; a pandas Series or a mapping may name the jobs in any order.
    setups: for each machine a matrix, with a row for each preceding job and a column for each following job; its
        diagonal does not matter.
    no_wait: whether jobs may not wait between machines.
    no_buffers: whether a job blocks its machine until the next one is free.
    best: search only for schedules with a smaller value than this.
    start: an order to start from: jobs by their places, from 0, or by name.
    bound, branching: the lower bound, and from which end to extend a schedule; chosen automatically by default. Only for
        the makespan without side conditions, like `count_optimal`.
    count_optimal: whether to count all optimal schedules, too, in a second search.
    blocking: whether to wait for the result; if not, a Run is returned at once.
    **options: when to stop, how many threads, and functions to call; see `pleach.Options`.
    """
    _check(objective, no_wait=no_wait, no_buffers=no_buffers, count_optimal=count_optimal)
    shop = _read(times)
    if due is not None:
        shop.due = _by_job("due", due, shop)
    if setups is not None:
        shop.setups = _setups(setups, shop)
    if shop.due is None and objective in ("tardiness", "lateness", "tardy-jobs"):
        raise ValueError(f"due: missing, expected due dates for the objective {objective}")
    releases = None if release is None else _by_job("release", release, shop)
    weighted = None if weights is None else _by_job("weights", weights, shop)
    given = _arguments(shop, releases, weighted)
    decimals = 0 if objective == "tardy-jobs" else given["decimals"]
    if weighted is not None and objective not in ("makespan", "lateness"):
        decimals += given["weight_decimals"]
    given |= {"objective": _numbers.word("objective", objective), "no_wait": no_wait, "no_buffers": no_buffers}
    given |= {"bound": _numbers.word("bound", bound), "branching": _numbers.word("branching", branching)}
    given["count_optimal"] = count_optimal
    given["best"] = None if best is None else _best(best, decimals)
    jobs = len(shop.times)
    given["start"] = None if start is None else _numbers.order("start", start, jobs, jobs, shop.jobs)

    view = View(decimals)

    def read(raw: Mapping[str, Any]) -> Schedule:
        """Return the result as a schedule."""
        return _schedule(shop, objective, view, given["decimals"], no_buffers, raw)

    return _run.start("flowshop", (given,), read, view, options, blocking)


def _check(objective: object, **flags: object) -> None:
    """Refuse an objective that does not exist, and flags that are neither True nor False."""
    if objective not in _OBJECTIVES:
        _numbers.wrong(ValueError, "objective", objective, "one of " + ", ".join(_OBJECTIVES))
    for name, value in flags.items():
        if not isinstance(value, bool):
            _numbers.wrong(TypeError, name, value, "True or False")


def _read(times: object) -> _Shop:
    """Read the times, and what else a file holds."""
    found = _numbers.text_of("times", times)
    if found is not None:
        read = _pleach.flowshop_instance(*found)
        if read is None:
            expected = "the name of a known instance (ta001 to ta120, VFR10_5_1 to VFR800_60_10), or a file"
            _numbers.wrong(ValueError, "times", found[0], expected)
        machines, flat, due, setups = read
        jobs = len(flat) // machines
        table: list[list[int | Decimal]] = [list(flat[j * machines :][:machines]) for j in range(jobs)]
        shop = _Shop(table, list(due) if due is not None else None)
        if setups is not None:
            row: list[list[int | Decimal]] = [list(setups[at * jobs :][:jobs]) for at in range(machines * jobs)]
            shop.setups = [row[k * jobs :][:jobs] for k in range(machines)]
        return shop
    table = _numbers.rows("times", times)
    if not table or not table[0]:
        _numbers.wrong(ValueError, "times", table, "a row for each job with a time for each machine")
    shop = _Shop(table)
    index = getattr(times, "index", None) if _has_axes(times) else None
    shop.jobs = _numbers.names_of("times.index", index, len(table))
    shop.machines = _numbers.names_of("times.columns", getattr(times, "columns", None), len(table[0]))
    return shop


def _has_axes(values: object) -> bool:
    """Whether an object has an index like those of pandas; lists have a method of that name."""
    return not callable(getattr(values, "index", None))


def _by_job(argument: str, values: object, shop: _Shop) -> list[int | Decimal]:
    """Read a number for each job, by name where the values have names."""
    jobs = len(shop.times)
    labels = values if isinstance(values, Mapping) else getattr(values, "index", None) if _has_axes(values) else None
    if isinstance(values, Mapping):
        numbers: list[Any] = list(values.values())
    else:
        numbers = _numbers.items(argument, values)
    if labels is None:
        return _numbers.row(argument, numbers, jobs)
    wanted = shop.jobs or [str(job) for job in range(jobs)]
    names = _numbers.names_of(argument, labels, len(numbers)) or [str(place) for place in range(len(numbers))]
    # An index that shares no name with the jobs just numbers them.
    if names == wanted or (not isinstance(values, Mapping) and not set(names) & set(wanted)):
        return _numbers.row(argument, numbers, jobs)
    known = dict(zip(names, numbers, strict=True))
    missing = [name for name in wanted if name not in known]
    if missing or len(known) != jobs:
        extra = missing or [name for name in names if name not in wanted]
        _numbers.wrong(ValueError, argument, extra[0], "a number for each job of times, and for no other")
    return [_numbers.number(f"{argument}[{name!r}]", known[name]) for name in wanted]


def _by_jobs(argument: str, matrix: Any, jobs: list[str]) -> Any:
    """Return a frame whose columns name jobs with rows and columns in their order; anything else as it is."""
    matrix = _numbers.aligned(argument, matrix)
    columns = getattr(matrix, "columns", None)
    if columns is None:
        return matrix
    names = [str(label) for label in columns]
    # Columns that share no name with the jobs just number them.
    if names == jobs or not set(names) & set(jobs):
        return matrix
    if len(names) != len(jobs) or set(names) != set(jobs):
        _numbers.wrong(ValueError, f"{argument}.columns", names, "the names of the jobs")
    order = [names.index(job) for job in jobs]
    return matrix.iloc[order, order]


def _setups(values: object, shop: _Shop) -> list[list[list[int | Decimal]]]:
    """Read a matrix of setup times for each machine."""
    jobs, machines = len(shop.times), len(shop.times[0])
    matrices = _numbers.items("setups", values)
    if len(matrices) != machines:
        _numbers.wrong(ValueError, "setups", len(matrices), f"a matrix for each of {machines} machines")
    wanted = shop.jobs or [str(job) for job in range(jobs)]
    matrices = [_by_jobs(f"setups[{k}]", matrix, wanted) for k, matrix in enumerate(matrices)]
    # No job follows itself.
    found = [_numbers.rows(f"setups[{k}]", matrix, jobs, diagonal=False) for k, matrix in enumerate(matrices)]
    for k, matrix in enumerate(found):
        if len(matrix) != jobs:
            _numbers.wrong(ValueError, f"setups[{k}]", len(matrix), f"a row for each of {jobs} jobs")
    return found


def _arguments(
    shop: _Shop, releases: list[int | Decimal] | None, weights: list[int | Decimal] | None
) -> dict[str, Any]:
    """Return a shop as the compiled part takes it: all times as multiples of one power of ten."""
    setups = [line for matrix in shop.setups or [] for line in matrix]
    lists: list[Sequence[int | Decimal]] = [*shop.times, *setups, shop.due or [], releases or []]
    decimals = max(map(_numbers.decimals_of, lists))
    weight_decimals = _numbers.decimals_of(weights or [])
    for name, n in (("times", decimals), ("weights", weight_decimals)):
        if n > _numbers.MOST_DECIMALS:
            raise ValueError(f"{name}: numbers with {n} decimals, expected at most {_numbers.MOST_DECIMALS}")

    def flat(name: str, values: Sequence[int | Decimal], n: int = decimals, most: int = _MOST_TIME) -> list[int]:
        """Return numbers as multiples of a power of ten."""
        multiples = [_numbers.multiple_of(value, n) for value in values]
        if not multiples or (min(multiples) >= 0 and max(multiples) <= most):
            return multiples
        return [_numbers.scaled(f"{name}[{i}]", value, n, most) for i, value in enumerate(values)]

    jobs = len(shop.times)
    return {
        "machines": len(shop.times[0]),
        "times": [time for j, line in enumerate(shop.times) for time in flat(f"times[{j}]", line)],
        "due": None if shop.due is None else flat("due", shop.due),
        "weights": None if weights is None else flat("weights", weights, weight_decimals, _MOST_WEIGHT),
        "releases": None if releases is None else flat("release", releases),
        "setups": [time for at, line in enumerate(setups) for time in flat(f"setups[{at // jobs}][{at % jobs}]", line)]
        if shop.setups is not None
        else None,
        "decimals": decimals,
        "weight_decimals": weight_decimals,
    }


def _best(best: object, decimals: int) -> int:
    """Return the value to beat as a multiple of a power of ten."""
    exact = _numbers.number("best", best)
    multiple = exact.scaleb(decimals, Context(prec=MAX_PREC)) if isinstance(exact, Decimal) else exact * 10**decimals
    if multiple != int(multiple):
        expected = f"a number of at most {decimals} decimals" if decimals else "a whole number"
        _numbers.wrong(ValueError, "best", best, expected)
    return _numbers.whole("best", int(multiple))


def _schedule(
    shop: _Shop, objective: Objective, view: View, decimals: int, blocking: bool, raw: Mapping[str, Any]
) -> Schedule:
    """Return the result of a search as a schedule."""
    jobs = tuple(shop.jobs or map(str, range(len(shop.times))))
    machines = tuple(shop.machines or (f"M{k}" for k in range(len(shop.times[0]))))
    order = view.solution(raw["solution"]) or ()

    def exact(value: int | Decimal) -> int:
        """Return a time as a multiple of a power of ten."""
        return _numbers.multiple_of(value, decimals)

    def shown(time: int) -> Number:
        """Return such a multiple as a time."""
        return time / 10**decimals if decimals else time

    operations: list[Operation] = []
    setups: list[_draw.Setup] = []
    before: tuple[int, list[int]] | None = None
    for job, ends in zip(order, raw["ends"] or (), strict=True):
        for k, stop in enumerate(ends):
            start = shown(stop - exact(shop.times[job][k]))
            operations.append(Operation(job, k, jobs[job], machines[k], start, shown(stop)))
            if before is not None and shop.setups is not None:
                # A machine starts its setup as soon as it is free, even if the job arrives later.
                other, free = before[0], before[1][k]
                until = free + exact(shop.setups[k][other][job])
                setups.append((k, jobs[other], jobs[job], shown(free), shown(until)))
        before = job, ends
    due = None if shop.due is None else [shown(exact(date)) for date in shop.due]
    schedule = Schedule(
        objective=objective,
        order=order or None,
        job_names=jobs,
        machine_names=machines,
        operations=tuple(operations),
        optimal_schedules=raw["optima"],
        **view.optimised(raw),
    )
    # The schedule is frozen, so its own marks are set like this.
    object.__setattr__(schedule, "_marks", {"setups": setups, "due": due, "blocking": blocking})
    return schedule
