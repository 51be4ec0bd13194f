// A flow on a lattice (D3Q19), in place. A slab stays in the device's tables from launch to launch, as a CPU thread
// would hold it; launches put the neighbours' planes into it, do a step, and read planes from it.
#include "bounding.cuh"
#include "exact.cuh"

// An order is the only parent of a batch; its children are the words of the results. Planes count from the first
// one held, and ranges are half-open.
struct Order {
    // 0: the planes that follow this record go to the ranges. 1: a step of the first range. 2: the ranges are results.
    u32 what;
    u32 first[2];
    u32 second[2];
    // Whether the step is odd: populations come from neighbours.
    u32 odd;
};

constexpr u32 Q = 19;
// Neighbouring numbers in a line: cells of different parts of a row.
constexpr u32 LINE = 16;
constexpr u32 NUMBERS = 32;

// Two bits for each direction: its component along an axis, and 1.
constexpr u64 ALONG_X = 0x1548889549ull, ALONG_Y = 0x895609495ull, ALONG_Z = 0x20a0954955ull;
// Three bits for each direction: the distance of its mirror image in the list, plus 3.
constexpr u64 MIRRORED_Y = 0x14cdb64dada8dbull, MIRRORED_Z = 0x4da4dadb6a36dbull;

template <u32 axis> __device__ __forceinline__ int along(u32 k) {
    return int((axis == 0 ? ALONG_X : axis == 1 ? ALONG_Y : ALONG_Z) >> 2 * k & 3) - 1;
}
template <u32 axis> __device__ __forceinline__ u32 mirrored(u32 k) {
    return k + u32((axis == 1 ? MIRRORED_Y : MIRRORED_Z) >> 3 * k & 7) - 3;
}
__device__ __forceinline__ u32 opposite(u32 k) { return k == 0 ? 0 : ((k - 1) ^ 1) + 1; }

struct Slab {
    u32 planes;
    u32 rows;
    u32 groups;
    // Whether fluid re-enters at the other end of y; enters and leaves at the ends of x; and whether a product and a
    // sum are fused, that is, rounded once.
    bool wraps;
    bool streams;
    bool fused;
    // What is kept, the push, the factors of a pair, of its square and of its difference, and the inflow.
    const float *numbers;
    const u32 *solid;
    float *state;

    __device__ explicit Slab(const Bounding &launch) {
        planes = VALUE(launch, 0);
        rows = VALUE(launch, 1);
        groups = VALUE(launch, 2);
        wraps = VALUE(launch, 3) & 1;
        streams = VALUE(launch, 3) & 2;
        fused = VALUE(launch, 3) & 4;
        numbers = address<float>(launch.tables);
        solid = reinterpret_cast<const u32 *>(numbers + NUMBERS);
        state = address<float>(launch.tables) + VALUE(launch, 4);
    }

    __device__ u64 plane() const { return u64(rows) * groups * Q * LINE; }
    __device__ float number(u32 at) const { return __ldg(&numbers[at]); }
    __device__ float fma(float a, float b, float c) const { return fused ? fmaf(a, b, c) : plus(times(a, b), c); }
};

struct Cell {
    u32 plane;
    u32 row;
    u32 group;
    u32 lane;
};

// Where a cell's population is: its own in even steps, in odd steps what a neighbour has sent. What the cell sends in the
// opposite direction goes to the same place.
__device__ __forceinline__ u64 place(const Slab &slab, const Cell &cell, u32 k, bool odd) {
    u32 plane = cell.plane, row = cell.row, group = cell.group, lane = cell.lane, from = k;
    if (odd) {
        int dx = along<0>(k), dy = along<1>(k), dz = along<2>(k);
        if (dx > 0 && group == 0)
            lane = (lane + LINE - 1) % LINE;
        if (dx < 0 && group + 1 == slab.groups)
            lane = (lane + 1) % LINE;
        group = dx > 0 ? (group == 0 ? slab.groups : group) - 1 : dx < 0 ? (group + 1) % slab.groups : group;
        if (dy > 0 ? row == 0 : dy < 0 && row + 1 == slab.rows) {
            if (slab.wraps)
                row = dy > 0 ? slab.rows - 1 : 0;
            else
                from = mirrored<1>(from);
        } else {
            row -= u32(dy);
        }
        if (dz > 0 ? plane == 0 : dz < 0 && plane + 1 == slab.planes)
            from = mirrored<2>(from);
        else
            plane -= u32(dz);
        from = opposite(from);
    }
    return (((u64(plane) * slab.rows + row) * slab.groups + group) * Q + from) * LINE + lane;
}

// A pair of opposites relaxes, given the momentum along the first.
__device__ __forceinline__ void pair(const Slab &slab, u32 k, float momentum, float base, float volume, float *g) {
    u32 kind = 1 + (k > 6);
    float square = times(times(momentum, momentum), volume);
    float both = slab.fma(square, slab.number(5 + kind), times(slab.number(2 + kind), base));
    float apart = times(momentum, slab.number(8 + kind));
    g[k] = slab.fma(slab.number(0), g[k], plus(both, apart));
    g[k + 1] = slab.fma(slab.number(0), g[k + 1], plus(both, -apart));
}

// Populations relax towards their equilibrium.
__device__ __forceinline__ void collide(const Slab &slab, float *g) {
    float both[10], apart[10];
#pragma unroll
    for (u32 i = 1; i < 10; ++i) {
        both[i] = plus(g[2 * i - 1], g[2 * i]);
        apart[i] = plus(g[2 * i - 1], -g[2 * i]);
    }
    float axes = plus(plus(both[1], both[2]), both[3]), planar = plus(plus(both[4], both[5]), both[6]);
    float excess = plus(plus(g[0], axes), plus(planar, plus(plus(both[7], both[8]), both[9])));
    float x = plus(apart[1], plus(apart[4], apart[5]));
    x = plus(plus(x, plus(apart[6], apart[7])), slab.number(1));
    float y = plus(plus(apart[2], plus(apart[4], -apart[5])), plus(apart[8], apart[9]));
    float z = plus(plus(apart[3], plus(apart[6], -apart[7])), plus(apart[8], -apart[9]));
    float volume = 1.0f / plus(1.0f, excess);
    float energy = times(slab.fma(x, x, slab.fma(y, y, times(z, z))), volume);
    float base = slab.fma(energy, -1.5f, excess);
    g[0] = slab.fma(slab.number(0), g[0], times(slab.number(2), base));
    pair(slab, 1, x, base, volume, g);
    pair(slab, 3, y, base, volume, g);
    pair(slab, 5, z, base, volume, g);
    pair(slab, 7, plus(x, y), base, volume, g);
    pair(slab, 9, plus(x, -y), base, volume, g);
    pair(slab, 11, plus(x, z), base, volume, g);
    pair(slab, 13, plus(x, -z), base, volume, g);
    pair(slab, 15, plus(y, z), base, volume, g);
    pair(slab, 17, plus(y, -z), base, volume, g);
}

// The last cell of a row sends out the equilibrium at density 1 and the velocity along x that arrives.
__device__ __forceinline__ void leave(const Slab &slab, float *g) {
    float speed = 0;
#pragma unroll
    for (u32 k = 0; k < Q; ++k) {
        if (along<0>(k) >= 0)
            speed = along<0>(k) == 0 ? plus(speed, g[k]) : slab.fma(g[k], 2.0f, speed);
    }
    float square = times(speed, speed), twice = times(square, 3.0f), thrice = times(speed, 3.0f);
#pragma unroll
    for (u32 k = 0; k < Q; ++k) {
        int x = along<0>(k);
        float moved = x == 0 ? times(square, -1.5f) : plus(twice, x > 0 ? thrice : -thrice);
        float weight = k == 0 ? float(1.0 / 3.0) : k > 6 ? float(1.0 / 36.0) : float(1.0 / 18.0);
        g[k] = times(moved, weight);
    }
}

template <bool odd> __device__ inline void step(const Slab &slab, const Cell &cell) {
    u32 cells = (cell.plane * slab.rows + cell.row) * slab.groups + cell.group;
    // In a solid cell, what arrives stays for the neighbour that sent it.
    if (__ldg(&slab.solid[cells]) >> cell.lane & 1)
        return;
    float g[Q];
#pragma unroll
    for (u32 k = 0; k < Q; ++k)
        g[k] = slab.state[place(slab, cell, k, odd)];
    if (slab.streams && cell.group == 0 && cell.lane == 0) {
#pragma unroll
        for (u32 k = 0; k < Q; ++k)
            g[k] = slab.number(11 + k);
    } else if (slab.streams && cell.group + 1 == slab.groups && cell.lane + 1 == LINE) {
        leave(slab, g);
    } else {
        collide(slab, g);
    }
#pragma unroll
    for (u32 k = 0; k < Q; ++k)
        slab.state[place(slab, cell, k, odd)] = g[opposite(k)];
}

ENTRY bound(Bounding launch) {
    Slab slab(launch);
    const Order order = *address<Order>(launch.parents);
    u64 lane = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    u64 lanes = (2 * u64(launch.children) + THREADS - 1) / THREADS * THREADS;
    if (order.what == 1) {
        u64 row = u64(slab.groups) * LINE, end = u64(order.first[1] - order.first[0]) * slab.rows * row;
        for (u64 at = lane; at < end; at += lanes) {
            u32 rest = u32(at % row), above = u32(at / row);
            Cell cell = {order.first[0] + above / slab.rows, above % slab.rows, rest / LINE, rest % LINE};
            if (order.odd)
                step<true>(slab, cell);
            else
                step<false>(slab, cell);
        }
        return;
    }
    u64 first = (order.first[1] - order.first[0]) * slab.plane();
    u64 end = first + (order.second[1] - order.second[0]) * slab.plane();
    const float *sent = address<float>(launch.parents + sizeof(Order));
    float *results = address<float>(launch.bounds);
    for (u64 at = lane; at < end; at += lanes) {
        float &here = slab.state[at < first ? order.first[0] * slab.plane() + at
                                            : order.second[0] * slab.plane() + (at - first)];
        if (order.what == 0)
            here = sent[at];
        else
            results[at] = here;
    }
}
