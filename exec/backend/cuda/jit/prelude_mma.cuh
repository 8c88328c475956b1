/* SPDX-License-Identifier: Apache-2.0 */
/* Prelude, part 4: asynchronous copies to shared memory, thread block clusters,
 * ldmatrix and mma on tensor cores. */
/* example:begin */
#pragma once
#include "exec/backend/cuda/jit/prelude_warp.cuh"
/* example:end */
#ifdef MO_ON_CPU
#define MO_COPY_ASYNC 0
#else
#define MO_COPY_ASYNC (MO_ARCH >= 80)
MO_DEVICE unsigned mo_shared_of(const void *shared)
{
    return (unsigned) __cvta_generic_to_shared(shared);
}
#endif
MO_DEVICE void mo_cp_async16(void *to, const void *from, int valid)
{
#if MO_COPY_ASYNC
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                     mo_shared_of(to)), "l"(from), "r"(valid ? 16 : 0)
                 : "memory");
#else
    uint4 x = { 0u, 0u, 0u, 0u };
    if (valid)
        x = *(const uint4 *) from;
    *(uint4 *) to = x;
#endif
}
MO_DEVICE void mo_cp_async8(void *to, const void *from, int valid)
{
#if MO_COPY_ASYNC
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(
                     mo_shared_of(to)), "l"(from), "r"(valid ? 8 : 0)
                 : "memory");
#else
    uint2 x = { 0u, 0u };
    if (valid)
        x = *(const uint2 *) from;
    *(uint2 *) to = x;
#endif
}
MO_DEVICE void mo_cp_async4(void *to, const void *from, int valid)
{
#if MO_COPY_ASYNC
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(
                     mo_shared_of(to)), "l"(from), "r"(valid ? 4 : 0)
                 : "memory");
#else
    *(unsigned *) to = valid ? *(const unsigned *) from : 0u;
#endif
}
MO_DEVICE void mo_cp_commit(void)
{
#if MO_COPY_ASYNC
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
#if MO_COPY_ASYNC
#define mo_cp_wait(n) \
    asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
#else
#define mo_cp_wait(n) ((void) (n))
#endif

#if MO_HAS_TF32
MO_DEVICE unsigned mo_tf32(float x)
{
#ifdef MO_ON_CPU
    return (mo_bits_of(x) + 0x1000u) & 0xffffe000u;
#else
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
#endif
}
MO_DEVICE void mo_mma_tf32_16x8x8(float *d, const unsigned *a,
                                  const unsigned *b)
{
#ifdef MO_ON_CPU
    mo_cpu_mma_tf32(d, a, b);
#else
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}
#endif
#if MO_HAS_BF16
MO_DEVICE void mo_mma_bf16_16x8x16(float *d, const unsigned *a,
                                   const unsigned *b)
{
#ifdef MO_ON_CPU
    mo_cpu_mma_bf16(d, a, b);
#else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}
#endif
#if MO_HAS_F16
MO_DEVICE void mo_mma_f16_16x8x16(float *d, const unsigned *a,
                                  const unsigned *b)
{
#ifdef MO_ON_CPU
    mo_cpu_mma_f16(d, a, b);
#elif MO_ARCH >= 80
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    for (int k = 0; k < 2; k++)
        asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
            "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[2 * k]), "r"(a[2 * k + 1]), "r"(b[k]));
#endif
}
MO_DEVICE void mo_ldmatrix_x4(unsigned *r, const void *row)
{
#ifdef MO_ON_CPU
    mo_cpu_ldmatrix(r, row, 4, 0);
#else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
                 "{%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(mo_shared_of(row))
                 : "memory");
#endif
}
MO_DEVICE void mo_ldmatrix_x2(unsigned *r, const void *row)
{
#ifdef MO_ON_CPU
    mo_cpu_ldmatrix(r, row, 2, 0);
#else
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(mo_shared_of(row))
                 : "memory");
#endif
}
MO_DEVICE void mo_ldmatrix_turned_x4(unsigned *r, const void *row)
{
#ifdef MO_ON_CPU
    mo_cpu_ldmatrix(r, row, 4, 1);
#else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 "
                 "{%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(mo_shared_of(row))
                 : "memory");
#endif
}
MO_DEVICE void mo_ldmatrix_turned_x2(unsigned *r, const void *row)
{
#ifdef MO_ON_CPU
    mo_cpu_ldmatrix(r, row, 2, 1);
#else
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 "
                 "{%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(mo_shared_of(row))
                 : "memory");
#endif
}
#endif

MO_DEVICE void mo_prefetch(const void *from)
{
#ifdef MO_ON_CPU
    (void) from;
#else
    asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
#endif
}
MO_DEVICE float4 mo_load_l2_f4(const float *from)
{
#ifdef MO_ON_CPU
    return *(const float4 *) from;
#else
    return __ldcg((const float4 *) from);
#endif
}
MO_DEVICE void mo_store_l2_f4(float *to, float4 x)
{
#ifdef MO_ON_CPU
    *(float4 *) to = x;
#else
    __stcg((float4 *) to, x);
#endif
}
MO_DEVICE float mo_load_l2_f(const float *from)
{
#ifdef MO_ON_CPU
    return *from;
#else
    return __ldcg(from);
#endif
}
MO_DEVICE float mo_exp(float x) { return expf(x); }
MO_DEVICE float mo_exp2(float x)
{
#ifdef MO_ON_CPU
    return exp2f(x);
#else
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#endif
}
/* Blocks of a cluster wait for each other, and read each other's shared memory
 * at the place that is from here. */
#if MO_ARCH >= 90
#define MO_HAS_CLUSTER 1
MO_DEVICE void mo_cluster_sync(void)
{
#ifdef MO_ON_CPU
    mo_cpu_cluster_sync();
#else
    asm volatile("barrier.cluster.arrive.release;\n"
                 "barrier.cluster.wait.acquire;" ::: "memory");
#endif
}
MO_DEVICE float4 mo_cluster_load_f4(const float *from, int block)
{
#ifdef MO_ON_CPU
    return *(const float4 *) mo_cpu_cluster_at(from, block);
#else
    float4 x;
    unsigned there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(there)
                 : "r"(mo_shared_of(from)), "r"(block));
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
                 : "r"(there)
                 : "memory");
    return x;
#endif
}
MO_DEVICE float mo_cluster_load_f(const float *from, int block)
{
#ifdef MO_ON_CPU
    return *(const float *) mo_cpu_cluster_at(from, block);
#else
    float x;
    unsigned there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(there)
                 : "r"(mo_shared_of(from)), "r"(block));
    asm volatile("ld.shared::cluster.f32 %0, [%1];"
                 : "=f"(x)
                 : "r"(there)
                 : "memory");
    return x;
#endif
}
#else
#define MO_HAS_CLUSTER 0
#endif
