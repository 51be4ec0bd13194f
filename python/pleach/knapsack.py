"""The 0/1 knapsack: the most valuable items that fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

from pleach import _numbers, _pleach, _run
from pleach._result import Optimised, View, frame

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Unpack

__all__ = ["Packing", "solve"]


@dataclass(frozen=True, kw_only=True)
class Packing(Optimised):
    """The result of a search for items.

    items: the items to take, by their places in the input, from 0; None if there is no result.
    item_names: the names of all items, in the order of the input.
    weights, values: those of all items, in the order of the input.
    """

    items: tuple[int, ...] | None
    item_names: tuple[str, ...]
    values: tuple[int, ...]
    weights: tuple[int, ...]

    @property
    def weight(self) -> int | None:
        """The weight of the items taken; None if there is no result."""
        return None if self.items is None else sum(self.weights[item] for item in self.items)

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each item taken: item, value, weight."""
        taken = self.items or ()
        table = [[self.item_names[i], self.values[i], self.weights[i]] for i in taken]
        return frame(table, ["item", "value", "weight"])


@overload
def solve(
    items: object,
    capacity: int | None = None,
    *,
    best: int | None = None,
    blocking: Literal[True] = True,
    **options: Unpack[_run.Options],
) -> Packing: ...


@overload
def solve(
    items: object,
    capacity: int | None = None,
    *,
    best: int | None = None,
    blocking: Literal[False],
    **options: Unpack[_run.Options],
) -> _run.Run[Packing]: ...


def solve(
    items: object,
    capacity: int | None = None,
    *,
    best: int | None = None,
    blocking: bool = True,
    **options: Unpack[_run.Options],
) -> Packing | _run.Run[Packing]:
    """Search for the most valuable items that fit, and prove that no others are worth more.

    items: a row of value and weight for each item, as lists, a NumPy array or a pandas DataFrame with the columns
        "value" and "weight", whose index names the items; or the path of a file: the number of items and the capacity,
        then a line for each item.
    capacity: the weight that fits; leave it out for a file, which includes it.
    best: search only for items worth more than this.
    blocking: whether to wait for the result; if not, a Run is returned at once.
    **options: when to stop, how many threads, and functions to call; see `pleach.Options`.
    """
    found = _numbers.text_of("items", items)
    names = None
    if found is None:
        if hasattr(items, "columns"):
            columns = [str(column) for column in items.columns]
            if not {"value", "weight"} <= set(columns):
                _numbers.wrong(ValueError, "items", columns, "the columns 'value' and 'weight'")
            names = _numbers.names_of("items.index", getattr(items, "index", None), len(items))  # type: ignore[arg-type]
            items = items[["value", "weight"]]  # type: ignore[index]
        table = _numbers.rows("items", items, width=2)
        if capacity is None:
            raise ValueError("capacity: missing, expected the weight that fits")
    else:
        if capacity is not None:
            _numbers.wrong(TypeError, "capacity", capacity, "none with a file, which already includes it")
        capacity, table = _file(*found)
    pairs = [
        (_numbers.whole(f"items[{i}][0]", value), _numbers.whole(f"items[{i}][1]", weight))
        for i, (value, weight) in enumerate(table)
    ]
    room = _numbers.whole("capacity", capacity)
    to_beat = None if best is None else _numbers.whole("best", best)
    view = View()

    def packing(raw: Mapping[str, Any]) -> Packing:
        """Return the result as a packing."""
        return Packing(
            items=view.solution(raw["solution"]),
            item_names=tuple(names or map(str, range(len(pairs)))),
            values=tuple(value for value, _ in pairs),
            weights=tuple(weight for _, weight in pairs),
            **view.optimised(raw),
        )

    return _run.start("knapsack", (room, pairs, to_beat), packing, view, options, blocking)


def _file(path: str, text: str | None) -> tuple[int, list[list[Any]]]:
    """Read the capacity and the items from the text of a file."""
    if text is None:
        _numbers.wrong(ValueError, "items", path, "a file")
    lines = [(at, line.split()) for at, line in enumerate(text.splitlines(), 1) if line.strip()]
    rows: list[list[int]] = []
    for at, words in lines:
        if len(words) != 2 or not all(word.isdecimal() for word in words):
            _numbers.wrong(ValueError, f"items: {path}, line {at}", " ".join(words), "two whole numbers")
        rows.append([int(word) for word in words])
    if not rows or rows[0][0] != len(rows) - 1:
        first = rows[0][0] if rows else None
        _numbers.wrong(ValueError, f"items: {path}", first, f"the number of items, {max(len(rows) - 1, 0)}, as the first number")
    return rows[0][1], list(rows[1:])
