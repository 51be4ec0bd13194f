"""Products of sparse matrices are those of SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import pleach

RANDOM = np.random.default_rng(7)


def matrix(height: int, width: int, density: float, dtype: Any = np.float64) -> Any:
    """Return a random sparse array with whole numbers, so that products are exact."""
    drawn = sparse.random_array((height, width), density=density, rng=RANDOM, format="csr", dtype=np.float64)
    drawn.data = np.floor(9 * drawn.data) - 4
    return drawn.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("threads", [1, 3])
def test_sparse_products(dtype: Any, threads: int) -> None:
    for height, middle, width, density in ((300, 200, 400, 0.03), (50, 60, 70, 0.6), (7, 1, 9, 1.0), (40, 30, 20, 0.0)):
        a, b = matrix(height, middle, density, dtype), matrix(middle, width, density, dtype)
        product = pleach.loops.multiply(a, b, threads=threads)
        expected = a @ b
        expected.sort_indices()
        assert product.dtype == dtype and product.shape == expected.shape
        assert (product.toarray() == expected.toarray()).all()
        assert product.nnz >= expected.nnz and product.has_canonical_format and product.has_sorted_indices
        product.check_format()
        unsorted = pleach.loops.multiply(a, b, threads=threads, sort=False)
        assert (unsorted.toarray() == expected.toarray()).all()
        unsorted.sort_indices()
        assert (unsorted.indices == product.indices).all() and (unsorted.indptr == product.indptr).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_dense_products(dtype: Any) -> None:
    a = matrix(300, 200, 0.05, dtype)
    for width in (1, 3, 64, 129):
        b = RANDOM.integers(-9, 9, (200, width)).astype(dtype)
        product = pleach.loops.multiply(a, b)
        assert product.dtype == dtype and product.shape == (300, width) and (product == a @ b).all()
        assert (pleach.loops.multiply(a, np.asfortranarray(b)) == product).all()
    vector = pleach.loops.multiply(a, b[:, 0])
    assert vector.shape == (300,) and (vector == a @ b[:, 0]).all()
    assert pleach.loops.multiply(a, np.zeros((200, 0), dtype)).shape == (300, 0)


def test_other_formats_and_precisions_are_converted_and_left_as_they_were() -> None:
    a, b = matrix(40, 30, 0.2), matrix(30, 50, 0.2)
    expected = (a @ b).toarray()
    for other in (a.tocoo(), a.tocsc(), a.astype(np.int16), sparse.csr_matrix(a), a.astype(np.float32)):
        product = pleach.loops.multiply(other, b)
        assert (product.toarray() == expected).all() and product.dtype == np.float64
    assert isinstance(pleach.loops.multiply(sparse.csr_matrix(a), b), sparse.csr_matrix)
    assert isinstance(pleach.loops.multiply(a, b), sparse.csr_array)
    # Unsorted columns with duplicates.
    rows = sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), np.array([0, 3, 3])), shape=(2, 3))
    assert (pleach.loops.multiply(rows, np.eye(3)) == [[2, 0, 5], [0, 0, 0]]).all()
    assert rows.indices.tolist() == [2, 0, 2]


@pytest.mark.parametrize(
    ("b", "kind", "line"),
    [
        (np.zeros((4, 2)), ValueError, "b: 4, expected 3 rows, as many as a has columns"),
        (np.zeros((3, 2), complex), TypeError, "b: dtype.*expected a matrix of real numbers"),
        (np.zeros((3, 2, 2)), ValueError, "expected a matrix, or a vector"),
        (np.array(["x", "y", "z"]), TypeError, "real numbers"),
    ],
)
def test_wrong_factors_are_refused(b: Any, kind: type[Exception], line: str) -> None:
    a = sparse.csr_array(np.eye(3))
    with pytest.raises(kind, match=line):
        pleach.loops.multiply(a, b)
    with pytest.raises(TypeError, match="^a: .*expected a SciPy sparse matrix"):
        pleach.loops.multiply(np.eye(3), b)
    with pytest.raises(ValueError, match="^threads: 0"):
        pleach.loops.multiply(a, a, threads=0)


def test_unusual_matrices() -> None:
    empty = pleach.loops.multiply(sparse.csr_array((3, 0)), np.zeros((0, 5)))
    assert empty.shape == (3, 5) and not empty.any()
    assert pleach.loops.multiply(sparse.csr_array((3, 0)), np.zeros(0)).shape == (3,)
    assert pleach.loops.multiply(sparse.csr_array((0, 3)), sparse.csr_array((3, 2))).shape == (0, 2)
    strided = (matrix(9, 9, 0.5) * (1 + 2j)).real
    assert not strided.data.flags.c_contiguous
    assert (pleach.loops.multiply(strided, np.eye(9)) == strided.toarray()).all()
    wide = sparse.csr_array(
        (np.ones(1), np.array([2**32 + 1]), np.array([0, 1])), shape=(1, 2**33)
    )
    with pytest.raises(ValueError, match=r"^b: .*fewer than 2\^31 columns"):
        pleach.loops.multiply(sparse.csr_array(np.eye(1)), wide)
    unaligned = np.frombuffer(b"x" + np.arange(6.0).tobytes(), np.float64, offset=1).reshape(3, 2)
    assert not unaligned.flags.aligned
    assert (pleach.loops.multiply(sparse.csr_array(np.eye(3)), unaligned) == unaligned).all()
    # Neither factors nor products are copied.
    a = matrix(50, 50, 0.2)
    product = pleach.loops.multiply(a, a)
    assert product.indices.dtype == np.int32 and not product.indices.flags.owndata


def test_corrupt_matrices_are_refused() -> None:
    a = sparse.csr_array(np.eye(3))
    a.indices[1] = 7
    with pytest.raises(ValueError, match="do not match"):
        pleach.loops.multiply(a, a)
    a.indices[1] = -1
    with pytest.raises(ValueError, match="do not match"):
        pleach.loops.multiply(a, np.eye(3))
