// Explorer: a warp with its stack, its counters and its stopping rule.
#pragma once

#include "giving.cuh"

// One lane's counts.
struct Counts {
    u64 branched = 0;
    u64 bounded = 0;
    u64 total = 0;
    u32 depth = 0;
};

// This warp's index in the grid.
__device__ inline u32 warp() { return (blockIdx.x * blockDim.x + threadIdx.x) / LANES; }

struct Explorer : Giver {
    u32 looked;
    Counts counts;

    __device__ Explorer(const Launch &launch, u32 words, bool giving)
        : Giver(launch, words, warp(), giving), looked(0) {}

    // Whether this explorer is outside the active set, or too late: then it only reports its nodes. The last block may
    // have more warps than there are explorers.
    __device__ bool sits_out() {
        if (number < launch.active && !sign_on())
            return false;
        if (lane == 0 && height != 0)
            atomicAdd(&report()->nodes, u64(height));
        if (lane == 0 && height == 0 && number < launch.active)
            atomicAdd(&report()->idle, 1u);
        return true;
    }

    // How many nodes fit into the owned pages beyond this many.
    __device__ u32 room(u32 nodes) const { return owned * PAGE - lesser(owned * PAGE, nodes); }

    // Whether enough explorers are idle for this one to stop. The first check comes after some
    // steps, so that every launch makes progress.
    __device__ bool called_off(u32 step) {
        if ((launch.trigger == 0 && !gives) || step - looked < LOOK_EVERY - 1)
            return false;
        looked = step;
        if (launch.trigger == 0)
            return false;
        u32 idle = lane == 0 ? look(&address<LaunchReport>(launch.report)->idle) : 0;
        return __shfl_sync(ALL_LANES, idle, 0) >= launch.trigger;
    }

    // Whether it has just checked, and some explorer waits for nodes.
    __device__ bool asked(u32 step) { return gives && looked == step && step != 0 && somebody_waits(); }

    // Saves the stack for the next launch, and adds the counts of this one to the report.
    __device__ void stop(bool full, u32 steps) {
        release_and_save(height);
        sign_off(steps);
        LaunchReport *report = address<LaunchReport>(launch.report);
        u64 branched = sum_of_warp(counts.branched), bounded = sum_of_warp(counts.bounded);
        u64 total = sum_of_warp(counts.total);
        u32 depth = greatest_of_warp(counts.depth);
        if (lane != 0)
            return;
        atomicMax(&report->steps, steps);
        address<u32>(launch.heights)[number] = height;
        atomicAdd(&report->nodes, u64(height));
        if (height == 0 || full)
            atomicAdd(&report->idle, 1u);
        if (full)
            atomicAdd(&report->full, 1u);
        if (bounded | branched | total) {
            atomicAdd(&report->branched, branched);
            atomicAdd(&report->bounded, bounded);
            atomicAdd(&report->total, total);
            atomicMax(&report->depth, u64(depth));
        }
    }
};
