// Sparse × sparse, first pass: the length of each row of the product. A lane marks what one entry of the row adds.
#include "loop_spmm.cuh"

// Columns of a window, one bit each, and their words.
constexpr u32 WINDOW = 8192;
constexpr u32 WORDS = WINDOW / 32;

// Marks the columns of a row of the second matrix that lie in the window. Returns the first column beyond.
__device__ inline u32 mark(const Factors &of, u32 row, u32 begin, u32 *marks) {
    u32 until = __ldg(&of.b_starts[row + 1]), word = 0, bits = 0, beyond = NONE;
    for (u32 at = reach(of.b_columns, __ldg(&of.b_starts[row]), until, begin); at < until; ++at) {
        u32 column = __ldg(&of.b_columns[at]), off = column - begin;
        if (off >= WINDOW) {
            beyond = column;
            break;
        }
        // Columns ascend, so those of a word come together.
        if (off / 32 != word) {
            if (bits != 0)
                atomicOr(&marks[word], bits);
            word = off / 32;
            bits = 0;
        }
        bits |= 1u << off % 32;
    }
    if (bits != 0)
        atomicOr(&marks[word], bits);
    return beyond;
}

__device__ inline void part(const Bounding &launch, u32 thread) {
    __shared__ u32 all_marks[THREADS / LANES][WORDS];
    Factors of(launch);
    const Rows *rows = address<Rows>(launch.parents);
    u32 *results = address<u32>(launch.bounds);
    u32 *marks = all_marks[threadIdx.x / LANES], lane = threadIdx.x % LANES, warps = warps_of(launch);
    for (u32 i = lane; i < WORDS; i += LANES)
        marks[i] = 0;
    __syncwarp();
    for (u32 row = thread / LANES; row < rows->count; row += warps) {
        u32 from = __ldg(&of.a_starts[rows->first + row]), until = __ldg(&of.a_starts[rows->first + row + 1]);
        u32 begin = first_column(of, from, until), count = 0;
        while (begin != NONE) {
            u32 next = NONE;
            for (u32 at = from + lane; at < until; at += LANES)
                next = lesser(next, mark(of, __ldg(&of.a_columns[at]), begin, marks));
            __syncwarp();
            for (u32 i = lane; i < WORDS; i += LANES) {
                count += u32(__popc(marks[i]));
                marks[i] = 0;
            }
            __syncwarp();
            begin = least_of_warp(next);
        }
        count = sum_of_warp(count);
        if (lane == 0)
            results[row] = count;
    }
}

ENTRY bound(Bounding launch) { part(launch, blockIdx.x * blockDim.x + threadIdx.x); }
ENTRY serve(Serving serving) { serve_all<part>(serving); }
