/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cpu/conv/cpu_conv.h"

#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/array.h"
#include "base/minmax.h"
#include "exec/backend/cpu/pointwise/compiled_program.h"

/* With few channels the rows of a window are short and need a pointer each; a
 * merged row of the window is longer. */
static bool is_worth_merging(const mo_call_conv *c)
{
    enum { FEW_CHANNELS = 16 };

    return !mo_ablated(MO_ABLATION_conv_merged_rows) && !c->transposed &&
           c->groups == 1 && c->in_channels < FEW_CHANNELS &&
           c->sweep.kernel[2] > 1 && c->sweep.dilation[2] == 1 &&
           c->sweep.pad_begin[2] >= 0 && c->sweep.pad_end[2] >= 0;
}

static mo_cpu_conv_image image_of(const mo_call_conv *c, mo_elem elem)
{
    mo_cpu_conv_image p = { .channels = c->in_channels };

    memcpy(p.in, c->sweep.in, sizeof p.in);
    memcpy(p.extent, c->sweep.in, sizeof p.extent);
    p.merged = is_worth_merging(c);
    if (p.merged) {
        p.shift = c->sweep.pad_begin[2];
        p.extent[2] += c->sweep.pad_begin[2] + c->sweep.pad_end[2];
    }
    p.staged =
        p.extent[2] != p.in[2] || !c->channels_last || elem != MO_ELEM_F32;
    return p;
}

static void fill_numbers(const mo_call_conv *call, mo_elem elem, mo_elem result,
                         mo_cpu_conv_kernel *k)
{
    const mo_call_conv *c = &k->call;

    k->call = *call;
    k->call.sweep = mo_call_window_to_3d(&call->sweep);
    k->elem = elem;
    k->image = image_of(c, elem);
    k->in_group = c->in_channels / c->groups;
    k->out_group = c->out_channels / c->groups;
    k->by_channel = k->in_group == 1 && k->out_group == 1 && c->groups > 1 &&
                    !mo_ablated(MO_ABLATION_conv_depthwise);
    k->depth = k->in_group * (k->image.merged ? c->sweep.kernel[2] : 1);
    k->direct = c->channels_last && result == MO_ELEM_F32 && !c->transposed &&
                (c->pitch > 0 || !mo_ablated(MO_ABLATION_conv_direct));
    k->pitch = c->pitch > 0 ? c->pitch : c->out_channels;
}

/* With several groups a block has all columns: its row pointers serve all
 * groups. */
static void cut_phases(const mo_cpu_unit *unit, mo_cpu_conv_kernel *k)
{
    const mo_call_conv *c = &k->call;
    bool reread = !k->direct || !k->gemm_epilogue.by_micro_kernels;

    for (int64_t i = 0; i < k->n_phases; i++) {
        mo_cpu_conv_phase *p = &k->phases[i];
        int64_t rows = c->batch * p->n[0] * p->n[1] * p->n[2];
        int64_t depth = p->n_taps * k->depth;

        p->blocks = mo_cpu_gemm_blocking_choose(unit->micro_kernels, rows,
                                                c->out_channels, depth, 1,
                                                reread, unit->threads);
        if (c->groups > 1) {
            p->blocks.columns = c->out_channels;
            p->blocks.n_columns = p->blocks.n_columns > 0;
        }
    }
}

static mo_status make_weights(mo_cpu_unit *unit, const void *constant,
                              mo_cpu_conv_kernel *k, mo_error *err)
{
    mo_status status;

    mo_cpu_conv_weights_layout(unit->micro_kernels, k);
    if (!constant || mo_ablated(MO_ABLATION_packed_weights)) {
        k->packed_bytes =
            mo_cpu_round_to_line((size_t) k->weight_floats * sizeof(float));
        return MO_OK;
    }
    status =
        mo_cpu_gemm_panels_new(unit, 1, k->weight_floats, &k->weights, err);
    if (status != MO_OK)
        return status;
    if (!unit->sizes_only) {
        mo_cpu_conv_weights_pack(unit->micro_kernels, k, constant, k->weights);
        k->skips_padding =
            k->call.transposed && !mo_cpu_conv_weights_finite(k, k->weights);
    }
    k->base.consumed |= (uint64_t) 1 << 1;
    return MO_OK;
}

/* The zero row stands for padding. */
static mo_status make_zeros(mo_cpu_conv_kernel *k, mo_error *err)
{
    int64_t floats =
        k->depth > k->image.channels ? k->depth : k->image.channels;
    size_t bytes = mo_cpu_round_to_line((size_t) floats * sizeof(float)) +
                   MO_CPU_CACHE_LINE;

    k->zeros = aligned_alloc(MO_CPU_CACHE_LINE, bytes);
    if (!k->zeros)
        return mo_fail_memory(err);
    memset(k->zeros, 0, bytes);
    return MO_OK;
}

static void divide_workspace(mo_cpu_conv_kernel *k)
{
    const mo_cpu_conv_image *p = &k->image;
    size_t rows = 0, pointers = 0, sums = 0, end;

    for (int64_t i = 0; i < k->n_phases; i++) {
        const mo_cpu_conv_phase *phase = &k->phases[i];
        size_t n = (size_t) phase->blocks.rows;
        size_t taps = (size_t) phase->n_taps *
                      (k->by_channel ? 1 + MO_CPU_DEPTHWISE_POINTERS : n);

        rows = n > rows ? n : rows;
        pointers = taps > pointers ? taps : pointers;
        if (n * (size_t) phase->blocks.columns > sums)
            sums = n * (size_t) phase->blocks.columns;
    }
    if (k->direct)
        sums = k->pitch == k->call.out_channels ? 0 : MO_CPU_POINT_BLOCK;
    end = mo_cpu_round_to_line(pointers * sizeof(float *));
    k->sums_at = mo_cpu_append_part(&end, sums * sizeof(float));
    k->transposed_at = mo_cpu_append_part(
        &end, k->call.channels_last ? 0 : sums * sizeof(float));
    k->positions_at = mo_cpu_append_part(&end, rows * sizeof(int64_t));
    k->epilogue_at =
        mo_cpu_append_part(&end, mo_cpu_epilogue_scratch_size(&k->epilogue));
    k->scratch = end;
    if (p->staged)
        k->stage_bytes = mo_cpu_round_to_line(
            (size_t) (k->call.batch * p->extent[0] * p->extent[1] *
                      p->extent[2] * p->channels) *
            sizeof(float));
}

static void free_conv(mo_cpu_kernel *kernel)
{
    mo_cpu_conv_kernel *k = (mo_cpu_conv_kernel *) kernel;

    mo_cpu_conv_phases_free(k);
    mo_cpu_epilogue_clear(&k->epilogue);
    free(k->weights);
    free(k->zeros);
    free(k);
}

static mo_status fill_kernel(mo_cpu_unit *unit, const mo_call *call,
                             const mo_backend_operand *in,
                             const mo_tensor_desc *out, mo_cpu_conv_kernel *k,
                             mo_error *err)
{
    mo_status status;

    fill_numbers(&call->u.conv, in[0].desc.elem, out->elem, k);
    status = mo_cpu_epilogue_init(call, out, &k->epilogue, err);
    if (status == MO_OK && k->direct && !mo_ablated(MO_ABLATION_gemm_epilogue))
        k->gemm_epilogue =
            mo_cpu_gemm_epilogue_match(&k->epilogue, call->u.conv.out_channels);
    if (status == MO_OK)
        status = mo_cpu_conv_phases_init(k, err);
    if (status == MO_OK)
        status = make_weights(unit, in[1].constant, k, err);
    if (status == MO_OK)
        status = make_zeros(k, err);
    if (status != MO_OK)
        return status;
    cut_phases(unit, k);
    divide_workspace(k);
    return MO_OK;
}

static mo_status prepare_conv(mo_cpu_unit *unit, const mo_call *call,
                              const mo_backend_operand *in,
                              const mo_tensor_desc *out, mo_cpu_kernel **kernel,
                              size_t *workspace, mo_error *err)
{
    const mo_call_conv *c = &call->u.conv;
    mo_elem elem = in[0].desc.elem;
    mo_cpu_conv_kernel *k;
    mo_status status;

    if (!mo_elem_is_float(elem) || elem == MO_ELEM_F64 ||
        in[1].desc.elem != elem ||
        (out[0].elem != elem && out[0].elem != MO_ELEM_I32))
        return mo_fail(err, MO_E_SUPPORT,
                       "a convolution of %s with %s to %s cannot be run",
                       mo_elem_name(elem), mo_elem_name(in[1].desc.elem),
                       mo_elem_name(out[0].elem));
    /* Only results computed in place may be strided. */
    if (c->pitch != 0 &&
        (c->pitch < c->out_channels || c->groups != 1 || c->transposed ||
         !c->channels_last || out[0].elem != MO_ELEM_F32))
        return mo_fail(err, MO_E_SUPPORT,
                       "a convolution cannot make a part of another tensor "
                       "unless it is of f32, in one group, channels last");
    k = calloc(1, sizeof *k);
    if (!k)
        return mo_fail_memory(err);
    status = fill_kernel(unit, call, in, &out[0], k, err);
    if (status != MO_OK) {
        free_conv(&k->base);
        return status;
    }
    *kernel = &k->base;
    *workspace = k->stage_bytes + k->packed_bytes +
                 mo_cpu_workspace_size(unit, k->scratch);
    return MO_OK;
}

typedef struct conv_run {
    const mo_cpu_conv_kernel *kernel;
    const mo_cpu_conv_phase *phase;
    const mo_cpu_micro_kernels *micro_kernels;
    const float *image, *weights;
    bool skips_padding;
    mo_cpu_micro_kernel_epilogue end;
    const void *const *in;
    void *out;
    char *scratch; /* of all workers */
} conv_run;

typedef struct block {
    const conv_run *run;
    char *scratch;
    int64_t row, rows, column, columns;
    float *sums;
    int64_t pitch;
} block;

static block block_of(const conv_run *run, int64_t job, int worker)
{
    const mo_cpu_conv_kernel *k = run->kernel;
    const mo_cpu_conv_phase *p = run->phase;
    const mo_cpu_gemm_blocking *cut = &p->blocks;
    int64_t rows = k->call.batch * p->n[0] * p->n[1] * p->n[2];
    block b = { .run = run };

    b.scratch = mo_cpu_worker_scratch(run->scratch, k->scratch, worker);
    b.row = job % cut->n_rows * cut->rows;
    b.rows = rows - b.row < cut->rows ? rows - b.row : cut->rows;
    b.column = job / cut->n_rows * cut->columns;
    b.columns = k->call.out_channels - b.column;
    b.columns = b.columns < cut->columns ? b.columns : cut->columns;
    b.sums = (float *) (void *) (b.scratch + k->sums_at);
    b.pitch = b.columns;
    if (k->direct) {
        b.pitch = k->pitch;
        b.sums = (float *) run->out + b.row * b.pitch + b.column;
    }
    return b;
}

static void multiply_channels(const block *b)
{
    const conv_run *run = b->run;
    const mo_cpu_conv_kernel *k = run->kernel;
    const float **pointers = (const float **) (void *) b->scratch;
    mo_cpu_depthwise_args sums = {
        .weights = pointers,
        .in = pointers + run->phase->n_taps,
        .step = run->phase->in_step[2] * k->call.in_channels,
        .channels = k->call.in_channels,
        .end = k->gemm_epilogue.by_micro_kernels ? &run->end : NULL,
    };

    for (int64_t r = 0; r < b->rows; r += sums.positions) {
        mo_cpu_conv_depthwise_taps(k, run->phase, run->image,
                                   run->weights + run->phase->weights_at,
                                   b->row + r, b->rows - r, &sums);
        sums.c = b->sums + r * b->pitch;
        sums.end_row = b->row + r;
        run->micro_kernels->depthwise(&sums);
    }
}

static void multiply_block(const block *b)
{
    const conv_run *run = b->run;
    const mo_cpu_conv_kernel *k = run->kernel;
    const mo_cpu_conv_phase *phase = run->phase;
    const float **rows = (const float **) (void *) b->scratch;
    const float *weights = run->weights + phase->weights_at;
    int64_t groups = k->call.groups, depth = phase->n_taps * k->depth;
    int64_t group =
        mo_cpu_gemm_panel_columns(run->micro_kernels, k->out_group) * depth;
    mo_cpu_gemm product = { .micro_kernels = run->micro_kernels,
                            .rows = rows,
                            .step = b->rows,
                            .n_rows = b->rows,
                            .taps = phase->n_taps,
                            .depth = k->depth,
                            .columns = groups > 1 ? k->out_group : b->columns,
                            .pitch = b->pitch,
                            .end_row = b->row };

    if (k->gemm_epilogue.by_micro_kernels)
        product.end = &run->end;
    mo_cpu_conv_indirection_fill(k, phase, run->image, b->row, b->rows, rows);
    for (int64_t g = 0; g < groups; g++) {
        product.skip = g * k->in_group;
        product.panels = weights + g * group + b->column * depth;
        product.c = b->sums + g * k->out_group;
        product.end_column = b->column + g * k->out_group;
        if (run->skips_padding)
            mo_cpu_conv_multiply_inside(k, &product);
        else
            mo_cpu_gemm_run(&product);
    }
}

static void epilogue_range(const block *b, int64_t first, int64_t count,
                           const float *sums)
{
    const conv_run *run = b->run;

    mo_cpu_epilogue_run(&run->kernel->epilogue, run->in, run->out, first, count,
                        sums, b->scratch + run->kernel->epilogue_at);
}

/* Applies the epilogue to n whole rows that are apart, in a copy of them. */
static void epilogue_apart(const block *b, int64_t row, int64_t n)
{
    const mo_cpu_conv_kernel *k = b->run->kernel;
    float *copy = (float *) (void *) (b->scratch + k->sums_at);
    float *sums = b->sums + row * b->pitch;
    size_t bytes = (size_t) b->columns * sizeof *sums;

    for (int64_t r = 0; r < n; r++)
        memcpy(copy + r * b->columns, sums + r * b->pitch, bytes);
    mo_cpu_epilogue_run_to(&k->epilogue, b->run->in, copy,
                           (b->row + row) * b->columns, n * b->columns, copy,
                           b->scratch + k->epilogue_at);
    for (int64_t r = 0; r < n; r++)
        memcpy(sums + r * b->pitch, copy + r * b->columns, bytes);
}

/* Applies the epilogue to sums in place. */
static void epilogue_direct(const block *b)
{
    const mo_cpu_conv_kernel *k = b->run->kernel;
    bool at_once = b->columns == b->pitch;
    bool whole = b->columns == k->call.out_channels;
    int64_t step = at_once ? b->rows : 1;

    if (k->gemm_epilogue.by_micro_kernels)
        return;
    if (!at_once && whole && MO_CPU_POINT_BLOCK / b->columns > 1)
        step = MO_CPU_POINT_BLOCK / b->columns;
    for (int64_t r = 0; r < b->rows; r += step) {
        float *sums = b->sums + r * b->pitch;
        int64_t first = (b->row + r) * k->call.out_channels + b->column;

        if (!at_once && step > 1)
            epilogue_apart(b, r, mo_min_i64(step, b->rows - r));
        else
            mo_cpu_epilogue_run_to(&k->epilogue, b->run->in, sums, first,
                                   step * b->columns, sums,
                                   b->scratch + k->epilogue_at);
    }
}

static void epilogue_nchw(const block *b, const int64_t *positions)
{
    const mo_cpu_conv_kernel *k = b->run->kernel;
    const mo_call_conv *c = &k->call;
    int64_t size = mo_call_window_volume(c->sweep.out);
    float *transposed = (float *) (void *) (b->scratch + k->transposed_at);
    mo_cpu_matrix_view sums = { b->sums, MO_ELEM_F32, 0, 1, b->pitch };

    mo_cpu_load_f32_matrix(&sums, b->columns, b->rows, transposed, b->rows);
    for (int64_t r = 0, end; r < b->rows; r = end) {
        int64_t image = positions[r] / size, place = positions[r] % size;

        /* Contiguous positions in one image are stored at once. */
        end = r + 1;
        while (end < b->rows && positions[end] == positions[end - 1] + 1 &&
               positions[end] % size != 0)
            end++;
        for (int64_t j = 0; j < b->columns; j++)
            epilogue_range(
                b, (image * c->out_channels + b->column + j) * size + place,
                end - r, transposed + j * b->rows + r);
    }
}

/* Rows of a transposed convolution are apart; without a program they are
 * copied. */
static void epilogue_rows(const block *b, const int64_t *positions)
{
    const mo_cpu_epilogue *epilogue = &b->run->kernel->epilogue;
    int64_t channels = b->run->kernel->call.out_channels;
    bool copies = !epilogue->program && epilogue->elem == MO_ELEM_F32;

    for (int64_t r = 0; r < b->rows; r++) {
        int64_t first = positions[r] * channels + b->column;
        const float *sums = b->sums + r * b->pitch;

        if (copies)
            memcpy((float *) b->run->out + first, sums,
                   (size_t) b->columns * sizeof *sums);
        else
            epilogue_range(b, first, b->columns, sums);
    }
}

static void run_blocks(void *context, int64_t begin, int64_t end, int worker)
{
    const conv_run *run = context;
    const mo_cpu_conv_kernel *k = run->kernel;

    for (int64_t job = begin; job < end; job++) {
        block b = block_of(run, job, worker);
        int64_t *positions = (int64_t *) (void *) (b.scratch + k->positions_at);

        if (k->by_channel)
            multiply_channels(&b);
        else
            multiply_block(&b);
        if (k->direct) {
            epilogue_direct(&b);
            continue;
        }
        mo_cpu_conv_output_positions(k, run->phase, b.row, b.rows, positions);
        if (k->call.channels_last)
            epilogue_rows(&b, positions);
        else
            epilogue_nchw(&b, positions);
    }
}

static mo_status run_conv(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                          const void *const *in, void *const *out,
                          void *workspace, mo_error *err)
{
    const mo_cpu_conv_kernel *k = (const mo_cpu_conv_kernel *) kernel;
    float *stage = workspace;
    float *packed = (float *) (void *) ((char *) workspace + k->stage_bytes);
    conv_run run = { .kernel = k,
                     .micro_kernels = unit->micro_kernels,
                     .image = k->image.staged ? stage : in[0],
                     .weights = k->weights ? k->weights : packed,
                     .skips_padding = k->skips_padding,
                     .in = in,
                     .out = out[0],
                     .scratch = (char *) packed + k->packed_bytes };

    (void) err;
    if (k->gemm_epilogue.by_micro_kernels)
        run.end = mo_cpu_gemm_epilogue_bind(&k->gemm_epilogue, in);
    if (k->image.staged)
        mo_cpu_conv_stage_input(unit, k, in[0], stage);
    if (!k->weights) {
        mo_cpu_conv_weights_pack(unit->micro_kernels, k, in[1], packed);
        run.skips_padding =
            k->call.transposed && !mo_cpu_conv_weights_finite(k, packed);
    }
    for (int64_t i = 0; i < k->n_phases; i++) {
        const mo_cpu_conv_phase *p = run.phase = &k->phases[i];

        mo_cpu_thread_pool_parallel_for(
            unit->pool, p->blocks.n_rows * p->blocks.n_columns,
            mo_cpu_gemm_blocking_grain(&p->blocks, p->n_taps * k->depth),
            run_blocks, &run);
    }
    return MO_OK;
}

const mo_cpu_kernel_class mo_cpu_conv = { prepare_conv, run_conv, free_conv };
