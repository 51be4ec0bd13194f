// Flowshop with intervals and the one-machine bound (LB1): a thread bounds all children of a node, one after the other.
#include "best.cuh"
#include "intervals.cuh"
#include "ranking.cuh"

// A word holds both directions of a schedule in two halves of 16 bits, as in flowshop.cu.

typedef unsigned short u16;

#ifdef SIZE_0
constexpr u32 TASKS_ROOM = SIZE_0;
constexpr u32 MACHINES_ROOM = SIZE_1;
#else
constexpr u32 TASKS_ROOM = 64;
constexpr u32 MACHINES_ROOM = 64;
#endif

enum Branching : u32 { FORWARD, BACKWARD, ALTERNATE, MAX_SUM, MIN_BRANCH, MIN_MIN };

// A partial schedule. Its children are at the end that the branching chooses.
struct Schedules {
    static constexpr u32 ROOM = TASKS_ROOM;
    static constexpr u32 TEAM = 1;
    // For each node on the path, by jobs placed: its bound, the end at which its children are, their bounds by job, and
    // the key of the child that comes next on the path. Then the current node: the end of each machine, the work left
    // there, and the bounds of the children at both ends.
    struct Trail {
        u16 own[ROOM];
        unsigned char back[ROOM];
        u16 bounds[ROOM][ROOM];
        u32 keys[ROOM];
        u32 ends[MACHINES_ROOM];
        u32 work[MACHINES_ROOM];
        u32 rest[MACHINES_ROOM];
        u32 both[ROOM];
    };

    const Launch &launch;
    u32 number;
    u32 jobs;
    u32 machines;
    u32 branching;
    Ranking ranking;
    u32 reference;
    // Times by machine and job, and the least tail of any job on each machine.
    const u32 *times;
    const u32 *least;
    Best best;
    Counts &counts;
    Trail &trail;
    u32 placed;
    u64 left;
    // Children with lesser keys are done.
    u32 from;
    // Whether `ends` belongs to a node further down.
    bool stale;

    __device__ Schedules(const Launch &given, u32 explorer, Counts &to, Trail &memory)
        : launch(given), number(explorer), jobs(SIZE(given, 0)), machines(SIZE(given, 1)), branching(SIZE(given, 2)),
          ranking(given), reference(VALUE(given, 5)), times(address<u32>(given.tables)),
          least(times + machines * jobs), best(given, 1, 1), counts(to), trail(memory), placed(0),
          left(~u64(0) >> (64 - jobs)), from(0), stale(false) {
        trail.own[0] = 0;
        for (u32 i = 0; i < machines; ++i) {
            u32 sum = 0;
            for (u32 job = 0; job < jobs; ++job)
                sum += time(i, job);
            trail.work[i] = sum;
            trail.ends[i] = 0;
        }
        refresh();
    }

    __device__ static u32 places(const Launch &launch) { return SIZE(launch, 0); }

    __device__ void refresh() { best.take(look(best.place)); }

    __device__ u32 time(u32 machine, u32 job) const { return __ldg(&times[machine * jobs + job]); }

    __device__ bool is_left(u32 job) const { return (left >> job & 1) != 0; }

    __device__ u32 key(u32 job) const { return ranking.key(trail.bounds[placed][job], job); }

    __device__ bool is_open(u32 key) const { return greater(ranking.bound(key), trail.own[placed]) + 1 < best.cut; }

    // LB1 of a job's two children: at the front in the lower half, at the back in the upper.
    __device__ u32 bound(u32 job) const {
        u32 end = 0, most = 0;
#pragma unroll 1
        for (u32 i = 0; i < machines; ++i) {
            u32 begin = __vmaxu2(end, trail.ends[i]);
            most = __viaddmax_u16x2(begin, trail.rest[i], most);
            end = begin + time(i, job);
        }
        return most;
    }

    // Whether to branch at the back. Ties go to the front.
    __device__ bool choose_end() const {
        if (branching <= ALTERNATE)
            return branching == ALTERNATE ? placed % 2 != 0 : branching == BACKWARD;
        u32 limit = reference, front = 0, back = 0;
        if (branching == MIN_MIN) {
            limit = ~0u;
            for (u32 job = 0; job < jobs; ++job)
                if (is_left(job))
                    limit = lesser(limit, lesser(trail.both[job] & 0xffff, trail.both[job] >> 16));
            ++limit;
        }
        int lead = 0;
        for (u32 job = 0; job < jobs; ++job) {
            if (!is_left(job))
                continue;
            u32 at_front = trail.both[job] & 0xffff, at_back = trail.both[job] >> 16;
            front += at_front < limit;
            back += at_back < limit;
            lead += int(at_front) - int(at_back);
        }
        if (branching != MAX_SUM && front != back)
            return back < front;
        return lead < 0;
    }

    __device__ void branch(bool counted) {
        u32 children = jobs - placed;
        from = 0;
        if (counted) {
            counts.branched += 1;
            counts.bounded += branching <= ALTERNATE ? children : 2 * children;
            counts.depth = greater(counts.depth, placed + 1);
        }
        if (children == 1) {
            if (counted)
                finish();
            // A schedule is completed, not entered.
            from = ~0u;
            return;
        }
        for (u32 i = 0; i < machines; ++i) {
            u32 behind = trail.ends[machines - 1 - i];
            trail.rest[i] = trail.work[i] + __vmaxu2(behind << 16 | behind >> 16, __ldg(&least[i]));
        }
        for (u32 job = 0; job < jobs; ++job)
            if (is_left(job))
                trail.both[job] = bound(job);
        u32 back = choose_end();
        trail.back[placed] = (unsigned char)back;
        for (u32 job = 0; job < jobs; ++job)
            trail.bounds[placed][job] = u16(trail.both[job] >> 16 * back);
    }

    __device__ void seek(u32 rank) {
        for (from = 0; rank != 0 && least_key() != NONE; --rank)
            from = least_key() + 1;
    }

    // The least key from `from` on.
    __device__ u32 least_key() const {
        u32 found = NONE;
        for (u32 job = 0; job < jobs; ++job)
            if (is_left(job) && key(job) >= from)
                found = lesser(found, key(job));
        return found;
    }

    __device__ u32 next() {
        if (from == NONE)
            return NONE;
        if (ranking.by_job)
            return next_by_job();
        u32 found = NONE, rank = 0;
        for (u32 job = 0; job < jobs; ++job) {
            u32 other = is_left(job) ? key(job) : NONE;
            rank += other < from;
            found = other >= from ? lesser(found, other) : found;
        }
        from = found;
        return found != NONE && is_open(found) ? rank : NONE;
    }

    __device__ u32 next_by_job() {
        u32 rank = 0;
        for (u32 job = 0; job < jobs; ++job) {
            if (!is_left(job))
                continue;
            u32 other = key(job);
            if (other >= from && is_open(other)) {
                from = other;
                return rank;
            }
            ++rank;
        }
        return from = NONE;
    }

    // Places a job at an end.
    __device__ void place(u32 job, bool back) {
        u32 end = 0, changes = back ? 0xffff0000u : 0xffff;
        for (u32 i = 0; i < machines; ++i) {
            end = __vmaxu2(end, trail.ends[i]) + time(i, job);
            trail.ends[i] = (trail.ends[i] & ~changes) | (end & changes);
        }
    }

    __device__ void enter() {
        if (stale) {
            for (u32 i = 0; i < machines; ++i)
                trail.ends[i] = 0;
            for (u32 i = 0; i < placed; ++i)
                place(ranking.job(trail.keys[i]), trail.back[i] != 0);
            stale = false;
        }
        u32 job = ranking.job(from), own = greater(ranking.bound(from), trail.own[placed]);
        trail.keys[placed] = from;
        place(job, trail.back[placed] != 0);
        for (u32 i = 0; i < machines; ++i)
            trail.work[i] -= time(i, job);
        left ^= u64(1) << job;
        ++placed;
        trail.own[placed] = u16(own);
    }

    __device__ void leave() {
        u32 key = trail.keys[--placed], job = ranking.job(key);
        for (u32 i = 0; i < machines; ++i)
            trail.work[i] += time(i, job);
        left ^= u64(1) << job;
        from = key + 1;
        stale = true;
    }

    // Completes a schedule with the only job left.
    __device__ void finish() {
        u32 last = 0, end = 0, score = 0;
        while (!is_left(last))
            ++last;
        for (u32 i = 0; i < machines; ++i) {
            end = greater(end, trail.ends[i] & 0xffff) + (time(i, last) & 0xffff);
            score = greater(score, end + (trail.ends[machines - 1 - i] >> 16));
        }
        if (!best.beat_alone(score))
            return;
        u32 *plan = found(launch, number, jobs, score), first = 0, behind = jobs;
        // Jobs count from 1.
        for (u32 i = 0; i < placed; ++i)
            plan[trail.back[i] ? --behind : first++] = 1 + ranking.job(trail.keys[i]);
        plan[first] = 1 + last;
    }
};

INTERVAL_ENTRIES(Schedules)
