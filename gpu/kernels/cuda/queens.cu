// N-queens: a board in each lane, with a queen placed on each at every step.
#include "balance.cuh"
#include "explorer.cuh"

// `free` holds the free squares of the next row not yet tried; its top bit is set until the board
// itself has been counted as branched.
struct WIDE Board {
    u32 columns;
    u32 left;
    u32 right;
    u32 free;
};

constexpr u32 WORDS = 4;
constexpr u32 FRESH = 1u << 31;

// The last rows, which a lane searches alone: a dive. It keeps the rests of its boards in frames of
// its own, at most one per row, and none for the last row, which never leaves a rest.
constexpr u32 ALONE = 14;
constexpr u32 FRAMES = ALONE - 1;
// Steps of a dive before finished lanes get new boards.
constexpr u32 STRIDE = 64;
// What lanes may hold after a dive, plus what walking lanes may push.
constexpr u32 DIVE_ROOM = LANES * (FRAMES + 1) + LANES;

struct Queens {
    u32 full;
    // Half of the squares of a row, which mirror the others; all squares where the whole board is searched.
    u32 half;
    // The middle column of an odd board, its own mirror image; none on even ones, or where the whole board is searched.
    u32 middle;
    // How many boards each one of at least two queens stands for: two, or one where the whole board is searched.
    u32 usual;
    // First row in which lanes dive: always below those in which mirror images are skipped.
    u32 deep;

    __device__ explicit Queens(const Launch &launch) {
        u32 n = SIZE(launch, 0);
        usual = SIZE(launch, 1);
        full = 0xffffffffu >> (32 - n);
        half = usual == 1 ? full : (1u << n / 2) - 1;
        middle = usual == 1 || n % 2 == 0 ? 0 : 1u << n / 2;
        deep = greater(n, ALONE + 2) - ALONE;
    }

    // The squares to try, without mirror images.
    __device__ u32 tried(const Board &board) const {
        u32 free = board.free & ~FRESH;
        if (board.columns == 0)
            return free & (half | middle);
        return board.columns == middle ? free & half : free;
    }

    // How many boards this one stands for, mirror image included; the empty board is no placement.
    __device__ u32 images(u32 columns) const {
        return columns == 0 ? 0 : columns == middle ? 1 : usual;
    }

    // Whether a lane can dive from here. Boards without free squares only need to be counted.
    __device__ bool can_dive(const Board &board) const {
        return u32(__popc(board.columns)) >= deep && (board.free & ~FRESH) != 0;
    }

    // Places one queen. Returns whether the board lives on; `rest` becomes the rest of the old
    // board, `left` whether there is any.
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

    // The board as a dive needs it: with the squares that are taken in place of those that are
    // free. Columns beyond its edge count as taken, so no mask is needed.
    __device__ Board wide(const Board &board) const {
        return {board.columns | ~full, board.left, board.right, ~(board.free & ~FRESH)};
    }

    __device__ Board narrow(const Board &board) const {
        return {board.columns & full, board.left & full, board.right, ~board.free};
    }
};

// A lane's state: a board, and the frames of the rows above it, the shallowest lowest. A lane
// without a board has no frames.
struct Lane {
    Board *frames;
    Board board;
    bool holds;
    // The first frame, and the end of the last. A frame's index is at most the number of rows
    // filled since the dive began.
    u32 low, high;

    // Frames of all lanes are interleaved.
    __device__ explicit Lane(Board *shared)
        : frames(shared + threadIdx.x), board(), holds(false), low(0), high(0) {}

    __device__ Board &frame(u32 i) const { return frames[i * THREADS]; }

    // Searches alone for this many steps, or until nothing is left. Below the second row all boards
    // stand for the same number of boards, and count as branched as soon as they are made.
    __device__ void dive(const Queens &queens, u32 steps, Counts &counts) {
        u32 row = u32(__popc(board.columns)), fresh = board.free >> 31;
        // Dead boards in the low half, whole ones in the high half.
        u32 dead_and_whole = 0, left = steps, above = high - low;
        Board now = queens.wide(board), *top = &frame(high);
        bool done;
        // No branch inside: lanes whose boards die stay in step with those whose boards live on.
        do {
            u32 next = now.free + 1, bit = next & ~now.free;
            now.free |= next;
            if (now.free != ~0u) {
                *top = now;
                top += THREADS;
                ++above;
            }
            now.columns |= bit;
            now.left = (now.left | bit) << 1;
            now.right = (now.right | bit) >> 1;
            now.free = now.columns | now.left | now.right;
            bool dead = now.free == ~0u;
            dead_and_whole += dead ? (now.columns == ~0u ? 0x10001 : 1) : 0;
            done = dead && above == 0;
            if (dead && above != 0) {
                --above;
                top -= THREADS;
                now = *top;
            }
            --left;
        } while (left != 0 && !done);
        u32 placed = steps - left, dead = dead_and_whole & 0xffff, whole = dead_and_whole >> 16;
        high = low + above;
        board = queens.narrow(now);
        holds = board.free != 0;
        low = holds ? low : 0;
        high = holds ? high : 0;
        counts.branched += queens.usual * (fresh + placed - dead);
        counts.bounded += queens.usual * placed;
        counts.total += queens.usual * whole;
        counts.depth = greater(counts.depth, whole ? u32(__popc(queens.full)) : row + 1);
    }
};

// A warp: the stack that its lanes share, and the state of this lane.
struct Warp {
    Queens queens;
    Explorer own;
    Lane mine;
    // Whether pages ran out for a dive; none become free within this launch.
    bool refused;

    __device__ Warp(const Launch &launch, Board *shared, bool giving)
        : queens(launch), own(launch, WORDS, giving), mine(shared), refused(false) {}

    // Lanes without a board take one from the stack. Returns whether any lane then has one.
    __device__ bool take_up() {
        u32 free = ~__ballot_sync(ALL_LANES, mine.holds), rank = rank_in(free, own.lane);
        u32 taken = lesser(u32(__popc(free)), own.height);
        if (!mine.holds && rank < taken) {
            mine.board = *reinterpret_cast<Board *>(own.node(own.height - 1 - rank));
            mine.holds = true;
        }
        own.height -= taken;
        // No lane may write while another is still reading.
        __syncwarp();
        return __ballot_sync(ALL_LANES, mine.holds) != 0;
    }

    __device__ bool has_any() const { return __ballot_sync(ALL_LANES, mine.holds) != 0 || own.height != 0; }

    // Pushes a board of each lane that gives one.
    __device__ void put_down(bool gives, const Board &board) {
        u32 giving = __ballot_sync(ALL_LANES, gives);
        if (gives)
            *reinterpret_cast<Board *>(own.node(own.height + rank_in(giving, own.lane))) = board;
        own.height += u32(__popc(giving));
        __syncwarp();
    }

    // Pushes the shallowest frame of each lane that gives one.
    __device__ void put_frame_down(bool gives) {
        put_down(gives, gives ? queens.narrow(mine.frame(mine.low)) : mine.board);
        mine.low += gives;
    }

    // Pushes all frames, the shallowest first.
    __device__ void put_frames_down() {
        while (__ballot_sync(ALL_LANES, mine.low < mine.high) != 0)
            put_frame_down(mine.low < mine.high);
        mine.low = mine.high = 0;
    }

    // Whether everything that lanes may hold after a dive fits back onto the stack.
    __device__ bool has_room() {
        if (!refused)
            refused = !own.reach(own.height + DIVE_ROOM);
        return own.room(own.height) >= DIVE_ROOM;
    }

    // One step of the walking lanes; the rests of their boards go onto the stack. Returns false if
    // there is no room for any.
    __device__ bool walk(bool walks) {
        // The stack needs room for the boards that lanes hold, and for one push by each.
        u32 held = u32(__popc(__ballot_sync(ALL_LANES, mine.holds)));
        own.reach(own.height + 2 * held);
        u32 room = own.room(own.height + held), walking = __ballot_sync(ALL_LANES, walks);
        Board rest = mine.board;
        bool left = false;
        if (walks && rank_in(walking, own.lane) < room)
            mine.holds = queens.step(mine.board, rest, left, own.counts);
        put_down(left, rest);
        return room != 0;
    }

    // All lanes dive. If that leaves some lanes and the stack empty, others give their shallowest
    // frames.
    __device__ void dive(u32 steps) {
        if (mine.holds)
            mine.dive(queens, steps, own.counts);
        u32 idle = LANES - u32(__popc(__ballot_sync(ALL_LANES, mine.holds)));
        if (own.height != 0 || idle == 0)
            return;
        bool has = mine.low < mine.high;
        u32 having = __ballot_sync(ALL_LANES, has);
        put_frame_down(has && rank_in(having, own.lane) < idle);
    }
};

__device__ inline void search(const Launch &launch, bool giving) {
    SHARED(Board, frames, FRAMES * THREADS);
    Warp warp(launch, frames, giving);
    Explorer &own = warp.own;
    if (own.sits_out())
        return;
    bool full = false;
    u32 step = 0;
    do {
        while (step < launch.budget && !own.called_off(step) && warp.take_up()) {
            if (own.asked(step)) {
                if (own.height == 0)
                    warp.put_frames_down();
                own.give(true, step);
            }
            bool dives = warp.has_room();
            if (!dives)
                warp.put_frames_down();
            // Lanes dive together: until all are deep enough, the others walk.
            bool walks = warp.mine.holds && !(dives && warp.queens.can_dive(warp.mine.board));
            if (__ballot_sync(ALL_LANES, walks) == 0) {
                u32 steps = lesser(STRIDE, launch.budget - step);
                warp.dive(steps);
                step += steps;
            } else {
                full = !warp.walk(walks);
                if (full)
                    break;
                ++step;
            }
        }
    } while (own.gives && !warp.has_any() && own.gets_more(step));
    // The deepest boards go on top: the next launch takes those first.
    warp.put_frames_down();
    warp.put_down(warp.mine.holds, warp.mine.board);
    own.stop(full, step);
}

ENTRY explore(Launch launch) { search(launch, false); }
ENTRY give(Launch launch) { search(launch, true); }

COMMON_ENTRIES(WORDS)
