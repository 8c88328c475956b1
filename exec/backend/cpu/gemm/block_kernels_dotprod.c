/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block kernels for ARMv8.2 with SDOT: sums of each four products of signed
 * bytes, so that neither weights nor data have a zero point.
 *
 * Products of tiles take four rows of weights at a time; each has four
 * registers with the sums of 16 rows of data.
 */
#include "exec/backend/cpu/gemm/block_kernels.h"

#if defined(MO_CPU_BLOCK_DOTPROD)

#include <arm_neon.h>
#include <string.h>

#if defined(__ARM_FEATURE_DOTPROD)
#define BLOCK_TARGET
#else
#define BLOCK_TARGET __attribute__((target("arch=armv8.2-a+dotprod")))
#endif
#define BLOCK_INLINE BLOCK_TARGET static inline __attribute__((always_inline))

enum { TILE = MO_CPU_BLOCK_TILE, TILE_BYTES = TILE * MO_BLOCK_ELEMENTS };

BLOCK_INLINE float32x4_t load_f16(const char *at)
{
    uint16x4_t halves;

    memcpy(&halves, at, sizeof halves);
    return vcvt_f32_f16(vreinterpret_f16_u16(halves));
}

BLOCK_INLINE float load_scale(const char *block)
{
    uint16_t half;

    memcpy(&half, block, sizeof half);
    return vgetq_lane_f32(vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(half))),
                          0);
}

/* Elements 0 to 15 of a block of q4_0 are the low halves of the bytes. */
BLOCK_INLINE int8x16x2_t load_block(mo_block_format format, const char *block)
{
    const int8_t *q = (const int8_t *) block + 2;
    const int8x16_t eight = vdupq_n_s8(8);
    uint8x16_t both;

    if (format == MO_BLOCK_Q8_0)
        return (int8x16x2_t){ { vld1q_s8(q), vld1q_s8(q + 16) } };
    both = vreinterpretq_u8_s8(vld1q_s8(q));
    return (int8x16x2_t){
        { vsubq_s8(vreinterpretq_s8_u8(vandq_u8(both, vdupq_n_u8(15))), eight),
          vsubq_s8(vreinterpretq_s8_u8(vshrq_n_u8(both, 4)), eight) }
    };
}

BLOCK_INLINE void dot_quantized(mo_block_format format, const char *weights,
                                size_t row_bytes, const mo_cpu_block_data *data,
                                int64_t k, float *sums, const int rows)
{
    const size_t bytes = format == MO_BLOCK_Q8_0 ? 34 : 18;
    const int8_t *q = data->q;
    float32x4_t sum[MO_CPU_BLOCK_ROWS];

    for (int r = 0; r < rows; r++)
        sum[r] = vdupq_n_f32(0);
    for (int64_t b = 0; b < k / MO_BLOCK_ELEMENTS;
         b++, weights += bytes, q += MO_BLOCK_ELEMENTS) {
        int8x16_t low = vld1q_s8(q), high = vld1q_s8(q + 16);

#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            const char *block = weights + (size_t) r * row_bytes;
            int8x16x2_t w = load_block(format, block);
            int32x4_t products = vdotq_s32(
                vdotq_s32(vdupq_n_s32(0), w.val[0], low), w.val[1], high);

            sum[r] = vfmaq_n_f32(sum[r], vcvtq_f32_s32(products),
                                 load_scale(block) * data->scales[b]);
        }
    }
    for (int r = 0; r < rows; r++)
        sums[r] = vaddvq_f32(sum[r]);
}

BLOCK_INLINE float32x4_t load_plain(mo_block_format format, const char *at)
{
    uint16x4_t halves;

    if (format == MO_BLOCK_F32)
        return vld1q_f32((const float *) (const void *) at);
    if (format == MO_BLOCK_F16)
        return load_f16(at);
    memcpy(&halves, at, sizeof halves);
    return vreinterpretq_f32_u32(vshll_n_u16(halves, 16));
}

BLOCK_INLINE void dot_plain(mo_block_format format, const char *weights,
                            size_t row_bytes, const mo_cpu_block_data *data,
                            int64_t k, float *sums, const int rows)
{
    enum { LANES = 4 };
    const int64_t bytes = format == MO_BLOCK_F32 ? 4 : 2;
    float32x4_t sum[MO_CPU_BLOCK_ROWS];
    int64_t i = 0;

    for (int r = 0; r < rows; r++)
        sum[r] = vdupq_n_f32(0);
    for (; i + LANES <= k; i += LANES) {
        float32x4_t x = vld1q_f32(data->x + i);

#pragma GCC unroll 4
        for (int r = 0; r < rows; r++)
            sum[r] =
                vfmaq_f32(sum[r],
                          load_plain(format, weights + (size_t) r * row_bytes +
                                                 i * bytes),
                          x);
    }
    for (int r = 0; r < rows; r++) {
        char rest[LANES * 4] = { 0 };
        float x[LANES] = { 0 };

        for (int64_t j = 0; j < (k - i) * bytes; j++)
            rest[j] = weights[(size_t) r * row_bytes + i * bytes + j];
        for (int64_t j = i; j < k; j++)
            x[j - i] = data->x[j];
        sums[r] = vaddvq_f32(
            vfmaq_f32(sum[r], load_plain(format, rest), vld1q_f32(x)));
    }
}

#define DOT(name, kind, format, rows)                                          \
    BLOCK_TARGET static void name(const void *weights, size_t row_bytes,       \
                                  const mo_cpu_block_data *data, int64_t k,    \
                                  float *sums)                                 \
    {                                                                          \
        dot_##kind(MO_BLOCK_##format, weights, row_bytes, data, k, sums,       \
                   rows);                                                      \
    }
#define DOTS(kind, format)                                                     \
    DOT(one_##format, kind, format, 1)                                         \
    DOT(several_##format, kind, format, MO_CPU_BLOCK_ROWS)

DOTS(quantized, Q8_0)
DOTS(quantized, Q4_0)
DOTS(plain, F32)
DOTS(plain, F16)
DOTS(plain, BF16)

BLOCK_TARGET static void unpack(mo_block_format format, const void *weights,
                                size_t row_bytes, int64_t blocks, int n_rows,
                                const mo_cpu_block_weights *to)
{
    const size_t bytes = mo_block_format_bytes(format);

    for (int64_t b = 0; b < blocks; b++)
        for (int r = 0; r < TILE; r++) {
            const char *block = (const char *) weights + (size_t) b * bytes +
                                (size_t) r * row_bytes;
            int8_t *q = to->q + b * TILE_BYTES + r * MO_BLOCK_ELEMENTS;
            bool exists = r < n_rows;
            int8x16x2_t w = { { vdupq_n_s8(0), vdupq_n_s8(0) } };

            if (exists)
                w = load_block(format, block);
            vst1q_s8(q, w.val[0]);
            vst1q_s8(q + 16, w.val[1]);
            to->scales[b * TILE + r] = exists ? load_scale(block) : 0;
        }
}

/* Adds the products with a group of data; lanes are part of the instructions.
 */
#define ADD_GROUP(group)                                                       \
    _Pragma("GCC unroll 4") for (int i = 0; i < 4; i++)                        \
    {                                                                          \
        int8x16_t x = vld1q_s8(q + (group) *4 * TILE + 16 * i);                \
                                                                               \
        _Pragma("GCC unroll 4") for (int r = 0; r < ROWS; r++)                 \
            products[r][i] =                                                   \
                vdotq_laneq_s32(products[r][i], x, four[r], (group) % 4);      \
    }

/* Adds the products of a block with ROWS rows of weights. */
enum { ROWS = 4 };

BLOCK_INLINE void add_block(const int8_t *w, const float *w_scales,
                            const int8_t *q, const float *scales,
                            float32x4_t sums[ROWS][4])
{
    int32x4_t products[ROWS][4];
    int8x16_t four[ROWS];

#pragma GCC unroll 4
    for (int r = 0; r < ROWS; r++) {
        four[r] = vld1q_s8(w + r * MO_BLOCK_ELEMENTS);
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++)
            products[r][i] = vdupq_n_s32(0);
    }
    ADD_GROUP(0)
    ADD_GROUP(1)
    ADD_GROUP(2)
    ADD_GROUP(3)
#pragma GCC unroll 4
    for (int r = 0; r < ROWS; r++)
        four[r] = vld1q_s8(w + r * MO_BLOCK_ELEMENTS + 16);
    ADD_GROUP(4)
    ADD_GROUP(5)
    ADD_GROUP(6)
    ADD_GROUP(7)
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        float32x4_t scale = vld1q_f32(scales + 4 * i);

#pragma GCC unroll 4
        for (int r = 0; r < ROWS; r++)
            sums[r][i] = vfmaq_f32(sums[r][i], vcvtq_f32_s32(products[r][i]),
                                   vmulq_n_f32(scale, w_scales[r]));
    }
}

BLOCK_TARGET static void multiply(const mo_cpu_block_weights *weights,
                                  const mo_cpu_block_tile *data, int64_t blocks,
                                  int n_data, int n_weights, float *c,
                                  int64_t pitch)
{
    for (int first = 0; first < n_weights; first += ROWS) {
        float32x4_t sums[ROWS][4];
        float all[ROWS][TILE];

        for (int r = 0; r < ROWS; r++)
            for (int i = 0; i < 4; i++)
                sums[r][i] = vdupq_n_f32(0);
        for (int64_t b = 0; b < blocks; b++)
            add_block(weights->q + b * TILE_BYTES + first * MO_BLOCK_ELEMENTS,
                      weights->scales + b * TILE + first,
                      (const int8_t *) data->q + b * TILE_BYTES,
                      data->scales + b * TILE, sums);
        memcpy(all, sums, sizeof all);
        for (int m = 0; m < n_data; m++)
            for (int r = 0; r < ROWS && first + r < n_weights; r++)
                c[m * pitch + first + r] = all[r][m];
    }
}

const mo_cpu_block_kernels mo_cpu_block_kernels_dotprod = {
    .name = "dotprod",
    .quantize = mo_cpu_block_quantize,
    .one = { [MO_BLOCK_F32] = one_F32,
             [MO_BLOCK_F16] = one_F16,
             [MO_BLOCK_BF16] = one_BF16,
             [MO_BLOCK_Q8_0] = one_Q8_0,
             [MO_BLOCK_Q4_0] = one_Q4_0 },
    .several = { [MO_BLOCK_F32] = several_F32,
                 [MO_BLOCK_F16] = several_F16,
                 [MO_BLOCK_BF16] = several_BF16,
                 [MO_BLOCK_Q8_0] = several_Q8_0,
                 [MO_BLOCK_Q4_0] = several_Q4_0 },
    .unpack = unpack,
    .multiply = multiply,
};

#else
typedef int mo_no_block_dotprod;
#endif
