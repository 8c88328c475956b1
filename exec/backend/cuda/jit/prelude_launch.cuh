/* SPDX-License-Identifier: Apache-2.0 */
/* Prelude, part 1: kernel and memory qualifiers, programmatic dependent launch,
 * barriers, fences and timers.  prelude.c documents all four parts. */
/* example:begin */
#pragma once
/* example:end */
#ifdef MO_ON_CPU
#include <math.h>
#include <string.h>
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __restrict__
#define MO_KERNEL(name) void name
#define MO_KERNEL_OF(name, threads) void name
#define MO_KERNEL_SIZED(name, threads, blocks) void name
#define MO_SHARED static __attribute__((section("mo_shared"), aligned(16)))
#define MO_DYNAMIC_SHARED(type, name) \
    type *name = (type *) mo_cpu_dynamic_shared()
#define MO_ALIGNED(bytes) __attribute__((aligned(bytes)))
#define MO_ARGUMENT const
#define MO_ARCH 90
typedef struct float2 { float x, y; } float2;
typedef struct float4 {
    float x, y, z, w;
} __attribute__((aligned(16))) float4;
typedef struct double2 {
    double x, y;
} __attribute__((aligned(16))) double2;
typedef struct int2 { int x, y; } int2;
typedef struct int4 {
    int x, y, z, w;
} __attribute__((aligned(16))) int4;
typedef struct uint2 { unsigned x, y; } uint2;
typedef struct uint4 {
    unsigned x, y, z, w;
} __attribute__((aligned(16))) uint4;
void *mo_cpu_dynamic_shared(void);
void mo_cpu_sync(void);
void mo_cpu_sync_warp(void);
void mo_cpu_cluster_sync(void);
const void *mo_cpu_cluster_at(const void *own, int block);
unsigned mo_cpu_shuffle(unsigned x, int lane);
unsigned mo_cpu_ballot(int x);
unsigned mo_cpu_atomic_add(unsigned *at, unsigned x);
unsigned long long mo_cpu_globaltimer(void);
void mo_cpu_mma_tf32(float *d, const unsigned *a, const unsigned *b);
void mo_cpu_mma_f16(float *d, const unsigned *a, const unsigned *b);
void mo_cpu_mma_bf16(float *d, const unsigned *a, const unsigned *b);
void mo_cpu_ldmatrix(unsigned *r, const void *row, int n, int turned);
#else
#define __restrict__
#define MO_KERNEL(name) extern "C" __global__ void name
#define MO_KERNEL_OF(name, threads) \
    extern "C" __global__ __launch_bounds__(threads) void name
#define MO_KERNEL_SIZED(name, threads, blocks) \
    extern "C" __global__ __launch_bounds__(threads, blocks) void name
#define MO_SHARED static __shared__ __align__(16)
#define MO_DYNAMIC_SHARED(type, name) \
    extern __shared__ __align__(1024) unsigned char mo_dynamic_shared[]; \
    type *name = (type *) mo_dynamic_shared
#define MO_ALIGNED(bytes) __align__(bytes)
#define MO_ARGUMENT const __grid_constant__
#define MO_ARCH (__CUDA_ARCH__ / 10)
#endif
#define MO_DEVICE static __device__ __forceinline__
#define MO_LANE ((int) (threadIdx.x & 31u))
#define MO_WARP ((int) (threadIdx.x >> 5))
#define MO_HAS_TF32 (MO_ARCH >= 80)
#define MO_HAS_BF16 (MO_ARCH >= 80)
#define MO_HAS_F16 (MO_ARCH >= 75)
#define MO_INF (mo_float_of(0x7f800000u))
#define MO_NAN (mo_float_of(0x7fc00000u))
#define MO_INF_D (mo_double_of(0x7ff0000000000000ull))
#define MO_NAN_D (mo_double_of(0x7ff8000000000000ull))

MO_DEVICE void MO_NEXT(void)
{
#if !defined(MO_ON_CPU) && MO_ARCH >= 90
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
MO_DEVICE void MO_BEGIN(void)
{
    MO_NEXT();
#if !defined(MO_ON_CPU) && MO_ARCH >= 90
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

MO_DEVICE void MO_SYNC(void)
{
#ifdef MO_ON_CPU
    mo_cpu_sync();
#else
    __syncthreads();
#endif
}
MO_DEVICE void mo_sync_warp(void)
{
#ifdef MO_ON_CPU
    mo_cpu_sync_warp();
#else
    __syncwarp();
#endif
}
MO_DEVICE void mo_fence(void)
{
#ifndef MO_ON_CPU
    __threadfence();
#endif
}
MO_DEVICE unsigned long long mo_globaltimer(void)
{
#ifdef MO_ON_CPU
    return mo_cpu_globaltimer();
#else
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
    return ns;
#endif
}
MO_DEVICE void mo_nap(void)
{
#ifndef MO_ON_CPU
    __nanosleep(40);
#endif
}
MO_DEVICE unsigned mo_atomic_add(unsigned *at, unsigned x)
{
#ifdef MO_ON_CPU
    return mo_cpu_atomic_add(at, x);
#else
    return atomicAdd(at, x);
#endif
}
