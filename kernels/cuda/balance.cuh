// Balance: explorers without nodes take half of another's.
#pragma once

#include "launch.cuh"

// Set in the height of an explorer while somebody takes from it. It is gone when the launch ends.
constexpr u32 BUSY = 1u << 31;

// Explorers are the corners of a cube: this many along each edge, fewer along the last.
constexpr u32 EDGE = 8;

enum Kind : u32 { HYPERCUBE = 0, ADAPT = 1 };

// Claims a victim that has enough; its height then, or 0. Called by one lane.
__device__ inline u32 claim(const Launch &launch, u32 victim) {
    u32 *height = address<u32>(launch.heights) + victim;
    u32 seen = look(height);
    bool gives = !(seen & BUSY) && seen > greater(launch.least, 1);
    return gives && atomicCAS(height, seen, seen | BUSY) == seen ? seen : 0;
}

// Moves the lower half of a claimed victim's stack, where nodes are shallowest, to the thief.
__device__ inline void take(const Launch &launch, u32 words, u32 thief, u32 victim, u32 height) {
    u32 lane = threadIdx.x % LANES;
    u32 given = height / 2;
    u64 size = u64(launch.capacity) * words;
    u32 *from = address<u32>(launch.stacks) + victim * size;
    u32 *to = address<u32>(launch.stacks) + thief * size;
    u64 shift = u64(given) * words, rest = u64(height - given) * words;
    // The victim's nodes are those that its last owner wrote: for the lane that claimed it, and
    // then for all.
    __threadfence();
    __syncwarp();
    for (u64 i = lane; i < shift; i += LANES)
        to[i] = from[i];
    for (u64 start = 0; start < rest; start += LANES) {
        u64 i = start + lane;
        u32 word = i < rest ? from[i + shift] : 0;
        // Also by now all lanes have read what the first of these writes replaces.
        __syncwarp();
        if (i < rest)
            from[i] = word;
        __syncwarp();
    }
    // All is in its place before either height says so.
    __threadfence();
    __syncwarp();
    if (lane == 0) {
        atomicExch(address<u32>(launch.heights) + victim, height - given);
        atomicExch(address<u32>(launch.heights) + thief, given);
    }
}

// The corner that this one looks at in a round; itself where that is beyond the last explorer.
// Within a round no two look at the same one.
__device__ inline u32 neighbour(const Launch &launch, u32 number) {
    u32 round = launch.round, scale = 1;
    while (u64(scale) * EDGE < launch.explorers && round >= EDGE - 1) {
        round -= EDGE - 1;
        scale *= EDGE;
    }
    u32 along = (launch.explorers - 1) / scale + 1;
    u32 edge = lesser(EDGE, along);
    u32 digit = number / scale % edge;
    if (round + 1 >= edge)
        return number;
    u32 other = number - digit * scale + (digit + round + 1) % edge * scale;
    return other < launch.explorers ? other : number;
}

__device__ inline void balance_by_cube(const Launch &launch, u32 words, u32 thief) {
    u32 victim = neighbour(launch, thief), height = 0;
    if (threadIdx.x % LANES == 0 && victim != thief)
        height = claim(launch, victim);
    height = __shfl_sync(ALL_LANES, height, 0);
    if (height != 0)
        take(launch, words, thief, victim, height);
}

// The empty explorers share all others as their victims: each looks through a window of its own,
// the wider the fewer are empty, which moves on from round to round. What it sees of heights may
// be out of date, and only the claim counts.
__device__ inline void balance_by_windows(const Launch &launch, u32 words, u32 thief) {
    const u32 *heights = address<u32>(launch.heights);
    u32 lane = threadIdx.x % LANES, empty = 0, before = 0;
    for (u32 start = 0; start < launch.explorers; start += LANES) {
        u32 i = start + lane;
        bool is_empty = i < launch.explorers && look(&heights[i]) == 0;
        empty += u32(__popc(__ballot_sync(ALL_LANES, is_empty)));
        before += u32(__popc(__ballot_sync(ALL_LANES, is_empty && i < thief)));
    }
    u32 width = (launch.explorers - 1) / greater(empty, 1) + 1;
    u64 window = (u64(before) + launch.round) * width;
    for (u32 start = 0; start < width; start += LANES) {
        u32 victim = u32((window + start + lane) % launch.explorers);
        u32 height = start + lane < width ? look(&heights[victim]) : 0;
        u32 candidates = __ballot_sync(ALL_LANES, !(height & BUSY) && height > greater(launch.least, 1));
        while (candidates != 0) {
            u32 first = u32(__ffs(int(candidates))) - 1;
            candidates &= candidates - 1;
            u32 claimed = lane == first ? claim(launch, victim) : 0;
            claimed = __shfl_sync(ALL_LANES, claimed, first);
            if (claimed != 0)
                return take(launch, words, thief, __shfl_sync(ALL_LANES, victim, first), claimed);
        }
    }
}

__device__ inline void balance_explorers(const Launch &launch, u32 words) {
    u32 thief = (blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    if (thief >= launch.explorers)
        return;
    u32 height = threadIdx.x % LANES == 0 ? look(address<u32>(launch.heights) + thief) : 0;
    if (__shfl_sync(ALL_LANES, height, 0) != 0)
        return;
    if (launch.kind == HYPERCUBE)
        balance_by_cube(launch, words, thief);
    else
        balance_by_windows(launch, words, thief);
}
