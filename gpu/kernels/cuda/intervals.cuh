// Search with intervals: each thread is an explorer, and between launches an interval is all that it has.
#pragma once

#include "moves.cuh"
#include "victims.cuh"

// An interval's height is the upper half of its number of leaves as a double: heights are in the order of lengths, to
// 20 binary digits, and only that of no leaves is 0. The host ensures that `launch.least` is at least the height of
// a single leaf, which cannot be divided.

// No child.
constexpr u32 NONE = ~0u;

// This thread's index in the grid.
__device__ inline u32 thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

// What another warp may change meanwhile, as seen by the first thread of an explorer's team.
template <u32 TEAM> __device__ inline u32 look_as_one(const u32 *at) {
    if constexpr (TEAM == 1) {
        return look(at);
    } else {
        u32 seen = threadIdx.x % TEAM == 0 ? look(at) : 0;
        return __shfl_sync(ALL_LANES, seen, 0);
    }
}

__device__ inline u32 interval_words(u32 places) { return 2 + 2 * ((places + 3) / 4); }

// An explorer's interval in global memory: its bound in two words, which only the host reads, then both ends, a byte
// for each digit. Digit i of a point counts from 0 to places - i - 1, but for the end of the last interval. The same
// word of all explorers lies side by side.
struct Interval {
    const Launch &launch;
    u32 number;
    u32 places;

    __device__ u32 &word(u32 i) const { return address<u32>(launch.pages)[u64(i) * launch.explorers + number]; }
    __device__ unsigned char &digit(u32 first, u32 i) const {
        return reinterpret_cast<unsigned char *>(&word(first + i / 4))[i % 4];
    }
    __device__ unsigned char &begin(u32 i) const { return digit(2, i); }
    __device__ unsigned char &end(u32 i) const { return digit(2 + (places + 3) / 4, i); }

    // The number of digits down to the last that is not 0.
    __device__ u32 begin_length() const {
        u32 length = places;
        while (length != 0 && begin(length - 1) == 0)
            --length;
        return length;
    }
    __device__ u32 end_length() const {
        u32 length = places;
        while (length != 0 && end(length - 1) == 0)
            --length;
        return length;
    }

    __device__ double leaves() const {
        double sum = 0;
#pragma unroll 1
        for (u32 i = 0; i < places; ++i)
            sum = sum * (places - i) + (int(end(i)) - int(begin(i)));
        return sum;
    }

    __device__ u32 height() const { return u32(__double2hiint(leaves())); }

    // Takes the right half of another interval, or all of it if that is a single leaf.
    __device__ void take_half(const Interval &from) const {
        // The middle: half of the sum of both ends, digit by digit, then without digits that are too large.
        u32 odd = 0;
#pragma unroll 1
        for (u32 i = 0; i < places; ++i) {
            u32 last = from.end(i), sum = odd * (places - i) + from.begin(i) + last;
            begin(i) = (unsigned char)(sum / 2);
            end(i) = (unsigned char)last;
            odd = sum % 2;
        }
        u32 carry = 0;
#pragma unroll 1
        for (u32 i = places; i-- > 0;) {
            u32 digit = begin(i) + carry;
            carry = i != 0 && digit >= places - i;
            digit -= carry * (places - i);
            begin(i) = (unsigned char)digit;
            from.end(i) = (unsigned char)digit;
        }
        word(0) = from.word(0), word(1) = from.word(1);
    }
};

// Records that an explorer has found a solution. Returns where the words of its plan belong.
__device__ inline u32 *found(const Launch &launch, u32 number, u32 plan, i64 score) {
    u32 *record = address<u32>(launch.found) + u64(number) * (4 + plan);
    record[0] = 1;
    record[2] = u32(score);
    record[3] = u32(u64(score) >> 32);
    atomicAdd(&address<LaunchReport>(launch.report)->found, 1u);
    return record + 4;
}

// An explorer's search of its interval, depth first, by a thread or by all lanes of a warp, which then do the same.
//
// `Problem` has the path from the root to the current node, with a place among the children of each node on it, which
// are ranked from 0. A child is open if it is not pruned. It has
// - `TEAM`, how many threads an explorer has: 1 or 32
// - `ROOM`, the most places, and `places(launch)`
// - `Trail`, memory for each node on the path
// - `branch(bool counts)`, which branches the node just entered and puts the place before its first child
// - `seek(rank)`, which puts the place before that child
// - `next()`, which moves on to the next open child, unless it is at one; returns its rank, or NONE
// - `enter()`, which moves to the child there, and `leave()`, back to the parent and beyond that child
// - `refresh()`, which checks the incumbent.
template <class Problem> struct Walk {
    const Launch &launch;
    Interval own;
    Problem problem;
    u32 depth;
    // How many nodes below the root the path has in common with that to the end of the interval, and its digits.
    u32 shared;
    u32 end_length;
    u32 steps;
    u32 looked;
    // The ranks along the path.
    unsigned char *path;

    __device__ Walk(const Launch &given, u32 number, Counts &counts, unsigned char *ranks,
                    typename Problem::Trail &trail)
        : launch(given), own{given, number, Problem::places(given)}, problem(given, number, counts, trail), depth(0),
          shared(0), end_length(own.end_length()), steps(0), looked(0), path(ranks) {}

    __device__ void go_down(u32 rank) {
        shared += shared == depth && rank == own.end(depth);
        path[depth++] = (unsigned char)rank;
        problem.enter();
    }

    // Returns to the first leaf. A node belongs to the interval that has its first leaf: only those are counted here.
    __device__ void rebuild() {
        u32 length = own.begin_length();
        problem.branch(length == 0);
        while (depth < length) {
            u32 rank = own.begin(depth);
            problem.seek(rank);
            if (problem.next() != rank)
                return;
            go_down(rank);
            problem.branch(depth == length);
        }
    }

    __device__ bool beyond_end(u32 rank) const {
        if (shared != depth)
            return false;
        u32 last = own.end(depth);
        return rank > last || (rank == last && depth + 1 >= end_length);
    }

    // Whether enough explorers are idle for this one to stop. The first check comes after some steps, so that every
    // launch makes progress.
    __device__ bool called_off() {
        if (steps - looked < LOOK_EVERY - 1)
            return false;
        looked = steps;
        problem.refresh();
        return launch.trigger != 0 &&
               look_as_one<Problem::TEAM>(&address<LaunchReport>(launch.report)->idle) >= launch.trigger;
    }

    // What is left begins with this child.
    __device__ void save(u32 rank) {
        for (u32 i = threadIdx.x % Problem::TEAM; i < own.places; i += Problem::TEAM)
            own.begin(i) = i < depth ? path[i] : i == depth ? (unsigned char)rank : 0;
    }

    // Explores until the launch or the interval is over. Returns whether anything is left.
    __device__ bool run() {
        rebuild();
        bool over = false;
        for (;;) {
            u32 rank = problem.next();
            if (rank == NONE) {
                if (depth == 0)
                    return false;
                --depth;
                shared = lesser(shared, depth);
                problem.leave();
                continue;
            }
            if (beyond_end(rank))
                return false;
            over = over || steps >= launch.budget || called_off();
            // No point separates a node from its first child, which has the same first leaf.
            if (over && rank != 0) {
                save(rank);
                return true;
            }
            go_down(rank);
            problem.branch(true);
            ++steps;
        }
    }
};

template <class Problem> __device__ void explore_intervals(const Launch &launch) {
    u32 number = thread() / Problem::TEAM, steps = 0;
    bool leads = threadIdx.x % Problem::TEAM == 0;
    LaunchReport *report = address<LaunchReport>(launch.report);
    bool has = number < launch.explorers && address<u32>(launch.heights)[number] != 0;
    Counts counts;
    if (has && number < launch.active) {
        // Outside of `walk`, which can then stay in registers.
        unsigned char ranks[Problem::ROOM];
        typename Problem::Trail trail;
        Walk<Problem> walk(launch, number, counts, ranks, trail);
        has = walk.run();
        steps = walk.steps;
        if (!has && leads)
            address<u32>(launch.heights)[number] = 0;
    }
    // At once, so that others see it.
    if (!has && leads && number < launch.active)
        atomicAdd(&report->idle, 1u);
    // The whole team has written where it stopped.
    __syncwarp();
    double leaves = 0;
    if (has && leads) {
        leaves = Interval{launch, number, Problem::places(launch)}.leaves();
        address<u32>(launch.heights)[number] = u32(__double2hiint(leaves));
    }
    leaves = sum_of_warp(leaves);
    u64 branched = sum_of_warp(counts.branched), bounded = sum_of_warp(counts.bounded);
    u64 total = sum_of_warp(counts.total);
    u32 depth = greatest_of_warp(counts.depth);
    steps = greatest_of_warp(steps);
    if (threadIdx.x % LANES != 0)
        return;
    if (leaves != 0)
        atomicAdd(reinterpret_cast<double *>(&report->nodes), leaves);
    atomicMax(&report->steps, steps);
    if (bounded | branched | total) {
        atomicAdd(&report->branched, branched);
        atomicAdd(&report->bounded, bounded);
        atomicAdd(&report->total, total);
        atomicMax(&report->depth, u64(depth));
    }
}

// Takes half of a claimed victim's interval.
__device__ inline void take_interval(const Launch &launch, u32 places, u32 thief, u32 victim) {
    // Makes what the victim's last owner wrote visible.
    __threadfence();
    Interval to = {launch, thief, places}, from = {launch, victim, places};
    to.take_half(from);
    u32 left = from.height(), taken = to.height();
    // The writes must be visible before either height announces them.
    __threadfence();
    atomicExch(address<u32>(launch.heights) + victim, left);
    atomicExch(address<u32>(launch.heights) + thief, taken);
}

// Takes from the first of these explorers that gives: like `take_in_window`, by one thread.
__device__ inline void take_along(const Launch &launch, u32 places, u32 thief, u64 start, u32 width, bool back) {
    for (u32 i = 0; i < width; ++i) {
        u32 place = u32((start + i) % launch.explorers);
        u32 victim = back && place != 0 ? launch.explorers - place : place;
        if (claim(launch, victim) != 0)
            return take_interval(launch, places, thief, victim);
    }
}

// The rules are those of balance.cuh.
__device__ inline void balance_intervals(const Launch &launch, u32 places) {
    const u32 *heights = address<u32>(launch.heights);
    u32 thief = thread(), lane = threadIdx.x % LANES;
    bool idle = thief < launch.active && look(&heights[thief]) == 0;
    u32 those = __ballot_sync(ALL_LANES, idle);
    if (those == 0)
        return;
    u32 width = launch.width;
    u64 start = u64(launch.explorers) - thief + launch.round + 1;
    if (launch.steal_rule == WINDOWS) {
        u32 empty = 0, before = rank_in(those, lane);
        for (u32 from = 0; from < launch.active; from += LANES) {
            bool is_empty = from + lane < launch.active && look(&heights[from + lane]) == 0;
            u32 here = u32(__popc(__ballot_sync(ALL_LANES, is_empty)));
            empty += here;
            before += from + LANES <= thief - lane ? here : 0;
        }
        width = (launch.explorers - 1) / greater(empty, 1) + 1;
        start = u64(before) * width;
    }
    if (!idle)
        return;
    if (launch.steal_rule == HYPERCUBE) {
        u32 victim = neighbour(launch, thief);
        if (victim != thief && claim(launch, victim) != 0)
            take_interval(launch, places, thief, victim);
    } else {
        take_along(launch, places, thief, start, width, launch.steal_rule == BEFORE);
    }
}

// The host gives an interval to an explorer without one.
__device__ inline void put_interval(const Launch &launch, u32 places) {
    u32 number = thread();
    if (number >= launch.explorers)
        return;
    Move *move = address<Move>(launch.moves) + number;
    if (move->nodes == 0)
        return;
    u32 words = interval_words(places);
    Interval own = {launch, number, places};
    for (u32 i = 0; i < words; ++i)
        own.word(i) = on_their_way(launch, move->at, words)[i];
    address<u32>(launch.heights)[number] = own.height();
    move->done = 1;
}

// Copies intervals for the host to fetch, and removes them unless they are to stay.
__device__ inline void take_intervals(const Launch &launch, u32 places) {
    u32 number = thread();
    if (number >= launch.explorers)
        return;
    Move move = address<Move>(launch.moves)[number];
    if (move.nodes == 0)
        return;
    u32 words = interval_words(places);
    Interval own = {launch, number, places};
    for (u32 i = 0; i < words; ++i)
        on_their_way(launch, move.at, words)[i] = own.word(i);
    if (!launch.leave)
        address<u32>(launch.heights)[number] = 0;
}

// Entry points of a kernel whose work is intervals.
#define INTERVAL_ENTRIES(Problem)                                                                  \
    ENTRY explore(Launch launch) { explore_intervals<Problem>(launch); }                           \
    ENTRY balance(Launch launch) { balance_intervals(launch, Problem::places(launch)); }           \
    ENTRY put(Launch launch) { put_interval(launch, Problem::places(launch)); }                    \
    ENTRY take(Launch launch) { take_intervals(launch, Problem::places(launch)); }
