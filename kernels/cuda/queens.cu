// Queens: boards in lanes, a queen placed in each at every step.
#include "balance.cuh"
#include "lanes.cuh"

// `free` are the free squares of the next row that are still to be tried; its top bit says whether
// the board itself is still to be counted as branched.
struct WIDE Board {
    u32 columns;
    u32 left;
    u32 right;
    u32 free;
};

constexpr u32 FRESH = 1u << 31;

struct Queens {
    typedef Board Node;
    static constexpr u32 WORDS = 4;

    u32 full;
    u32 half;
    // The column in the middle of an odd board; on even ones none.
    u32 middle;

    __device__ explicit Queens(const Launch &launch) {
        u32 n = SIZE(launch, 0);
        full = 0xffffffffu >> (32 - n);
        half = (1u << n / 2) - 1;
        middle = n % 2 == 1 ? 1u << n / 2 : 0;
    }

    static __device__ void load(Board &board, const u32 *from) {
        board = *reinterpret_cast<const Board *>(from);
    }

    static __device__ void store(const Board &board, u32 *to) {
        *reinterpret_cast<Board *>(to) = board;
    }

    // Squares whose mirror images are not to be tried.
    __device__ u32 tried(const Board &board) const {
        u32 free = board.free & ~FRESH;
        if (board.columns == 0)
            return free & (half | middle);
        return board.columns == middle ? free & half : free;
    }

    // Boards that a board stands for; the empty board is no placement.
    __device__ u32 images(u32 columns) const {
        return columns == 0 ? 0 : columns == middle ? 1 : 2;
    }

    __device__ bool step(Board &board, Board &rest, bool &left, Counts &counts) const {
        u32 row = u32(__popc(board.columns)), open = tried(board);
        counts.branched += board.free & FRESH ? images(board.columns) : 0;
        counts.depth = greater(counts.depth, row + (open != 0));
        if (open == 0)
            return false;
        u32 bit = open & (0u - open);
        rest = board;
        rest.free = open ^ bit;
        left = rest.free != 0;
        board.columns |= bit;
        board.left = (board.left | bit) << 1 & full;
        board.right = (board.right | bit) >> 1;
        board.free = full & ~(board.columns | board.left | board.right);
        bool whole = board.columns == full;
        u32 stands_for = images(board.columns);
        counts.bounded += stands_for;
        counts.total += whole ? stands_for : 0;
        bool lives = board.free != 0;
        board.free |= FRESH;
        return lives;
    }
};

ENTRY explore(Launch launch) { explore_in_lanes<Queens>(launch); }

COMMON_ENTRIES(Queens::WORDS)
