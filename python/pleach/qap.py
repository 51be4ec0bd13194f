"""The quadratic assignment: the cheapest assignment of facilities, with flows between them, to locations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

from pleach import _numbers, _pleach, _run
from pleach._result import Optimised, View, frame

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Unpack

__all__ = ["Assignment", "solve"]


@dataclass(frozen=True, kw_only=True)
class Assignment(Optimised):
    """The result of a search for an assignment; its value is the cost.

    places: the location of each facility, from 0; None if no assignment was found.
    facility_names, location_names: all names, in the order of the input.
    """

    places: tuple[int, ...] | None
    facility_names: tuple[str, ...]
    location_names: tuple[str, ...]

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each facility: facility, location."""
        pairs = zip(self.facility_names, self.places or (), strict=self.places is not None)
        return frame([[name, self.location_names[place]] for name, place in pairs], ["facility", "location"])


@overload
def solve(
    flows: object,
    distances: object = None,
    *,
    best: int | None = None,
    start: object = None,
    blocking: Literal[True] = True,
    **options: Unpack[_run.Options],
) -> Assignment: ...


@overload
def solve(
    flows: object,
    distances: object = None,
    *,
    best: int | None = None,
    start: object = None,
    blocking: Literal[False],
    **options: Unpack[_run.Options],
) -> _run.Run[Assignment]: ...


def solve(
    flows: object,
    distances: object = None,
    *,
    best: int | None = None,
    start: object = None,
    blocking: bool = True,
    **options: Unpack[_run.Options],
) -> Assignment | _run.Run[Assignment]:
    """Search for the cheapest assignment, and prove that none is cheaper.

    flows: a square matrix with the flow from each facility to every other, as lists, a NumPy array or a
        pandas DataFrame, whose columns name the facilities; or the name of a known instance such as "nug12", or the path
        of a QAPLIB file, which has the distances, too.
    distances: a square matrix with the distance from each location to every other; there may be more locations.
    best: search only for assignments that cost less than this.
    start: an assignment to start from: for each facility a location by its place, from 0, or by name.
    blocking: whether to wait for the result; if not, a Run is returned at once.
    **options: when to stop, how many threads, and functions to call; see `pleach.Options`.
    """
    found = _numbers.text_of("flows", flows)
    facilities = locations = None
    if found is None:
        if distances is None:
            raise ValueError("distances: missing, expected a square matrix")
        flows, distances = _numbers.aligned("flows", flows), _numbers.aligned("distances", distances)
        first = _numbers.square("flows", flows, diagonal=True)
        second = _numbers.square("distances", distances, diagonal=True)
        n, m = round(len(first) ** 0.5), round(len(second) ** 0.5)
        facilities = _numbers.names_of("flows.columns", getattr(flows, "columns", None), n)
        locations = _numbers.names_of("distances.columns", getattr(distances, "columns", None), m)
    else:
        if distances is not None:
            raise TypeError("distances: a matrix, expected none with a name or a file, which already includes them")
        read = _pleach.qap_instance(*found)
        if read is None:
            _numbers.wrong(ValueError, "flows", found[0], "the name of a known instance (nug12), or a file")
        n, first, m, second = read
    to_beat = None if best is None else _numbers.whole("best", best)
    begin = None if start is None else _numbers.order("start", start, n, m, locations)
    view = View()

    def assignment(raw: Mapping[str, Any]) -> Assignment:
        """Return the result as an assignment."""
        return Assignment(
            places=view.solution(raw["solution"]),
            facility_names=tuple(facilities or map(str, range(n))),
            location_names=tuple(locations or map(str, range(m))),
            **view.optimised(raw),
        )

    return _run.start("qap", ((n, first), (m, second), to_beat, begin), assignment, view, options, blocking)
