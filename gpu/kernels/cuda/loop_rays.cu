// Rays through tetrahedra: a thread marches along each, in the same steps and with the same rounding as on a CPU.
#include "exact.cuh"
#include "serve.cuh"

// A range of a loop is the only parent of a batch; its children are the words of the results.
struct Tiles {
    u32 first;
    u32 count;
};

// Pixels of a tile, and along its edges.
constexpr u32 PIXELS = 256;
constexpr u32 EDGE = 16;
// Words of statistics that each warp reports about its rays.
constexpr u32 TOLD = 3;
// What lies outside the mesh.
constexpr u32 NONE = 0xffffffffu;
// The constants of `shade.rs`.
constexpr float MINUS_LOG2_E = -1.44269504088896341f;
constexpr float LEAST_POWER = -120.0f;
constexpr float ROUND = 12582912.0f;
constexpr float SAME = 1e-6f;

// The next three match what the host writes.
struct Tetrahedron {
    float a[4];
    float b[4];
    float c[4];
    float value[4];
    u32 next[4];
    u32 entries;
    // The pieces of the transfer function that it touches, as a half-open range.
    u32 pieces[2];
    u32 unused;
};

struct Piece {
    float low;
    float high;
    float extinction[2];
    float colour[3][2];
};

struct Entry {
    float depth;
    u32 tet;
};

struct Scene {
    u32 count;
    u32 across;
    float first[2];
    float near;
    float least;
    const Tetrahedron *tets;
    const Piece *pieces;
    // The number of entries before those of each pixel, tile by tile.
    const u32 *starts;
    const Entry *entries;

    __device__ explicit Scene(const Bounding &launch) {
        count = VALUE(launch, 0);
        across = VALUE(launch, 3);
        first[0] = __uint_as_float(VALUE(launch, 4));
        first[1] = __uint_as_float(VALUE(launch, 5));
        near = __uint_as_float(VALUE(launch, 6));
        least = __uint_as_float(VALUE(launch, 7));
        tets = address<Tetrahedron>(launch.tables);
        pieces = reinterpret_cast<const Piece *>(tets + count);
        starts = reinterpret_cast<const u32 *>(pieces + VALUE(launch, 1));
        entries = reinterpret_cast<const Entry *>(starts + u64(VALUE(launch, 2)) * PIXELS + 1);
    }
};

struct Ray {
    float x;
    float y;
    float colour[3];
    // The fraction of the light behind that comes through.
    float through;
    u64 segments;
    u32 lost;
};

// a·x + b.
__device__ __forceinline__ float line(float a, float x, float b) { return plus(times(a, x), b); }

__device__ inline float decay(float x) {
    float power = fmaxf(times(x, MINUS_LOG2_E), LEAST_POWER);
    float rounded = plus(power, ROUND), part = plus(power, -plus(rounded, -ROUND));
    float sum = line(line(0.0001540353f, part, 0.0013333558f), part, 0.009618129f);
    sum = line(line(sum, part, 0.05550411f), part, 0.2402265f);
    sum = line(line(sum, part, 0.69314718055994531f), part, 1.0f);
    u32 exponent = __float_as_uint(rounded) - __float_as_uint(ROUND) + 127;
    return times(sum, __uint_as_float(exponent << 23));
}

// Adds a segment on which the transfer function is linear.
__device__ inline void add(Ray &ray, const Piece &piece, float from, float to, float length) {
    float slope = piece.extinction[0], offset = piece.extinction[1];
    float front = fmaxf(line(slope, from, offset), 0.0f), back = fmaxf(line(slope, to, offset), 0.0f);
    float sum = plus(front, back);
    float rest = times(ray.through, decay(times(times(0.5f, length), sum)));
    float weight = plus(ray.through, -rest);
    float place = plus(front, times(2.0f, back)) / fmaxf(times(3.0f, sum), 1e-30f);
    float mean = plus(from, times(plus(to, -from), place));
    for (u32 i = 0; i < 3; ++i)
        ray.colour[i] = plus(ray.colour[i], times(weight, line(piece.colour[i][0], mean, piece.colour[i][1])));
    ray.through = rest;
}

// Adds the part of a segment whose values lie between these.
__device__ inline void clipped(Ray &ray, const Piece &piece, float low, float high, float from, float to,
                               float length) {
    float change = plus(to, -from);
    if (fabsf(change) < SAME) {
        float middle = times(0.5f, plus(from, to));
        if (low <= middle && middle < high)
            add(ray, piece, middle, middle, length);
        return;
    }
    float start = fminf(fmaxf(from, low), high), end = fminf(fmaxf(to, low), high);
    add(ray, piece, start, end, times(length, plus(end, -start) / change));
}

// Adds a segment: its values at both ends, its length, and the pieces that the tetrahedron touches.
__device__ inline void segment(Ray &ray, const Piece *pieces, u32 count, float from, float to, float length) {
    if (count == 1)
        return add(ray, pieces[0], from, to, length);
    float infinite = __uint_as_float(0x7f800000u);
    for (u32 step = 0; step < count; ++step) {
        u32 i = to < from ? count - 1 - step : step;
        float low = i == 0 ? -infinite : pieces[i].low, high = i == count - 1 ? infinite : pieces[i].high;
        clipped(ray, pieces[i], low, high, from, to, length);
    }
}

// Follows a ray from each of its entries, nearest first, until it leaves the mesh for good or light no longer matters.
__device__ inline void march(const Scene &scene, const Entry *entry, const Entry *last, Ray &ray) {
    float from = scene.near;
    for (; entry < last; ++entry) {
        u32 tet = entry->tet;
        from = fmaxf(from, entry->depth);
        for (u32 steps = scene.count; tet != NONE; --steps) {
            if (steps == 0) {
                ++ray.lost;
                break;
            }
            const Tetrahedron &at = scene.tets[tet];
            float to = __uint_as_float(0x7f800000u);
            tet = NONE;
            for (u32 slot = at.entries; slot < 4; ++slot) {
                float depth = plus(times(at.a[slot], ray.x), line(at.b[slot], ray.y, at.c[slot]));
                if (depth < to) {
                    to = depth;
                    tet = at.next[slot];
                }
            }
            // A flat tetrahedron may end only at a wall along the ray, whose depth is meaningless.
            if (to > from && to < 1e15f) {
                float value = plus(times(at.value[0], ray.x), line(at.value[1], ray.y, at.value[3]));
                float start = line(at.value[2], from, value), end = line(at.value[2], to, value);
                u32 first = at.pieces[0];
                segment(ray, scene.pieces + first, at.pieces[1] - first, start, end, plus(to, -from));
                ++ray.segments;
                from = to;
                if (ray.through <= scene.least)
                    return;
            }
        }
    }
}

__device__ inline void part(const Bounding &launch, u32 at) {
    Scene scene(launch);
    const Tiles *tiles = address<Tiles>(launch.parents);
    u32 pixels = tiles->count * PIXELS;
    // Tiles are whole warps.
    if (at >= pixels)
        return;
    u32 tile = tiles->first + at / PIXELS, pixel = at % PIXELS;
    u64 place = u64(tile) * PIXELS + pixel;
    u32 column = tile % scene.across * EDGE + pixel % EDGE, row = tile / scene.across * EDGE + pixel / EDGE;
    Ray ray = {plus(scene.first[0], float(column)), plus(scene.first[1], float(row)), {0, 0, 0}, 1, 0, 0};
    march(scene, scene.entries + __ldg(&scene.starts[place]), scene.entries + __ldg(&scene.starts[place + 1]), ray);
    u32 *results = address<u32>(launch.bounds);
    for (u32 i = 0; i < 3; ++i)
        results[4 * at + i] = __float_as_uint(ray.colour[i]);
    results[4 * at + 3] = __float_as_uint(plus(1.0f, -ray.through));
    u64 segments = sum_of_warp(ray.segments);
    u32 lost = sum_of_warp(ray.lost), told = 4 * pixels + at / LANES * TOLD;
    if (at % LANES == 0) {
        results[told] = u32(segments);
        results[told + 1] = u32(segments >> 32);
        results[told + 2] = lost;
    }
}

ENTRY bound(Bounding launch) { part(launch, blockIdx.x * blockDim.x + threadIdx.x); }
ENTRY serve(Serving serving) { serve_all<part>(serving); }
