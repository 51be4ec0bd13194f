// Sparse times dense: rows of the product, a thread for each of their numbers.
#include "serve.cuh"

// A range of a loop is the only parent of a batch; its children are the words of the results.
struct Rows {
    u32 first;
    u32 count;
};

struct Shape {
    // Whether numbers have 64 bits.
    u32 wide;
    // Columns of the dense matrix.
    u32 width;
    // Rows and entries of the sparse matrix.
    u32 rows;
    u32 entries;

    __device__ explicit Shape(const Bounding &launch) {
        wide = VALUE(launch, 0);
        width = VALUE(launch, 1);
        rows = VALUE(launch, 2);
        entries = VALUE(launch, 3);
    }

    // Layout of the tables: all rows' starts, all columns, all values, the dense matrix.
    __device__ u32 columns() const { return rows + 1; }
    __device__ u32 values() const { return (columns() + entries + 1) & ~1u; }
    __device__ u64 dense() const { return values() + u64(entries) * (1 + wide) + (wide ? 0 : entries & 1); }
};

template <class Number>
__device__ inline Number product(const u32 *tables, const Shape &shape, u32 row, u32 column) {
    const u32 *columns = tables + shape.columns();
    const Number *values = reinterpret_cast<const Number *>(tables + shape.values());
    const Number *dense = reinterpret_cast<const Number *>(tables + shape.dense());
    Number sum = 0;
    for (u32 at = __ldg(&tables[row]), end = __ldg(&tables[row + 1]); at < end; ++at)
        sum += values[at] * dense[u64(__ldg(&columns[at])) * shape.width + column];
    return sum;
}

__device__ inline void part(const Bounding &launch, u32 lane) {
    Shape shape(launch);
    u32 numbers = launch.children >> shape.wide;
    if (lane >= numbers)
        return;
    const u32 *tables = address<u32>(launch.tables);
    u32 *results = address<u32>(launch.bounds);
    u32 row = address<Rows>(launch.parents)->first + lane / shape.width, column = lane % shape.width;
    if (shape.wide) {
        union {
            double number;
            u32 words[2];
        } sum = {product<double>(tables, shape, row, column)};
        results[2 * lane] = sum.words[0];
        results[2 * lane + 1] = sum.words[1];
    } else {
        reinterpret_cast<float *>(results)[lane] = product<float>(tables, shape, row, column);
    }
}

ENTRY bound(Bounding launch) { part(launch, blockIdx.x * blockDim.x + threadIdx.x); }
ENTRY serve(Serving serving) { serve_all<part>(serving); }
