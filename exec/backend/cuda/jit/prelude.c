/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prelude of all device code: what kernels may use besides plain C.  PTX
 * and intrinsics are wrapped by functions that also work where MO_ON_CPU is
 * defined: there cc compiles the source, and the threads of a block run in
 * turn.
 *
 * A kernel:
 *
 *     MO_KERNEL(name)(const float *x, ...)
 *     {
 *         MO_SHARED float part[32];           any number
 *         MO_DYNAMIC_SHARED(float, tile);     at most one
 *
 *         MO_BEGIN();
 *         ...
 *     }
 *
 * or MO_KERNEL_OF(name, threads), MO_KERNEL_SIZED(name, threads, blocks), which
 * give launch bounds: threads of a block at most, and blocks per
 * multiprocessor.
 *
 * Every thread calls MO_BEGIN() once, and accesses no memory before it that
 * another kernel writes or reads (programmatic dependent launch).  It allows
 * the next kernel of the stream to start where there is room, then waits until
 * the previous one is complete, hence, since that one waited too, all before
 * it.  A kernel that first loads constants calls MO_NEXT(), loads them, then
 * MO_BEGIN().
 *
 * __restrict__ is defined as nothing: with it the compiler could read an
 * operand before MO_BEGIN().
 *
 *     threadIdx, blockIdx, blockDim, gridDim; MO_LANE, MO_WARP (of x)
 *     MO_SYNC()  mo_sync_warp()  mo_fence()  mo_atomic_add(at, x) of unsigned
 *     mo_load_l2_f, mo_load_l2_f4(from): data that another block has just
 * written mo_store_l2_f4(to, x): for another block mo_prefetch(from): 128 bytes
 * that will be read soon mo_globaltimer(): nanoseconds, the same on all SMs;
 * mo_nap(): sleeps for some of them mo_float_of(bits), mo_bits_of(x),
 * mo_double_of, mo_bits_of_double MO_INF, MO_NAN, MO_INF_D, MO_NAN_D mo_f16,
 * mo_bf16: two bytes, never computed with; mo_f16_load(h), mo_f16_store(x), of
 * pairs in an unsigned: mo_f16_pack(low, high), mo_f16_low(pair),
 * mo_f16_high(pair) mo_shfl_T(x, lane), mo_shfl_xor_T(x, mask),
 * mo_shfl_down_T(x, by), mo_shfl_up_T(x, by), T one of u i f l d; mo_ballot(x):
 * called by all 32 lanes of a warp mo_warp_OP_T(x), mo_block_OP_T(x, scratch):
 * sum, max, min of f d l; every thread gets the result; scratch: 32 of them,
 * shared; blocks of one dimension, a multiple of 32 threads; NaN is not kept by
 * max and min mo_min_i, mo_max_i, mo_min_l, mo_max_l mo_exp(x), mo_exp2(x): the
 * second to about 2 units in the last place MO_ARCH: 90 for sm_90; float2,
 * float4, double2, int2, int4, uint2, uint4 (fields x y z w; braces make them);
 * struct MO_ALIGNED(16) name {}; MO_ARGUMENT struct s x, of a kernel:
 * x.array[i] is read in place the functions of math.h; #pragma unroll
 *
 * Copies to shared memory, 16 bytes (8, 4), zeros where not valid; each side
 * aligned to that: mo_cp_async16(to, from, valid), mo_cp_commit(),
 * mo_cp_wait(n): until all but the last n commits are done (n a constant), for
 * this thread; MO_SYNC() for others.  Plain copies before sm_80.
 *
 * Tensor cores, d += a b, all lanes of a warp; fragments as in the PTX manual:
 *     #if MO_HAS_TF32: mo_mma_tf32_16x8x8(d, a, b), mo_tf32(x) rounds a float
 *     #if MO_HAS_BF16: mo_mma_bf16_16x8x16(d, a, b)
 *     #if MO_HAS_F16:  mo_mma_f16_16x8x16(d, a, b), and
 *         mo_ldmatrix_x4(r, row), _x2, mo_ldmatrix_turned_x4, _x2
 *     float d[4]; unsigned a[4], b[2]
 *
 * On the CPU the runtime (tests/standin/cuda) provides:
 *     threadIdx, blockIdx, blockDim, gridDim: fields x, y, z of unsigned; they
 *         and MO_ON_CPU are defined before this text
 *     void *mo_cpu_dynamic_shared(void): aligned to 1024 bytes
 *     void mo_cpu_sync(void), mo_cpu_sync_warp(void), mo_cpu_cluster_sync(void)
 *     const void *mo_cpu_cluster_at(const void *own, int block): the place in
 *         the shared memory of that block of the cluster
 *     unsigned mo_cpu_shuffle(unsigned x, int lane): x of that lane of the warp
 *     unsigned mo_cpu_ballot(int x)
 *     unsigned mo_cpu_atomic_add(unsigned *at, unsigned x): returns the old
 * value void mo_cpu_mma_tf32(float *d, const unsigned *a, const unsigned *b),
 *         mo_cpu_mma_f16, mo_cpu_mma_bf16: the fragments of this lane
 *     void mo_cpu_ldmatrix(unsigned *r, const void *row, int n, int turned)
 * MO_SHARED variables are in the section mo_shared, between __start_mo_shared
 * and __stop_mo_shared.
 */
#include "exec/backend/cuda/jit/jit_cache.h"

/* C guarantees literals of 4095 characters only; every compiler accepts
 * more. */
#pragma GCC diagnostic ignored "-Woverlength-strings"

const char mo_cuda_prelude[] =
#include "exec/backend/cuda/jit/prelude_launch.inc"
#include "exec/backend/cuda/jit/prelude_half.inc"
#include "exec/backend/cuda/jit/prelude_warp.inc"
#include "exec/backend/cuda/jit/prelude_mma.inc"
    ;
