/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Problems of the tensor core GEMM: layouts, sizes and epilogue of a call, and
 * the source of its kernel.
 */
#include "exec/backend/cuda/algo/tensorcore.h"

#include <limits.h>
#include <math.h>

#include "base/ablation.h"
#include "exec/backend/cuda/jit/codegen_epilogue.h"
#include "exec/op/call.h"

/* C guarantees literals of 4095 characters only; every compiler accepts more.
 */
#pragma GCC diagnostic ignored "-Woverlength-strings"

/* Offsets inside of one matrix are ints, also those of a tile beyond its end,
 * which are not read. */
enum { MAX_OFFSET = 1 << 30, MAX_TILE = 256 };
/* Corners of windows have 16 bits each. */
enum {
    MAX_IMAGE_SIDE = 16000,
    MAX_WINDOW_REACH = 8000,
    USUAL_REACH = MAX_WINDOW_REACH / 64
};
/* Channels per group for which a product per group pays. */
enum { MIN_GROUP_CHANNELS = 16 };

static bool fits_int_offsets(int64_t rows, int64_t pitch)
{
    return rows >= 0 && pitch >= 0 && rows <= MAX_OFFSET &&
           pitch <= MAX_OFFSET &&
           (double) (rows + MAX_TILE) * (double) pitch < MAX_OFFSET;
}

static int max_copy_width(mo_elem elem)
{
    return 16 / (int) mo_elem_size(elem);
}

static void limit_to_divisor(int *count, int64_t extent)
{
    while (extent % *count != 0)
        *count /= 2;
}

static void limit_to_divisors(int *count, const int64_t *strides)
{
    for (int d = 0; d < MO_CUDA_TENSORCORE_MAX_BATCH_DIMS; d++)
        limit_to_divisor(count, strides[d]);
}

static bool set_batches(const mo_call_matmul *f, mo_cuda_tensorcore_problem *p)
{
    mo_cuda_tensorcore_args *a = &p->arguments;
    int first = MO_CUDA_TENSORCORE_MAX_BATCH_DIMS - f->n_batch;

    if (f->n_batch > MO_CUDA_TENSORCORE_MAX_BATCH_DIMS)
        return false;
    p->batches = 1;
    for (int d = 0; d < MO_CUDA_TENSORCORE_MAX_BATCH_DIMS; d++)
        a->extent[d] = 1;
    for (int d = 0; d < f->n_batch; d++) {
        if (f->extent[d] > USHRT_MAX)
            return false;
        p->batches *= f->extent[d];
        a->extent[first + d] = (int) f->extent[d];
        a->a_batch[first + d] = f->a.batch[d];
        a->b_batch[first + d] = f->b.batch[d];
        a->c_batch[first + d] = f->c.batch[d];
    }
    return p->batches > 0 && p->batches <= USHRT_MAX;
}

/* A matrix of outer x k elements. */
typedef struct operand_strides {
    int64_t outer, k;
    int64_t step, k_step; /* along the outer dimension, and along k */
    const int64_t *batch;
} operand_strides;

/* Layout of one operand. */
static bool set_form(const operand_strides *m, mo_cuda_tensorcore_layout *form,
                     int *pitch, int *count)
{
    bool rows = m->k_step == 1 || m->k == 1;

    if (!rows && m->step != 1 && m->outer != 1)
        return false;
    *form = rows ? MO_CUDA_TENSORCORE_K_MAJOR : MO_CUDA_TENSORCORE_MN_MAJOR;
    if (!fits_int_offsets(rows ? m->outer : m->k, rows ? m->step : m->k_step))
        return false;
    *pitch = (int) (rows ? m->step : m->k_step);
    limit_to_divisor(count, *pitch);
    limit_to_divisor(count, rows ? m->k : m->outer);
    limit_to_divisors(count, m->batch);
    return true;
}

/* A constant b without batches has been packed: rows of k, padded with
 * zeros. */
static void use_packed_columns(const mo_cuda_algo_problem *task,
                               mo_cuda_tensorcore_problem *p)
{
    p->b_packed = true;
    p->b_form = MO_CUDA_TENSORCORE_K_MAJOR;
    p->arguments.b_pitch = (int) task->pitch;
    p->b_count = max_copy_width(p->elem);
    limit_to_divisor(&p->b_count, task->pitch);
    limit_to_divisors(&p->b_count, p->arguments.b_batch);
}

static bool set_sizes(const mo_call_matmul *f, mo_cuda_tensorcore_problem *p)
{
    mo_cuda_tensorcore_args *a = &p->arguments;

    if (f->m < 1 || f->n < 1 || f->k < 1 || f->k > MAX_OFFSET ||
        !fits_int_offsets(f->m, f->c.row) || !fits_int_offsets(f->n, 1) ||
        !set_batches(f, p))
        return false;
    a->m = (int) f->m;
    a->n = (int) f->n;
    a->k = (int) f->k;
    a->c_pitch = (int) f->c.row;
    p->a_count = p->b_count = max_copy_width(p->elem);
    return set_form(
        &(operand_strides){ f->m, f->k, f->a.row, f->a.column, a->a_batch },
        &p->a_form, &a->a_pitch, &p->a_count);
}

static bool read_matmul(const mo_cuda_algo_problem *task,
                        mo_cuda_tensorcore_problem *p)
{
    mo_call_matmul f = task->call->u.matmul;
    bool swapped = mo_call_matmul_collapse(&f);
    mo_cuda_tensorcore_args *a = &p->arguments;

    if (f.n > 1 && f.c.column != 1)
        return false;
    p->a_in = swapped ? 1 : 0;
    p->b_in = swapped ? 0 : 1;
    if (!set_sizes(&f, p))
        return false;
    if (task->columns && !swapped && fits_int_offsets(f.n, task->pitch)) {
        use_packed_columns(task, p);
        return true;
    }
    return set_form(
        &(operand_strides){ f.n, f.k, f.b.column, f.b.row, a->b_batch },
        &p->b_form, &a->b_pitch, &p->b_count);
}

/* As a product of rows of channels; a pixel is a row. */
static mo_call_matmul conv_as_matmul(const mo_call_conv *c, int64_t k,
                                     int64_t pitch)
{
    int64_t in = c->in_channels / c->groups, out = c->out_channels / c->groups;
    mo_call_matmul f = { .m = c->batch,
                         .n = out,
                         .k = k,
                         .n_batch = c->groups > 1,
                         .extent = { c->groups } };

    for (int d = 0; d < c->sweep.spatial; d++)
        f.m *= c->sweep.out[d];
    f.a = (mo_call_matmul_operand){ c->in_channels, 1, { in } };
    f.b = (mo_call_matmul_operand){ 1, pitch, { out * pitch } };
    f.c = (mo_call_matmul_operand){ c->out_channels, 1, { out } };
    return f;
}

static bool sweep_fits(const mo_call_window *s)
{
    for (int d = 0; d < s->spatial; d++)
        if (s->in[d] > MAX_IMAGE_SIDE || s->out[d] > MAX_IMAGE_SIDE ||
            s->stride[d] > MAX_IMAGE_SIDE ||
            s->pad_begin[d] > MAX_WINDOW_REACH ||
            s->out[d] * s->stride[d] > MAX_IMAGE_SIDE + MAX_WINDOW_REACH ||
            s->kernel[d] > MAX_WINDOW_REACH ||
            s->dilation[d] > MAX_WINDOW_REACH ||
            s->kernel[d] * s->dilation[d] > MAX_WINDOW_REACH)
            return false;
    return s->spatial <= 2;
}

static bool image_fits(const mo_call_conv *c)
{
    double elements = (double) c->batch * (double) c->in_channels;

    for (int d = 0; d < c->sweep.spatial; d++)
        elements *= (double) (c->sweep.in[d] + USUAL_REACH);
    return elements < MAX_OFFSET;
}

static bool read_conv(const mo_cuda_algo_problem *task,
                      mo_cuda_tensorcore_problem *p)
{
    const mo_call_conv *c = &task->call->u.conv;
    int64_t k = c->groups > 0 ? c->in_channels / c->groups : 0;
    mo_call_matmul f;

    if (c->transposed || !c->channels_last || k < 1 || !sweep_fits(&c->sweep) ||
        !image_fits(c) || !task->columns ||
        (c->groups > 1 && (k < MIN_GROUP_CHANNELS ||
                           c->out_channels / c->groups < MIN_GROUP_CHANNELS)))
        return false;
    for (int d = 0; d < c->sweep.spatial; d++)
        k *= c->sweep.kernel[d];
    f = conv_as_matmul(c, k, task->pitch);
    p->a_in = 0;
    p->b_in = 1;
    if (!set_sizes(&f, p) || !fits_int_offsets(f.n, task->pitch))
        return false;
    use_packed_columns(task, p);
    if (c->groups > 1)
        p->arguments.bias_batch[MO_CUDA_TENSORCORE_MAX_BATCH_DIMS - 1] = f.n;
    if (mo_call_window_is_pixel_wise(&c->sweep))
        return true;
    p->a_form = MO_CUDA_TENSORCORE_IM2COL;

    /* The height is 1 in one dimension. */
    mo_cuda_tensorcore_window *w = &p->arguments.window;
    const mo_call_window *s = &c->sweep;
    int x = s->spatial - 1;

    *w = (mo_cuda_tensorcore_window){
        .in_h = x > 0 ? (int) s->in[0] : 1,
        .in_w = (int) s->in[x],
        .out_h = x > 0 ? (int) s->out[0] : 1,
        .out_w = (int) s->out[x],
        .kernel_h = x > 0 ? (int) s->kernel[0] : 1,
        .kernel_w = (int) s->kernel[x],
        .stride_h = x > 0 ? (int) s->stride[0] : 1,
        .stride_w = (int) s->stride[x],
        .dilation_h = x > 0 ? (int) s->dilation[0] : 1,
        .dilation_w = (int) s->dilation[x],
        .pad_h = x > 0 ? (int) s->pad_begin[0] : 0,
        .pad_w = (int) s->pad_begin[x],
        .channels = (int) (c->in_channels / c->groups),
    };
    p->a_count = max_copy_width(p->elem);
    limit_to_divisor(&p->a_count, p->arguments.window.channels);
    limit_to_divisor(&p->a_count, p->arguments.a_pitch);
    return true;
}

static void set_act(const mo_cuda_epilogue *e, mo_cuda_tensorcore_problem *p)
{
    static const mo_point_op ops[] = {
        [MO_CUDA_ACT_GELU_TANH] = MO_POINT_GELU_TANH,
        [MO_CUDA_ACT_GELU_ERF] = MO_POINT_GELU_ERF,
        [MO_CUDA_ACT_SIGMOID] = MO_POINT_SIGMOID,
        [MO_CUDA_ACT_SWISH] = MO_POINT_SWISH,
        [MO_CUDA_ACT_TANH] = MO_POINT_TANH,
    };
    mo_cuda_tensorcore_args *a = &p->arguments;

    a->low = -INFINITY;
    a->high = INFINITY;
    if (e->act == MO_CUDA_ACT_RELU) {
        a->low = 0;
    } else if (e->act == MO_CUDA_ACT_CLAMP) {
        a->low = (float) e->x;
        a->high = (float) e->y;
    } else if (e->act != MO_CUDA_ACT_NONE) {
        p->has_act = true;
        p->act = (mo_point_program){ .n_operands = 1,
                                     .operands = { { .elem = MO_ELEM_F32 } } };
        p->act.result = mo_point_push_step(
            &p->act,
            (mo_point_step){ .op = ops[e->act], .x = e->x, .y = e->y });
    }
}

static void set_epilogue(const mo_cuda_algo_problem *task,
                         mo_cuda_tensorcore_problem *p)
{
    mo_cuda_tensorcore_args *a = &p->arguments;
    mo_cuda_epilogue e;
    int count = 4;

    limit_to_divisor(&count, a->n);
    limit_to_divisor(&count, a->c_pitch);
    limit_to_divisors(&count, a->c_batch);
    p->program =
        !mo_cuda_epilogue_match(task->call, task->in, task->out, &e) ||
        (p->a_in != 0 && e.bias >= 0) ||
        (task->call->after && mo_ablated(MO_ABLATION_cuda_standard_epilogue));
    p->whole = count == 4;
    if (p->program) {
        p->whole = p->whole && mo_cuda_epilogue_vector_width(
                                   task->call, task->out, a->n) >= 4;
        p->bias = p->residual = -1;
        return;
    }
    p->bias = e.bias;
    p->residual = e.residual;
    a->residual_last = e.residual_last;
    set_act(&e, p);
}

static bool set_math(const mo_backend_unit *unit,
                     const mo_cuda_algo_problem *task,
                     mo_cuda_tensorcore_problem *p)
{
    p->elem = task->out->elem;
    if (task->in[0].desc.elem != p->elem || task->in[1].desc.elem != p->elem)
        return false;
    switch (p->elem) {
    case MO_ELEM_F32:
        p->kind = unit->options.precision == MO_BACKEND_PRECISION_TF32
                      ? MO_CUDA_TENSORCORE_TF32
                      : MO_CUDA_TENSORCORE_3XTF32;
        return unit->arch >= 80;
    case MO_ELEM_F16:
        p->kind = MO_CUDA_TENSORCORE_F16;
        return unit->arch >= 75;
    case MO_ELEM_BF16:
        p->kind = MO_CUDA_TENSORCORE_BF16;
        return unit->arch >= 80;
    default:
        return false;
    }
}

bool mo_cuda_tensorcore_problem_init(const mo_backend_unit *unit,
                                     const mo_cuda_algo_problem *task,
                                     mo_cuda_tensorcore_problem *problem)
{
    *problem = (mo_cuda_tensorcore_problem){ 0 };
    if (!set_math(unit, task, problem) ||
        !(task->call->kind == MO_CALL_CONV ? read_conv(task, problem)
                                           : read_matmul(task, problem)))
        return false;
    problem->b_constant = task->in[problem->b_in].constant != NULL;
    set_epilogue(task, problem);
    return true;
}

static const char kernel_source[] =
#include "exec/backend/cuda/algo/tensorcore_load.inc"
#include "exec/backend/cuda/algo/tensorcore_mma.inc"
#include "exec/backend/cuda/algo/tensorcore_epilogue.inc"
#include "exec/backend/cuda/algo/tensorcore_kernel.inc"
    ;

static void emit_define(mo_cuda_source *code, const char *name, int value)
{
    mo_cuda_source_printf(code, "#define %s %d\n", name, value);
}

void mo_cuda_emit_tensorcore(mo_cuda_source *code,
                             const mo_cuda_algo_problem *task,
                             const mo_cuda_tensorcore_problem *problem,
                             const mo_cuda_tensorcore_tile *tile)
{
    int width = problem->whole ? 4 : 1;
    int64_t elements =
        problem->program ? mo_tensor_desc_elements(task->out) : 0;

    mo_cuda_emit_types(code, problem->elem, width, elements);
    emit_define(code, "TM", tile->m);
    emit_define(code, "TN", tile->n);
    emit_define(code, "WM", tile->warp_m);
    emit_define(code, "WN", tile->warp_n);
    emit_define(code, "GROUPS", tile->groups);
    emit_define(code, "STAGES", tile->stages);
    emit_define(code, "THREADS", mo_cuda_tensorcore_block_threads(tile));
    emit_define(code, "BLOCKS", tile->blocks);
    emit_define(code, "ROWS", MO_CUDA_TENSORCORE_K_MAJOR);
    emit_define(code, "TURNED", MO_CUDA_TENSORCORE_MN_MAJOR);
    emit_define(code, "WINDOWS", MO_CUDA_TENSORCORE_IM2COL);
    emit_define(code, "KIND", (int) problem->kind);
    emit_define(code, "A_FORM", (int) problem->a_form);
    emit_define(code, "B_FORM", (int) problem->b_form);
    emit_define(code, "A_COUNT", problem->a_count);
    emit_define(code, "B_COUNT", problem->b_count);
    emit_define(code, "B_CONSTANT", problem->b_constant);
    emit_define(code, "B_ROUNDED", problem->b_packed);
    emit_define(code, "PROGRAM", problem->program);
    if (problem->program)
        mo_cuda_emit_epilogue(code, task->call, task->out, width);
    else {
        /* The activation of the standard epilogue. */
        const char *operands[1] = { NULL };
        char result[MO_CUDA_EXPR_SIZE] = "v";

        mo_cuda_source_append(code, "MO_DEVICE float act(float v)\n{\n");
        if (problem->has_act)
            mo_cuda_emit_point_steps(code, &problem->act, MO_ELEM_F32, operands,
                                     result);
        mo_cuda_source_printf(code, "return %s;\n}\n", result);
        mo_cuda_stored_expr(problem->elem, "v", result);
        mo_cuda_source_printf(
            code, "MO_DEVICE T stored(float v) { return %s; }\n", result);
        mo_cuda_source_append(code, "struct mo_extra { const void *none; };\n");
    }
    mo_cuda_source_append(code, kernel_source);
}
