/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block kernels for AVX-512 with VNNI, and with AMX.
 *
 * A product of tiles has a register for each row of weights, with the sums of
 * 16 rows of data. Each block is multiplied in integers; its sums are scaled
 * and added as floats.
 */
#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#if defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#define BLOCK_TARGET                                                           \
    __attribute__((                                                            \
        target("avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")))
#define BLOCK_DOT(offsets, w, x) _mm256_dpbusd_epi32(offsets, w, x)
#define BLOCK_DOT_SIGNED(offsets, w, x)                                        \
    _mm256_dpbusd_epi32(offsets, _mm256_xor_si256(w, _mm256_set1_epi8(-128)), x)

#include "exec/backend/cpu/gemm/block_kernels_x86.inc"

enum { TILE = MO_CPU_BLOCK_TILE, TILE_BYTES = TILE * MO_BLOCK_ELEMENTS };

/* Converts the f16 scales of all rows of a block at once. */
BLOCK_INLINE void unpack_scales(const char *weights, size_t row_bytes,
                                size_t block_bytes, int64_t blocks, int n_rows,
                                float *scales)
{
    /* In the upper half of each group of floats, until they are converted. */
    for (int64_t b = 0; b < blocks; b++) {
        uint16_t halves[TILE] = { 0 };

        for (int r = 0; r < n_rows; r++)
            memcpy(&halves[r],
                   weights + (size_t) r * row_bytes + (size_t) b * block_bytes,
                   sizeof *halves);
        _mm512_storeu_ps(scales + b * TILE,
                         _mm512_cvtph_ps(_mm256_loadu_si256(
                             (const __m256i *) (const void *) halves)));
    }
}

BLOCK_INLINE void unpack_rows(mo_block_format format, const char *weights,
                              size_t row_bytes, int64_t blocks, int n_rows,
                              const mo_cpu_block_weights *to)
{
    const size_t bytes = format == MO_BLOCK_Q8_0 ? 34 : 18;
    const __m256i zero = _mm256_setzero_si256();

    for (int64_t b = 0; b < blocks; b++, weights += bytes)
        for (int r = 0; r < TILE; r++) {
            const char *block = weights + (size_t) r * row_bytes;
            __m256i w = zero;

            _mm_prefetch(block + AHEAD, _MM_HINT_T0);
            if (r < n_rows && format == MO_BLOCK_Q8_0)
                w = _mm256_loadu_si256(
                    (const __m256i *) (const void *) (block + 2));
            else if (r < n_rows)
                w = _mm256_sub_epi8(load_nibbles(block), _mm256_set1_epi8(8));
            _mm256_storeu_si256((__m256i *) (void *) (to->q + b * TILE_BYTES +
                                                      r * MO_BLOCK_ELEMENTS),
                                w);
        }
}

BLOCK_TARGET static void unpack(mo_block_format format, const void *weights,
                                size_t row_bytes, int64_t blocks, int n_rows,
                                const mo_cpu_block_weights *to)
{
    if (format == MO_BLOCK_Q8_0) {
        unpack_rows(MO_BLOCK_Q8_0, weights, row_bytes, blocks, n_rows, to);
        unpack_scales(weights, row_bytes, 34, blocks, n_rows, to->scales);
    } else {
        unpack_rows(MO_BLOCK_Q4_0, weights, row_bytes, blocks, n_rows, to);
        unpack_scales(weights, row_bytes, 18, blocks, n_rows, to->scales);
    }
}

/* Returns the sums of q + 128 of eight rows: those of eight bytes, of four
 * times two rows in 16 bits each, are added across. */
BLOCK_INLINE __m256i add_rows(const int8_t *q)
{
    const __m512i zero = _mm512_setzero_si512();
    __m512i sums = zero;

#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        __m512i two = _mm512_xor_si512(_mm512_loadu_si512(q + 64 * i),
                                       _mm512_set1_epi8(-128));

        sums = _mm512_or_si512(
            sums, _mm512_slli_epi64(_mm512_sad_epu8(two, zero), 16 * i));
    }
    sums = _mm512_add_epi16(sums, _mm512_shuffle_epi32(sums, 0x4e));
    sums = _mm512_add_epi16(sums, _mm512_permutex_epi64(sums, 0x4e));
    /* Even rows are in the lower half, odd ones in the upper. */
    return _mm256_cvtepu16_epi32(_mm_unpacklo_epi16(
        _mm512_castsi512_si128(sums), _mm512_extracti32x4_epi32(sums, 2)));
}

/* The sums of q_w, times -128. */
BLOCK_TARGET static void unpack_offsets(mo_block_format format,
                                        const void *weights, size_t row_bytes,
                                        int64_t blocks, int n_rows,
                                        const mo_cpu_block_weights *to)
{
    const __m256i all = _mm256_set1_epi32(128 * MO_BLOCK_ELEMENTS);

    unpack(format, weights, row_bytes, blocks, n_rows, to);
    for (int64_t i = 0; i < blocks * TILE; i += 8)
        _mm256_storeu_si256(
            (__m256i *) (void *) (to->offsets + i),
            _mm256_slli_epi32(
                _mm256_sub_epi32(all, add_rows(to->q + i * MO_BLOCK_ELEMENTS)),
                7));
}

/* Stores the transpose of the sums: rows of data. */
BLOCK_INLINE void store_transposed(__m512 s[TILE], int n_data, int n_weights,
                                   float *c, int64_t pitch)
{
    __mmask16 mask = (__mmask16) ((1u << n_weights) - 1);
    __m512 t[TILE];

#pragma GCC unroll 8
    for (int i = 0; i < TILE; i += 2) {
        t[i] = _mm512_unpacklo_ps(s[i], s[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(s[i], s[i + 1]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < TILE; i += 4)
#pragma GCC unroll 2
        for (int j = 0; j < 2; j++) {
            __m512d a = _mm512_castps_pd(t[i + j]);
            __m512d b = _mm512_castps_pd(t[i + j + 2]);

            s[i + 2 * j] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
            s[i + 2 * j + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
        }
        /* s[4 i + j] has columns j, 4 + j, 8 + j, 12 + j of rows 4 i to 4 i +
         * 3, by lanes of four. */
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) {
        __m512 a = _mm512_shuffle_f32x4(s[j], s[4 + j], 0x88);
        __m512 b = _mm512_shuffle_f32x4(s[8 + j], s[12 + j], 0x88);
        __m512 d = _mm512_shuffle_f32x4(s[j], s[4 + j], 0xdd);
        __m512 e = _mm512_shuffle_f32x4(s[8 + j], s[12 + j], 0xdd);

        t[j] = _mm512_shuffle_f32x4(a, b, 0x88);
        t[8 + j] = _mm512_shuffle_f32x4(a, b, 0xdd);
        t[4 + j] = _mm512_shuffle_f32x4(d, e, 0x88);
        t[12 + j] = _mm512_shuffle_f32x4(d, e, 0xdd);
    }
#pragma GCC unroll 16
    for (int i = 0; i < TILE; i++)
        if (i < n_data)
            _mm512_mask_storeu_ps(c + i * pitch, mask, t[i]);
}

/* Adds the products of a block with rows first, ..., first + 7 of weights. */
BLOCK_INLINE void add_block(const mo_cpu_block_weights *weights,
                            const mo_cpu_block_tile *data, int64_t b, int first,
                            __m512 *sums)
{
    enum { ROWS = 8 };
    const int8_t *w = weights->q + b * TILE_BYTES + first * MO_BLOCK_ELEMENTS;
    const uint8_t *x = data->q + b * TILE_BYTES;
    __m512 scale = _mm512_loadu_ps(data->scales + b * TILE);
    __m512i products[ROWS];

#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++)
        products[r] = _mm512_set1_epi32(weights->offsets[b * TILE + first + r]);
#pragma GCC unroll 8
    for (int g = 0; g < MO_CPU_BLOCK_GROUPS; g++) {
        __m512i group = _mm512_loadu_si512(x + g * 4 * TILE);

#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++) {
            int four;

            memcpy(&four, w + r * MO_BLOCK_ELEMENTS + 4 * g, sizeof four);
            products[r] = _mm512_dpbusd_epi32(products[r], group,
                                              _mm512_set1_epi32(four));
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++) {
        __m512 by = _mm512_mul_ps(
            scale, _mm512_set1_ps(weights->scales[b * TILE + first + r]));

        sums[r] = _mm512_fmadd_ps(by, _mm512_cvtepi32_ps(products[r]), sums[r]);
    }
}

BLOCK_TARGET static void multiply(const mo_cpu_block_weights *weights,
                                  const mo_cpu_block_tile *data, int64_t blocks,
                                  int n_data, int n_weights, float *c,
                                  int64_t pitch)
{
    __m512 sums[TILE];

    for (int r = 0; r < TILE; r++)
        sums[r] = _mm512_setzero_ps();
    for (int64_t b = 0; b < blocks; b++)
        add_block(weights, data, b, 0, sums);
    for (int64_t b = 0; n_weights > TILE / 2 && b < blocks; b++)
        add_block(weights, data, b, TILE / 2, sums + TILE / 2);
    store_transposed(sums, n_data, n_weights, c, pitch);
}

const mo_cpu_block_kernels mo_cpu_block_kernels_vnni = {
    .name = "avx512vnni",
    BLOCK_DOTS,
    .unpack = unpack_offsets,
    .multiply = multiply,
    .zero = 128,
};

#define AMX_TARGET                                                             \
    __attribute__((target("amx-tile,amx-int8,avx512f,avx512bw,avx512vl,"       \
                          "avx512vnni,avx2,fma,f16c")))

bool mo_cpu_block_kernels_amx_usable(void)
{
#if defined(__linux__) && defined(SYS_arch_prctl)
    enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
    const unsigned tiles = 1u << 24, int8 = 1u << 25;
    unsigned a, b, c, d;

    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & tiles) &&
           (d & int8) &&
           syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
#else
    return false;
#endif
}

/* Tiles 0 to 3: sums; 4 and 5: weights; 6 and 7: data. */
AMX_TARGET static void begin_tiles(void)
{
    static const struct {
        uint8_t palette, start, reserved[14];
        uint16_t bytes[16]; /* of a row */
        uint8_t rows[16];
    } config = {
        .palette = 1,
        .bytes = { 64, 64, 64, 64, 32, 32, 64, 64 },
        .rows = { 16, 16, 16, 16, 16, 16, 8, 8 },
    };

    _tile_loadconfig(&config);
}

AMX_TARGET static void end_tiles(void)
{
    _tile_release();
}

/* Tile numbers are part of the instructions. */
#define MULTIPLY_BLOCK(sums, w, x, b)                                          \
    do {                                                                       \
        _tile_zero(sums);                                                      \
        _tile_loadd(w, weights->q + (b) *TILE_BYTES, MO_BLOCK_ELEMENTS);       \
        _tile_loadd(x, data->q + (b) *TILE_BYTES, 4 * TILE);                   \
        _tile_dpbssd(sums, w, x);                                              \
        _tile_stored(sums, products[sums], 4 * TILE);                          \
    } while (0)

#define AMX_INLINE AMX_TARGET static inline __attribute__((always_inline))

AMX_INLINE void add_products_of(const int32_t *products,
                                const mo_cpu_block_weights *weights,
                                const mo_cpu_block_tile *data, int64_t b,
                                __m512 sums[TILE])
{
    __m512 scale = _mm512_loadu_ps(data->scales + b * TILE);

#pragma GCC unroll 16
    for (int r = 0; r < TILE; r++) {
        __m512 x = _mm512_cvtepi32_ps(_mm512_load_si512(products + r * TILE));
        __m512 by =
            _mm512_mul_ps(scale, _mm512_set1_ps(weights->scales[b * TILE + r]));

        sums[r] = _mm512_fmadd_ps(by, x, sums[r]);
    }
}

/* Products of two blocks are computed while those of the two before are
 * added. */
AMX_TARGET static void multiply_amx(const mo_cpu_block_weights *weights,
                                    const mo_cpu_block_tile *data,
                                    int64_t blocks, int n_data, int n_weights,
                                    float *c, int64_t pitch)
{
    _Alignas(64) int32_t products[4][TILE * TILE];
    __m512 sums[TILE];
    int64_t b = 0;

    for (int r = 0; r < TILE; r++)
        sums[r] = _mm512_setzero_ps();
    if (blocks >= 2) {
        MULTIPLY_BLOCK(0, 4, 6, 0);
        MULTIPLY_BLOCK(1, 5, 7, 1);
    }
    for (; b + 4 <= blocks; b += 4) {
        MULTIPLY_BLOCK(2, 4, 6, b + 2);
        add_products_of(products[0], weights, data, b, sums);
        MULTIPLY_BLOCK(3, 5, 7, b + 3);
        add_products_of(products[1], weights, data, b + 1, sums);
        if (b + 6 <= blocks)
            MULTIPLY_BLOCK(0, 4, 6, b + 4);
        add_products_of(products[2], weights, data, b + 2, sums);
        if (b + 6 <= blocks)
            MULTIPLY_BLOCK(1, 5, 7, b + 5);
        add_products_of(products[3], weights, data, b + 3, sums);
    }
    if (b + 2 <= blocks) {
        add_products_of(products[0], weights, data, b, sums);
        add_products_of(products[1], weights, data, b + 1, sums);
        b += 2;
    }
    if (b < blocks) {
        MULTIPLY_BLOCK(0, 4, 6, b);
        add_products_of(products[0], weights, data, b, sums);
    }
    store_transposed(sums, n_data, n_weights, c, pitch);
}

const mo_cpu_block_kernels mo_cpu_block_kernels_amx = {
    .name = "amx",
    BLOCK_DOTS,
    .unpack = unpack,
    .multiply = multiply_amx,
    .begin_tiles = begin_tiles,
    .end_tiles = end_tiles,
};

#else
typedef int mo_no_block_avx512;
#endif
