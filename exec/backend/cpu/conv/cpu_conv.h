/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_conv.h - convolution by indirect GEMM (Dukhan, The Indirect Convolution
 * Algorithm, 2019): data and steps of the kernel.
 *
 * A convolution is a matrix product whose left rows are the windows of the
 * image: an indirection buffer has one pointer for each tap, and nothing is
 * copied (micro_kernel.h). The image must be NHWC in f32; any other is staged,
 * that is, converted first.
 *
 * A transposed convolution is several ordinary ones: output positions with the
 * same index modulo the stride read the same part of the kernel, a phase. An
 * ordinary convolution has one phase.
 */
#ifndef MO_EXEC_BACKEND_CPU_CONV_CPU_CONV_H
#define MO_EXEC_BACKEND_CPU_CONV_CPU_CONV_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/backend/cpu/unit/cpu_unit.h"
#include "exec/backend/cpu/gemm/micro_kernel.h"
#include "exec/backend/cpu/pointwise/pointwise.h"
#include "exec/backend/cpu/gemm/packed_gemm.h"
#include "exec/op/call.h"

/* Always three spatial dimensions; missing ones are leading ones of extent
 * 1. */
typedef struct mo_cpu_conv_tap {
    int64_t at[3];  /* input offset from the window's origin */
    int64_t kernel; /* its first element in the kernel */
    int64_t offset; /* the same as at, in elements of the image */
    int64_t first, end; /* positions of a line with it inside the image */
} mo_cpu_conv_tap;

typedef struct mo_cpu_conv_phase {
    int64_t n[3]; /* output positions */
    int64_t out_first[3], out_step[3];
    int64_t in_step[3];
    mo_cpu_conv_tap *taps;
    int64_t n_taps;
    int64_t inside_first, inside_end; /* positions of a line with all taps */
    int64_t weights_at; /* offset of its packed weights, in floats */
    mo_cpu_gemm_blocking blocks;
} mo_cpu_conv_phase;

/* Layout of the image that windows read. */
typedef struct mo_cpu_conv_image {
    int64_t in[3];     /* extents without padding */
    int64_t extent[3]; /* with padding at both ends of the last one */
    int64_t shift;     /* padding at its beginning */
    int64_t channels;
    bool staged;
    /* A kernel row and its channels are contiguous: windows have taps in the
     * first two dimensions only. */
    bool merged;
} mo_cpu_conv_image;

/* Epilogue fused into the micro-kernels: sums, differences and products with a
 * row per channel (bias, normalization) or with a tensor like the result (the
 * other branch of a residual), and bounds such as those of ReLU, computed in
 * registers without another pass over the result. Results are bitwise the
 * same. */
typedef struct mo_cpu_gemm_epilogue {
    bool by_micro_kernels; /* the micro-kernel does the whole epilogue */
    mo_cpu_micro_kernel_epilogue end; /* without operands */
    /* by step: the operand's index in the call's in[], and its first element */
    int input[MO_CPU_MICRO_KERNEL_MAX_STEPS];
    int64_t offset[MO_CPU_MICRO_KERNEL_MAX_STEPS];
} mo_cpu_gemm_epilogue;

/* Matches the epilogue of a kernel that computes rows of floats in place. */
mo_cpu_gemm_epilogue mo_cpu_gemm_epilogue_match(const mo_cpu_epilogue *epilogue,
                                                int64_t columns);

/* Returns the micro-kernel's form; in has all inputs of the call. */
mo_cpu_micro_kernel_epilogue
mo_cpu_gemm_epilogue_bind(const mo_cpu_gemm_epilogue *gemm_epilogue,
                          const void *const *in);

typedef struct mo_cpu_conv_kernel {
    mo_cpu_kernel base;
    mo_call_conv call; /* in three dimensions */
    mo_elem elem;      /* of data and weights */
    mo_cpu_conv_image image;
    mo_cpu_conv_phase *phases;
    int64_t n_phases;
    int64_t depth;   /* elements of a tap */
    bool by_channel; /* depthwise: each channel has its own kernel */
    bool direct;     /* sums are computed in the output buffer */
    int64_t pitch;   /* row stride of a direct result */
    int64_t in_group, out_group; /* channels */
    int64_t weight_floats;       /* packed, in total */
    float *weights;              /* packed; NULL: not constant */
    bool skips_padding;          /* constant weights are not all finite */
    float *zeros;                /* the row for padding */
    mo_cpu_epilogue epilogue;
    mo_cpu_gemm_epilogue gemm_epilogue; /* the part done by the micro-kernels */
    /* in the workspace: shared parts, then those of each worker */
    size_t stage_bytes, packed_bytes, scratch;
    size_t sums_at, transposed_at, positions_at, epilogue_at;
} mo_cpu_conv_kernel;

/* Allocates the phases, freed with mo_cpu_conv_phases_free(), and computes the
 * image offsets of their taps. */
mo_status mo_cpu_conv_phases_init(mo_cpu_conv_kernel *kernel, mo_error *err);
void mo_cpu_conv_phases_free(mo_cpu_conv_kernel *kernel);

/* Computes the layout of packed weights: panels by phase and group, or by tap
 * and channel. */
void mo_cpu_conv_weights_layout(const mo_cpu_micro_kernels *micro_kernels,
                                mo_cpu_conv_kernel *kernel);
void mo_cpu_conv_weights_pack(const mo_cpu_micro_kernels *micro_kernels,
                              const mo_cpu_conv_kernel *kernel,
                              const void *weights, float *packed);

/* Returns whether no packed weight is infinite or NaN. */
bool mo_cpu_conv_weights_finite(const mo_cpu_conv_kernel *kernel,
                                const float *packed);

/* Computes the product without padding, which weights that are not finite would
 * turn into NaN. */
void mo_cpu_conv_multiply_inside(const mo_cpu_conv_kernel *kernel,
                                 const mo_cpu_gemm *product);

/* Converts the image into the staging buffer. */
void mo_cpu_conv_stage_input(mo_cpu_unit *unit,
                             const mo_cpu_conv_kernel *kernel, const void *data,
                             float *stage);

/* Fills the indirection buffer for n rows of a phase from row first on
 * (positions, image by image); rows[tap * n + i]. */
void mo_cpu_conv_indirection_fill(const mo_cpu_conv_kernel *kernel,
                                  const mo_cpu_conv_phase *phase,
                                  const float *image, int64_t first, int64_t n,
                                  const float **rows);

/* Sets the taps of as many positions as can be computed at once, from row on,
 * n at most and on one line: those whose windows are inside the image along it,
 * or a few with pointers of their own, some of them to zeros. */
void mo_cpu_conv_depthwise_taps(const mo_cpu_conv_kernel *kernel,
                                const mo_cpu_conv_phase *phase,
                                const float *image, const float *weights,
                                int64_t row, int64_t n,
                                mo_cpu_depthwise_args *taps);

/* Computes their output positions: image times positions, then position. */
void mo_cpu_conv_output_positions(const mo_cpu_conv_kernel *kernel,
                                  const mo_cpu_conv_phase *phase, int64_t first,
                                  int64_t n, int64_t *positions);

#endif
