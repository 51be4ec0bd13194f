// Load balancing: an explorer without nodes steals half of another's stack.
#pragma once

#include "moves.cuh"
#include "victims.cuh"

// Moves the lower half of a claimed victim's stack, which holds the shallowest nodes, to the thief:
// whole pages, or less than one.
__device__ inline void take_from(const Launch &launch, u32 words, u32 thief, u32 victim, u32 height) {
    // Makes what the victim's last owner wrote visible to the lane that claimed it, then to the
    // whole warp.
    __threadfence();
    __syncwarp();
    Pages to(launch, words, thief), from(launch, words, victim);
    u32 given = greater(height / 2, 1), whole = lesser(given / PAGE, launch.span - to.owned);
    if (whole != 0) {
        given = whole * PAGE;
        to.base -= whole, to.owned += whole;
        for (u32 i = to.lane; i < whole; i += LANES)
            to.page(i) = from.page(i);
        from.base += whole, from.owned -= whole;
    } else {
        given = lesser(given, PAGE - 1);
        for (u32 i = to.lane; i < given * words; i += LANES)
            to.word(i) = from.word(i);
        __syncwarp();
        from.drop(given, height);
    }
    // All lanes must have read what these writes replace.
    __syncwarp();
    to.write();
    from.write();
    // All lanes' writes must be visible before either height announces them.
    __syncwarp();
    __threadfence();
    if (to.lane == 0) {
        atomicExch(address<u32>(launch.heights) + victim, height - given);
        atomicExch(address<u32>(launch.heights) + thief, given);
    }
}

__device__ inline void balance_by_cube(const Launch &launch, u32 words, u32 thief) {
    u32 victim = neighbour(launch, thief), height = 0;
    if (threadIdx.x % LANES == 0 && victim != thief)
        height = claim(launch, victim);
    height = __shfl_sync(ALL_LANES, height, 0);
    if (height != 0)
        take_from(launch, words, thief, victim, height);
}

// Takes from the first of these explorers that gives: `width` of them, the first `start` places after explorer 0 or,
// if the window goes back, before it. The heights it reads may be stale; only the claim decides.
__device__ inline void take_in_window(const Launch &launch, u32 words, u32 thief, u64 start, u32 width, bool back) {
    const u32 *heights = address<u32>(launch.heights);
    u32 lane = threadIdx.x % LANES;
    for (u32 from = 0; from < width; from += LANES) {
        u32 place = u32((start + from + lane) % launch.explorers);
        u32 victim = back && place != 0 ? launch.explorers - place : place;
        u32 height = from + lane < width ? look(&heights[victim]) : 0;
        u32 candidates = __ballot_sync(ALL_LANES, height != 0 && gives(launch, victim, height));
        while (candidates != 0) {
            u32 first = u32(__ffs(int(candidates))) - 1;
            candidates &= candidates - 1;
            u32 claimed = lane == first ? claim(launch, victim) : 0;
            claimed = __shfl_sync(ALL_LANES, claimed, first);
            if (claimed != 0)
                return take_from(launch, words, thief, __shfl_sync(ALL_LANES, victim, first), claimed);
        }
    }
}

// Idle explorers divide the victims among themselves: each scans its own window, which is wider the fewer are idle.
// Lanes look side by side, so no window is narrower than a warp, even if windows then overlap.
__device__ inline void balance_by_windows(const Launch &launch, u32 words, u32 thief) {
    const u32 *heights = address<u32>(launch.heights);
    u32 lane = threadIdx.x % LANES, empty = 0, before = 0;
    for (u32 start = 0; start < launch.active; start += LANES) {
        u32 i = start + lane;
        bool is_empty = i < launch.active && look(&heights[i]) == 0;
        empty += u32(__popc(__ballot_sync(ALL_LANES, is_empty)));
        before += u32(__popc(__ballot_sync(ALL_LANES, is_empty && i < thief)));
    }
    u32 width = (launch.explorers - 1) / greater(empty, 1) + 1;
    take_in_window(launch, words, thief, u64(before) * width, greater(width, LANES), false);
}

// Each looks at `width` preceding explorers on a ring, from `round` + 1 places back on.
__device__ inline void balance_by_those_before(const Launch &launch, u32 words, u32 thief) {
    u64 back = u64(launch.explorers) - thief + launch.round + 1;
    take_in_window(launch, words, thief, back, launch.width, true);
}

__device__ inline void balance_explorers(const Launch &launch, u32 words) {
    u32 thief = warp();
    if (thief >= launch.active)
        return;
    u32 height = threadIdx.x % LANES == 0 ? look(address<u32>(launch.heights) + thief) : 0;
    if (__shfl_sync(ALL_LANES, height, 0) != 0)
        return;
    if (launch.steal_rule == HYPERCUBE)
        balance_by_cube(launch, words, thief);
    else if (launch.steal_rule == WINDOWS)
        balance_by_windows(launch, words, thief);
    else
        balance_by_those_before(launch, words, thief);
}

// Entry points common to all kernels, given the number of words per node.
#define HAS_GIVE
#define COMMON_ENTRIES(words)                                                                      \
    ENTRY balance(Launch launch) { balance_explorers(launch, words); }                             \
    ENTRY put(Launch launch) { put_nodes(launch, words); }                                         \
    ENTRY take(Launch launch) { take_nodes(launch, words); }
