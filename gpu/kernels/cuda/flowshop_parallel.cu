// Flowshop with intervals and parallel bounding (LB1, raised to LB2 where there are pairs of machines): a warp is an
// explorer, and bounds all children of a node at once.
#include "best.cuh"
#include "flowshop_children.cuh"
#include "intervals.cuh"
#include "ranking.cuh"

// Machines per lane.
constexpr u32 MACHINE_SLOTS = (MACHINES_ROOM + LANES - 1) / LANES;

// A partial schedule. Its children are at the end that the branching chooses.
struct Teamwork : Children {
    static constexpr u32 ROOM = JOBS_ROOM;
    static constexpr u32 TEAM = LANES;
    // For each node on the path, by jobs placed: the bounds of the children with this lane's jobs, and the ends of its
    // machines. What is the same for all lanes is in shared memory: `keys` has the key of the child that comes next on
    // the path, `sorted` the node's own bound plus one, and above it whether the children are at the back.
    struct Trail {
        unsigned short bounds[ROOM][SLOTS];
        u32 ends[ROOM][MACHINE_SLOTS];
    };

    const Launch &launch;
    u32 number;
    Ranking ranking;
    Best best;
    Counts &counts;
    Trail &trail;
    // Children with lesser keys are done.
    u32 from;
    // Whether the columns in `ends` belong to a node further down.
    bool stale;

    __device__ Teamwork(const Launch &given, u32 explorer, Counts &to, Trail &memory)
        : Children(given, scratch()), launch(given), number(explorer), ranking(given), best(given, 1, 1), counts(to),
          trail(memory), from(0), stale(false) {
        u64 all = ~u64(0) >> (64 - shape.jobs);
        head = {0, 0, {u32(all), u32(all >> 32)}};
        for (u32 i = lane; i < shape.machines; i += LANES) {
            u32 sum = 0;
            for (u32 job = 0; job < shape.jobs; ++job)
                sum += time(i, job);
            own.work[i] = sum;
            own.machines[i].end = 0;
        }
        __syncwarp();
        refresh();
    }

    __device__ static Scratch &scratch() {
        SHARED(Scratch, all, WARPS);
        return all[threadIdx.x / LANES];
    }

    __device__ static u32 places(const Launch &launch) { return SIZE(launch, 0); }

    __device__ void refresh() { best.refresh(lane); }

    __device__ u32 placed() const { return at_front() + at_back(); }

    __device__ bool is_left(u32 slot) const { return (head.left[slot] >> lane & 1) != 0; }

    // NONE for a job that is placed.
    __device__ u32 key(u32 slot) const {
        return is_left(slot) ? ranking.key(trail.bounds[placed()][slot], slot * LANES + lane) : NONE;
    }

    __device__ bool is_open(u32 key) const { return greater(ranking.bound(key) + 1, head.bound) < best.cut; }

    __device__ void branch(bool counted) {
        u32 children = jobs_left(), depth = placed();
        from = 0;
        if (counted) {
            if (lane == 0) {
                counts.branched += 1;
                counts.bounded += shape.branching <= ALTERNATE ? children : 2 * children;
            }
            counts.depth = greater(counts.depth, depth + 1);
        }
        if (children == 1) {
            if (counted)
                finish();
            // A schedule is completed, not entered.
            from = NONE;
            // No lane may go back while another is still reading.
            __syncwarp();
            return;
        }
        u32 bounds[SLOTS] = {};
        bool alive[SLOTS];
        u32 back = bound_all(bounds, alive, best.cut);
        for (u32 slot = 0; slot < SLOTS; ++slot)
            trail.bounds[depth][slot] = (unsigned short)(bounds[slot] >> 16 * back);
        if (lane == 0)
            own.sorted[depth] = head.bound | back << 16;
        stale = false;
        __syncwarp();
    }

    __device__ void seek(u32 rank) {
        for (from = 0; rank != 0; --rank) {
            u32 least = least_key(from);
            if (least == NONE)
                break;
            from = least + 1;
        }
    }

    // The least key that is not below this one.
    __device__ u32 least_key(u32 limit) const {
        u32 found = NONE;
        for (u32 slot = 0; slot < SLOTS; ++slot)
            found = key(slot) >= limit ? lesser(found, key(slot)) : found;
        return least_of_warp(found);
    }

    __device__ u32 next() {
        if (from == NONE)
            return NONE;
        u32 found = NONE, rank = 0;
        for (u32 slot = 0; slot < SLOTS; ++slot) {
            u32 other = key(slot);
            bool may = other >= from && (!ranking.by_job || is_open(other));
            found = may ? lesser(found, other) : found;
        }
        from = least_of_warp(found);
        for (u32 slot = 0; slot < SLOTS; ++slot)
            rank += u32(__popc(__ballot_sync(ALL_LANES, key(slot) < from)));
        return from != NONE && is_open(from) ? rank : NONE;
    }

    __device__ void enter() {
        u32 chosen = from, job = ranking.job(chosen), depth = placed();
        if (stale) {
            for (u32 slot = 0; slot < SLOTS; ++slot)
                if (is_left(slot))
                    bound(slot * LANES + lane);
            __syncwarp();
        }
        bool back = own.sorted[depth] >> 16 != 0;
        u32 changes = back ? 0xffff0000u : 0xffff;
        for (u32 i = lane; i < shape.machines; i += LANES) {
            u32 end = own.machines[i].end, then = own.ends[i * shape.stride() + job];
            trail.ends[depth][i / LANES] = end;
            own.machines[i].end = (end & ~changes) | (then & changes);
            own.work[i] -= time(i, job);
        }
        u32 bound = greater(ranking.bound(chosen) + 1, head.bound);
        head = child(job, back);
        head.bound = bound;
        if (lane == 0)
            own.keys[depth] = chosen;
        __syncwarp();
    }

    __device__ void leave() {
        u32 depth = placed() - 1, chosen = own.keys[depth], job = ranking.job(chosen), was = own.sorted[depth];
        for (u32 i = lane; i < shape.machines; i += LANES) {
            own.machines[i].end = trail.ends[depth][i / LANES];
            own.work[i] += time(i, job);
        }
        head.placed -= was >> 16 != 0 ? 0x100 : 1;
        head.bound = was & 0xffff;
        for (u32 slot = 0; slot < SLOTS; ++slot)
            head.left[slot] |= job / LANES == slot ? 1u << job % LANES : 0;
        from = chosen + 1;
        stale = true;
        __syncwarp();
    }

    // Completes a schedule with the only job left.
    __device__ void finish() {
        u32 last = last_job(), score = makespan(last);
        if (!best.beat(lane, score) || lane != 0)
            return;
        u32 *plan = found(launch, number, shape.jobs, score), first = 0, behind = shape.jobs;
        // Jobs count from 1.
        for (u32 i = 0; i < placed(); ++i)
            plan[own.sorted[i] >> 16 != 0 ? --behind : first++] = 1 + ranking.job(own.keys[i]);
        plan[first] = 1 + last;
    }
};

INTERVAL_ENTRIES(Teamwork)
