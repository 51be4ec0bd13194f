// What CUDA provides to device code, for the host's compiler.
#pragma once

#include "block.hpp"

#include <cmath>
#include <cstring>
#include <ctime>

#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#if PLEACH_BOUNDS
// These blocks run one at a time in each host thread.
#define __shared__ static thread_local
#endif
#define PLEACH_EMULATED 1

namespace emulated {

struct Place {
    u32 x;
};

inline Place thread_index() { return {Block::current()->thread()}; }
inline Place block_index() { return {Block::current()->number()}; }
inline Place block_size() { return {Block::current()->size()}; }

// An array in a block's shared memory, by the line that declares it.
template <class T, u32 n> T *shared(int line) {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__, "new gives no more");
    return static_cast<T *>(Block::current()->shared(line, n * sizeof(T)));
}

} // namespace emulated

#define threadIdx (emulated::thread_index())
#define blockIdx (emulated::block_index())
#define blockDim (emulated::block_size())

#define PLEACH_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void __syncthreads(PLEACH_HERE) {
    emulated::Block::current()->meet({emulated::Site::Barrier, 0, file, line}, 0, 0);
}

inline void __syncwarp(unsigned mask = ~0u, PLEACH_HERE) {
    emulated::Block *block = emulated::Block::current();
    block->meet({emulated::Site::Warp, mask, file, line}, 0, block->thread() % 32);
}

inline unsigned __ballot_sync(unsigned mask, bool vote, PLEACH_HERE) {
    emulated::Block *block = emulated::Block::current();
    return unsigned(block->meet({emulated::Site::Ballot, mask, file, line}, vote, 0));
}

template <class T> T __shfl_sync(unsigned mask, T value, unsigned source, PLEACH_HERE) {
    static_assert(sizeof(T) <= 8, "a shuffle moves at most eight bytes");
    emulated::Block *block = emulated::Block::current();
    emulated::u64 bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    bits = block->meet({emulated::Site::Shuffle, mask, file, line}, bits, source % 32);
    std::memcpy(&value, &bits, sizeof(T));
    return value;
}

template <class T> T __shfl_xor_sync(unsigned mask, T value, unsigned other, PLEACH_HERE) {
    unsigned lane = emulated::Block::current()->thread() % 32;
    return __shfl_sync(mask, value, lane ^ other, file, line);
}

inline void __threadfence() {}
// The host may read memory while a kernel that it feeds is running.
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// Sometimes lets the host's other threads run.
inline void __nanosleep(unsigned) {
    static thread_local unsigned times = 0;
    if (++times % 64 == 0) {
        timespec microseconds_20{0, 20000};
        nanosleep(&microseconds_20, nullptr);
    }
    emulated::Block::current()->nap();
}

#if WAVE_LANES == 64
// HIP's names for what is above, which hip.cuh uses.
#define __HIP__
template <class T> T __shfl(T value, unsigned source, int, PLEACH_HERE) {
    return __shfl_sync(~0u, value, source, file, line);
}

template <class T> T __shfl_xor(T value, unsigned other, int, PLEACH_HERE) {
    return __shfl_xor_sync(~0u, value, other, file, line);
}

inline unsigned __lane_id() { return emulated::Block::current()->thread() % 64; }

// On a GPU, the other half of the wave votes if it is at the same point.
inline emulated::u64 __ballot(bool vote, PLEACH_HERE) {
    emulated::u64 votes = __ballot_sync(~0u, vote, file, line);
    emulated::u64 others = emulated::Block::current()->garbage() & 0xffffffff;
    return __lane_id() < 32 ? others << 32 | votes : votes << 32 | others;
}

inline void pleach_wave_barrier(PLEACH_HERE) { __syncwarp(~0u, file, line); }
inline void pleach_sleep() { __nanosleep(0); }
#define __builtin_amdgcn_fence(order, scope)
#define __builtin_amdgcn_wave_barrier() pleach_wave_barrier()
#define __builtin_amdgcn_s_sleep(cycles) pleach_sleep()
#endif

// Other threads may run before an atomic operation, but not in the middle of it.
template <class T, class Change> T pleach_atomic(T *place, Change change) {
    emulated::Block::current()->yield();
    T old = *place;
    *place = change(old);
    return old;
}

template <class T, class U> T atomicAdd(T *place, U value) {
    return pleach_atomic(place, [=](T old) { return T(old + T(value)); });
}
template <class T, class U> T atomicMin(T *place, U value) {
    return pleach_atomic(place, [=](T old) { return T(value) < old ? T(value) : old; });
}
template <class T, class U> T atomicMax(T *place, U value) {
    return pleach_atomic(place, [=](T old) { return T(value) > old ? T(value) : old; });
}
template <class T, class U> T atomicOr(T *place, U value) {
    return pleach_atomic(place, [=](T old) { return T(old | T(value)); });
}
template <class T, class U> T atomicExch(T *place, U value) {
    return pleach_atomic(place, [=](T) { return T(value); });
}
template <class T, class U> T atomicCAS(T *place, U expected, U value) {
    return pleach_atomic(place, [=](T old) { return old == T(expected) ? T(value) : old; });
}

template <class T> T __ldg(const T *place) { return *place; }
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
// The upper half of a number.
inline int __double2hiint(double number) {
    emulated::u64 bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    return int(bits >> 32);
}
inline unsigned __float_as_uint(float number) {
    unsigned bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
}
inline float __uint_as_float(unsigned bits) {
    float number = 0;
    std::memcpy(&number, &bits, sizeof number);
    return number;
}
inline int __clz(int bits) { return bits ? __builtin_clz(unsigned(bits)) : 32; }

struct uint2 {
    unsigned x, y;
};

// Four bytes selected from the eight of two words by the digits of a number.
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned which) {
    unsigned chosen = 0;
    for (unsigned i = 0; i < 4; ++i) {
        unsigned at = which >> 4 * i & 7;
        chosen |= ((at < 4 ? a >> 8 * at : b >> 8 * (at - 4)) & 0xff) << 8 * i;
    }
    return chosen;
}

inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return unsigned((emulated::u64(high) << 32 | low) << (shift & 31) >> 32);
}

// SIMD on two 16-bit halves: the maximum of each, and the maximum of a sum and a third word.
inline unsigned pleach_max_halves(unsigned a, unsigned b) {
    unsigned low = (a & 0xffff) > (b & 0xffff) ? a & 0xffff : b & 0xffff;
    return (a >> 16 > b >> 16 ? a >> 16 : b >> 16) << 16 | low;
}
inline unsigned __vmaxu2(unsigned a, unsigned b) { return pleach_max_halves(a, b); }
inline unsigned __viaddmax_u16x2(unsigned a, unsigned b, unsigned c) {
    unsigned sums = ((a >> 16) + (b >> 16)) << 16 | ((a + b) & 0xffff);
    return pleach_max_halves(sums, c);
}
