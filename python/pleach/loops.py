"""Loops of independent work: products of SciPy sparse matrices, on all cores."""

from __future__ import annotations

from typing import Any

from pleach import _numbers, _pleach

__all__ = ["multiply"]


def _csr(argument: str, matrix: Any) -> Any:
    """Return a sparse matrix by rows, whose columns ascend without duplicates."""
    if not hasattr(matrix, "tocsr") or len(matrix.shape) != 2:
        _numbers.wrong(TypeError, argument, type(matrix), "a SciPy sparse matrix")
    rows = matrix.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def _parts(matrix: Any, dtype: Any) -> dict[str, Any]:
    """Return a sparse matrix as the compiled part takes it: columns and values of the right types are not copied."""
    import numpy

    return {
        "width": matrix.shape[1],
        "starts": numpy.require(matrix.indptr, "int64", ["C", "A"]),
        "columns": numpy.require(matrix.indices, "int32", ["C", "A"]),
        "values": numpy.require(matrix.data, dtype, ["C", "A"]),
    }


def multiply(a: Any, b: Any, *, threads: int | None = None, sort: bool = True) -> Any:
    """Multiply a sparse matrix by a sparse or a dense one.

    a: a SciPy sparse matrix or array; formats other than CSR are converted.
    b: a SciPy sparse matrix or array, or a NumPy array with one or two dimensions.
    threads: how many threads multiply; all cores by default.
    sort: whether the columns of a sparse product ascend; without it, the product of scattered matrices is faster.

    The product is in single precision if both are, and in double precision otherwise. CSR matrices in this precision,
    with ascending columns of 32 bits, are read in place, without a copy; they must not change meanwhile. A sparse
    product is in CSR format, a dense one is a NumPy array.
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
    for argument, matrix in (("a", a), ("b", b)):
        if matrix.shape[1:] > (2**31 - 1,):
            _numbers.wrong(ValueError, argument, matrix.shape, "fewer than 2^31 columns")
    cores = _pleach.cores() if threads is None else _numbers.whole("threads", threads, 1, 1024)
    if dense:
        table = numpy.require(b if b.ndim == 2 else b[:, None], dtype, ["C", "A"])
        memory, begin = _pleach.dense_product(_parts(a, dtype), table, cores)
        size = a.shape[0] * table.shape[1]
        return memory[begin : begin + size].reshape((a.shape[0], *b.shape[1:]))
    starts, columns, values = _pleach.sparse_product(_parts(a, dtype), _parts(b, dtype), cores, sort)
    product = type(a)((values, columns, starts), shape=(a.shape[0], b.shape[1]))
    product.has_sorted_indices = product.has_canonical_format = sort
    return product
