// ATSP with intervals and the cost of a path as its bound: a thread walks from city to city.
#include "best.cuh"
#include "intervals.cuh"

// A city takes the lower 6 bits of a word, the cost of the path that ends there the others, as in atsp.cu.

#ifdef SIZE_0
constexpr u32 TOWNS_ROOM = SIZE_0;
#else
constexpr u32 TOWNS_ROOM = 64;
#endif

constexpr u32 CITY = 63;

// A path, and the place in the row of its last city, which has the other cities by distance. Cities left are ranked in
// this order: then no child that is not pruned comes after one that is.
struct Paths {
    static constexpr u32 ROOM = TOWNS_ROOM;
    static constexpr u32 TEAM = 1;
    // For each city on the path: its word, and the place and the rank of the next one in its row.
    struct Trail {
        u32 words[ROOM];
        unsigned char lanes[ROOM];
        unsigned char ranks[ROOM];
    };

    const Launch &launch;
    u32 number;
    u32 cities;
    // The ways to city 0, then the row of each city: words of arcs.
    const u32 *home;
    const u32 *rows;
    Best best;
    Counts &counts;
    Trail &trail;
    u32 placed;
    u32 word;
    u64 left;
    // The place in the row of the path's last city, and the rank of the first city left at or after it.
    u32 lane;
    u32 rank;

    __device__ Paths(const Launch &given, u32 explorer, Counts &to, Trail &memory)
        : launch(given), number(explorer), cities(SIZE(given, 0)), home(address<u32>(given.tables)),
          rows(home + cities), best(given, VALUE(given, 1), CITY + 1), counts(to), trail(memory), placed(0), word(0),
          left((~u64(0) >> (64 - cities)) & ~u64(1)), lane(0), rank(0) {
        refresh();
    }

    __device__ static u32 places(const Launch &launch) { return SIZE(launch, 0) - 1; }

    __device__ void refresh() { best.take(look(best.place)); }

    // An arc from the last city, in the order of distance.
    __device__ u32 arc(u32 at) const { return __ldg(&rows[(word & CITY) * (cities - 1) + at]); }

    __device__ bool is_left(u32 arc) const { return (left >> (arc & CITY) & 1) != 0; }

    __device__ void branch(bool counted) {
        u32 children = cities - 1 - placed;
        if (counted) {
            counts.branched += 1;
            counts.bounded += children;
            counts.depth = greater(counts.depth, placed + 1);
            if (children == 1)
                finish();
        }
        lane = rank = 0;
        // A tour is completed, not entered.
        if (children == 1)
            lane = cities - 1;
    }

    __device__ void seek(u32 to) {
        for (lane = rank = 0; lane < cities - 1; ++lane) {
            bool here = is_left(arc(lane));
            if (here && rank == to)
                return;
            rank += here;
        }
    }

    // The last place in a row except that of city 0 is empty: its word is that of no arc to a city left.
    __device__ u32 next() {
        for (; lane < cities - 1; ++lane) {
            u32 way = arc(lane);
            if (is_left(way)) {
                // All others are at least as far away.
                if ((word & ~CITY) + way >= best.cut)
                    break;
                return rank;
            }
        }
        return NONE;
    }

    __device__ void enter() {
        trail.words[placed] = word;
        trail.lanes[placed] = (unsigned char)lane;
        trail.ranks[placed] = (unsigned char)rank;
        word = (word & ~CITY) + arc(lane);
        left ^= u64(1) << (word & CITY);
        ++placed;
    }

    __device__ void leave() {
        left ^= u64(1) << (word & CITY);
        --placed;
        word = trail.words[placed];
        lane = trail.lanes[placed] + 1;
        rank = trail.ranks[placed] + 1;
    }

    // Completes a tour with the only city left.
    __device__ void finish() {
        u32 at = 0;
        while (!is_left(arc(at)))
            ++at;
        u32 last = (word & ~CITY) + arc(at);
        i64 score = i64(((last & ~CITY) + __ldg(&home[last & CITY])) / best.scale) - best.offset;
        if (!best.beat_alone(score))
            return;
        u32 *plan = found(launch, number, cities, score);
        // Cities count from 1.
        for (u32 i = 0; i < cities; ++i)
            plan[i] = 1 + ((i < placed ? trail.words[i] : i == placed ? word : last) & CITY);
    }
};

INTERVAL_ENTRIES(Paths)
