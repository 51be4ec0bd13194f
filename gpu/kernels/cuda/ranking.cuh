// Flowshop with intervals: how a node's children are ranked.
#pragma once

#include "launch.cuh"

// Children are ranked by their keys: by bound, then by job; or by job alone, and then those that are pruned come
// anywhere. A job takes 6 bits, a bound 16.
struct Ranking {
    bool by_job;

    __device__ explicit Ranking(const Launch &launch) : by_job(SIZE(launch, 4) != 0) {}

    __device__ u32 key(u32 bound, u32 job) const { return by_job ? job << 16 | bound : bound << 6 | job; }
    __device__ u32 job(u32 key) const { return by_job ? key >> 16 : key & 63; }
    __device__ u32 bound(u32 key) const { return by_job ? key & 0xffff : key >> 6; }
};
