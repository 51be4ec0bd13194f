// The incumbent's value, shared by all explorers, and a word to compare bounds with.
#pragma once

#include "launch.cuh"

struct Best {
    i64 *place;
    i64 value;
    // A value's word is (value + offset) * scale.
    i64 offset;
    u32 scale;
    // The word of the incumbent's value: children survive whose words are below.
    u32 cut;

    __device__ Best(const Launch &launch, i64 more, u32 times)
        : place(&address<LaunchReport>(launch.report)->best), value(0), offset(more), scale(times), cut(0) {}

    __device__ void take(i64 known) {
        value = known;
        i64 most = 0xffffffffll / scale - offset;
        cut = value <= -offset ? 0 : value >= most ? 0xffffffffu : u32(value + offset) * scale;
    }

    // All lanes must see the same value, whatever other warps write meanwhile.
    __device__ void refresh(u32 lane) {
        i64 seen = lane == 0 ? look(place) : 0;
        take(__shfl_sync(ALL_LANES, seen, 0));
    }

    // Whether this score improves on the incumbent; if so, publishes it.
    __device__ bool beat(u32 lane, i64 score) {
        if (score >= value)
            return false;
        i64 old = lane == 0 ? i64(atomic_min(place, score)) : 0;
        old = __shfl_sync(ALL_LANES, old, 0);
        take(old < score ? old : score);
        return score < old;
    }

    // The same for one thread.
    __device__ bool beat_alone(i64 score) {
        if (score >= value)
            return false;
        i64 old = atomic_min(place, score);
        take(old < score ? old : score);
        return score < old;
    }
};
