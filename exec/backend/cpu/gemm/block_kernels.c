/* SPDX-License-Identifier: Apache-2.0 */
/* Selection of block kernels, quantization of data, and the portable
 * kernels. */
#include "exec/backend/cpu/gemm/block_kernels.h"

#include <string.h>

#include "exec/backend/cpu/unit/multiversion.h"
#include "exec/tensor/half.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#ifndef HWCAP_ASIMDDP
#define HWCAP_ASIMDDP (1ul << 20)
#endif
#endif

static bool is_usable(const mo_cpu_block_kernels *kernels)
{
#if defined(__x86_64__)
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool vnni = avx2 && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512vl") &&
                __builtin_cpu_supports("avx512vnni");

    if (kernels == &mo_cpu_block_kernels_amx)
        return vnni && mo_cpu_block_kernels_amx_usable();
    if (kernels == &mo_cpu_block_kernels_vnni)
        return vnni;
    if (kernels == &mo_cpu_block_kernels_avx2)
        return avx2;
#elif defined(MO_CPU_BLOCK_DOTPROD)
    if (kernels == &mo_cpu_block_kernels_dotprod)
#if defined(__linux__)
        return getauxval(AT_HWCAP) & HWCAP_ASIMDDP;
#else
        return true;
#endif
#endif
    return kernels == &mo_cpu_block_kernels_generic;
}

/* Best first; the last runs on every processor. */
static const mo_cpu_block_kernels *const all_kernels[] = {
#if defined(__x86_64__)
    &mo_cpu_block_kernels_amx,
    &mo_cpu_block_kernels_vnni,
    &mo_cpu_block_kernels_avx2,
#elif defined(MO_CPU_BLOCK_DOTPROD)
    &mo_cpu_block_kernels_dotprod,
#endif
    &mo_cpu_block_kernels_generic,
};

enum { N_KERNELS = sizeof all_kernels / sizeof *all_kernels };

const mo_cpu_block_kernels *mo_cpu_block_kernels_select(void)
{
    int i = 0;

    while (!is_usable(all_kernels[i]))
        i++;
    return all_kernels[i];
}

const mo_cpu_block_kernels *mo_cpu_block_kernels_find(const char *name)
{
    for (int i = 0; i < N_KERNELS; i++)
        if (strcmp(all_kernels[i]->name, name) == 0)
            return is_usable(all_kernels[i]) ? all_kernels[i] : NULL;
    return NULL;
}

/* Adding 1.5 * 2^23 rounds to an integer, half to even, in the low bits. NaN
 * and infinity make the scale NaN or infinity. */
void mo_cpu_block_quantize(mo_block_format format, const float *x, int64_t k,
                           int8_t *q, float *scales, int32_t *offsets)
{
    int zero = mo_cpu_block_zero(format);

    for (int64_t b = 0; b < k / MO_BLOCK_ELEMENTS; b++) {
        const float *from = x + b * MO_BLOCK_ELEMENTS;
        int8_t *to = q + b * MO_BLOCK_ELEMENTS;
        uint32_t largest = 0;
        float most, factor;

        for (int i = 0; i < MO_BLOCK_ELEMENTS; i++) {
            uint32_t size = mo_f32_to_bits(from[i]) & 0x7fffffffu;

            largest = size > largest ? size : largest;
        }
        most = mo_f32_from_bits(largest);
        factor = most > 0x1p-100f ? 127 / most : 0;
        scales[b] = mo_cpu_block_round_scale(most / 127);
        for (int i = 0; i < MO_BLOCK_ELEMENTS; i++)
            to[i] =
                (int8_t) (mo_f32_to_bits(from[i] * factor + 0x1.8p23f) & 255);
        for (int g = 0; g < MO_CPU_BLOCK_GROUPS; g++)
            offsets[b * MO_CPU_BLOCK_GROUPS + g] =
                -zero *
                (to[4 * g] + to[4 * g + 1] + to[4 * g + 2] + to[4 * g + 3]);
    }
}

void mo_cpu_block_pack_row(const int8_t *q, const float *scales, int64_t blocks,
                           uint8_t zero, int row, uint8_t *tile,
                           float *tile_scales)
{
    enum { BLOCK = MO_BLOCK_ELEMENTS * MO_CPU_BLOCK_TILE };
    uint32_t zeros = zero * 0x01010101u;

    for (int64_t b = 0; b < blocks; b++) {
        tile_scales[b * MO_CPU_BLOCK_TILE + row] = scales[b];
        for (int g = 0; g < MO_CPU_BLOCK_GROUPS; g++) {
            uint32_t four;

            memcpy(&four, q + b * MO_BLOCK_ELEMENTS + 4 * g, 4);
            four ^= zeros; /* as adding 128 */
            memcpy(tile + b * BLOCK + (g * MO_CPU_BLOCK_TILE + row) * 4, &four,
                   4);
        }
    }
}

static float load_scale(const unsigned char *block)
{
    return mo_f16_to_f32((uint16_t) (block[0] | block[1] << 8));
}

static void dot_q8_0(const void *weights, size_t row_bytes,
                     const mo_cpu_block_data *data, int64_t k, float *sums)
{
    const unsigned char *block = weights;
    float sum = 0;

    (void) row_bytes;
    for (int64_t b = 0; b < k / MO_BLOCK_ELEMENTS; b++, block += 34) {
        const int8_t *x = data->q + b * MO_BLOCK_ELEMENTS;
        const int8_t *w = (const int8_t *) block + 2;
        int products = 0;

        for (int i = 0; i < MO_BLOCK_ELEMENTS; i++)
            products += w[i] * x[i];
        sum += load_scale(block) * data->scales[b] * (float) products;
    }
    *sums = sum;
}

static void dot_q4_0(const void *weights, size_t row_bytes,
                     const mo_cpu_block_data *data, int64_t k, float *sums)
{
    enum { HALF = MO_BLOCK_ELEMENTS / 2 };
    const unsigned char *block = weights;
    float sum = 0;

    (void) row_bytes;
    for (int64_t b = 0; b < k / MO_BLOCK_ELEMENTS; b++, block += 18) {
        const int8_t *x = data->q + b * MO_BLOCK_ELEMENTS;
        int products = 0;

        for (int i = 0; i < HALF; i++)
            products += ((block[2 + i] & 15) - 8) * x[i] +
                        ((block[2 + i] >> 4) - 8) * x[i + HALF];
        sum += load_scale(block) * data->scales[b] * (float) products;
    }
    *sums = sum;
}

/* Plain weights, some at a time, with as many sums. */
enum { LANES = 16 };

static inline float load_plain(mo_block_format format, const char *at)
{
    uint16_t half;
    float x;

    if (format == MO_BLOCK_F32) {
        memcpy(&x, at, sizeof x);
        return x;
    }
    memcpy(&half, at, sizeof half);
    return format == MO_BLOCK_F16 ? mo_f16_to_f32(half) : mo_bf16_to_f32(half);
}

MO_CPU_INLINE float dot_plain(mo_block_format format, const char *w,
                              const float *x, int64_t k)
{
    size_t bytes = format == MO_BLOCK_F32 ? 4 : 2;
    float lanes[LANES] = { 0 }, sum = 0;
    int64_t i = 0;

    for (; i + LANES <= k; i += LANES)
        for (int j = 0; j < LANES; j++)
            lanes[j] +=
                load_plain(format, w + (size_t) (i + j) * bytes) * x[i + j];
    for (; i < k; i++)
        sum += load_plain(format, w + (size_t) i * bytes) * x[i];
    for (int j = 0; j < LANES; j++)
        sum += lanes[j];
    return sum;
}

#define DOT(suffix, name)                                                      \
    static void dot_##suffix(const void *weights, size_t row_bytes,            \
                             const mo_cpu_block_data *data, int64_t k,         \
                             float *sums)                                      \
    {                                                                          \
        (void) row_bytes;                                                      \
        *sums = dot_plain(MO_BLOCK_##name, weights, data->x, k);               \
    }                                                                          \
    SEVERAL(suffix)

#define SEVERAL(suffix)                                                        \
    static void several_##suffix(const void *weights, size_t row_bytes,        \
                                 const mo_cpu_block_data *data, int64_t k,     \
                                 float *sums)                                  \
    {                                                                          \
        for (size_t r = 0; r < MO_CPU_BLOCK_ROWS; r++)                         \
            dot_##suffix((const char *) weights + r * row_bytes, row_bytes,    \
                         data, k, sums + r);                                   \
    }                                                                          \
    struct mo_dot_##suffix

SEVERAL(q8_0);
SEVERAL(q4_0);
DOT(f32, F32);
DOT(f16, F16);
DOT(bf16, BF16);

const mo_cpu_block_kernels mo_cpu_block_kernels_generic = {
    .name = "plain",
    .quantize = mo_cpu_block_quantize,
    .one = { [MO_BLOCK_F32] = dot_f32,
             [MO_BLOCK_F16] = dot_f16,
             [MO_BLOCK_BF16] = dot_bf16,
             [MO_BLOCK_Q8_0] = dot_q8_0,
             [MO_BLOCK_Q4_0] = dot_q4_0 },
    .several = { [MO_BLOCK_F32] = several_f32,
                 [MO_BLOCK_F16] = several_f16,
                 [MO_BLOCK_BF16] = several_bf16,
                 [MO_BLOCK_Q8_0] = several_q8_0,
                 [MO_BLOCK_Q4_0] = several_q4_0 },
};
