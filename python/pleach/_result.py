"""What searches return: frozen objects with the solution, what is proven, and how the search went."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pleach import _draw

if TYPE_CHECKING:
    import pandas as pd

Status = Literal["optimal", "no-better", "counted", "found", "infeasible", "stopped"]
"""How a search ended."""

StopReason = Literal[
    "time-limit", "node-limit", "memory", "gap", "no-improvement", "interrupt", "cancelled", "error"
]
"""Why a search was stopped."""

Number = int | float
"""A value: an int, or a float where the input has decimals."""


class Moment(NamedTuple):
    """What a search knew at some time."""

    seconds: float
    nodes: int
    best: Number | None
    bound: Number | None


@dataclass(frozen=True)
class Progress:
    """What a search knows while it runs."""

    seconds: float
    nodes: int
    best: Number | None
    bound: Number | None
    solution: tuple[int, ...] | None
    #: The distance between the best value and the bound, relative to the value.
    gap: float | None = None


def _from_0(solution: list[int]) -> list[int]:
    """Return the items of a solution counted from 0."""
    return [item - 1 for item in solution]


class View:
    """How values and solutions of the engine are shown."""

    def __init__(self, decimals: int = 0, items: Callable[[list[int]], Iterable[int]] | None = None) -> None:
        """Set the decimals of values, and how to read the engine's solutions, whose items count from 1."""
        self._decimals, self._items = decimals, items or _from_0

    def value(self, value: int | None) -> Number | None:
        """Return a value in the units of the input."""
        return value / 10**self._decimals if value is not None and self._decimals else value

    def solution(self, solution: list[int] | None) -> tuple[int, ...] | None:
        """Return a solution whose items count from 0."""
        return None if solution is None else tuple(self._items(solution))

    def progress(self, raw: Mapping[str, Any]) -> Progress:
        """Return what a running search knows."""
        best, bound = raw["best"], raw["bound"]
        known = best is not None and bound is not None
        return Progress(
            seconds=raw["seconds"],
            nodes=raw["nodes"],
            best=self.value(best),
            bound=self.value(bound),
            solution=self.solution(raw["solution"]),
            gap=abs(best - bound) / max(abs(best), 1) if known else None,
        )

    def common(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields that all results have."""
        keys = ("status", "stopped_by", "nodes", "branched", "depth", "seconds", "threads")
        history = [Moment(s, n, self.value(best), self.value(bound)) for s, n, best, bound in raw["history"]]
        return {key: raw[key] for key in keys} | {"history": tuple(history)}

    def optimised(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields that all results of an optimisation have."""
        best = {"value": self.value(raw["value"]), "bound": self.value(raw["bound"]), "gap": raw["gap"]}
        return self.common(raw) | best


@dataclass(frozen=True, kw_only=True)
class Result:
    """What every search returns."""

    status: Status
    stopped_by: StopReason | None
    nodes: int
    branched: int
    depth: int
    seconds: float
    threads: int
    history: tuple[Moment, ...] = field(repr=False)

    def to_pandas(self) -> pd.DataFrame:
        """Return the history of the search as a table, or the solution where there is one."""
        return frame([list(moment) for moment in self.history], list(Moment._fields))

    def _facts(self) -> list[tuple[str, object]]:
        """Return what is worth showing, as pairs of a name and a value."""
        facts: list[tuple[str, object]] = [("status", self.status)]
        if self.stopped_by is not None:
            facts.append(("stopped by", self.stopped_by))
        return facts

    def _picture(self) -> str:
        """Return a picture as SVG, or nothing."""
        return _draw.curve([(m.seconds, m.best, m.bound) for m in self.history])

    def _repr_html_(self) -> str:
        """Return the result as a notebook shows it."""
        more = [("nodes", f"{self.nodes:,}"), ("seconds", f"{self.seconds:.3f}")]
        return _draw.table([*self._facts(), *more]) + self._picture()


@dataclass(frozen=True, kw_only=True)
class Optimised(Result):
    """The result of a search for the best solution."""

    value: Number | None
    bound: Number | None
    gap: float | None

    def _facts(self) -> list[tuple[str, object]]:
        """Return what is worth showing, as pairs of a name and a value."""
        facts = super()._facts()
        facts.append(("value", "none found" if self.value is None else self.value))
        facts.append(("bound", "none proven" if self.bound is None else self.bound))
        if self.gap is not None:
            facts.append(("gap", f"{100 * self.gap:.2f} %"))
        return facts


@dataclass(frozen=True, kw_only=True)
class Counted(Result):
    """The result of a count, complete unless the search was stopped."""

    count: int

    def _facts(self) -> list[tuple[str, object]]:
        """Return what is worth showing, as pairs of a name and a value."""
        return [*super()._facts(), ("count", f"{self.count:,}")]


def frame(table: list[list[Any]], columns: list[str]) -> pd.DataFrame:
    """Return a table as a pandas DataFrame."""
    import pandas

    return pandas.DataFrame(table, columns=columns)


def counted(raw: Mapping[str, Any]) -> Counted:
    """Return the result of a count."""
    return Counted(count=raw["count"], **View().common(raw))
