// Giving: inside a launch, explorers with spare nodes give some to explorers without nodes.
#pragma once

#include "pages.cuh"

// An explorer without nodes puts its number into a ring and checks its mail until nodes come. One with spare nodes
// takes the next number from the ring, copies some of its lowest nodes to that explorer's first page, and notifies it
// by mail. Nobody waits for any particular explorer, nor for one that has not begun: see `may_come`.

// In the mail of an explorer that no longer waits.
constexpr u32 GONE = ~0u;
// How often waiting explorers check while some have yet to begin and none that has begun has nodes.
constexpr u32 PATIENCE = 32;

struct Giver : Pages {
    u32 height;
    // Whether it gives at all: known to the compiler, which drops all this code otherwise.
    const bool gives;
    // Whether it has stopped waiting: then the giver may write its stack at any time, so it must not do so itself.
    bool gone;

    __device__ Giver(const Launch &launch, u32 words, u32 explorer, bool giving)
        : Pages(launch, words, explorer), height(0), gives(giving), gone(false) {
        if (number < launch.explorers)
            height = address<u32>(launch.heights)[number];
    }

    __device__ LaunchReport *report() const { return address<LaunchReport>(launch.report); }
    __device__ u32 *slot(u32 ticket) const { return address<u32>(launch.ring) + (ticket & (launch.giving - 1)); }
    __device__ u32 *mail(u32 explorer) const { return address<u32>(launch.ring) + launch.giving + explorer; }

    // What an explorer puts into the ring: how often that place was used before, and its number from 1.
    __device__ u32 entry(u32 ticket) const { return ticket / launch.giving << 21 | (number + 1); }

    __device__ static void less(u32 *count) { atomicAdd(count, ALL_LANES); }

    // Called once by each explorer that takes part. Returns whether it is too late as another one has stopped: then
    // it must have waited for room, and does not explore.
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

    // Called by each that stops for another reason than lack of nodes: its budget is used up, or there is no room.
    __device__ void sign_off() {
        if (!gives || gone || lane != 0)
            return;
        atomicExch(&report()->over, 1u);
        less(&report()->busy);
    }

    // Whether some explorer waits for nodes. All lanes see the same.
    __device__ bool somebody_waits() const {
        bool waits = lane == 0 && look(&report()->ring_from) != look(&report()->ring_upto);
        return __ballot_sync(ALL_LANES, waits) != 0;
    }

    // The number, from 1, of the explorer that has waited longest; 0 if there is none, or others took it. By one lane.
    __device__ u32 next_in_ring() const {
        u32 from = look(&report()->ring_from);
        if (from == look(&report()->ring_upto))
            return 0;
        u32 *place = slot(from), found = look(place);
        if (found == 0 || atomicCAS(place, found, 0u) != found)
            return 0;
        atomicAdd(&report()->ring_from, 1u);
        return found & ((1u << 21) - 1);
    }

    // Gives to waiting explorers, each time half of the nodes or a page, as long as some are left for itself; it may
    // hold one that is not on the stack.
    __device__ void give(bool holds, u32 step) {
        while (height + holds > 1 && height != 0) {
            u32 to = lane == 0 ? next_in_ring() : 0;
            to = __shfl_sync(ALL_LANES, to, 0);
            if (to == 0)
                return;
            send(to - 1, height < 2 * PAGE ? lesser((height + holds) / 2, PAGE) : PAGE, step);
        }
    }

    __device__ void send(u32 receiver, u32 nodes, u32 step) {
        // Makes the receiver's first page number visible.
        __threadfence();
        __syncwarp();
        Pages to(launch, words, receiver);
#pragma unroll 1
        for (u32 i = lane; i < nodes * words; i += LANES)
            to.word(i) = word(i);
        __syncwarp();
        drop(nodes, height);
        height -= nodes;
        // All lanes' writes must be visible before the mail announces them.
        __syncwarp();
        __threadfence();
        if (lane != 0)
            return;
        atomicAdd(&report()->given, nodes);
        // Before the mail, so that nobody concludes that all have run out: this explorer itself is busy.
        atomicAdd(&report()->busy, 1u);
        if (atomicExch(mail(receiver), step << 8 | nodes) != GONE)
            return;
        // The receiver finds them in the next launch.
        less(&report()->busy);
        less(&report()->idle);
        address<u32>(launch.heights)[receiver] = nodes;
        atomicAdd(&report()->nodes, u64(nodes));
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
        release_and_save(0);
        u32 ticket = 0, gift = 0;
        __syncwarp();
        if (lane == 0) {
            address<u32>(launch.heights)[number] = 0;
            atomicExch(mail(number), 0u);
            less(&report()->busy);
            // Everything must be visible to the explorer that takes the number from the ring.
            __threadfence();
            ticket = atomicAdd(&report()->ring_upto, 1u);
            atomicExch(slot(ticket), entry(ticket));
        }
        bool waits = true;
        for (u32 looks = 0; gift == 0 && waits; ++looks) {
            if (lane == 0) {
                gift = look(mail(number));
                waits = may_come(looks);
                if (gift == 0 && waits)
                    NAP;
            }
            gift = __shfl_sync(ALL_LANES, gift, 0);
            waits = __ballot_sync(ALL_LANES, lane == 0 && waits) != 0;
        }
        if (gift == 0) {
            if (lane == 0) {
                atomicCAS(slot(ticket), entry(ticket), 0u);
                atomicAdd(&report()->idle, 1u);
                __threadfence();
                gift = atomicExch(mail(number), GONE);
                if (gift != 0)
                    less(&report()->idle);
            }
            gift = __shfl_sync(ALL_LANES, gift, 0);
            gone = gift == 0;
        }
        if (gone)
            return false;
        __threadfence();
        __syncwarp();
        height = gift & 0xff;
        step = greater(step, gift >> 8);
        return true;
    }
};
