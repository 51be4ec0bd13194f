// Giving: inside a launch, explorers with spare nodes give some to explorers without nodes.
#pragma once

#include "pages.cuh"

// An explorer without nodes says in its mail that it waits, and checks its mail until nodes come. One with spare nodes
// looks at the mail of 32 explorers at a time, a different group each time, claims one that waits, copies some of its
// lowest nodes to that explorer's first page, and notifies it by mail. Thousands of explorers share no list of those
// that wait: the ends of such a list would be the bottleneck.

// In the mail of an explorer that waits, and of one that will soon get nodes. Any other number is the steps and nodes
// of the last gift, or 0.
constexpr u32 WAITS = ~0u;
constexpr u32 CLAIMED = ~0u - 1;
// Roughly the fewest steps between two checks of the number of idle explorers, the best value and those that wait.
constexpr u32 LOOK_EVERY = 16;
// A waiting explorer looks at its mail this many times between two checks of the words that all share, and this many
// times in all while some have yet to begin and none that has begun has nodes.
constexpr u32 ASK_EVERY = 16;
constexpr u32 PATIENCE = 64;

struct Giver : Pages {
    u32 height;
    // Whether it gives at all: known to the compiler, which drops all this code otherwise.
    const bool gives;
    // The 32 explorers it looked at last, and those of them that wait.
    u32 group;
    u32 waiting;

    __device__ Giver(const Launch &launch, u32 words, u32 explorer, bool giving)
        : Pages(launch, words, explorer), height(0), gives(giving), group(0), waiting(0) {
        if (number < launch.explorers)
            height = address<u32>(launch.heights)[number];
        group = number % groups();
    }

    __device__ LaunchReport *report() const { return address<LaunchReport>(launch.report); }
    __device__ u32 *mail(u32 explorer) const { return address<u32>(launch.mail) + explorer; }

    __device__ static void less(u32 *count) { atomicAdd(count, ALL_LANES); }

    // Called once by each explorer that takes part. Returns whether it is too late, as another one has stopped: then
    // it does not explore.
    __device__ bool sign_on() {
        if (!gives)
            return false;
        u32 late = lane == 0 ? look(&report()->over) : 0;
        late = __shfl_sync(ALL_LANES, late, 0);
        if (lane == 0) {
            if (late == 0)
                atomicAdd(&report()->busy, 1u);
            // An explorer that sees this one counted as begun also sees that it may have nodes.
            __threadfence();
            atomicAdd(&report()->begun, 1u);
        }
        return late != 0;
    }

    // Called by each that stops. One that waited in vain no longer counts as busy; the others have used up their budget
    // or lack room, or the round was called off.
    __device__ void sign_off(u32 step) {
        if (!gives || lane != 0 || (height == 0 && step < launch.budget))
            return;
        atomicExch(&report()->over, 1u);
        less(&report()->busy);
    }

    __device__ u32 groups() const { return (launch.active + LANES - 1) / LANES; }

    // Looks at the next 32 explorers. Returns whether some of them wait for nodes. All lanes see the same.
    __device__ bool somebody_waits() {
        group = group + 1 < groups() ? group + 1 : 0;
        u32 other = group * LANES + lane;
        waiting = __ballot_sync(ALL_LANES, other < launch.active && look(mail(other)) == WAITS);
        return waiting != 0;
    }

    // Claims one of those that wait; explorers that look at the same ones begin at different places. Returns the number
    // of explorers if there is none left.
    __device__ u32 claim_waiting() {
        u32 turn = number / groups() % LANES;
        while (waiting != 0) {
            u32 turned = waiting >> turn | waiting << (LANES - turn) % LANES;
            u32 first = (u32(__ffs(int(turned))) - 1 + turn) % LANES;
            waiting &= ~(1u << first);
            u32 other = group * LANES + first;
            bool claimed = lane == 0 && atomicCAS(mail(other), WAITS, CLAIMED) == WAITS;
            if (__ballot_sync(ALL_LANES, claimed) != 0)
                return other;
        }
        return launch.explorers;
    }

    // Gives equal parts of its nodes, a page at most, to its share of those that wait, and keeps one part for itself;
    // it may hold a node that is not on the stack.
    __device__ void give(bool holds, u32 step) {
        u32 wait = u32(__popc(waiting)), others = lesser(launch.active - group * LANES, LANES) - wait;
        for (u32 gifts = greater(wait / greater(others, 1), 1); gifts != 0; --gifts) {
            u32 there = height + holds, part = lesser(greater(there / (gifts + 1), 1), PAGE);
            u32 to = height != 0 && there > 1 ? claim_waiting() : launch.explorers;
            if (to == launch.explorers)
                return;
            send(to, lesser(part, height), step);
        }
    }

    __device__ void send(u32 receiver, u32 nodes, u32 step) {
        // Makes the receiver's first page number visible.
        __threadfence();
        __syncwarp();
        Pages to(launch, words, receiver);
        u32 all = nodes * words;
#pragma unroll 1
        for (u32 start = lane; start < all; start += TOGETHER * LANES) {
            u32 some[TOGETHER];
#pragma unroll
            for (u32 k = 0; k < TOGETHER; ++k)
                some[k] = start + k * LANES < all ? word(start + k * LANES) : 0;
#pragma unroll
            for (u32 k = 0; k < TOGETHER; ++k)
                if (start + k * LANES < all)
                    to.word(start + k * LANES) = some[k];
        }
        __syncwarp();
        drop(nodes, height);
        height -= nodes;
        if (lane == 0) {
            atomicAdd(&report()->given, nodes);
            // Before the mail, so that nobody concludes that all have run out: this explorer itself is busy.
            atomicAdd(&report()->busy, 1u);
        }
        // All of this must be visible before the mail announces it.
        __syncwarp();
        __threadfence();
        if (lane == 0)
            atomicExch(mail(receiver), step << 8 | nodes);
    }

    // Whether nodes may still come. Explorers yet to begin may need the room of waiting explorers, which therefore
    // wait for them only for a while. By one lane.
    __device__ bool may_come(u32 looks) const {
        bool all_begun = look(&report()->begun) == launch.active;
        if (look(&report()->over) != 0)
            return false;
        return look(&report()->busy) != 0 || (!all_begun && looks < PATIENCE);
    }

    // Waits for nodes once none are left. Returns whether some came: they then count the steps of their giver, so
    // that the longest chain of gifts ends with the budget.
    __device__ bool gets_more(u32 &step) {
        if (!gives || step >= launch.budget)
            return false;
        // Spare pages stay here: others could use them only from the next launch on.
        write();
        __syncwarp();
        if (lane == 0) {
            address<u32>(launch.heights)[number] = 0;
            less(&report()->busy);
            // Everything must be visible to the explorer that claims this one.
            __threadfence();
            atomicExch(mail(number), WAITS);
        }
        u32 gift = 0;
        bool waits = true;
        for (u32 looks = 1; gift == 0 && waits; ++looks) {
            if (lane == 0) {
                u32 seen = look(mail(number));
                gift = seen == WAITS || seen == CLAIMED ? 0 : seen;
                // Once another has claimed this one, nodes are on their way.
                if (gift == 0 && looks % ASK_EVERY == 0 && !may_come(looks))
                    waits = atomicCAS(mail(number), WAITS, 0u) != WAITS;
                if (gift == 0 && waits)
                    NAP;
            }
            gift = __shfl_sync(ALL_LANES, gift, 0);
            waits = __ballot_sync(ALL_LANES, lane == 0 && waits) != 0;
        }
        if (gift == 0)
            return false;
        __threadfence();
        __syncwarp();
        height = gift & 0xff;
        step = greater(step, gift >> 8);
        return true;
    }
};
