"""Loops of independent work: products of sparse matrices of SciPy, on all cores."""

from __future__ import annotations

from typing import Any

from pleach import _numbers, _pleach

__all__ = ["multiply"]


def _csr(argument: str, matrix: Any) -> Any:
    """Return a sparse matrix by rows, whose columns ascend without duplicates."""
    if not hasattr(matrix, "tocsr") or len(matrix.shape) != 2:
        _numbers.wrong(TypeError, argument, type(matrix), "a sparse matrix of SciPy")
    rows = matrix.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def _parts(matrix: Any, dtype: Any) -> dict[str, Any]:
    """Return a sparse matrix as the compiled part takes it: the columns and values are not copied if they have its types."""
    return {
        "width": matrix.shape[1],
        "starts": matrix.indptr.astype("int64", copy=False),
        "columns": matrix.indices.astype("int32", copy=False),
        "values": matrix.data.astype(dtype, copy=False),
    }


def multiply(a: Any, b: Any, *, threads: int | None = None, sort: bool = True) -> Any:
    """Multiply a sparse matrix by a sparse or a dense one.

    a: a sparse matrix or array of SciPy; others than CSR are converted.
    b: a sparse matrix or array of SciPy, or an array of NumPy with one or two dimensions.
    threads: how many threads multiply; all cores by default.
    sort: whether the columns of a sparse product ascend; without it, the product of scattered matrices is faster.

    The product is in single precision if both are, and in double precision otherwise; matrices of NumPy and SciPy are
    not copied if they are in this precision. A sparse product has the class of `a`, a dense one is an array of NumPy.
    """
    import numpy

    a = _csr("a", a)
    dense = not hasattr(b, "tocsr")
    b = numpy.asarray(b) if dense else _csr("b", b)
    single = a.dtype == numpy.float32 == b.dtype
    dtype = numpy.float32 if single else numpy.float64
    for argument, matrix in (("a", a), ("b", b)):
        if not numpy.can_cast(matrix.dtype, numpy.float64, "same_kind"):
            _numbers.wrong(TypeError, argument, matrix.dtype, "a matrix of real numbers")
    if b.ndim not in (1, 2):
        _numbers.wrong(ValueError, "b", b.shape, "a matrix, or a vector")
    if a.shape[1] != b.shape[0]:
        expected = f"{a.shape[1]} rows, as many as a has columns"
        _numbers.wrong(ValueError, "b", b.shape[0], expected)
    cores = _pleach.cores() if threads is None else _numbers.whole("threads", threads, 1, 1024)
    if dense:
        table = numpy.ascontiguousarray(b, dtype).reshape(b.shape[0], -1)
        memory, begin = _pleach.dense_product(_parts(a, dtype), table, cores)
        size = a.shape[0] * table.shape[1]
        return memory[begin : begin + size].reshape((a.shape[0], *b.shape[1:]))
    starts, columns, values = _pleach.sparse_product(_parts(a, dtype), _parts(b, dtype), cores, sort)
    product = type(a)((values, columns, starts), shape=(a.shape[0], b.shape[1]))
    product.has_sorted_indices = product.has_canonical_format = sort
    return product
