// Pages: storage for nodes. A stack is a ring of pages, all full but the last one in use.
#pragma once

#include "launch.cuh"

// Words that a lane copies together: it then waits for all of them at once.
constexpr u32 TOGETHER = 2;

// An explorer's stack; every lane of its warp has the same copy.
struct Pages {
    const Launch &launch;
    u32 words;
    u32 number;
    u32 lane;
    u32 base;
    u32 owned;

    __device__ Pages(const Launch &given, u32 size, u32 explorer)
        : launch(given), words(size), number(explorer), lane(threadIdx.x % LANES), base(0), owned(0) {
        if (number < launch.explorers) {
            Stack stack = address<Stack>(launch.stacks)[number];
            base = stack.base, owned = stack.owned;
        }
    }

    // The i-th page from the bottom.
    __device__ u32 &page(u32 i) const {
        u32 place = (base + i) & (launch.span - 1);
        return address<u32>(launch.rings)[u64(place) * launch.explorers + number];
    }

    // The i-th node from the bottom.
    __device__ u32 *node(u32 i) const {
        return address<u32>(launch.pages) + (u64(page(i / PAGE)) * PAGE + i % PAGE) * words;
    }

    // The i-th word from the bottom, counted through all nodes.
    __device__ u32 &word(u32 i) const {
        u32 size = PAGE * words;
        return address<u32>(launch.pages)[u64(page(i / size)) * size + i % size];
    }

    // The number of a free page. Pages never used come first, in order; no list has them.
    __device__ u32 free_page(u32 ticket) const {
        u32 page = launch.free_room / 2 - launch.unused + ticket;
        if (ticket >= launch.unused)
            page = address<u32>(launch.free)[(launch.free_from + ticket) % launch.free_room];
        return page;
    }

    // Takes free pages until this many nodes fit. Returns false if it cannot.
    __device__ bool reach(u32 nodes) {
        while (owned * PAGE < nodes) {
            u32 ticket = ALL_LANES, *taken = &address<LaunchReport>(launch.report)->taken;
            if (lane == 0 && owned < launch.span) {
                ticket = atomicAdd(taken, 1u);
                if (ticket >= launch.free_pages) {
                    atomicAdd(taken, ALL_LANES);
                    ticket = ALL_LANES;
                }
            }
            ticket = __shfl_sync(ALL_LANES, ticket, 0);
            if (ticket == ALL_LANES)
                return false;
            if (lane == 0)
                page(owned) = free_page(ticket);
            __syncwarp();
            ++owned;
        }
        return true;
    }

    // Returns the pages beyond those for this many nodes and a spare one, then saves the stack.
    // The returned pages are free from the next launch on.
    __device__ void release_and_save(u32 nodes) {
        u32 keep = (nodes + PAGE - 1) / PAGE + 1;
        if (owned > keep) {
            u32 surplus = owned - keep, ticket = 0;
            if (lane == 0)
                ticket = atomicAdd(&address<LaunchReport>(launch.report)->returned, surplus);
            ticket = launch.free_from + launch.free_pages + __shfl_sync(ALL_LANES, ticket, 0);
            for (u32 i = lane; i < surplus; i += LANES)
                address<u32>(launch.free)[(ticket + i) % launch.free_room] = page(keep + i);
            owned = keep;
        }
        write();
    }

    __device__ void write() const {
        if (lane == 0)
            address<Stack>(launch.stacks)[number] = {base, owned};
    }

    // Removes the lowest `nodes` of `height` nodes; those above move down.
    __device__ void drop(u32 nodes, u32 height) {
        u32 whole = nodes / PAGE, shift = nodes % PAGE * words;
        // Pages no longer needed move to the end.
        for (u32 start = 0; start < whole; start += LANES) {
            u32 i = start + lane, free = i < whole ? page(i) : 0;
            __syncwarp();
            if (i < whole)
                page(owned + i) = free;
            __syncwarp();
        }
        base += whole;
        u32 rest = (height - nodes) * words;
        for (u32 start = lane; start - lane < rest && shift != 0; start += TOGETHER * LANES) {
            u32 moved[TOGETHER];
#pragma unroll
            for (u32 k = 0; k < TOGETHER; ++k)
                moved[k] = start + k * LANES < rest ? word(start + k * LANES + shift) : 0;
            // All lanes must have read what the first of these writes replaces.
            __syncwarp();
#pragma unroll
            for (u32 k = 0; k < TOGETHER; ++k)
                if (start + k * LANES < rest)
                    word(start + k * LANES) = moved[k];
            __syncwarp();
        }
    }
};
