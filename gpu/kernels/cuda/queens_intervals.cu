// Queens with intervals: a thread fills row after row, and stores only the column of each queen.
#include "intervals.cuh"

#ifdef SIZE_0
constexpr u32 ROWS_ROOM = SIZE_0;
#else
constexpr u32 ROWS_ROOM = 31;
#endif

// A board, and the squares of its next row still to be tried. The columns not taken are ranked from the lowest up,
// attacked ones included.
struct Queens {
    static constexpr u32 ROOM = ROWS_ROOM;
    static constexpr u32 TEAM = 1;
    // The column of the queen in each row.
    struct Trail {
        unsigned char columns[ROOM];
    };

    u32 n;
    // How many boards each one of at least two queens stands for: two, or one where the whole board is searched.
    u32 usual;
    u32 row;
    u32 columns;
    // Diagonals leave the board by one square in each row, but none is lost: they can move back.
    u64 left;
    u64 right;
    u32 open;
    Counts &counts;
    Trail &trail;

    __device__ Queens(const Launch &launch, u32, Counts &to, Trail &memory)
        : n(places(launch)), usual(SIZE(launch, 1)), row(0), columns(0), left(0), right(0), open(0), counts(to),
          trail(memory) {}

    __device__ static u32 places(const Launch &launch) { return SIZE(launch, 0); }

    __device__ u32 full() const { return ~0u >> (32 - n); }
    // The middle column of an odd board, its own mirror image; none on even ones, or where the whole board is searched.
    __device__ u32 middle() const { return usual == 1 || n % 2 == 0 ? 0 : 1u << n / 2; }
    __device__ bool symmetric() const { return columns == middle(); }
    __device__ u32 free() const { return full() & ~(columns | u32(left) | u32(right >> 32)); }

    // Free squares of the next row to try, leaving out mirror images.
    __device__ u32 tried(u32 free) const {
        u32 half = usual == 1 ? full() : (1u << n / 2) - 1;
        if (row == 0)
            return free & (half | middle());
        return row == 1 && symmetric() ? free & half : free;
    }

    __device__ void branch(bool counted) {
        u32 free_here = free();
        open = tried(free_here);
        u32 number = u32(__popc(open));
        // A board may stand for its mirror image too; the middle square of an odd row is its own.
        u32 made = usual * number - (row == 0 && middle() != 0);
        bool last = row + 1 == n;
        if (counted && free_here != 0) {
            counts.branched += row == 0 ? 0 : row == 1 && symmetric() ? 1 : usual;
            counts.bounded += made;
            counts.total += last ? made : 0;
            counts.depth = greater(counts.depth, row + (number != 0));
        }
        // Complete boards are counted, not entered.
        if (last)
            open = 0;
    }

    __device__ void seek(u32 rank) {
        u32 others = full() & ~columns;
        for (; rank != 0 && others != 0; --rank)
            others &= others - 1;
        open &= others != 0 ? 0u - (others & (0u - others)) : 0;
    }

    __device__ u32 next() const {
        u32 bit = open & (0u - open);
        return bit != 0 ? u32(__popc(full() & ~columns & (bit - 1))) : NONE;
    }

    __device__ void enter() {
        u32 bit = open & (0u - open);
        trail.columns[row++] = (unsigned char)(__ffs(int(bit)) - 1);
        columns |= bit;
        left = (left | bit) << 1;
        right = (right | u64(bit) << 32) >> 1;
    }

    __device__ void leave() {
        u32 bit = 1u << trail.columns[--row];
        columns ^= bit;
        left = left >> 1 ^ bit;
        right = right << 1 ^ u64(bit) << 32;
        open = tried(free()) & (0u - (bit << 1));
    }

    __device__ void refresh() {}
};

INTERVAL_ENTRIES(Queens)
