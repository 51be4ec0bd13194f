// The launch record, and the basics shared by all kernels.
#pragma once

#include "hip.cuh"

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

// The next four match the host's structures field by field; addresses are device addresses.
struct Launch {
    u64 pages;
    u64 rings;
    u64 stacks;
    u64 heights;
    u64 report;
    u64 found;
    u64 tables;
    u64 free;
    u64 moves;
    u64 moved;
    u64 mail;
    u32 explorers;
    u32 active;
    u32 span;
    u32 free_room;
    u32 free_from;
    u32 free_pages;
    u32 unused;
    u32 budget;
    u32 trigger;
    u32 steal_rule;
    u32 round;
    u32 width;
    u32 least;
    u32 leave;
    u32 sizes[10];
};

struct Stack {
    u32 base;
    u32 owned;
};

struct LaunchReport {
    i64 best;
    u64 branched;
    u64 bounded;
    u64 total;
    u64 depth;
    u64 nodes;
    u32 idle;
    u32 full;
    u32 found;
    u32 taken;
    u32 returned;
    u32 steps;
    u32 given;
    // All explorers look at these while they wait: a cache line of their own.
    u32 apart[13];
    u32 begun;
    u32 busy;
    u32 over;
};

struct Move {
    u32 skip;
    u32 nodes;
    u32 at;
    u32 done;
};

#ifdef PLEACH_EMULATED
#define ENTRY [[maybe_unused]] static void
#define DENSE_ENTRY(blocks) ENTRY
#define WIDE
#define OTHERS_MAY_COME emulated::Block::current()->yield()
#define NAP emulated::Block::current()->nap()
// Shared memory of a block.
#define SHARED(Type, name, n) Type *name = emulated::shared<Type, n>(__LINE__)
#else
#define ENTRY extern "C" __global__ void __launch_bounds__(128)
// An entry point; this many of its blocks must fit on a multiprocessor. To HIP, the second bound is the number of waves
// on each of its four SIMD units, and a block has two waves of 64 lanes.
#if defined(__HIP__) && WAVE_LANES == 64
#define DENSE_ENTRY(blocks) extern "C" __global__ void __launch_bounds__(128, (blocks) / 2)
#else
#define DENSE_ENTRY(blocks) extern "C" __global__ void __launch_bounds__(128, blocks)
#endif
// Nodes of four words are loaded and stored at once.
#define WIDE __align__(16)
#define OTHERS_MAY_COME
#ifdef __HIP__
#define NAP __builtin_amdgcn_s_sleep(8)
#else
#define NAP __nanosleep(200)
#endif
#define SHARED(Type, name, n) __shared__ Type name[n]
#endif

constexpr u32 LANES = 32;
constexpr u32 ALL_LANES = 0xffffffffu;
// Threads per block.
[[maybe_unused]] constexpr u32 THREADS = 128;
// Nodes per page.
[[maybe_unused]] constexpr u32 PAGE = 64;

// Constants of the instance: compile-time constants if the host defines them, else launch
// arguments.
#ifdef SIZE_0
#define SIZE(launch, i) SIZE_##i
#else
#define SIZE(launch, i) ((launch).sizes[i])
#endif

// Values that differ from instance to instance of the same size: always launch arguments.
#define VALUE(launch, i) ((launch).sizes[i])

template <class T> __device__ __forceinline__ T *address(u64 at) {
    return reinterpret_cast<T *>(at);
}

// Reads a word that other warps may change meanwhile.
template <class T> __device__ __forceinline__ T look(const T *at) {
    T seen = *const_cast<const volatile T *>(at);
    OTHERS_MAY_COME;
    return seen;
}

__device__ __forceinline__ u32 lesser(u32 a, u32 b) { return a < b ? a : b; }
__device__ __forceinline__ u32 greater(u32 a, u32 b) { return a > b ? a : b; }

// How many lanes of the mask precede this one.
__device__ __forceinline__ u32 rank_in(u32 mask, u32 lane) {
    return u32(__popc(mask & ((1u << lane) - 1)));
}

template <class T> __device__ __forceinline__ T sum_of_warp(T value) {
    for (u32 other = LANES / 2; other > 0; other /= 2)
        value += __shfl_xor_sync(ALL_LANES, value, other);
    return value;
}

__device__ inline u32 greatest_of_warp(u32 value) {
    for (u32 other = LANES / 2; other > 0; other /= 2)
        value = greater(value, __shfl_xor_sync(ALL_LANES, value, other));
    return value;
}
