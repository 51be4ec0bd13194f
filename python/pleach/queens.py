"""Queens on a board, none attacking another: count all ways to place them, or find one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

from pleach import _numbers, _pleach, _run
from pleach._result import Counted, Result, View, counted, frame

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Unpack

__all__ = ["Placement", "count", "solve"]


@dataclass(frozen=True, kw_only=True)
class Placement(Result):
    """The result of a search for one way to place queens.

    columns: the column of the queen in each row, from 0; None if no way was found.
    """

    columns: tuple[int, ...] | None

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each queen: row, column."""
        return frame([list(queen) for queen in enumerate(self.columns or ())], ["row", "column"])


@overload
def count(
    n: int, *, whole: bool = False, blocking: Literal[True] = True, **options: Unpack[_run.Options]
) -> Counted: ...


@overload
def count(
    n: int, *, whole: bool = False, blocking: Literal[False], **options: Unpack[_run.Options]
) -> _run.Run[Counted]: ...


def count(
    n: int, *, whole: bool = False, blocking: bool = True, **options: Unpack[_run.Options]
) -> Counted | _run.Run[Counted]:
    """Count all ways to place n queens on a board of n rows and columns.

    whole: whether to search the whole board, not only one of two mirrored halves. The counts are the same.
    blocking: whether to wait for the result; if not, a Run is returned at once.
    **options: when to stop, how many threads, and functions to call; see `pleach.Options`.
    """
    size = _numbers.whole("n", n, 1, 2**32 - 1)
    whole = _run._truth("whole", whole)
    return _run.start("queens", (size, True, whole), counted, View(), options, blocking)


@overload
def solve(n: int, *, blocking: Literal[True] = True, **options: Unpack[_run.Options]) -> Placement: ...


@overload
def solve(n: int, *, blocking: Literal[False], **options: Unpack[_run.Options]) -> _run.Run[Placement]: ...


def solve(
    n: int, *, blocking: bool = True, **options: Unpack[_run.Options]
) -> Placement | _run.Run[Placement]:
    """Find one way to place n queens on a board of n rows and columns.

    blocking: whether to wait for the result; if not, a Run is returned at once.
    **options: when to stop, how many threads, and functions to call; see `pleach.Options`.
    """
    size = _numbers.whole("n", n, 1, 2**32 - 1)
    view = View()

    def placement(raw: Mapping[str, Any]) -> Placement:
        """Return the result as a placement."""
        return Placement(columns=view.solution(raw["solution"]), **view.common(raw))

    return _run.start("queens", (size, False, False), placement, view, options, blocking)
