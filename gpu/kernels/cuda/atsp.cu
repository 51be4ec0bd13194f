// ATSP with the cost of a path as its bound: a warp branches a node, with the next cities in its lanes.
#include "balance.cuh"
#include "best.cuh"
#include "explorer.cuh"

// A city takes the lower 6 bits of a word, the cost of the path that ends there the others: adding
// the word of an arc to a cost gives the word of the longer path. All sums of the instance fit.

#ifdef SIZE_0
constexpr u32 CITIES_ROOM = SIZE_0;
#else
constexpr u32 CITIES_ROOM = 64;
#endif

// Next cities per lane, and in all.
constexpr u32 SLOTS = (CITIES_ROOM + LANES - 1) / LANES;
constexpr u32 WIDTH = SLOTS * LANES;
constexpr u32 CITY = 63;
// Nodes between two checks for idle explorers.
constexpr u32 STRIDE = 256;

// A bit for each city, or for each of the next cities.
template <u32 slots> struct SetOf { typedef u64 Type; };
template <> struct SetOf<1> { typedef u32 Type; };
typedef SetOf<SLOTS>::Type Set;

__device__ __forceinline__ u32 first_of(u32 set) { return u32(__ffs(int(set))) - 1; }
__device__ __forceinline__ u32 first_of(u64 set) {
    return u32(set) != 0 ? first_of(u32(set)) : LANES + first_of(u32(set >> LANES));
}
__device__ __forceinline__ u32 last_of(u32 set) { return LANES - 1 - u32(__clz(int(set))); }
__device__ __forceinline__ u32 last_of(u64 set) {
    return set >> LANES != 0 ? LANES + last_of(u32(set >> LANES)) : last_of(u32(set));
}

__device__ __forceinline__ u32 cost_of(u32 word) { return word & ~CITY; }
__device__ __forceinline__ u32 city_of(u32 word) { return word & CITY; }
__device__ __forceinline__ Set alone(u32 word) { return Set(1) << word % WIDTH; }

// Copies the tables of the instance for a block: from each city to the others, nearest first; city
// 0, which no path enters, fills the rest.
__device__ inline void load(u32 *rows, const u32 *tables, u32 cities) {
#pragma unroll 1
    for (u32 i = threadIdx.x; i < cities * WIDTH; i += THREADS) {
        u32 rank = i % WIDTH;
        rows[i] = rank < cities - 1 ? __ldg(&tables[i / WIDTH * (cities - 1) + rank]) : 0;
    }
    __syncthreads();
}

// A node on the path that has been branched: its word, and the children still to be explored.
struct Frame {
    u32 word;
    Set open;
};

// A node in global memory is its word, then its path: a byte for each city, where the first one,
// which is always the same, makes way for the number of the others.
struct Node {
    u32 *at;

    __device__ static u32 words(u32 cities) { return 1 + (cities + 2) / 4; }
    __device__ u32 word() const { return at[0]; }
    __device__ u32 placed() const { return city(0); }
    __device__ u32 city(u32 i) const { return at[1 + i / 4] >> i % 4 * 8 & 0xff; }
};

// A warp: its stack, and the path to its current node.
struct Warp {
    Explorer own;
    // Costs as in words.
    Best best;
    // The rows of all cities, from this lane's part of the first one on, and the ways to city 0.
    const u32 *arcs;
    const u32 *home;
    // The nodes on the path by number of cities placed, one or two in each lane. Those before `top`
    // came with the node that was taken from the stack, and have no children left.
    Frame path[SLOTS];
    u32 top;
    u32 cities;
    // The current node: its word, the number of its cities, and the cities left.
    bool holds;
    u32 word;
    u32 placed;
    Set left;

    __device__ Warp(const Launch &launch, const u32 *rows, bool giving)
        : own(launch, Node::words(SIZE(launch, 0)), giving), best(launch, VALUE(launch, 1), CITY + 1),
          arcs(rows + own.lane), home(address<u32>(launch.tables)), path(), top(0), cities(SIZE(launch, 0)),
          holds(false), word(0), placed(0), left(0) {}

    __device__ bool has_any() const { return holds || own.height != 0; }

    // The maximum number of nodes that a search below a node with this many cities may leave: all children of all
    // nodes on the path, less those on the path itself.
    __device__ u32 most_below(u32 number) const {
        u32 more = cities - 1 - number;
        return more * (more - 1) / 2 + 1;
    }

    // Whether all of them fit on the stack.
    __device__ bool has_room() const { return own.room(own.height) >= most_below(top); }

    // Takes the top of the stack. Returns false if there is no room for its children.
    __device__ bool take_up() {
        Node node = {own.node(own.height - 1)};
        placed = node.placed(), word = node.word();
        u32 before = own.height - 1;
        own.reach(before + most_below(placed));
        if (own.room(before) < cities - 1 - placed)
            return false;
        own.height = before;
        // The root has no bound.
        holds = placed == 0 || word < best.cut;
        Set on_path = 0;
        for (u32 slot = 0; slot < SLOTS; ++slot) {
            u32 i = slot * LANES + own.lane;
            u32 city = i != 0 && i <= placed ? node.city(i) : 0;
            path[slot] = {city, 0};
            on_path |= alone(city);
        }
        // No lane may write while another is still reading.
        __syncwarp();
        for (u32 other = LANES / 2; other > 0; other /= 2)
            on_path |= __shfl_xor_sync(ALL_LANES, on_path, other);
        left = (~Set(0) >> (WIDTH - cities) & ~Set(1)) & ~on_path;
        top = placed;
        return true;
    }

    // Where this lane's part of the row of a word's last city begins.
    __device__ const u32 *row(u32 of) const { return arcs + city_of(of) * WIDTH; }

    // The words of a path's children, one or two in each lane.
    struct Children {
        u32 words[SLOTS];

        __device__ Children(u32 word, const u32 *row) {
            for (u32 slot = 0; slot < SLOTS; ++slot)
                words[slot] = cost_of(word) + row[slot * LANES];
        }

        __device__ u32 nth(u32 rank) const {
            u32 word = rank < LANES ? words[0] : words[SLOTS - 1];
            return __shfl_sync(ALL_LANES, word, rank % LANES);
        }

        // Those that lead to one of these cities and are not pruned.
        __device__ Set survivors(Set left, u32 cut) const {
            Set open = 0;
            for (u32 slot = 0; slot < SLOTS; ++slot) {
                bool stays = (left & alone(words[slot])) != 0 && words[slot] < cut;
                open |= Set(__ballot_sync(ALL_LANES, stays)) << slot * LANES;
            }
            return open;
        }
    };

    // Branches up to this many nodes, depth first. Returns how many.
    __device__ u32 dive(u32 most) {
        u32 done = 0, bounded = 0;
        while (holds && done < most) {
            ++done;
            bounded += cities - 1 - placed;
            own.counts.depth = greater(own.counts.depth, placed + 1);
            Children children(word, row(word));
            Set open = children.survivors(left, best.cut);
            if (placed == cities - 2 && open != 0) {
                finish(children.nth(first_of(open)));
                open = 0;
            }
            // The nearest child, or else the nearest child of the last node on the path that has any.
            for (;;) {
                if (open == 0) {
                    open = go_back();
                    holds = open != 0;
                    if (!holds)
                        break;
                    children = Children(word, row(word));
                }
                u32 child = children.nth(first_of(open));
                if (child < best.cut) {
                    enter(child, open & (open - 1));
                    break;
                }
                // The incumbent has improved since, and the others are no nearer.
                open = 0;
            }
        }
        own.counts.bounded += own.lane == 0 ? bounded : 0;
        return done;
    }

    // Continues with a child of the current node; `others` are still to be explored.
    __device__ void enter(u32 child, Set others) {
        set(placed, {word, others});
        word = child, left ^= alone(child), ++placed;
    }

    // A node on the path.
    __device__ Frame at(u32 i) const {
        u32 mine = i < LANES ? path[0].word : path[SLOTS - 1].word;
        Set open = i < LANES ? path[0].open : path[SLOTS - 1].open;
        return {__shfl_sync(ALL_LANES, mine, i % LANES), __shfl_sync(ALL_LANES, open, i % LANES)};
    }

    __device__ void set(u32 i, const Frame &frame) {
        for (u32 slot = 0; slot < SLOTS; ++slot)
            if (slot * LANES + own.lane == i)
                path[slot] = frame;
    }

    // Returns along the path to a node with children left, and returns them; none if there is no such node.
    __device__ Set go_back() {
        Set open = 0;
        while (open == 0 && placed != top) {
            left ^= alone(word), --placed;
            Frame frame = at(placed);
            word = frame.word, open = frame.open;
        }
        return open;
    }

    // Completes a tour, given the word of its last city.
    __device__ void finish(u32 last) {
        u32 length = cost_of(last) + __ldg(&home[city_of(last)]);
        i64 score = i64(length / best.scale) - best.offset;
        if (!best.beat(own.lane, score))
            return;
        u32 *record = address<u32>(own.launch.found) + u64(own.number) * (4 + cities);
        // Cities count from 1.
        for (u32 slot = 0; slot < SLOTS; ++slot) {
            u32 i = slot * LANES + own.lane;
            u32 end = i == placed ? word : i > placed ? last : path[slot].word;
            if (i < cities)
                record[4 + i] = 1 + city_of(end);
        }
        if (own.lane == 0) {
            record[0] = 1;
            record[2] = u32(score);
            record[3] = u32(u64(score) >> 32);
            atomicAdd(&address<LaunchReport>(own.launch.report)->found, 1u);
        }
    }

    // Pushes a node with this many cities.
    __device__ void push(u32 with, u32 number) {
        u32 *to = own.node(own.height++);
        if (own.lane == 0)
            to[0] = with;
        for (u32 slot = 0; slot < SLOTS; ++slot) {
            u32 i = slot * LANES + own.lane;
            u32 city = i < number ? city_of(path[slot].word) : i == number ? city_of(with) : 0;
            u32 bytes = (i == 0 ? number : city) << i % 4 * 8;
            for (u32 other = 1; other < 4; other *= 2)
                bytes |= __shfl_xor_sync(ALL_LANES, bytes, other);
            if (i % 4 == 0 && i < cities - 1)
                to[1 + i / 4] = bytes;
        }
    }

    // Pushes all open nodes, the shallowest and the farthest first.
    __device__ void put_down() {
        for (u32 i = top; holds && i < placed; ++i) {
            Frame frame = at(i);
            Children children(frame.word, row(frame.word));
            for (Set open = frame.open; open != 0;) {
                u32 rank = last_of(open);
                open ^= Set(1) << rank;
                push(children.nth(rank), i + 1);
            }
        }
        if (holds)
            push(word, placed);
        holds = false;
        __syncwarp();
    }
};

__device__ inline void search(const Launch &launch, bool giving) {
    SHARED(u32, rows, CITIES_ROOM * WIDTH);
    load(rows, address<u32>(launch.tables) + SIZE(launch, 0), SIZE(launch, 0));
    Warp warp(launch, rows, giving);
    Explorer &own = warp.own;
    if (own.sits_out())
        return;
    bool full = false;
    u32 step = 0, pruned = 0;
    for (;;) {
        bool over = step >= launch.budget || full || !warp.has_any() || own.called_off(step);
        bool asked = !over && own.asked(step);
        // If room is scarce, a node's children go onto the stack at once; likewise if explorers wait for some.
        if (over || !warp.has_room() || (asked && own.height == 0))
            warp.put_down();
        if (asked)
            own.give(warp.holds, step);
        if (over) {
            u32 before = step;
            if (warp.has_any() || !own.gets_more(step))
                break;
            // Steps that came with a gift.
            pruned += step - before;
            continue;
        }
        warp.best.refresh(own.lane);
        u32 until = step + lesser(STRIDE, launch.budget - step);
        while (step < until && !full && warp.has_any()) {
            if (!warp.holds) {
                full = !warp.take_up();
                step += !warp.holds, pruned += !warp.holds;
                continue;
            }
            step += warp.dive(warp.has_room() ? until - step : 1);
            if (!warp.has_room())
                break;
        }
    }
    // Every other step has branched a node.
    own.counts.branched = own.lane == 0 ? step - pruned : 0;
    own.stop(full, step);
}

ENTRY explore(Launch launch) { search(launch, false); }
DENSE_ENTRY(9) give(Launch launch) { search(launch, true); }

COMMON_ENTRIES(Node::words(SIZE(launch, 0)))
