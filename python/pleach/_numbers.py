"""Reads numbers from lists, NumPy arrays and pandas objects, with errors that name the place."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from decimal import MAX_PREC, Context, Decimal, InvalidOperation
from typing import Any, NoReturn

MOST_DECIMALS = 9
"""The maximum number of decimals of a number."""

MOST_DIGITS = 400
"""The maximum number of digits of a whole number; no float has as many."""

_SHORT = ("float16", "float32")
"""Floats of fewer than 64 bits, by name."""


def wrong(kind: type[Exception], argument: str, value: object, expected: str) -> NoReturn:
    """Raise an error that names the argument, the value and what was expected."""
    try:
        text = str(value) if isinstance(value, Decimal) else repr(value)
    except ValueError:
        text = "an int of too many digits"
    if len(text) > 60:
        text = text[:57] + "…"
    raise kind(f"{argument}: {text}, expected {expected}")


def number(argument: str, value: object) -> int | Decimal:
    """Return a value as an exact number: an int, or a Decimal if it has decimals."""
    if type(value) is int:
        return value
    if type(value) is float and math.isfinite(value):
        # The shortest decimal number that reads as this value, as it was probably written.
        return int(value) if value.is_integer() else Decimal(repr(value))
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        wrong(TypeError, argument, value, "a number, not a truth value")
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        pass
    if isinstance(value, Decimal):
        exact = value
    else:
        if isinstance(value, (str, bytes)) or not hasattr(value, "__float__"):
            wrong(TypeError, argument, value, "a number")
        as_float = float(value)
        if not math.isfinite(as_float):
            wrong(ValueError, argument, value, "a finite number")
        if type(value).__module__ == "numpy" and as_float.is_integer():
            return int(as_float)
        try:
            exact = Decimal(str(value))
        except InvalidOperation:
            wrong(TypeError, argument, value, "an int, a float or a Decimal")
    if not exact.is_finite():
        wrong(ValueError, argument, value, "a finite number")
    if exact.adjusted() > MOST_DIGITS:
        wrong(ValueError, argument, value, f"a number of at most {MOST_DIGITS} digits")
    whole = int(exact)
    return whole if whole == exact else exact


def whole(argument: str, value: object, least: int = -(2**63), most: int = 2**63 - 1) -> int:
    """Return a value as a whole number between two limits."""
    found = number(argument, value)
    if isinstance(found, Decimal):
        wrong(ValueError, argument, value, "a whole number")
    if not least <= found <= most:
        limits = "a number of 64 bits" if (least, most) == (-(2**63), 2**63 - 1) else (
            f"a number from {least} to {most}"
        )
        wrong(ValueError, argument, value, limits)
    return found


def _mixes_short_floats(values: Any) -> bool:
    """Return whether a pandas frame has short floats and wider ones, as which they would no longer read as written."""
    if getattr(values, "columns", None) is None or not hasattr(values, "iloc"):
        return False
    kinds = {str(kind).lower() for kind in values.dtypes}
    return len(kinds) > 1 and not kinds.isdisjoint(_SHORT)


def plain(values: object) -> object:
    """Return the content of a NumPy array or a pandas object as lists; other values as they are."""
    if _mixes_short_floats(values):
        columns: list[Any] = [plain(column) for _, column in values.items()]  # type: ignore[attr-defined]
        return [list(line) for line in zip(*columns, strict=True)]
    to_numpy = getattr(values, "to_numpy", None)
    if to_numpy is not None:
        values = to_numpy()
    if getattr(getattr(values, "dtype", None), "name", None) in _SHORT:
        import numpy

        if isinstance(values, numpy.ndarray):
            # The shortest decimal numbers that read as these values, as they were probably written; whole
            # numbers are exact.
            exact = values.astype(float)
            values = numpy.where(exact == numpy.floor(exact), exact, values.astype(str).astype(float))
    to_list = getattr(values, "tolist", None)
    return to_list() if to_list is not None else values


def word(argument: str, value: object) -> str | None:
    """Return a name, if one is given."""
    if value is not None and not isinstance(value, str):
        wrong(TypeError, argument, value, "a name")
    return value


def items(argument: str, values: object) -> list[Any]:
    """Return a sequence as a list."""
    values = plain(values)
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        wrong(TypeError, argument, values, "a sequence of numbers")
    return list(values)


def row(argument: str, values: object, length: int | None = None) -> list[int | Decimal]:
    """Return a sequence of exact numbers."""
    found = items(argument, values)
    if length is not None and len(found) != length:
        wrong(ValueError, argument, len(found), f"{length} numbers")
    for i, value in enumerate(found):
        if type(value) is not int:
            found[i] = number(f"{argument}[{i}]", value)
    return found


def rows(
    argument: str, values: object, width: int | None = None, diagonal: bool = True
) -> list[list[int | Decimal]]:
    """Return a table of exact numbers, all rows of one length; without its diagonal, it is 0 there."""
    table = items(argument, values)
    found = []
    for i, line in enumerate(table):
        if not isinstance(line, (Sequence, Iterable)) or isinstance(line, (str, bytes)):
            wrong(TypeError, f"{argument}[{i}]", line, "a row of numbers")
        cells = items(f"{argument}[{i}]", line)
        if not diagonal and i < len(cells):
            cells[i] = 0
        width = len(cells) if width is None else width
        if len(cells) != width:
            wrong(ValueError, f"{argument}[{i}]", len(cells), f"{width} numbers in this row")
        found.append(row(f"{argument}[{i}]", cells))
    return found


def square(argument: str, values: object, diagonal: bool = False) -> list[int]:
    """Return a square matrix of whole numbers, row by row; without its diagonal, it is 0 there."""
    table = rows(argument, values, diagonal=diagonal)
    if not table or len(table) != len(table[0]):
        shape = (len(table), len(table[0]) if table else 0)
        wrong(ValueError, argument, shape, "a square matrix of at least one row")
    return [
        value if type(value) is int and -(2**63) <= value < 2**63 else whole(f"{argument}[{i}][{j}]", value)
        for i, line in enumerate(table)
        for j, value in enumerate(line)
    ]


def decimals_of(values: Iterable[int | Decimal]) -> int:
    """Return how many decimals all these numbers need."""
    most = 0
    for value in values:
        if isinstance(value, Decimal):
            # Trailing zeros do not count. The user's context may round, and this must not.
            exact = Context(prec=len(value.as_tuple().digits))
            most = max(most, -int(value.normalize(exact).as_tuple().exponent))
    return most


def multiple_of(value: int | Decimal, decimals: int) -> int:
    """Return a number as a multiple of a power of ten, exactly, whatever the user's context says."""
    if not isinstance(value, Decimal):
        return int(value * 10**decimals)
    # This changes only the exponent.
    return int(value.scaleb(decimals, Context(prec=MAX_PREC)))


def scaled(argument: str, value: int | Decimal, decimals: int, most: int) -> int:
    """Return a number as a multiple of a power of ten, between 0 and a limit."""
    multiple = multiple_of(value, decimals)
    if not 0 <= multiple <= most:
        bits = "" if -(2**63) <= multiple < 2**63 else ", within 64 bits,"
        limit = Decimal(most) / 10**decimals if decimals else most
        wrong(ValueError, argument, value, f"a number{bits} from 0 to {limit}")
    return multiple


def aligned(argument: str, matrix: Any) -> Any:
    """Return a square frame with its rows in the order of its columns; anything else as it is."""
    columns, index = getattr(matrix, "columns", None), getattr(matrix, "index", None)
    if columns is None or index is None or callable(index):
        return matrix
    wanted, names = [str(label) for label in columns], [str(label) for label in index]
    # An index that shares no name with the columns just numbers them.
    if names == wanted or len(names) != len(wanted) or not set(names) & set(wanted):
        return matrix
    if len(set(names)) < len(names) or set(names) != set(wanted):
        wrong(ValueError, f"{argument}.index", names, "the labels of the columns")
    return matrix.iloc[[names.index(name) for name in wanted]]


def names_of(argument: str, labels: object, length: int) -> list[str] | None:
    """Return the names in a pandas index; ``None`` if it just counts from 0."""
    if labels is None:
        return None
    names = [str(label) for label in labels]  # type: ignore[attr-defined]
    if type(labels).__name__ == "RangeIndex" and names == [str(place) for place in range(length)]:
        return None
    if len(names) != length:
        wrong(ValueError, argument, len(names), f"{length} names")
    seen: set[str] = set()
    for i, name in enumerate(names):
        if name in seen:
            wrong(ValueError, f"{argument}[{i}]", name, "names that all differ")
        seen.add(name)
    return names


def text_of(argument: str, source: object) -> tuple[str, str | None] | None:
    """Return the word of a source that is a name or a path, and the text of the file if there is one."""
    if not isinstance(source, (str, os.PathLike)):
        return None
    path = os.fspath(source)
    if not isinstance(path, str):
        wrong(TypeError, argument, source, "a str path")
    if not isinstance(source, os.PathLike) and not os.path.isfile(path):
        return path, None
    try:
        with open(path, encoding="utf-8-sig") as file:
            return path, file.read()
    except OSError as why:
        raise ValueError(f"{argument}: {path!r}, expected a file that can be read: {why.strerror}") from why
    except UnicodeDecodeError as why:
        raise ValueError(f"{argument}: {path!r}, expected a file of text in UTF-8") from why


def order(argument: str, values: object, length: int, among: int, names: list[str] | None) -> list[int]:
    """Return distinct items, each given by its place from 0 or by its name, which is that place if there are no names."""
    found = items(argument, values)
    if len(found) != length:
        wrong(ValueError, argument, len(found), f"{length} items")
    known = {name: place for place, name in enumerate(names or map(str, range(among)))}
    places: list[int] = []
    taken: set[int] = set()
    for i, item in enumerate(found):
        if isinstance(item, str):
            if item not in known:
                wrong(ValueError, f"{argument}[{i}]", item, "a name of the input, or a place from 0")
            place = known[item]
        else:
            place = whole(f"{argument}[{i}]", item, 0, among - 1)
        if place in taken:
            wrong(ValueError, f"{argument}[{i}]", item, "items that all differ")
        taken.add(place)
        places.append(place)
    return places
