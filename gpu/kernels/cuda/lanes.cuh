// Search with a node in each lane: for small nodes whose children are made one by one.
#pragma once

#include "explorer.cuh"

// At every step each lane with a node makes its next child, and continues with it if it lives. The
// rest of the node then goes onto the stack that all lanes share, from which lanes without a node
// take theirs: lanes stay full, and each searches depth first.
//
// `Problem` has `Node`, `WORDS`, `load`, `store`, and
// `bool step(Node &node, Node &rest, bool &left, Counts &)`, which replaces `node` by its next
// child and returns whether that lives; `rest` becomes the rest of the node, `left` whether there
// is any.
template <class Problem> __device__ void explore_in_lanes(const Launch &launch, bool giving) {
    Explorer own(launch, Problem::WORDS, giving);
    if (own.sits_out())
        return;
    Problem problem(launch);
    typename Problem::Node node, rest;
    bool holds = false, full = false;
    u32 holders = 0;
    u32 step = 0;
    do {
        for (; step < launch.budget && !own.called_off(step); ++step) {
            if (own.height != 0 && own.asked(step)) {
                // Nodes in registers go back onto the stack first.
                if (holds)
                    Problem::store(node, own.node(own.height + rank_in(holders, own.lane)));
                own.height += u32(__popc(holders));
                holds = false, holders = 0;
                __syncwarp();
                own.give(false, step);
            }
            u32 rank = rank_in(~holders, own.lane);
            u32 taken = lesser(u32(__popc(~holders)), own.height);
            if (!holds && rank < taken) {
                Problem::load(node, own.node(own.height - 1 - rank));
                holds = true;
            }
            own.height -= taken;
            holders = __ballot_sync(ALL_LANES, holds);
            if (holders == 0)
                break;
            // The stack needs room for the nodes that lanes hold, and for one push by each.
            u32 held = u32(__popc(holders));
            own.reach(own.height + 2 * held);
            u32 room = own.room(own.height + held);
            full = room == 0;
            if (full)
                break;
            bool left = false;
            if (holds && rank_in(holders, own.lane) < room)
                holds = problem.step(node, rest, left, own.counts);
            // A lane whose child is dead continues with the rest, which never leaves its registers.
            if (left && !holds) {
                node = rest;
                holds = true;
                left = false;
            }
            // No lane may write while another is still reading.
            __syncwarp();
            u32 pushing = __ballot_sync(ALL_LANES, left);
            if (left)
                Problem::store(rest, own.node(own.height + rank_in(pushing, own.lane)));
            own.height += u32(__popc(pushing));
            holders = __ballot_sync(ALL_LANES, holds);
            __syncwarp();
        }
    } while (holders == 0 && own.height == 0 && own.gets_more(step));
    __syncwarp();
    holders = __ballot_sync(ALL_LANES, holds);
    if (holds)
        Problem::store(node, own.node(own.height + rank_in(holders, own.lane)));
    own.height += u32(__popc(holders));
    own.stop(full, step);
}
