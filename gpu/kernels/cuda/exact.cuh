// Sums and products that no compiler fuses into one operation: they are rounded as on a CPU.
#pragma once

#include "hip.cuh"

#if defined(__HIP__) || defined(PLEACH_EMULATED)
#ifndef PLEACH_EMULATED
#pragma clang fp contract(off)
#endif
template <class Number> __device__ __forceinline__ Number plus(Number a, Number b) { return a + b; }
template <class Number> __device__ __forceinline__ Number times(Number a, Number b) { return a * b; }
#else
__device__ __forceinline__ float plus(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ float times(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ double plus(double a, double b) { return __dadd_rn(a, b); }
__device__ __forceinline__ double times(double a, double b) { return __dmul_rn(a, b); }
#endif
