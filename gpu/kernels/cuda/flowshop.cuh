// Flowshop: how a node and a warp's memory are laid out, and the times of a lane's jobs.
#pragma once

#include "launch.cuh"

// A word holds both directions of a schedule in two halves of 16 bits. In arrays over machines, the
// lower half of word i is machine i seen from the front, the upper half machine m - 1 - i seen from
// the back. All sums of the instance fit in 16 bits.

#ifdef SIZE_0
constexpr u32 JOBS_ROOM = SIZE_0;
constexpr u32 MACHINES_ROOM = SIZE_1;
constexpr u32 COLUMNS_ROOM = SIZE_1 * (SIZE_0 | 1);
#else
constexpr u32 JOBS_ROOM = 64;
constexpr u32 MACHINES_ROOM = 64;
constexpr u32 COLUMNS_ROOM = 2048 + MACHINES_ROOM;
#endif

// Explorers per block.
constexpr u32 WARPS = 4;
// Machines that a pass loads at once: the compiler must assume that the stores in between alias.
constexpr u32 AHEAD = 4;
// Jobs per lane.
constexpr u32 SLOTS = (JOBS_ROOM + LANES - 1) / LANES;

enum Branching : u32 { FORWARD, BACKWARD, ALTERNATE, MAX_SUM, MIN_BRANCH, MIN_MIN };

// The first words of a node, which every lane keeps: jobs placed at the front (low byte) and at the
// back (the bytes above); the bound plus one, or 0 for none; a bit for each job left.
struct Head {
    u32 placed;
    u32 bound;
    u32 left[2];
};

// Then follow the order, a byte per job; the head and tail of each machine; the work left on each.
constexpr u32 ORDER = 4;

struct Shape {
    u32 jobs;
    u32 machines;
    u32 branching;
    // Pairs of machines; none for LB1.
    u32 pairs;
    u32 reference;

    __device__ explicit Shape(const Launch &launch) {
        jobs = SIZE(launch, 0);
        machines = SIZE(launch, 1);
        branching = SIZE(launch, 2);
        pairs = SIZE(launch, 3);
        reference = VALUE(launch, 5);
    }

    __device__ u32 orders() const { return (jobs + 3) / 4; }
    __device__ u32 ends() const { return ORDER + orders(); }
    __device__ u32 work() const { return ends() + machines; }
    __device__ u32 words() const { return work() + machines; }
    // Distance between machines where jobs lie side by side: odd, so that the machines of one job
    // fall into different banks of shared memory.
    __device__ u32 stride() const { return jobs | 1; }
};

// What a pass loads for each machine: the node's head and tail, and the least time from the start
// of a job there to the end of the schedule.
struct alignas(8) Machine {
    u32 end;
    u32 rest;
};

// A job between the two machines of a pair: the job and its lag, and its times on both.
struct alignas(8) Step {
    u32 job_and_lag;
    u32 times;
};

__device__ __forceinline__ Step load(const Step *at) {
    uint2 words = __ldg(reinterpret_cast<const uint2 *>(at));
    return {words.x, words.y};
}

// A warp's shared memory: the current node, and what its children need.
struct alignas(16) Scratch {
    Machine machines[(MACHINES_ROOM + AHEAD - 1) / AHEAD * AHEAD];
    u32 work[MACHINES_ROOM];
    u32 order[(JOBS_ROOM + 3) / 4];
    // Completion time of each job on each machine if it came next.
    u32 ends[COLUMNS_ROOM];
    // Surviving children as bound and job: in order of arrival, and sorted.
    u32 keys[JOBS_ROOM];
    u32 sorted[JOBS_ROOM];
};

__device__ __forceinline__ u32 swap_halves(u32 word) { return word << 16 | word >> 16; }

// The times of a lane's jobs. If it has one, and the machines are known, it keeps them in registers: half of them,
// since the other half are their mirror images.
#if defined(SIZE_0) && SIZE_0 <= 32 && SIZE_1 <= 20
#define KEEPS_TIMES
struct Times {
    u32 half[(MACHINES_ROOM + 1) / 2];

    __device__ Times(const u32 *all, u32 jobs, u32 lane) {
#pragma unroll
        for (u32 i = 0; i < (MACHINES_ROOM + 1) / 2; ++i)
            half[i] = lane < jobs ? __ldg(&all[i * jobs + lane]) : 0;
    }

    __device__ __forceinline__ u32 of(const u32 *, u32, u32 machine, u32) const {
        u32 mirrored = MACHINES_ROOM - 1 - machine;
        return machine <= mirrored ? half[machine] : swap_halves(half[mirrored]);
    }
};
#else
struct Times {
    __device__ Times(const u32 *, u32, u32) {}

    __device__ __forceinline__ u32 of(const u32 *all, u32 jobs, u32 machine, u32 job) const {
        return __ldg(&all[machine * jobs + job]);
    }
};
#endif
