// Flowshop: how a warp bounds all children of a node, with the jobs in its lanes.
#pragma once

#include "flowshop.cuh"

__device__ inline u32 least_of_warp(u32 value) {
    for (u32 other = LANES / 2; other > 0; other /= 2)
        value = lesser(value, __shfl_xor_sync(ALL_LANES, value, other));
    return value;
}

// A warp's current node.
struct Children {
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

    __device__ Children(const Launch &launch, Scratch &scratch)
        : shape(launch), own(scratch), lane(threadIdx.x % LANES), steps(address<Step>(launch.tables)),
          pairs(address<u32>(launch.tables) + 2 * shape.pairs * shape.jobs), times(pairs + shape.pairs),
          least(times + shape.machines * shape.jobs), own_times(times, shape.jobs, lane), head() {}

    // A compile-time constant if the times of a lane's jobs are indexed with it.
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

    // The least that follows on a machine: the other side's end, or the least tail of any job.
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
        // No branch: what a job that is not left would change is computed and discarded.
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

    // Whether to branch at the back, if the rule fixes it; otherwise 2.
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

    // Bounds all children, one job per lane. Returns whether to branch at the back.
    __device__ u32 bound_all(u32 *bounds, bool *alive, u32 cut) const {
        look_ahead();
        for (u32 slot = 0; slot < SLOTS; ++slot) {
            alive[slot] = head.left[slot] >> lane & 1;
            if (alive[slot])
                bounds[slot] = bound(slot * LANES + lane);
        }
        u32 back = fixed_end();
        if (shape.pairs != 0)
            raise_all(bounds, alive, back, cut);
        return back == 2 ? choose_end(bounds, alive) : back;
    }

    __device__ Head child(u32 key, u32 back) const {
        Head words = head;
        words.placed += back ? 0x100 : 1;
        words.bound = key >> 6;
        for (u32 slot = 0; slot < SLOTS; ++slot)
            words.left[slot] &= ~((key & 63) / LANES == slot ? 1u << key % LANES : 0);
        return words;
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
};
