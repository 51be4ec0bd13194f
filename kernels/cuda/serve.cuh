// A kernel that is launched once: its warps wait for batches that the host announces in page-locked memory, share each
// of them out by tickets, and tell the host when a batch is done. No warp waits for another, so that it does not matter
// how many of them are there at once.
#pragma once

#include "bounding.cuh"

// Batches that can be announced at once.
constexpr u32 RING = 128;
// Words of the only parent of a batch, at most.
constexpr u32 ORDER = 8;

// The next three match the host's structures field by field.
struct Serving {
    u64 post;
    // The next ticket, and for each place how many tickets of its batch are done.
    u64 counts;
    u64 tables;
    u32 sizes[10];
};

struct Mail {
    // Counted from 1; written last. Before the rest is written, it is the number before.
    u32 number;
    // The first ticket of the batch, and how many there are. Each stands for as many threads as a block has.
    u32 first;
    u32 tickets;
    u32 children;
    u32 bounds[2];
    // The number of the last batch in this place that is done.
    u32 done;
    u32 unused;
    u32 order[ORDER];
};

struct Post {
    // Whether no more batches will come.
    u32 stop;
    u32 unused[15];
    Mail ring[RING];
};

// Reads what the host may write meanwhile, before anything that is read later.
__device__ inline u32 hear(const u32 *at) {
    u32 seen = look(at);
    __threadfence_system();
    return seen;
}

// Writes for the host, after everything that was written before.
__device__ inline void tell(u32 *at, u32 word) {
    __threadfence_system();
    *const_cast<volatile u32 *>(at) = word;
}

// The announcement of the batch that a ticket belongs to, from this one on; none if there will be none.
__device__ inline const Mail *batch_of(const Post *post, u32 ticket, u32 &number) {
    while (true) {
        const Mail *mail = &post->ring[number % RING];
        u32 seen = hear(&mail->number);
        if (seen - number > ~0u / 2) {
            if (hear(&post->stop))
                return nullptr;
            __nanosleep(200);
            continue;
        }
        bool is_mine = ticket - hear(&mail->first) < hear(&mail->tickets);
        // A later batch in its place means that this one is done.
        if (seen == number && hear(&mail->number) == number && is_mine)
            return mail;
        if (seen != number || hear(&mail->number) == seen)
            ++number;
    }
}

// Serves batches until none will come. `part` does what a thread of a launch would do, given its number.
template <void part(const Bounding &, u32)> __device__ inline void serve_all(const Serving &serving) {
    Post *post = address<Post>(serving.post);
    u32 *tickets = address<u32>(serving.counts), *counts = tickets + 1, number = 1, ticket = 0;
    u32 lane = threadIdx.x % LANES;
    Bounding batch = {};
    for (u32 i = 0; i < 10; ++i)
        batch.sizes[i] = serving.sizes[i];
    batch.tables = serving.tables;
    batch.count = 1;
    while (true) {
        u32 at = RING;
        if (lane == 0) {
            ticket = atomicAdd(tickets, 1u);
            const Mail *found = batch_of(post, ticket, number);
            at = found ? number % RING : RING;
        }
        at = __shfl_sync(ALL_LANES, at, 0);
        if (at == RING)
            return;
        ticket = __shfl_sync(ALL_LANES, ticket, 0);
        // Where it stands belongs to this batch as long as this ticket is not done.
        Mail *mail = &post->ring[at];
        u32 order[ORDER];
        for (u32 i = 0; i < ORDER; ++i)
            order[i] = hear(&mail->order[i]);
        batch.parents = reinterpret_cast<u64>(order);
        batch.bounds = hear(&mail->bounds[0]) | u64(hear(&mail->bounds[1])) << 32;
        batch.children = hear(&mail->children);
        u32 first = (ticket - hear(&mail->first)) * THREADS;
        for (u32 i = 0; i < THREADS; i += LANES) {
            part(batch, first + i + lane);
            __syncwarp();
        }
        // Whoever does the last ticket tells the host, which may then read all results.
        __threadfence_system();
        __syncwarp();
        if (lane == 0) {
            u32 all = hear(&mail->tickets);
            if (atomicAdd(&counts[at], 1u) + 1 == all) {
                atomicExch(&counts[at], 0u);
                tell(&mail->done, hear(&mail->number));
            }
        }
        __syncwarp();
    }
}
