// Flowshop with the one-machine bound: a warp branches a node, with the jobs in its lanes.
#include "balance.cuh"
#include "explorer.cuh"

// Both ends of a schedule are treated at once, in two halves of sixteen bits: in arrays of
// machines, the lower half of word i is machine i seen from the front, the upper half machine
// m - 1 - i seen from the back. No sum of the instance needs more bits.

#ifdef SIZE_0
constexpr u32 JOBS_ROOM = SIZE_0;
constexpr u32 MACHINES_ROOM = SIZE_1;
constexpr u32 COLUMNS_ROOM = SIZE_0 * SIZE_1;
#else
constexpr u32 JOBS_ROOM = 64;
constexpr u32 MACHINES_ROOM = 64;
constexpr u32 COLUMNS_ROOM = 2048;
#endif

// Explorers of a block.
constexpr u32 WARPS = 4;
// Jobs that a lane has.
constexpr u32 SLOTS = (JOBS_ROOM + LANES - 1) / LANES;

enum Branching : u32 { FORWARD, BACKWARD, ALTERNATE, MAX_SUM, MIN_BRANCH, MIN_MIN };

// Where things lie in a node: jobs placed at the front and, from the second byte on, at the back;
// the bound and one, or 0 for none; a bit for each job left; the order, a byte a job; when each
// machine has done the front and begins the back; what the jobs left take.
constexpr u32 PLACED = 0, BOUND = 1, LEFT = 2, ORDER = 4;

struct Shape {
    u32 jobs;
    u32 machines;
    u32 branching;
    u32 reference;

    __device__ explicit Shape(const Launch &launch) {
        jobs = SIZE(launch, 0);
        machines = SIZE(launch, 1);
        branching = SIZE(launch, 2);
        reference = SIZE(launch, 3);
    }

    __device__ u32 ends() const { return ORDER + (jobs + 3) / 4; }
    __device__ u32 work() const { return ends() + machines; }
    __device__ u32 words() const { return work() + machines; }
};

// What a warp keeps beside its registers while it branches a node.
struct Scratch {
    u32 node[ORDER + (JOBS_ROOM + 3) / 4 + 2 * MACHINES_ROOM];
    // What must come at least once a job begins on a machine.
    u32 rest[MACHINES_ROOM];
    // When each job would end on each machine if it came next.
    u32 ends[COLUMNS_ROOM];
    // Children that stay: bound and job, as they come and in order.
    u32 keys[JOBS_ROOM];
    u32 sorted[JOBS_ROOM];
};

__device__ __forceinline__ u32 swap_halves(u32 word) { return word << 16 | word >> 16; }

__device__ inline u32 least_of_warp(u32 value) {
    for (u32 other = LANES / 2; other > 0; other /= 2)
        value = lesser(value, __shfl_xor_sync(ALL_LANES, value, other));
    return value;
}

struct Flowshop {
    Shape shape;
    Scratch &own;
    u32 lane;
    // Times of each machine's jobs, then the least that follows on each machine after any job.
    const u32 *times;
    const u32 *least;

    __device__ Flowshop(const Launch &launch, Scratch &scratch)
        : shape(launch), own(scratch), lane(threadIdx.x % LANES) {
        times = address<u32>(launch.tables);
        least = times + shape.machines * shape.jobs;
    }

    __device__ u32 jobs_left() const {
        return shape.jobs - (own.node[PLACED] & 0xff) - (own.node[PLACED] >> 8);
    }

    __device__ bool is_left(u32 job) const {
        return job < shape.jobs && (own.node[LEFT + job / 32] >> job % 32 & 1);
    }

    __device__ u32 time(u32 machine, u32 job) const {
        return __ldg(&times[machine * shape.jobs + job]);
    }

    // Fetches a node for all lanes to read.
    __device__ void fetch(const u32 *node) const {
        for (u32 i = lane; i < shape.words(); i += LANES)
            own.node[i] = node[i];
        __syncwarp();
    }

    __device__ void look_ahead() const {
        const u32 *ends = own.node + shape.ends(), *work = own.node + shape.work();
        for (u32 i = lane; i < shape.machines; i += LANES) {
            u32 behind = swap_halves(ends[shape.machines - 1 - i]);
            own.rest[i] = work[i] + __vmaxu2(behind, __ldg(&least[i]));
        }
        __syncwarp();
    }

    // The bounds of a job's children, at the front in the lower half, at the back in the upper.
    __device__ u32 bound(u32 job) const {
        const u32 *before = own.node + shape.ends();
        u32 end = 0, most = 0;
        for (u32 i = 0; i < shape.machines; ++i) {
            u32 begin = __vmaxu2(end, before[i]);
            most = __viaddmax_u16x2(begin, own.rest[i], most);
            end = begin + time(i, job);
            own.ends[i * shape.jobs + job] = end;
        }
        return most;
    }

    // Whether to branch at the back, where that is known beforehand; else 2.
    __device__ u32 fixed_end() const {
        u32 placed = shape.jobs - jobs_left();
        switch (shape.branching) {
        case FORWARD:
            return 0;
        case BACKWARD:
            return 1;
        case ALTERNATE:
            return placed % 2;
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

    // Leaves the children that stay in `sorted`, the best last; how many there are.
    __device__ u32 keep(const u32 *bounds, const bool *alive, u32 back, u32 cut) const {
        u32 n = 0;
        for (u32 slot = 0; slot < SLOTS; ++slot) {
            u32 bound = (back ? bounds[slot] >> 16 : bounds[slot] & 0xffff) + 1;
            bound = greater(bound, own.node[BOUND]);
            bool stays = alive[slot] && bound < cut;
            u32 staying = __ballot_sync(ALL_LANES, stays);
            // Equal bounds: the job with the lesser number is the better child.
            if (stays)
                own.keys[n + rank_in(staying, lane)] = bound << 6 | (slot * LANES + lane);
            n += u32(__popc(staying));
        }
        __syncwarp();
        for (u32 i = lane; i < n; i += LANES) {
            u32 place = 0;
            for (u32 other = 0; other < n; ++other)
                place += own.keys[other] > own.keys[i];
            own.sorted[place] = own.keys[i];
        }
        __syncwarp();
        return n;
    }

    // A word of the child with this job.
    __device__ u32 word(u32 i, u32 job, u32 bound, u32 back) const {
        u32 old = own.node[i];
        if (i == PLACED)
            return old + (back ? 0x100 : 1);
        if (i == BOUND)
            return bound;
        if (i < ORDER)
            return i - LEFT == job / 32 ? old & ~(1u << job % 32) : old;
        if (i < shape.ends()) {
            u32 at = own.node[PLACED] & 0xff;
            if (back)
                at = shape.jobs - 1 - (own.node[PLACED] >> 8);
            return i - ORDER == at / 4 ? old | job << at % 4 * 8 : old;
        }
        if (i < shape.work()) {
            u32 end = own.ends[(i - shape.ends()) * shape.jobs + job];
            return back ? (old & 0xffff) | (end & 0xffff0000u) : (old & 0xffff0000u) | (end & 0xffff);
        }
        return old - time(i - shape.work(), job);
    }

    // Branches the node: its children that stay go onto the stack, from a height on; how many.
    __device__ u32 branch(const Pages &stack, u32 height, u32 cut) const {
        look_ahead();
        u32 bounds[SLOTS] = {};
        bool alive[SLOTS];
        for (u32 slot = 0; slot < SLOTS; ++slot) {
            u32 job = slot * LANES + lane;
            alive[slot] = is_left(job);
            if (alive[slot])
                bounds[slot] = bound(job);
        }
        u32 back = fixed_end();
        if (back == 2)
            back = choose_end(bounds, alive);
        u32 n = keep(bounds, alive, back, cut);
        for (u32 child = 0; child < n; ++child) {
            u32 key = own.sorted[child], *to = stack.node(height + child);
            for (u32 i = lane; i < shape.words(); i += LANES)
                to[i] = word(i, key & 63, key >> 6, back);
        }
        __syncwarp();
        return n;
    }

    __device__ u32 last_job() const {
        u32 low = own.node[LEFT];
        return low ? u32(__ffs(int(low))) - 1 : 31 + u32(__ffs(int(own.node[LEFT + 1])));
    }

    // The time that the schedule takes when the last job has its place.
    __device__ u32 makespan(u32 job) const {
        const u32 *ends = own.node + shape.ends();
        u32 end = 0, most = 0;
        for (u32 i = 0; i < shape.machines; ++i) {
            end = greater(end, ends[i] & 0xffff) + (time(i, job) & 0xffff);
            most = greater(most, end + (ends[shape.machines - 1 - i] >> 16));
        }
        return most;
    }

    // Writes a solution down, jobs counted from 1.
    __device__ void note(const Launch &launch, u32 number, u32 score, u32 last) const {
        u32 *record = address<u32>(launch.found) + u64(number) * (4 + shape.jobs);
        u32 front = own.node[PLACED] & 0xff;
        for (u32 at = lane; at < shape.jobs; at += LANES) {
            u32 job = own.node[ORDER + at / 4] >> at % 4 * 8 & 0xff;
            record[4 + at] = (at == front ? last : job) + 1;
        }
        if (lane == 0) {
            record[0] = 1;
            record[2] = score;
            record[3] = 0;
            atomicAdd(&address<Tally>(launch.tally)->found, 1u);
        }
    }
};

// The best value, which all explorers lower.
struct Best {
    i64 *place;
    i64 value;

    __device__ explicit Best(const Launch &launch) : place(&address<Tally>(launch.tally)->best), value(0) {}

    // All lanes must see the same, whatever others write meanwhile.
    __device__ void refresh(u32 lane) {
        value = lane == 0 ? look(place) : 0;
        value = __shfl_sync(ALL_LANES, value, 0);
    }

    // Whether this score is the best, for all to know.
    __device__ bool beat(u32 lane, i64 score) {
        if (score >= value)
            return false;
        i64 old = lane == 0 ? i64(atomicMin(place, score)) : 0;
        old = __shfl_sync(ALL_LANES, old, 0);
        value = old < score ? old : score;
        return score < old;
    }

    // Nodes stay whose bound, and one, is below this.
    __device__ u32 cut() const {
        return value < 0 ? 0 : value >= 0xfffffffell ? 0xffffffffu : u32(value) + 1;
    }
};

ENTRY explore(Launch launch) {
    __shared__ Scratch scratch[WARPS];
    Flowshop flowshop(launch, scratch[threadIdx.x / LANES]);
    const Shape &shape = flowshop.shape;
    Explorer own(launch, shape.words());
    if (own.sits_out())
        return;
    Best best(launch);
    bool full = false;
    u32 ends = shape.branching <= ALTERNATE ? 1 : 2, lane = own.lane;
    for (u32 step = 0; step < launch.budget && !own.called_off(step); ++step) {
        if (own.height == 0)
            break;
        if (step % LOOK_EVERY == 0)
            best.refresh(lane);
        flowshop.fetch(own.node(own.height - 1));
        u32 left = flowshop.jobs_left();
        full = !own.reach(own.height - 1 + left);
        if (full)
            break;
        --own.height;
        if (flowshop.own.node[BOUND] < best.cut()) {
            own.counts.branched += lane == 0;
            own.counts.bounded += lane == 0 ? ends * left : 0;
            own.counts.depth = greater(own.counts.depth, shape.jobs - left + 1);
            if (left > 1) {
                own.height += flowshop.branch(own, own.height, best.cut());
            } else {
                u32 last = flowshop.last_job(), score = flowshop.makespan(last);
                if (best.beat(lane, score))
                    flowshop.note(launch, own.number, score, last);
            }
        }
        // The next node comes where this one was.
        __syncwarp();
    }
    own.stop(full);
}

COMMON_ENTRIES(Shape(launch).words())
