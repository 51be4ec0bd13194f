// A kernel that is launched once: its warps wait for batches that the host announces in page-locked memory, share each
// of them by tickets, and notify the host when a batch is done. Only the first warp, which starts before all others,
// reads the host's memory, which is far away, and copies what is new to where the others look. These wait for
// no other warp, so it does not matter how many of them run at once.
#pragma once

#include "bounding.cuh"

// Batches that can be announced at once.
constexpr u32 RING = 128;
// The maximum number of words of a batch's only parent.
constexpr u32 ORDER = 8;

// The next three match the host's structures field by field.
struct Serving {
    u64 post;
    // The same on the device: what the first warp has passed on.
    u64 copy;
    // The next ticket, and for each place how many tickets of its batch are done.
    u64 counts;
    u64 tables;
    u32 sizes[10];
};

struct Mail {
    // Counted from 1; written last. While the rest is written, it is the previous number.
    u32 number;
    // The first ticket of the batch, and the number of tickets. Each stands for as many threads as a block has.
    u32 first;
    u32 tickets;
    u32 children;
    u32 bounds[2];
    // The number of the last finished batch in this place; only in the host's memory.
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

// Reads what others, including the host, may write meanwhile, before anything that is read later.
__device__ inline u32 hear(const u32 *at) {
    u32 seen = look(at);
    __threadfence_system();
    return seen;
}

// Writes for others, including the host, after everything that was written before.
__device__ inline void tell(u32 *at, u32 word) {
    __threadfence_system();
    *const_cast<volatile u32 *>(at) = word;
}

// Forwards the host's announcements until it stops. By one lane.
__device__ inline void pass_on(const Post *from, Post *to) {
    for (u32 number = 1;; ++number) {
        // The host leaves an announcement alone until its batch is done.
        const Mail *mail = &from->ring[number % RING];
        while (hear(&mail->number) != number) {
            if (hear(&from->stop)) {
                // By now, everything announced before has been seen.
                if (hear(&mail->number) == number)
                    continue;
                return tell(&to->stop, 1);
            }
            __nanosleep(500);
        }
        Mail *copy = &to->ring[number % RING];
        // Invalidates the place: a warp that reads meanwhile finds a number that belongs to another place.
        tell(&copy->number, number - 1);
        tell(&copy->first, hear(&mail->first));
        tell(&copy->tickets, hear(&mail->tickets));
        tell(&copy->children, hear(&mail->children));
        for (u32 i = 0; i < 2; ++i)
            tell(&copy->bounds[i], hear(&mail->bounds[i]));
        for (u32 i = 0; i < ORDER; ++i)
            tell(&copy->order[i], hear(&mail->order[i]));
        tell(&copy->number, number);
    }
}

// Finds the batch of a ticket, starting at this number. Returns whether there will be one.
__device__ inline bool batch_of(const Post *post, u32 ticket, u32 &number) {
    while (true) {
        const Mail *mail = &post->ring[number % RING];
        u32 seen = hear(&mail->number);
        if (seen - number > ~0u / 2) {
            if (hear(&post->stop))
                return false;
            __nanosleep(200);
            continue;
        }
        bool is_mine = ticket - hear(&mail->first) < hear(&mail->tickets);
        // A later batch in its place means that this one is done.
        if (seen == number && hear(&mail->number) == number && is_mine)
            return true;
        if (seen != number || hear(&mail->number) == seen)
            ++number;
    }
}

// Serves batches until no more will come. `part` does what a thread of a launch would do, given its number.
template <void part(const Bounding &, u32)> __device__ inline void serve_all(const Serving &serving) {
    if (blockIdx.x == 0 && threadIdx.x < LANES) {
        if (threadIdx.x == 0)
            pass_on(address<Post>(serving.post), address<Post>(serving.copy));
        return;
    }
    u32 number = 1;
    Bounding batch = {};
    for (u32 i = 0; i < 10; ++i)
        batch.sizes[i] = serving.sizes[i];
    batch.tables = serving.tables;
    batch.count = 1;
    while (true) {
        u32 at = RING, ticket = 0;
        if (threadIdx.x % LANES == 0) {
            ticket = atomicAdd(address<u32>(serving.counts), 1u);
            at = batch_of(address<Post>(serving.copy), ticket, number) ? number % RING : RING;
        }
        at = __shfl_sync(ALL_LANES, at, 0);
        if (at == RING)
            return;
        ticket = __shfl_sync(ALL_LANES, ticket, 0);
        // This place holds this batch as long as this ticket is not done.
        const Mail *mail = &address<Post>(serving.copy)->ring[at];
        u32 order[ORDER];
        for (u32 i = 0; i < ORDER; ++i)
            order[i] = hear(&mail->order[i]);
        batch.parents = reinterpret_cast<u64>(order);
        batch.bounds = hear(&mail->bounds[0]) | u64(hear(&mail->bounds[1])) << 32;
        batch.children = hear(&mail->children);
        u32 thread = (ticket - hear(&mail->first)) * THREADS + threadIdx.x % LANES;
#pragma unroll 1
        for (u32 end = thread + THREADS; thread != end; thread += LANES) {
            part(batch, thread);
            __syncwarp();
        }
        // The warp that finishes the last ticket notifies the host, which may then read all results.
        __threadfence_system();
        __syncwarp();
        if (threadIdx.x % LANES == 0) {
            u32 *done = address<u32>(serving.counts) + 1 + at;
            const Mail *mail = &address<Post>(serving.copy)->ring[at];
            u32 all = hear(&mail->tickets);
            if (atomicAdd(done, 1u) + 1 == all) {
                atomicExch(done, 0u);
                tell(&address<Post>(serving.post)->ring[at].done, hear(&mail->number));
            }
        }
        __syncwarp();
    }
}
