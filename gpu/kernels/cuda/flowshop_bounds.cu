// Flowshop bounds for a search on the host: one lane for each child of a parent and each end.
#include "bounding.cuh"

#ifdef SIZE_0
constexpr u32 MACHINES_ROOM = SIZE_1;
#else
constexpr u32 MACHINES_ROOM = 64;
#endif

typedef unsigned short u16;

// A word holds both directions of a schedule in two halves of 16 bits: in arrays over machines, the lower half
// of word i is machine i seen from the front, the upper half machine m - 1 - i seen from the back.
struct Shape {
    u32 jobs;
    u32 machines;
    u32 pairs;
    // Whether parents come with the least time from each machine to the end, not with the work left there.
    u32 tight;

    __device__ explicit Shape(const Bounding &launch) {
        jobs = SIZE(launch, 0);
        machines = SIZE(launch, 1);
        pairs = SIZE(launch, 2);
        tight = SIZE(launch, 3);
    }

    // A parent: a bit for each job left; the end of each machine; the work left on each.
    __device__ u32 parent() const { return 2 + 2 * machines; }
};

// A job between two machines: the job and its lag, and its times on both.
struct alignas(8) Step {
    u32 job_and_lag;
    u32 times;
};

// One end of a schedule as a lane sees it: from the side on which its child puts the job.
struct Side {
    const u32 *ends;
    const u32 *work;
    const u32 *least;
    u32 machines;
    u32 back;

    // The times of a machine, counted from this side.
    __device__ u32 of(const u32 *array, u32 machine) const {
        return __ldg(&array[machine]) >> 16 * back & 0xffff;
    }

    // The other side's end of a machine, or the least time that any job needs there, whichever is more.
    __device__ u32 beyond(u32 machine) const {
        u32 mirrored = machines - 1 - machine, shift = 16 * (1 - back);
        u32 end = __ldg(&ends[mirrored]) >> shift & 0xffff;
        return greater(end, of(least, machine));
    }
};

__device__ inline u32 nth_bit(u64 set, u32 n) {
    for (u32 i = 0; i < n; ++i)
        set &= set - 1;
    u32 low = u32(set);
    return low ? u32(__ffs(int(low))) - 1 : 31 + u32(__ffs(int(u32(set >> 32))));
}

// The best order of these jobs on two machines, between heads and tails.
__device__ inline u32 walk(const Step *steps, u32 jobs, u64 between, const u32 *free, const u32 *after) {
    u32 first = free[0], second = free[1];
    for (u32 i = 0; i < jobs; ++i) {
        u32 job_and_lag = __ldg(&steps[i].job_and_lag), times = __ldg(&steps[i].times);
        if (between >> (job_and_lag & 63) & 1) {
            first += times & 0xffff;
            second = greater(second, first + (job_and_lag >> 16)) + (times >> 16);
        }
    }
    return greater(first + after[0], second + after[1]);
}

ENTRY bound(Bounding launch) {
    // Each lane has its own column: when its child leaves each machine.
    __shared__ u16 columns[MACHINES_ROOM][THREADS];
    Shape shape(launch);
    u32 lane = blockIdx.x * blockDim.x + threadIdx.x, child = lane / 2, back = lane % 2;
    if (child >= launch.children)
        return;
    u32 parent = parent_of(launch, child);
    const u32 *words = address<u32>(launch.parents) + u64(parent) * shape.parent();
    const Step *steps = address<Step>(launch.tables);
    const u32 *pairs = address<u32>(launch.tables) + u64(2) * shape.pairs * shape.jobs;
    const u32 *least = pairs + shape.pairs, *times = least + shape.machines;
    u64 left = u64(words[1]) << 32 | words[0];
    u32 job = nth_bit(left, child - address<u32>(launch.starts)[parent]);
    Side side = {words + 2, words + 2 + shape.machines, least, shape.machines, back};
    u32 end = 0, most = 0;
    for (u32 i = 0; i < shape.machines; ++i) {
        u32 begin = greater(end, side.of(side.ends, i));
        u32 rest = side.of(side.work, i) + (shape.tight ? 0 : side.beyond(i));
        most = greater(most, begin + rest);
        end = begin + side.of(times + job * shape.machines, i);
        columns[i][threadIdx.x] = u16(end);
    }
    u64 between = left & ~(u64(1) << job);
    for (u32 i = 0; i < shape.pairs; ++i) {
        u32 pair = __ldg(&pairs[i]), free[2], after[2];
        for (u32 k = 0; k < 2; ++k) {
            // Machines of a pair are counted from the front.
            u32 machine = k == 0 ? pair & 0xffff : pair >> 16;
            u32 own = back ? shape.machines - 1 - machine : machine;
            u32 near = columns[own][threadIdx.x], far = side.beyond(own);
            free[k] = back ? far : near;
            after[k] = back ? near : far;
        }
        most = greater(most, walk(steps + u64(i) * shape.jobs, shape.jobs, between, free, after));
    }
    address<u16>(launch.bounds)[lane] = u16(most);
}
