// Flowshop with the one-machine bound (LB1), raised to the two-machine bound (LB2) if there are pairs of machines: a
// warp branches a node, and keeps its children on its stack.
#include "balance.cuh"
#include "best.cuh"
#include "explorer.cuh"
#include "flowshop_children.cuh"

struct Flowshop : Children {
    using Children::Children;

    // Loads a node from the stack.
    __device__ void fetch(const u32 *node) {
        // No lane may write while another is still reading.
        __syncwarp();
        head = {node[0], node[1], {node[2], node[3]}};
        if (lane < shape.orders())
            own.order[lane] = node[ORDER + lane];
        for (u32 i = lane; i < shape.machines; i += LANES) {
            own.machines[i].end = node[shape.ends() + i];
            own.work[i] = node[shape.work() + i];
        }
        __syncwarp();
    }

    // Stores the current node on the stack.
    __device__ void put_down(u32 *node) const {
        write(head, node);
        if (lane < shape.orders())
            node[ORDER + lane] = own.order[lane];
        for (u32 i = lane; i < shape.machines; i += LANES) {
            node[shape.ends() + i] = own.machines[i].end;
            node[shape.work() + i] = own.work[i];
        }
    }

    __device__ void write(const Head &words, u32 *node) const {
        if (lane == 0)
            node[0] = words.placed, node[1] = words.bound, node[2] = words.left[0], node[3] = words.left[1];
    }

    // Leaves the surviving children in `keys`. Returns how many there are.
    __device__ u32 keep(const u32 *bounds, const bool *alive, u32 back, u32 cut) const {
        u32 n = 0;
        for (u32 slot = 0; slot < SLOTS; ++slot) {
            u32 bound = (back ? bounds[slot] >> 16 : bounds[slot] & 0xffff) + 1;
            bound = greater(bound, head.bound);
            bool stays = alive[slot] && bound < cut;
            u32 staying = __ballot_sync(ALL_LANES, stays);
            // On equal bounds, the job with the lower number is the better child.
            if (stays)
                own.keys[n + rank_in(staying, lane)] = bound << 6 | (slot * LANES + lane);
            n += u32(__popc(staying));
        }
        __syncwarp();
        return n;
    }

    // Leaves them in `sorted`, the best last.
    __device__ void sort(u32 n) const {
        for (u32 i = lane; i < n; i += LANES) {
            u32 place = 0;
#pragma unroll 1
            for (u32 other = 0; other < n; ++other)
                place += own.keys[other] > own.keys[i];
            own.sorted[place] = own.keys[i];
        }
        __syncwarp();
    }

    // Writes the rest of a child; `apart` is the distance between machines in `ends`. Each lane
    // writes only what it reads itself, so this works in place.
    __device__ void make(u32 key, u32 back, u32 *order, u32 *ends, u32 apart, u32 *work) const {
        u32 job = key & 63, at = back ? shape.jobs - 1 - at_back() : at_front();
        u32 changes = back ? 0xffff0000u : 0xffff;
        if (lane < shape.orders())
            order[lane] = own.order[lane] | (lane == at / 4 ? job << at % 4 * 8 : 0);
        for (u32 i = lane; i < shape.machines; i += LANES) {
            u32 end = own.ends[i * shape.stride() + job];
            ends[i * apart] = (own.machines[i].end & ~changes) | (end & changes);
            work[i] = own.work[i] - time(i, job);
        }
    }

    // Branches the node: the best surviving child takes its place, the others go onto the stack
    // from `height` on. Returns how many survive.
    __device__ u32 branch(const Pages &stack, u32 height, u32 cut) {
        u32 bounds[SLOTS] = {};
        bool alive[SLOTS];
        u32 back = bound_all(bounds, alive, cut);
        u32 n = keep(bounds, alive, back, cut);
        if (n == 0)
            return 0;
        u32 best = own.keys[0];
        if (n > 1) {
            sort(n);
#pragma unroll 1
            for (u32 i = 0; i + 1 < n; ++i) {
                u32 key = own.sorted[i], *to = stack.node(height + i);
                write(child(key, back), to);
                make(key, back, to + ORDER, to + shape.ends(), 1, to + shape.work());
            }
            best = own.sorted[n - 1];
        }
        make(best, back, own.order, &own.machines[0].end, 2, own.work);
        head = child(best, back);
        __syncwarp();
        return n;
    }

    // Records a solution, with jobs counted from 1.
    __device__ void note(const Launch &launch, u32 number, u32 score, u32 last) const {
        u32 *record = address<u32>(launch.found) + u64(number) * (4 + shape.jobs);
        for (u32 at = lane; at < shape.jobs; at += LANES) {
            u32 job = own.order[at / 4] >> at % 4 * 8 & 0xff;
            record[4 + at] = (at == at_front() ? last : job) + 1;
        }
        if (lane == 0) {
            record[0] = 1;
            record[2] = score;
            record[3] = 0;
            atomicAdd(&address<LaunchReport>(launch.report)->found, 1u);
        }
    }
};

// A warp: its stack and its current node.
struct Warp {
    Flowshop flowshop;
    Explorer own;
    // Bounds plus one, as in a node's words.
    Best best;
    bool holds;

    __device__ Warp(const Launch &launch, Scratch &scratch, bool giving)
        : flowshop(launch, scratch), own(launch, flowshop.shape.words(), giving), best(launch, 1, 1), holds(false) {}

    __device__ bool has_any() const { return holds || own.height != 0; }

    // Branches the current node, or else the top of the stack, and continues with the best child.
    // Returns false if there is no room for all children.
    __device__ bool step() {
        if (!holds)
            flowshop.fetch(own.node(--own.height));
        holds = true;
        u32 left = flowshop.jobs_left();
        if (!own.reach(own.height + left))
            return false;
        holds = false;
        if (flowshop.head.bound >= best.cut)
            return true;
        if (own.lane == 0) {
            own.counts.branched += 1;
            own.counts.bounded += flowshop.shape.branching <= ALTERNATE ? left : 2 * left;
        }
        own.counts.depth = greater(own.counts.depth, flowshop.shape.jobs - left + 1);
        if (left == 1) {
            finish();
            return true;
        }
        u32 children = flowshop.branch(own, own.height, best.cut);
        holds = children != 0;
        own.height += children - holds;
        return true;
    }

    // Completes a schedule with a single job left.
    __device__ void finish() {
        u32 last = flowshop.last_job(), score = flowshop.makespan(last);
        if (best.beat(own.lane, score))
            flowshop.note(own.launch, own.number, score, last);
    }

    __device__ void stop(bool full, u32 steps) {
        if (holds)
            flowshop.put_down(own.node(own.height));
        own.height += holds;
        own.stop(full, steps);
    }
};

__device__ inline void search(const Launch &launch, bool giving) {
    SHARED(Scratch, scratch, WARPS);
    Warp warp(launch, scratch[threadIdx.x / LANES], giving);
    if (warp.own.sits_out())
        return;
    bool full = false;
    u32 step = 0;
    do {
        while (step < launch.budget && !full && warp.has_any() && !warp.own.called_off(step)) {
            if (warp.own.asked(step))
                warp.own.give(warp.holds, step);
            warp.best.refresh(warp.own.lane);
            u32 until = step + lesser(LOOK_EVERY, launch.budget - step);
            for (; step < until && !full && warp.has_any(); ++step)
                full = !warp.step();
        }
    } while (!warp.has_any() && warp.own.gets_more(step));
    warp.stop(full, step);
}

ENTRY explore(Launch launch) { search(launch, false); }
ENTRY give(Launch launch) { search(launch, true); }

COMMON_ENTRIES(Shape(launch).words())
