// Sparse × sparse, second pass: the columns and the values of the product's rows. Entries of a row of the first matrix
// are processed one after the other, so that each column is added up in the same order as on a CPU.
#include "exact.cuh"
#include "loop_spmm.cuh"

// Columns of a window, each with a sum.
constexpr u32 WINDOW = 1024;

template <class Number> struct Product {
    Factors of;
    const Number *a_values;
    const Number *b_values;
    // Where rows of the product begin, by the lengths that the first pass counted, perhaps wrongly.
    const u32 *starts;
    // A warp's sums, and which of them belong to the row.
    Number *sums;
    unsigned char *marks;
    // The lengths of the range's rows; then columns, then values, of all of them.
    u32 *lengths;
    u32 *columns;
    u32 *values;

    __device__ Product(const Bounding &launch, const Rows &rows, void *room, unsigned char *marks)
        : of(launch), sums(static_cast<Number *>(room)), marks(marks) {
        starts = of.a_starts + VALUE(launch, 3);
        a_values = reinterpret_cast<const Number *>(of.a_starts + VALUE(launch, 4));
        b_values = reinterpret_cast<const Number *>(of.a_starts + VALUE(launch, 5));
        lengths = address<u32>(launch.bounds);
        columns = lengths + rows.count;
        values = columns + (__ldg(&starts[rows.first + rows.count]) - __ldg(&starts[rows.first]));
    }

    // Adds to the window what entries of the first matrix contribute, one per lane. Returns the first column beyond.
    __device__ u32 add(u32 at, u32 until, u32 begin) {
        u32 lane = threadIdx.x % LANES, low = 0, high = 0, beyond = NONE;
        Number value = 0;
        if (at < until) {
            u32 row = __ldg(&of.a_columns[at]), end = __ldg(&of.b_starts[row + 1]);
            value = a_values[at];
            low = reach(of.b_columns, __ldg(&of.b_starts[row]), end, begin);
            high = reach(of.b_columns, low, end, begin + WINDOW);
            if (high < end)
                beyond = __ldg(&of.b_columns[high]);
        }
        for (u32 left = __ballot_sync(ALL_LANES, low < high); left != 0; left &= left - 1) {
            u32 source = u32(__ffs(int(left))) - 1;
            u32 first = __shfl_sync(ALL_LANES, low, source), last = __shfl_sync(ALL_LANES, high, source);
            Number factor = __shfl_sync(ALL_LANES, value, source);
            for (u32 place = first + lane; place < last; place += LANES) {
                u32 off = __ldg(&of.b_columns[place]) - begin;
                sums[off] = plus(sums[off], times(factor, b_values[place]));
                marks[off] = 1;
            }
            __syncwarp();
        }
        return beyond;
    }

    __device__ void write(u32 at, Number sum) {
        union {
            Number number;
            u32 words[sizeof(Number) / 4];
        } is = {sum};
        for (u32 i = 0; i < sizeof(Number) / 4; ++i)
            values[u64(at) * (sizeof(Number) / 4) + i] = is.words[i];
    }

    // Extracts the window's columns and sums in order, as far as the row has room. Returns their number.
    __device__ u32 take(u32 begin, u32 to, u32 end) {
        u32 lane = threadIdx.x % LANES, taken = 0;
        for (u32 off = lane; off < WINDOW; off += LANES) {
            bool is = marks[off] != 0;
            u32 all = __ballot_sync(ALL_LANES, is);
            if (is) {
                u32 at = to + taken + rank_in(all, lane);
                if (at < end) {
                    columns[at] = begin + off;
                    write(at, sums[off]);
                }
                sums[off] = 0;
                marks[off] = 0;
            }
            taken += u32(__popc(all));
        }
        __syncwarp();
        return taken;
    }

    __device__ void run(const Bounding &launch, const Rows &rows, u32 first) {
        u32 lane = threadIdx.x % LANES, warps = warps_of(launch);
        for (u32 off = lane; off < WINDOW; off += LANES) {
            sums[off] = 0;
            marks[off] = 0;
        }
        __syncwarp();
        for (u32 row = first; row < rows.count; row += warps) {
            u32 from = __ldg(&of.a_starts[rows.first + row]), until = __ldg(&of.a_starts[rows.first + row + 1]);
            const u32 *ends = starts + rows.first;
            u32 place = __ldg(&ends[row]) - __ldg(&ends[0]), to = place;
            u32 end = __ldg(&ends[row + 1]) - __ldg(&ends[0]);
            for (u32 begin = first_column(of, from, until); begin != NONE;) {
                u32 next = NONE;
                for (u32 some = from; some < until; some += LANES)
                    next = lesser(next, add(some + lane, until, begin));
                to += take(begin, to, end);
                begin = least_of_warp(next);
            }
            if (lane == 0)
                lengths[row] = to - place;
        }
    }
};

__device__ inline void part(const Bounding &launch, u32 thread) {
    __shared__ double all_sums[THREADS / LANES][WINDOW];
    __shared__ unsigned char all_marks[THREADS / LANES][WINDOW];
    u32 warp = threadIdx.x / LANES;
    const Rows rows = *address<Rows>(launch.parents);
    // Whether numbers have 64 bits.
    if (VALUE(launch, 6))
        Product<double>(launch, rows, all_sums[warp], all_marks[warp]).run(launch, rows, thread / LANES);
    else
        Product<float>(launch, rows, all_sums[warp], all_marks[warp]).run(launch, rows, thread / LANES);
}

ENTRY bound(Bounding launch) { part(launch, blockIdx.x * blockDim.x + threadIdx.x); }
ENTRY serve(Serving serving) { serve_all<part>(serving); }
