// What HIP's run-time compiler lacks compared with CUDA. A warp is a wave of 32 lanes, or one half of a wave of 64. The
// halves run independently, but neither may wait for the other: while one spins, the other may be held back.
#pragma once

#ifdef __HIP__
#ifndef WAVE_LANES
#define WAVE_LANES 32
#endif
// Newer compilers no longer define this; the host has checked before.
#if defined(__AMDGCN_WAVEFRONT_SIZE) && __AMDGCN_WAVEFRONT_SIZE != WAVE_LANES
#error "the GPU has waves of another size"
#endif

// All lanes of a warp are always named.
#define __shfl_sync(mask, value, lane) __shfl(value, lane, 32)
#define __shfl_xor_sync(mask, value, lanes) __shfl_xor(value, lanes, 32)
#define __shfl_up_sync(mask, value, lanes) __shfl_up(value, lanes, 32)
#define __shfl_down_sync(mask, value, lanes) __shfl_down(value, lanes, 32)
#if WAVE_LANES == 64
// The votes of the other half, if it happens to be here, do not count.
#define __ballot_sync(mask, vote) unsigned(__ballot(vote) >> (__lane_id() & 32))
#else
#define __ballot_sync(mask, vote) unsigned(__ballot(vote))
#endif
// Newer versions may have these.
#define __syncwarp() sync_wave()
#define __nanosleep(nanoseconds) __builtin_amdgcn_s_sleep(8)
#define __vmaxu2(a, b) greater_halves(a, b)
#define __viaddmax_u16x2(a, b, c) sum_or_greater_halves(a, b, c)

// A wave runs in step, so only the compiler must be kept from moving memory accesses across.
__device__ inline void sync_wave() {
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
    __builtin_amdgcn_wave_barrier();
}

__device__ inline unsigned greater_halves(unsigned a, unsigned b) {
    unsigned low_a = a & 0xffff, low_b = b & 0xffff, high_a = a >> 16, high_b = b >> 16;
    return (high_a > high_b ? high_a : high_b) << 16 | (low_a > low_b ? low_a : low_b);
}

__device__ inline unsigned sum_or_greater_halves(unsigned a, unsigned b, unsigned c) {
    return greater_halves(((a >> 16) + (b >> 16)) << 16 | ((a + b) & 0xffff), c);
}

// Older versions have it for unsigned integers only.
__device__ inline long long atomic_min(long long *place, long long value) {
    unsigned long long *word = reinterpret_cast<unsigned long long *>(place);
    unsigned long long seen = *const_cast<volatile unsigned long long *>(word);
    while (value < static_cast<long long>(seen)) {
        unsigned long long old = atomicCAS(word, seen, static_cast<unsigned long long>(value));
        if (old == seen)
            break;
        seen = old;
    }
    return static_cast<long long>(seen);
}
#else
__device__ inline long long atomic_min(long long *place, long long value) { return atomicMin(place, value); }
#endif
