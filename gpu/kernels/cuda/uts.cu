// Unbalanced tree search (UTS, Olivier et al. 2006): a node in each lane, a child hashed per step.
#include "balance.cuh"
#include "lanes.cuh"

// A node with children; those with numbers below `left` have yet to be made.
struct WIDE Hashed {
    u32 state[5];
    u32 depth;
    u32 left;
    // Whether the node itself has yet to be counted as branched.
    u32 fresh;
};

// Thresholds per row. The tables hold the row of each depth, then the rows.
constexpr u32 ROW = 128;

__device__ __forceinline__ u32 rotate(u32 word, u32 by) { return __funnelshift_l(word, word, by); }

// SHA-1 of the parent's state and the child's number; replaces the state.
__device__ inline void hash(u32 *state, u32 number) {
    u32 w[16] = {state[0], state[1], state[2], state[3], state[4], number, 0x80000000u};
    w[15] = 192;
    u32 a = 0x67452301u, b = 0xefcdab89u, c = 0x98badcfeu, d = 0x10325476u, e = 0xc3d2e1f0u;
#pragma unroll
    for (u32 t = 0; t < 80; ++t) {
        u32 word = w[t % 16];
        if (t >= 16) {
            word = rotate(w[(t + 13) % 16] ^ w[(t + 8) % 16] ^ w[(t + 2) % 16] ^ word, 1);
            w[t % 16] = word;
        }
        u32 mixed = b ^ c ^ d, key = t < 40 ? 0x6ed9eba1u : 0xca62c1d6u;
        if (t < 20)
            mixed = d ^ (b & (c ^ d)), key = 0x5a827999u;
        else if (t >= 40 && t < 60)
            mixed = (b & c) | (d & (b | c)), key = 0x8f1bbcdcu;
        u32 next = rotate(a, 5) + mixed + e + key + word;
        e = d, d = c, c = rotate(b, 30), b = a, a = next;
    }
    state[0] = 0x67452301u + a;
    state[1] = 0xefcdab89u + b;
    state[2] = 0x98badcfeu + c;
    state[3] = 0x10325476u + d;
    state[4] = 0xc3d2e1f0u + e;
}

struct Uts {
    typedef Hashed Node;
    static constexpr u32 WORDS = 8;

    // Nodes from depth `binomial_from` on are binomial, with `many` children if their value is
    // below `below`. Other nodes from depth `limit` on have none.
    u32 binomial_from, below, many, limit;
    // In a balanced tree, the children of each node above the limit, plus one; else 0.
    u32 balanced;
    const u32 *row_of;
    const u32 *rows;

    __device__ explicit Uts(const Launch &launch) {
        binomial_from = SIZE(launch, 0);
        below = SIZE(launch, 1);
        many = SIZE(launch, 2);
        limit = SIZE(launch, 3);
        balanced = SIZE(launch, 4);
        row_of = address<u32>(launch.tables);
        rows = row_of + SIZE(launch, 5);
    }

    static __device__ void load(Hashed &node, const u32 *from) {
        node = *reinterpret_cast<const Hashed *>(from);
    }

    static __device__ void store(const Hashed &node, u32 *to) {
        *reinterpret_cast<Hashed *>(to) = node;
    }

    // How many thresholds the value reaches.
    __device__ u32 reached(const u32 *row, u32 value) const {
        u32 n = 0;
        for (u32 half = ROW / 2; half > 0; half /= 2)
            n += __ldg(&row[n + half - 1]) <= value ? half : 0;
        return n;
    }

    // Number of children of a node below the root.
    __device__ u32 children(u32 depth, u32 value) const {
        if (balanced != 0)
            return depth < limit ? balanced - 1 : 0;
        if (depth >= binomial_from)
            return value < below ? many : 0;
        return depth < limit ? reached(rows + __ldg(&row_of[depth]) * ROW, value) : 0;
    }

    __device__ bool step(Hashed &node, Hashed &rest, bool &left, Counts &counts) const {
        // The root counts itself, and may be a leaf.
        counts.total += node.fresh && node.depth == 0;
        counts.branched += node.fresh && node.left != 0;
        counts.depth = greater(counts.depth, node.depth + (node.left != 0));
        if (node.left == 0)
            return false;
        rest = node;
        rest.fresh = 0;
        --rest.left;
        left = rest.left != 0;
        hash(node.state, rest.left);
        ++node.depth;
        ++counts.bounded;
        ++counts.total;
        node.left = children(node.depth, node.state[4] & 0x7fffffffu);
        node.fresh = 1;
        return node.left != 0;
    }
};

DENSE_ENTRY(10) explore(Launch launch) { explore_in_lanes<Uts>(launch, false); }
DENSE_ENTRY(9) give(Launch launch) { explore_in_lanes<Uts>(launch, true); }

COMMON_ENTRIES(Uts::WORDS)
