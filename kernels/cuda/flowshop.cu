// Flowshop with the one-machine bound (LB1), raised to the two-machine bound (LB2) where there are pairs of machines: a
// warp branches a node, with the jobs in its lanes.
#include "balance.cuh"
#include "best.cuh"
#include "explorer.cuh"
#include "flowshop.cuh"

__device__ inline u32 least_of_warp(u32 value) {
    for (u32 other = LANES / 2; other > 0; other /= 2)
        value = lesser(value, __shfl_xor_sync(ALL_LANES, value, other));
    return value;
}

struct Flowshop {
    Shape shape;
    Scratch &own;
    u32 lane;
    // The best order of the jobs for each pair of machines; the pairs; times by machine and job; the least tail of any
    // job on each machine.
    const Step *steps;
    const u32 *pairs;
    const u32 *times;
    const u32 *least;
    Times own_times;
    Head head;

    __device__ Flowshop(const Launch &launch, Scratch &scratch)
        : shape(launch), own(scratch), lane(threadIdx.x % LANES), steps(address<Step>(launch.tables)),
          pairs(address<u32>(launch.tables) + 2 * shape.pairs * shape.jobs), times(pairs + shape.pairs),
          least(times + shape.machines * shape.jobs), own_times(times, shape.jobs, lane), head() {}

    // Known to the compiler early where the times of a lane's job are indexed with it.
    __device__ u32 machines() const {
#ifdef KEEPS_TIMES
        return MACHINES_ROOM;
#else
        return shape.machines;
#endif
    }

    __device__ u32 at_front() const { return head.placed & 0xff; }
    __device__ u32 at_back() const { return head.placed >> 8; }
    __device__ u32 jobs_left() const { return shape.jobs - at_front() - at_back(); }

    __device__ u32 time(u32 machine, u32 job) const {
        return __ldg(&times[machine * shape.jobs + job]);
    }

    // Loads a node from the stack.
    __device__ void fetch(const u32 *node) {
        // No lane may write while another still reads.
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

    __device__ void look_ahead() const {
        for (u32 i = lane; i < shape.machines; i += LANES) {
            u32 behind = swap_halves(own.machines[shape.machines - 1 - i].end);
            own.machines[i].rest = own.work[i] + __vmaxu2(behind, __ldg(&least[i]));
        }
        __syncwarp();
    }

    // LB1 of a job's two children: at the front in the lower half, at the back in the upper.
    __device__ u32 bound(u32 job) const {
        u32 end = 0, most = 0;
#ifdef KEEPS_TIMES
#pragma unroll
#endif
        for (u32 first = 0; first < machines(); first += AHEAD) {
            Machine some[AHEAD];
            for (u32 i = 0; i < AHEAD; ++i)
                some[i] = own.machines[first + i];
#pragma unroll
            for (u32 i = 0; i < AHEAD; ++i) {
                if (first + i >= machines())
                    break;
                u32 begin = __vmaxu2(end, some[i].end);
                most = __viaddmax_u16x2(begin, some[i].rest, most);
                end = begin + own_times.of(times, shape.jobs, first + i, job);
                own.ends[(first + i) * shape.stride() + job] = end;
            }
        }
        return most;
    }

    // What follows on a machine at the least: the other side's end, or the least tail of any job.
    __device__ u32 beyond(u32 machine) const { return own.machines[machine].rest - own.work[machine]; }

    // Raises the bounds of a job's two children to those of a pair of machines: the best order of the other jobs left
    // there, between heads and tails.
    __device__ void raise(const Step *order, u32 pair, u32 job, u32 &most) const {
        u32 free[2], after[2];
        for (u32 k = 0; k < 2; ++k) {
            // Machines of a pair are counted from the front.
            u32 machine = k == 0 ? pair & 0xffff : pair >> 16, mirrored = shape.machines - 1 - machine;
            u32 near = own.ends[machine * shape.stride() + job], far = own.ends[mirrored * shape.stride() + job];
            free[k] = (near & 0xffff) | (beyond(mirrored) & 0xffff0000u);
            after[k] = (beyond(machine) & 0xffff) | (far & 0xffff0000u);
        }
        u32 others[2] = {head.left[0], head.left[1]};
        for (u32 slot = 0; slot < SLOTS; ++slot)
            others[slot] &= ~(job / LANES == slot ? 1u << job % LANES : 0);
        u32 first = free[0], second = free[1];
        // No branch: what a job that is not left would change is computed and dropped.
#pragma unroll 4
        for (const Step *at = order; at != order + shape.jobs; ++at) {
            Step step = load(at);
            u32 other = step.job_and_lag & 63;
            u32 among = SLOTS == 1 || other < LANES ? others[0] : others[1];
            bool counts = (among >> other % LANES & 1) != 0;
            u32 then = first + __byte_perm(step.times, 0, 0x1010);
            u32 end = __vmaxu2(second, then + __byte_perm(step.job_and_lag, 0, 0x3232));
            first = counts ? then : first;
            second = counts ? end + __byte_perm(step.times, 0, 0x3232) : second;
        }
        most = __viaddmax_u16x2(first, after[0], most);
        most = __viaddmax_u16x2(second, after[1], most);
    }

    // Raises the bounds of all children to LB2. With a fixed end they only decide which children survive: none is raised
    // any further once all reach the cut.
    __device__ void raise_all(u32 *bounds, const bool *alive, u32 back, u32 cut) const {
#pragma unroll 1
        for (u32 i = 0; i < shape.pairs; ++i) {
            bool any = back == 2;
            for (u32 slot = 0; slot < SLOTS; ++slot) {
                u32 bound = back == 1 ? bounds[slot] >> 16 : bounds[slot] & 0xffff;
                any |= alive[slot] && bound + 1 < cut;
            }
            if (__ballot_sync(ALL_LANES, any) == 0)
                return;
            u32 pair = __ldg(&pairs[i]);
            for (u32 slot = 0; slot < SLOTS; ++slot)
                if (alive[slot])
                    raise(steps + i * shape.jobs, pair, slot * LANES + lane, bounds[slot]);
        }
    }

    // Whether to branch at the back, if the rule fixes that; else 2.
    __device__ u32 fixed_end() const {
        switch (shape.branching) {
        case FORWARD:
            return 0;
        case BACKWARD:
            return 1;
        case ALTERNATE:
            return (at_front() + at_back()) % 2;
        default:
            return 2;
        }
    }

    // Whether to branch at the back, given the bounds. Ties go to the front.
    __device__ u32 choose_end(const u32 *bounds, const bool *alive) const {
        u32 front = 0, back = 0, limit = shape.reference;
        int lead = 0;
        if (shape.branching == MIN_MIN) {
            limit = 0xffffffffu;
            for (u32 slot = 0; slot < SLOTS; ++slot)
                if (alive[slot])
                    limit = lesser(limit, lesser(bounds[slot] & 0xffff, bounds[slot] >> 16));
            limit = least_of_warp(limit) + 1;
        }
        for (u32 slot = 0; slot < SLOTS; ++slot) {
            u32 at_front = bounds[slot] & 0xffff, at_back = bounds[slot] >> 16;
            front += u32(__popc(__ballot_sync(ALL_LANES, alive[slot] && at_front < limit)));
            back += u32(__popc(__ballot_sync(ALL_LANES, alive[slot] && at_back < limit)));
            lead += alive[slot] ? int(at_front) - int(at_back) : 0;
        }
        bool counts = shape.branching != MAX_SUM;
        if (counts && front != back)
            return back < front;
        return sum_of_warp(lead) < 0;
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

    __device__ Head child(u32 key, u32 back) const {
        Head words = head;
        words.placed += back ? 0x100 : 1;
        words.bound = key >> 6;
        for (u32 slot = 0; slot < SLOTS; ++slot)
            words.left[slot] &= ~((key & 63) / LANES == slot ? 1u << key % LANES : 0);
        return words;
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
        look_ahead();
        u32 bounds[SLOTS] = {};
        bool alive[SLOTS];
        for (u32 slot = 0; slot < SLOTS; ++slot) {
            alive[slot] = head.left[slot] >> lane & 1;
            if (alive[slot])
                bounds[slot] = bound(slot * LANES + lane);
        }
        u32 back = fixed_end();
        if (shape.pairs != 0)
            raise_all(bounds, alive, back, cut);
        if (back == 2)
            back = choose_end(bounds, alive);
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

    __device__ u32 last_job() const {
        u32 low = head.left[0];
        return low ? u32(__ffs(int(low))) - 1 : 31 + u32(__ffs(int(head.left[1])));
    }

    // The makespan once the last job is placed.
    __device__ u32 makespan(u32 job) const {
        u32 end = 0, most = 0;
#pragma unroll 1
        for (u32 i = 0; i < shape.machines; ++i) {
            end = greater(end, own.machines[i].end & 0xffff) + (time(i, job) & 0xffff);
            most = greater(most, end + (own.machines[shape.machines - 1 - i].end >> 16));
        }
        return most;
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

    __device__ Warp(const Launch &launch, Scratch &scratch)
        : flowshop(launch, scratch), own(launch, flowshop.shape.words()), best(launch, 1, 1), holds(false) {}

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

ENTRY explore(Launch launch) {
    __shared__ Scratch scratch[WARPS];
    Warp warp(launch, scratch[threadIdx.x / LANES]);
    if (warp.own.sits_out())
        return;
    bool full = false;
    u32 step = 0;
    while (step < launch.budget && !full && warp.has_any() && !warp.own.called_off(step)) {
        warp.best.refresh(warp.own.lane);
        u32 until = step + lesser(LOOK_EVERY, launch.budget - step);
        for (; step < until && !full && warp.has_any(); ++step)
            full = !warp.step();
    }
    warp.stop(full, step);
}

COMMON_ENTRIES(Shape(launch).words())
