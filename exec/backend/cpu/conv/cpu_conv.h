/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv.h - convolutions: what their files share.
 *
 * A convolution is a product whose left rows are the windows of the picture:
 * one pointer for each place of the window, none of it copied (tile.h).  The
 * picture must have channels last for that, as floats; any other is staged:
 * copied into that form first.
 *
 * A transposed convolution is several ordinary ones: the places of the result
 * whose index leaves the same rest when divided by the stride read the same
 * part of the kernel, a phase.  An ordinary one is one phase.
 */
#ifndef MO_EXEC_BACKEND_CPU_CONV_CPU_CONV_H
#define MO_EXEC_BACKEND_CPU_CONV_CPU_CONV_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/backend/cpu/unit/cpu_unit.h"
#include "exec/backend/cpu/gemm/gemm_epilogue.h"
#include "exec/backend/cpu/pointwise/pointwise.h"
#include "exec/backend/cpu/gemm/packed_gemm.h"
#include "exec/op/window_geometry.h"

/* Spatial dimensions are always three here; those that are missing are ones in
 * front. */
typedef struct mo_cpu_conv_tap {
    int64_t at[3];  /* what it reads, from the place's own begin */
    int64_t kernel; /* its first element in the kernel */
    int64_t offset; /* the same as at, in elements of the picture */
} mo_cpu_conv_tap;

typedef struct mo_cpu_conv_phase {
    int64_t n[3]; /* places of the result */
    int64_t out_first[3], out_step[3];
    int64_t in_step[3];
    mo_cpu_conv_tap *taps;
    int64_t n_taps;
    int64_t weights_at; /* where its packed weights begin, in floats */
    mo_cpu_gemm_blocking blocks;
} mo_cpu_conv_phase;

/* How the picture lies that windows look at. */
typedef struct mo_cpu_conv_image {
    int64_t in[3];     /* what is inside of the edges */
    int64_t extent[3]; /* with room for padding at both ends of the last one */
    int64_t shift;     /* how much of it is at the beginning */
    int64_t channels;
    bool staged;
    /* Kernel and channels of a row are one stretch of memory: windows have taps
     * in the first two dimensions only. */
    bool merged;
} mo_cpu_conv_image;

typedef struct mo_cpu_conv_kernel {
    mo_backend_kernel base;
    mo_call_conv call; /* in three dimensions */
    mo_elem elem;      /* of data and weights */
    mo_cpu_conv_image picture;
    mo_cpu_conv_phase *phases;
    int64_t n_phases;
    int64_t depth;               /* elements of a tap */
    bool by_channel;             /* each channel has a kernel of its own */
    bool direct;                 /* sums go where the result goes */
    int64_t pitch;               /* of a direct one's result */
    int64_t in_group, out_group; /* channels */
    int64_t weight_floats;       /* packed, in all */
    float *weights;              /* packed, or NULL: not constant */
    float *zeros;                /* what is beyond the edges */
    mo_cpu_epilogue finish;
    mo_cpu_gemm_epilogue ending; /* the same, where tiles can do it */
    /* in the workspace: what all share, then each worker's */
    size_t stage_bytes, packed_bytes, scratch;
    size_t sums_at, turned_at, places_at, finish_at;
} mo_cpu_conv_kernel;

/* Phases, which are the caller's to free with mo_cpu_conv_phases_free, and the
 * offsets of their taps in the picture. */
mo_status mo_cpu_conv_phases_init(mo_cpu_conv_kernel *kernel, mo_error *err);
void mo_cpu_conv_phases_free(mo_cpu_conv_kernel *kernel);

/* Packed weights: panels by phase and group, or by tap and channel. */
void mo_cpu_conv_weights_layout(const mo_cpu_micro_kernels *tiles,
                                mo_cpu_conv_kernel *kernel);
void mo_cpu_conv_weights_pack(const mo_cpu_micro_kernels *tiles,
                              const mo_cpu_conv_kernel *kernel,
                              const void *weights, float *packed);

/* Copies the picture into stage. */
void mo_cpu_conv_stage_input(mo_backend_unit *unit,
                             const mo_cpu_conv_kernel *kernel, const void *data,
                             float *stage);

/* Pointers to what rows first, ... of a phase (its places, image by image) see
 * through each tap; rows[tap * n + i]. */
void mo_cpu_conv_indirection_fill(const mo_cpu_conv_kernel *kernel,
                                  const mo_cpu_conv_phase *phase,
                                  const float *picture, int64_t first,
                                  int64_t n, const float **rows);

/* Where in the result they are: image times places, then place. */
void mo_cpu_conv_output_positions(const mo_cpu_conv_kernel *kernel,
                                  const mo_cpu_conv_phase *phase, int64_t first,
                                  int64_t n, int64_t *places);

/* Sums for kernels by channel: c[i][j] = sum over taps of rows[tap * n + i][j]
 * weights[tap][j]. */
void mo_cpu_conv_depthwise(const float *const *rows, int64_t n, int64_t taps,
                           const float *weights, int64_t channels, float *c);

#endif
