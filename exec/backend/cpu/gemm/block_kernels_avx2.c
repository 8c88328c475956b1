/* SPDX-License-Identifier: Apache-2.0 */
/* Inner products of quantized weights (block_kernels.h) for AVX2, which has no
 * 8-bit dot product: pairs are summed in 16 bits, then in 32. */
#if defined(__x86_64__)

#include <immintrin.h>

#define BLOCK_TARGET                    __attribute__((target("avx2,fma,f16c")))
#define BLOCK_DOT(offsets, w, x)        add_products(offsets, w, x)
#define BLOCK_DOT_SIGNED(offsets, w, x) multiply_signed(w, x)

/* Sums of two products fit in 16 bits: at most 2 * 128 * 127. */
BLOCK_TARGET static inline __m256i add_products(__m256i offsets, __m256i w,
                                                __m256i x)
{
    return _mm256_add_epi32(
        offsets,
        _mm256_madd_epi16(_mm256_maddubs_epi16(w, x), _mm256_set1_epi16(1)));
}

/* |w| is 128 at most, as an unsigned byte; x is never -128. */
BLOCK_TARGET static inline __m256i multiply_signed(__m256i w, __m256i x)
{
    return _mm256_madd_epi16(
        _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w)),
        _mm256_set1_epi16(1));
}

#include "exec/backend/cpu/gemm/block_kernels_x86.inc"

const mo_cpu_block_kernels mo_cpu_block_kernels_avx2 = { .name = "avx2",
                                                         BLOCK_DOTS };

#else
typedef int mo_no_block_avx2;
#endif
