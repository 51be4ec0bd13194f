// Explorer: a warp with its stack, what it counts, and when it stops.
#pragma once

#include "launch.cuh"

// Steps between two looks at how many explorers are idle and what the best value is.
constexpr u32 LOOK_EVERY = 16;

// What one lane has counted.
struct Counts {
    u64 branched = 0;
    u64 bounded = 0;
    u64 total = 0;
    u32 depth = 0;
};

struct Explorer {
    u32 number;
    u32 lane;
    u32 height;
    u32 *stack;
    Counts counts;

    __device__ Explorer(const Launch &launch, u32 words) {
        number = (blockIdx.x * blockDim.x + threadIdx.x) / LANES;
        lane = threadIdx.x % LANES;
        height = present(launch) ? address<u32>(launch.heights)[number] : 0;
        stack = address<u32>(launch.stacks) + u64(number) * launch.capacity * words;
    }

    // The last block may have more warps than there are explorers.
    __device__ bool present(const Launch &launch) const { return number < launch.explorers; }

    // Whether so many explorers are idle that this one should stop. It has made some steps by the
    // time it asks first, so that every launch brings the search forward.
    __device__ bool called_off(const Launch &launch, u32 step) const {
        if (launch.trigger == 0 || step % LOOK_EVERY != LOOK_EVERY - 1)
            return false;
        u32 idle = lane == 0 ? look(address<u32>(launch.idle)) : 0;
        return __shfl_sync(ALL_LANES, idle, 0) >= launch.trigger;
    }

    // Writes down what the next launch goes on from, and what was counted.
    __device__ void stop(const Launch &launch, bool full) const {
        if (lane == 0) {
            address<u32>(launch.heights)[number] = height;
            if (height == 0 || full)
                atomicAdd(address<u32>(launch.idle), 1u);
        }
        u64 *sums = address<u64>(launch.counts) + u64(number) * 4;
        if (counts.bounded | counts.branched | counts.total | counts.depth) {
            atomicAdd(&sums[0], counts.branched);
            atomicAdd(&sums[1], counts.bounded);
            atomicAdd(&sums[2], counts.total);
            atomicMax(&sums[3], u64(counts.depth));
        }
    }
};
