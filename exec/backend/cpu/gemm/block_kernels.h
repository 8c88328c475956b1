/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_kernels.h - inner products of rows of weights in a storage format
 * (exec/tensor/block_format.h) with rows of data.
 *
 * Plain weights are multiplied by floats. Quantized weights are multiplied in
 * integers: rows of data are quantized, too, block by block, to int8 q with
 * the scale d = max |x| / 127, and
 *
 *     y = sum over blocks of d_w d_x (sum over i of q_w[i] q_x[i])
 *
 * The inner sums are exact. Data and scales are rounded as llama.cpp rounds
 * them, so that results differ from its own by the order of the outer sum.
 */
#ifndef MO_EXEC_BACKEND_CPU_GEMM_BLOCK_KERNELS_H
#define MO_EXEC_BACKEND_CPU_GEMM_BLOCK_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exec/tensor/block_format.h"
#include "exec/tensor/half.h"

/* Clang has instructions that the target lacks as functions since version 16.
 */
#if defined(__aarch64__) && (defined(__ARM_FEATURE_DOTPROD) ||                 \
                             !defined(__clang__) || __clang_major__ >= 16)
#define MO_CPU_BLOCK_DOTPROD 1
#endif

enum {
    MO_CPU_BLOCK_ROWS = 4,   /* of weights, multiplied at once */
    MO_CPU_BLOCK_GROUPS = 8, /* of four elements in a block */
    MO_CPU_BLOCK_TILE = 16   /* rows and columns of a tile */
};

/* A row of data. Some instructions multiply unsigned by signed bytes: weights
 * are then used as q_w + zero, with the zero point 128 (q8_0) or 8 (q4_0), and
 * offsets are -zero times the sum of each four q_x, 8 for a block. */
typedef struct mo_cpu_block_data {
    const float *x; /* for plain weights */
    const int8_t *q;
    const float *scales; /* by block */
    const int32_t *offsets;
} mo_cpu_block_data;

/* Quantizes k elements, whole blocks; offsets are for weights of that
 * format. */
typedef void mo_cpu_block_quantize_fn(mo_block_format format, const float *x,
                                      int64_t k, int8_t *q, float *scales,
                                      int32_t *offsets);

/* Sets sums[r] to the inner product of row r of the weights and the data, of k
 * elements each; for one row, or MO_CPU_BLOCK_ROWS. */
typedef void mo_cpu_block_dot_fn(const void *weights, size_t row_bytes,
                                 const mo_cpu_block_data *data, int64_t k,
                                 float *sums);

/* Tiles of products of many rows of data. Weights are unpacked to int8 as
 * [block][row][element], scales as [block][row]; rows that do not exist are 0.
 * If data have a zero point (see below), offsets are the sums of q_w of a
 * block, times minus that point, as [block][row]. */
typedef struct mo_cpu_block_weights {
    int8_t *q;
    float *scales;
    int32_t *offsets;
} mo_cpu_block_weights;

/* Data: bytes [block][group][row][4], q_x plus the zero point of the kernels;
 * scales [block][row]. */
typedef struct mo_cpu_block_tile {
    const uint8_t *q;
    const float *scales;
} mo_cpu_block_tile;

/* Unpacks n_rows rows of weights of that format, at most MO_CPU_BLOCK_TILE. */
typedef void mo_cpu_block_unpack_fn(mo_block_format format, const void *weights,
                                    size_t row_bytes, int64_t blocks,
                                    int n_rows, const mo_cpu_block_weights *to);

/* Sets c[m * pitch + n] for n_data rows of data and n_weights of weights. */
typedef void mo_cpu_block_tile_fn(const mo_cpu_block_weights *weights,
                                  const mo_cpu_block_tile *data, int64_t blocks,
                                  int n_data, int n_weights, float *c,
                                  int64_t pitch);

/* Kernels of one instruction set. */
typedef struct mo_cpu_block_kernels {
    const char *name;
    mo_cpu_block_quantize_fn *quantize;
    mo_cpu_block_dot_fn *one[MO_BLOCK_FORMATS], *several[MO_BLOCK_FORMATS];
    mo_cpu_block_unpack_fn *unpack; /* NULL: there are no tiles */
    mo_cpu_block_tile_fn *multiply;
    uint8_t zero;              /* point of data in tiles */
    void (*begin_tiles)(void); /* NULL, or called by each thread before it */
    void (*end_tiles)(void);   /* multiplies tiles, and after */
} mo_cpu_block_kernels;

#if defined(__x86_64__)
extern const mo_cpu_block_kernels mo_cpu_block_kernels_amx;
extern const mo_cpu_block_kernels mo_cpu_block_kernels_vnni;
extern const mo_cpu_block_kernels mo_cpu_block_kernels_avx2;
/* Returns whether processor and system support AMX; asks the system for it. */
bool mo_cpu_block_kernels_amx_usable(void);
#elif defined(MO_CPU_BLOCK_DOTPROD)
extern const mo_cpu_block_kernels mo_cpu_block_kernels_dotprod;
#endif
extern const mo_cpu_block_kernels mo_cpu_block_kernels_generic;

/* Returns the best kernels of this processor, or those with a name (NULL: not
 * supported here), for tests. */
const mo_cpu_block_kernels *mo_cpu_block_kernels_select(void);
const mo_cpu_block_kernels *mo_cpu_block_kernels_find(const char *name);

/* Returns whether the format is quantized: kernels read q, not x. */
static inline bool mo_cpu_block_is_quantized(mo_block_format format)
{
    return mo_block_format_elements(format) > 1;
}

/* Returns the zero point of weights of that format. */
static inline int mo_cpu_block_zero(mo_block_format format)
{
    return format == MO_BLOCK_Q4_0 ? 8 : 128;
}

/* Returns a scale as llama.cpp stores it, in f16, unless that would round it to
 * much less than 11 bits, or to infinity. */
static inline float mo_cpu_block_round_scale(float scale)
{
    return scale >= 0x1p-14f && scale < 65504
               ? mo_f16_to_f32(mo_f32_to_f16(scale))
               : scale;
}

/* The portable function. */
mo_cpu_block_quantize_fn mo_cpu_block_quantize;

/* Packs a quantized row as that row of a tile. */
void mo_cpu_block_pack_row(const int8_t *q, const float *scales, int64_t blocks,
                           uint8_t zero, int row, uint8_t *tile,
                           float *tile_scales);

#endif
