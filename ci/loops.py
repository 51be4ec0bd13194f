"""Compares Pleach's sparse products with SciPy's, or measures MKL's: python loops.py check|bench FOLDER."""

import ctypes
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

MODE, PLACE = sys.argv[1], Path(sys.argv[2])
RANDOM = np.random.default_rng(1)


def mesh(shape, unknowns):
    """Finite elements on a box: every node with its up to 26 neighbours."""
    def line(n):
        return sp.diags([np.ones(n - 1), np.ones(n), np.ones(n - 1)], [-1, 0, 1])

    matrix = line(1)
    for side in shape:
        matrix = sp.kron(line(side), matrix)
    return filled(sp.kron(matrix, np.ones((unknowns, unknowns))))


def web(rows, each):
    """A graph with a few popular pages."""
    count = rows * each
    columns = (rows ** RANDOM.random(count)).astype(np.int64) * 40503 % rows
    return filled(sp.coo_matrix((np.ones(count), (RANDOM.integers(0, rows, count), columns)), (rows, rows)))


def filled(matrix):
    matrix = sp.csr_matrix(matrix)
    matrix.sum_duplicates()
    matrix.data = RANDOM.random(matrix.nnz) * 2 - 1
    return matrix


def pleach(*words):
    done = subprocess.run(["target/release/pleach", "loop", *words, "--json"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{words}: {done.stderr}")


def check():
    """Every family, as files: the same product, entry by entry, within rounding."""
    a, b, out = (str(PLACE / name) for name in ("a.mtx", "b.mtx", "out.mtx"))
    cases = [
        (mesh((7, 6, 5), 3), mesh((7, 6, 5), 3)),
        (mesh((30, 20), 6), mesh((30, 20), 6)),
        (web(5000, 4), web(5000, 3)),
        (filled(sp.random(300, 70, 0.1)), filled(sp.random(70, 900, 0.05))),
    ]
    for number, (left, right) in enumerate(cases):
        scipy.io.mmwrite(a, left)
        scipy.io.mmwrite(b, right)
        expected = left @ right
        for flags in ([], ["--simd", "off"], ["--unsorted"], ["--devices", "cpu,emulated"]):
            pleach("spmm", a, b, "--out", out, *flags)
            product = scipy.io.mmread(out).tocsr()
            apart = abs(product - expected).max()
            same = product.nnz == expected.nnz and product.shape == expected.shape
            if not same or apart > 1e-12 * abs(expected).max():
                sys.exit(f"spmm, case {number}, {flags}: {product.nnz} entries for {expected.nnz}, {apart} apart")
        # The dense matrix is the one that the command makes.
        rows, columns = np.arange(left.shape[1])[:, None], np.arange(13)[None, :]
        dense = (rows * 7 + columns * 3) % 11 - 5.0
        for flags in ([], ["--simd", "off"], ["--devices", "emulated"]):
            pleach("csrmm", a, "--columns", "13", "--out", out, *flags)
            apart = abs(scipy.io.mmread(out) - left @ dense).max()
            if apart > 1e-11:
                sys.exit(f"csrmm, case {number}, {flags}: {apart} apart")
        print(f"case {number}: {left.shape[0]} × {right.shape[1]}, {expected.nnz} entries: as SciPy's")


class Description(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("mode", ctypes.c_int), ("diagonal", ctypes.c_int)]


def bench():
    """MKL on one thread: the same families, as many rows."""
    folder = Path(sys.executable).parent.parent / "lib"
    mkl = ctypes.CDLL(str(next(folder.glob("libmkl_rt.so*"))), mode=ctypes.RTLD_GLOBAL)
    mkl.MKL_Set_Num_Threads(1)
    cases = [
        ("fem:60x50x50", mesh((60, 50, 50), 3)),
        ("fem1:100x100x100", mesh((100, 100, 100), 1)),
        ("web:1000000x3", web(1_000_000, 3)),
    ]
    print("MKL, one thread, GFLOP/s")
    for name, matrix in cases:
        for letter, number in (("s", np.float32), ("d", np.float64)):
            starts, columns = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
            values, handle = matrix.data.astype(number), ctypes.c_void_p()
            pointer = lambda array: ctypes.c_void_p(array.ctypes.data)
            create = getattr(mkl, f"mkl_sparse_{letter}_create_csr")
            ends = ctypes.c_void_p(starts.ctypes.data + 4)
            rows, width = matrix.shape
            assert create(ctypes.byref(handle), 0, rows, width, pointer(starts), ends, pointer(columns), pointer(values)) == 0
            operations = 2.0 * np.diff(matrix.indptr)[matrix.indices].sum()
            rates = []
            for ordered in (False, True):
                best = np.inf
                for _ in range(3):
                    product, began = ctypes.c_void_p(), time.perf_counter()
                    assert mkl.mkl_sparse_spmm(10, handle, handle, ctypes.byref(product)) == 0
                    if ordered:
                        assert mkl.mkl_sparse_order(product) == 0
                    best = min(best, time.perf_counter() - began)
                    mkl.mkl_sparse_destroy(product)
                rates.append(operations / best * 1e-9)
            line = f"{name:20} {number.__name__} itself {rates[0]:.2f}, ordered {rates[1]:.2f}"
            scalar = ctypes.c_float if letter == "s" else ctypes.c_double
            multiply = getattr(mkl, f"mkl_sparse_{letter}_mm")
            for wide in (64, 256):
                dense, out, best = RANDOM.random((width, wide)).astype(number), np.zeros((rows, wide), number), np.inf
                for _ in range(5):
                    began = time.perf_counter()
                    assert multiply(10, scalar(1), handle, Description(20, 0, 0), 101, pointer(dense), wide, wide, scalar(0), pointer(out), wide) == 0
                    best = min(best, time.perf_counter() - began)
                line += f", {wide} columns {2.0 * matrix.nnz * wide / best * 1e-9:.1f}"
            print(line, flush=True)


{"check": check, "bench": bench}[MODE]()
