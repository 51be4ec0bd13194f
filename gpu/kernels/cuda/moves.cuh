// Moves nodes from the host to the stacks, and from the stacks to the host.
#pragma once

#include "explorer.cuh"

__device__ inline u32 *on_their_way(const Launch &launch, u32 at, u32 words) {
    return address<u32>(launch.moved) + u64(at) * words;
}

// Puts the host's nodes on top of each stack, as many as fit.
__device__ inline void put_nodes(const Launch &launch, u32 words) {
    Pages own(launch, words, warp());
    if (own.number >= launch.explorers)
        return;
    Move *move = address<Move>(launch.moves) + own.number;
    u32 height = address<u32>(launch.heights)[own.number], wanted = move->nodes;
    own.reach(height + wanted);
    u32 done = lesser(wanted, own.owned * PAGE - height);
    const u32 *from = on_their_way(launch, move->at, words);
    for (u32 i = own.lane; i < done * words; i += LANES)
        own.word(height * words + i) = from[i];
    __syncwarp();
    own.release_and_save(height + done);
    if (own.lane == 0) {
        move->done = done;
        address<u32>(launch.heights)[own.number] = height + done;
    }
}

// Copies nodes of each stack for the host to fetch, and removes them unless they are to stay; only
// the lowest can be removed.
__device__ inline void take_nodes(const Launch &launch, u32 words) {
    Pages own(launch, words, warp());
    if (own.number >= launch.explorers)
        return;
    Move move = address<Move>(launch.moves)[own.number];
    u32 height = address<u32>(launch.heights)[own.number];
    u32 *to = on_their_way(launch, move.at, words);
    for (u32 i = own.lane; i < move.nodes * words; i += LANES)
        to[i] = own.word(move.skip * words + i);
    __syncwarp();
    if (launch.leave || move.nodes == 0)
        return;
    own.drop(move.nodes, height);
    own.release_and_save(height - move.nodes);
    if (own.lane == 0)
        address<u32>(launch.heights)[own.number] = height - move.nodes;
}
