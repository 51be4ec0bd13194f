"""The asymmetric travelling salesman: the shortest tour that visits every city once and returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

from pleach import _draw, _numbers, _pleach, _run
from pleach._result import Optimised, View, frame

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Unpack

__all__ = ["Bound", "Tour", "solve"]

Bound = Literal["partial", "assignment", "arborescence"]
"""A lower bound on the length of tours."""


@dataclass(frozen=True, kw_only=True)
class Tour(Optimised):
    """The result of a search for a tour; its value is the length.

    order: the cities in their order, by their places in the input, from 0; None if no tour was found.
    city_names: the names of all cities, in the order of the input.
    legs: the length of the way from each city to the next, and from the last one back to the first.
    """

    order: tuple[int, ...] | None
    city_names: tuple[str, ...]
    legs: tuple[int, ...]

    @property
    def cities(self) -> tuple[str, ...] | None:
        """The names of the cities in their order; None if no tour was found."""
        return None if self.order is None else tuple(self.city_names[city] for city in self.order)

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each leg: from, to, length."""
        cities = self.cities or ()
        following = cities[1:] + cities[:1]
        return frame([list(leg) for leg in zip(cities, following, self.legs, strict=True)], ["from", "to", "length"])

    def _picture(self) -> str:
        """Return the tour as a circle."""
        return "" if self.order is None else _draw.circle(self.cities or (), self.legs)


@overload
def solve(
    costs: object,
    *,
    best: int | None = None,
    start: object = None,
    bound: Bound | None = None,
    blocking: Literal[True] = True,
    **options: Unpack[_run.Options],
) -> Tour: ...


@overload
def solve(
    costs: object,
    *,
    best: int | None = None,
    start: object = None,
    bound: Bound | None = None,
    blocking: Literal[False],
    **options: Unpack[_run.Options],
) -> _run.Run[Tour]: ...


def solve(
    costs: object,
    *,
    best: int | None = None,
    start: object = None,
    bound: Bound | None = None,
    blocking: bool = True,
    **options: Unpack[_run.Options],
) -> Tour | _run.Run[Tour]:
    """Search for the shortest tour, and prove that it is optimal.

    costs: a square matrix with the cost from each city to every other, as lists, a NumPy array or a pandas DataFrame,
        whose index names the cities; or the name of a known instance such as "ftv33", or the path of a TSPLIB file.
        The diagonal does not matter.
    best: search only for tours shorter than this.
    start: a tour to start from: cities by their places, from 0, or by name.
    bound: the lower bound: "partial" (least arcs), "assignment" or "arborescence" (Held-Karp); chosen automatically
        by default.
    blocking: whether to wait for the result; if not, a Run is returned at once.
    **options: when to stop, how many threads, and functions to call; see `pleach.Options`.
    """
    found = _numbers.text_of("costs", costs)
    names = None
    if found is None:
        costs = _numbers.aligned("costs", costs)
        flat = _numbers.square("costs", costs)
        cities = round(len(flat) ** 0.5)
        names = _numbers.names_of("costs.columns", getattr(costs, "columns", None), cities)
    else:
        read = _pleach.atsp_instance(*found)
        if read is None:
            _numbers.wrong(ValueError, "costs", found[0], "the name of a known instance (ftv33), or a file")
        cities, flat = read
    to_beat = None if best is None else _numbers.whole("best", best)
    begin = None if start is None else _numbers.order("start", start, cities, cities, names)
    view = View()

    def tour(raw: Mapping[str, Any]) -> Tour:
        """Return the result as a tour."""
        order = view.solution(raw["solution"])
        following = (order or ())[1:] + (order or ())[:1]
        legs = tuple(flat[a * cities + b] for a, b in zip(order or (), following, strict=True))
        city_names = tuple(names or map(str, range(cities)))
        return Tour(order=order, city_names=city_names, legs=legs, **view.optimised(raw))

    named = _numbers.word("bound", bound)
    return _run.start("atsp", (cities, flat, to_beat, begin, named), tour, view, options, blocking)
