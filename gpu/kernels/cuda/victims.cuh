// Rules for who may take from whom, for any kind of work.
#pragma once

#include "launch.cuh"

// Set in an explorer's height while another steals from it; cleared before the launch ends.
constexpr u32 BUSY = 1u << 31;

// Explorers are the corners of a generalised hypercube: four along each edge, and up to eight along the last one.
constexpr u32 EDGE = 4;
constexpr u32 LAST_EDGE = 8;

enum StealRule : u32 { HYPERCUBE = 0, WINDOWS = 1, BEFORE = 2 };

// Whether a victim of this height gives. Explorers outside the active set give even their last
// node.
__device__ inline bool gives(const Launch &launch, u32 victim, u32 height) {
    return !(height & BUSY) && height > (victim < launch.active ? greater(launch.least, 1) : 0);
}

// Claims a victim that gives. Returns its height, or 0 if that failed. Called by one lane.
__device__ inline u32 claim(const Launch &launch, u32 victim) {
    u32 *height = address<u32>(launch.heights) + victim;
    u32 seen = look(height);
    bool claimed = gives(launch, victim, seen) && atomicCAS(height, seen, seen | BUSY) == seen;
    return claimed ? seen : 0;
}

// The corner to look at in a round, or this one if that lies beyond the last explorer. Within a
// round no two explorers look at the same one.
__device__ inline u32 neighbour(const Launch &launch, u32 number) {
    u32 round = launch.round, scale = 1;
    while (u64(scale) * LAST_EDGE < launch.explorers && round >= EDGE - 1) {
        round -= EDGE - 1;
        scale *= EDGE;
    }
    bool last = u64(scale) * LAST_EDGE >= launch.explorers;
    u32 edge = last ? (launch.explorers - 1) / scale + 1 : EDGE;
    u32 digit = number / scale % edge;
    if (round + 1 >= edge)
        return number;
    u32 other = number - digit * scale + (digit + round + 1) % edge * scale;
    return other < launch.explorers ? other : number;
}
