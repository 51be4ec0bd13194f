// The arguments of a launch that bounds the children of parents on the host.
#pragma once

#include "launch.cuh"

// Matches the host's structure field by field; addresses are device addresses.
struct Bounding {
    u64 starts;
    u64 parents;
    u64 bounds;
    u64 tables;
    u32 count;
    u32 children;
    u32 sizes[10];
};

// The parent of a child: the last one whose children begin at it or before it.
__device__ inline u32 parent_of(const Bounding &launch, u32 child) {
    const u32 *starts = address<u32>(launch.starts);
    u32 from = 0, until = launch.count;
    while (until - from > 1) {
        u32 middle = from + (until - from) / 2;
        if (__ldg(&starts[middle]) <= child)
            from = middle;
        else
            until = middle;
    }
    return from;
}
