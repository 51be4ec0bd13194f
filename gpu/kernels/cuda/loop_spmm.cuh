// Sparse × sparse, shared by both passes. A warp takes a row of the product and goes through its columns window by
// window, so that any row fits: a window begins at the least column that is left.
#pragma once

#include "serve.cuh"

// A range of a loop is the only parent of a batch; its children are the words of the results.
struct Rows {
    u32 first;
    u32 count;
};

// The rows of both matrices: where each begins, and the columns of all entries.
struct Factors {
    const u32 *a_starts;
    const u32 *a_columns;
    const u32 *b_starts;
    const u32 *b_columns;

    __device__ explicit Factors(const Bounding &launch) {
        a_starts = address<u32>(launch.tables);
        a_columns = a_starts + VALUE(launch, 0);
        b_starts = a_starts + VALUE(launch, 1);
        b_columns = a_starts + VALUE(launch, 2);
    }
};

// No column.
constexpr u32 NONE = 0xffffffffu;

// Warps of a launch.
__device__ inline u32 warps_of(const Bounding &launch) {
    return u32((2 * u64(launch.children) + THREADS - 1) / THREADS) * (THREADS / LANES);
}

__device__ inline u32 least_of_warp(u32 value) {
    for (u32 other = LANES / 2; other > 0; other /= 2)
        value = lesser(value, __shfl_xor_sync(ALL_LANES, value, other));
    return value;
}

// The first of these places with this column or a later one; the end if there is none.
__device__ inline u32 reach(const u32 *columns, u32 from, u32 until, u32 column) {
    while (from < until) {
        u32 middle = from + (until - from) / 2;
        if (__ldg(&columns[middle]) < column)
            from = middle + 1;
        else
            until = middle;
    }
    return from;
}

// The least column of a row of the product; `from` and `until` are the places of the row in the first matrix.
__device__ inline u32 first_column(const Factors &of, u32 from, u32 until) {
    u32 least = NONE;
    for (u32 at = from + threadIdx.x % LANES; at < until; at += LANES) {
        const u32 *ends = of.b_starts + __ldg(&of.a_columns[at]);
        if (__ldg(&ends[0]) < __ldg(&ends[1]))
            least = lesser(least, __ldg(&of.b_columns[__ldg(&ends[0])]));
    }
    return least_of_warp(least);
}
