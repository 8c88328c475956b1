/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions over any set of dimensions: reduce.cu. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/ablation.h"
#include "base/minmax.h"
#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/jit/codegen_epilogue.h"
#include "exec/backend/cuda/kernels/single_kernel.h"
#include "exec/op/call.h"

/* Shape: dimensions are sorted by their stride in the input and adjacent ones
 * are collapsed. Where the innermost one is reduced, the threads of a result
 * are neighbours; where it is kept, the results are. A result has `lanes`
 * threads of a block and `splits` blocks, whose partial results are joined by
 * a second kernel. */

typedef struct reduce_axis {
    int64_t extent, in, out;
} reduce_axis;

typedef struct reduce_axes {
    reduce_axis axes[MO_MAX_RANK]; /* outermost first */
    int n;
    int64_t size; /* product of the extents */
} reduce_axes;

typedef struct reduce_shape {
    reduce_axes kept, folded;
    bool by_rows; /* the innermost dimension is reduced */
    int width;    /* elements per vector load, all of one result */
    int lanes, outputs;
    int splits;
    int64_t share; /* vectors that each split reduces */
} reduce_shape;

enum {
    WARP_SIZE = 32,
    BLOCK_THREADS = 256,   /* of a block with neighbouring results */
    MAX_LANES = 256,       /* threads of a result that is a row */
    MAX_COLUMN_LANES = 16, /* threads of a result that is a column */
    MIN_PER_LANE = 4,      /* elements per thread, at least */
    MIN_PER_SPLIT = 16,    /* elements per thread and split, at least */
    MAX_SPLITS = 64
};

typedef struct sorted_axes {
    reduce_axis axes[MO_MAX_RANK];
    bool reduced[MO_MAX_RANK];
    int n;
} sorted_axes;

static void set_axes(const mo_call_reduce *reduce, reduce_shape *shape)
{
    sorted_axes s = { .n = 0 };

    for (int d = 0; d < reduce->rank; d++) {
        reduce_axis axis = { reduce->extent[d], reduce->in_stride[d],
                             reduce->reduced[d] ? 0 : reduce->out_stride[d] };

        if (axis.extent != 1) {
            int at = s.n++;

            for (; at > 0 && s.axes[at - 1].in < axis.in; at--) {
                s.axes[at] = s.axes[at - 1];
                s.reduced[at] = s.reduced[at - 1];
            }
            s.axes[at] = axis;
            s.reduced[at] = reduce->reduced[d];
        }
    }
    shape->kept.size = shape->folded.size = 1;
    for (int i = 0; i < s.n; i++) {
        reduce_axes *list = s.reduced[i] ? &shape->folded : &shape->kept;
        reduce_axis axis = s.axes[i];
        reduce_axis *last = list->n > 0 ? &list->axes[list->n - 1] : NULL;

        list->size *= axis.extent;
        if ((i > 0 && s.reduced[i - 1] == s.reduced[i]) && last &&
            last->in == axis.in * axis.extent &&
            last->out == axis.out * axis.extent) {
            axis.extent *= last->extent;
            *last = axis;
        } else {
            list->axes[list->n++] = axis;
        }
    }
    shape->by_rows = s.n > 0 && s.reduced[s.n - 1];
}

static int power_of_two_below(int64_t wish, int most)
{
    int n = 1;

    while (n <= wish / 2 && n < most)
        n *= 2;
    return n;
}

static void tile_rows(reduce_shape *shape, int sms)
{
    int64_t vectors = shape->folded.size / shape->width;
    bool many = shape->kept.size > (int64_t) sms * WARP_SIZE;

    shape->lanes = power_of_two_below(vectors / (many ? MIN_PER_LANE : 2),
                                      many ? WARP_SIZE : MAX_LANES);
    shape->outputs =
        shape->lanes < BLOCK_THREADS / 2 ? BLOCK_THREADS / 2 / shape->lanes : 1;
}

static reduce_shape make_shape(const mo_call_reduce *reduce, int bytes, int sms)
{
    reduce_shape shape = { 0 };
    int64_t vectors, blocks, wish, most;

    set_axes(reduce, &shape);

    /* Vectors must not cross the end of a row, and all must be aligned. */
    const reduce_axes *folded = &shape.folded, *kept = &shape.kept;
    int width = MO_CUDA_VECTOR_BYTES / bytes;

    if (!shape.by_rows || folded->axes[folded->n - 1].in != 1)
        shape.width = 1;
    else {
        for (int i = 0; i < folded->n; i++)
            while (width > 1 && (i < folded->n - 1 ? folded->axes[i].in
                                                   : folded->axes[i].extent) %
                                        width !=
                                    0)
                width /= 2;
        for (int i = 0; i < kept->n; i++)
            while (width > 1 && kept->axes[i].in % width != 0)
                width /= 2;
        shape.width = width;
    }
    if (shape.by_rows)
        tile_rows(&shape, sms);
    else {
        int64_t results = shape.kept.size;
        int side = 1;

        while (side < WARP_SIZE && side < results)
            side *= 2;
        shape.lanes = power_of_two_below(shape.folded.size / MIN_PER_LANE,
                                         MAX_COLUMN_LANES * WARP_SIZE / side);
        while (shape.lanes > 1 &&
               results * shape.lanes > (int64_t) sms * 8 * BLOCK_THREADS)
            shape.lanes /= 2;
        shape.outputs = side;
        while (shape.outputs * shape.lanes < BLOCK_THREADS / 2 &&
               results / shape.outputs > sms)
            shape.outputs *= 2;
    }
    /* Long reductions of few results use several blocks for each. */
    vectors = shape.folded.size / shape.width;
    blocks = (shape.kept.size + shape.outputs - 1) / shape.outputs;
    wish = blocks > 0 ? 2 * (int64_t) sms / blocks : 1;
    most = vectors / ((int64_t) shape.lanes * MIN_PER_SPLIT);
    wish = wish < most ? wish : most;
    wish = wish < MAX_SPLITS ? wish : MAX_SPLITS;
    if (mo_ablated(MO_ABLATION_cuda_reduce_split))
        wish = 1;
    shape.splits = wish > 1 ? (int) wish : 1;
    shape.share = (vectors + shape.splits - 1) / shape.splits;
    return shape;
}

static void emit_offsets(mo_cuda_source *code, const char *name,
                         const reduce_axes *list, bool out)
{
    int64_t extents[MO_MAX_RANK], strides[MO_MAX_RANK];

    for (int i = 0; i < list->n; i++) {
        extents[i] = list->axes[i].extent;
        strides[i] = out ? list->axes[i].out : list->axes[i].in;
    }
    mo_cuda_emit_offset_function(code, name, extents, strides, list->n);
}

#include "exec/backend/cuda/kernels/reduce.inc"

/* Expressions: the neutral element, the contribution of an element x, the
 * combination of accumulators a and b, and the result of an accumulator a. */
typedef struct reduce_op {
    const char *nothing, *part, *both, *end;
} reduce_op;

/* A is signed, or unsigned of u64. */
#define LEAST_INT   "((A) -1 > 0 ? (A) 0 : (A) (-0x7fffffffffffffffll - 1))"
#define LARGEST_INT "((A) -1 > 0 ? (A) -1 : (A) 0x7fffffffffffffffll)"
#define U(x)        "(unsigned long long) " x
#define PLUS        "(A) (" U("a") " + " U("b") ")"

static const reduce_op reals[] = {
    [MO_CALL_REDUCE_SUM] = { "0", "x", "a + b", "a" },
    [MO_CALL_REDUCE_MEAN] = { "0", "x", "a + b", "a / (A) FOLDED" },
    [MO_CALL_REDUCE_MAX] = { "-MO_INF_D", "x", "b > a || b != b ? b : a", "a" },
    [MO_CALL_REDUCE_MIN] = { "MO_INF_D", "x", "b < a || b != b ? b : a", "a" },
    [MO_CALL_REDUCE_PROD] = { "1", "x", "a * b", "a" },
    [MO_CALL_REDUCE_L1] = { "0", "fabs(x)", "a + b", "a" },
    [MO_CALL_REDUCE_L2] = { "0", "x * x", "a + b", "sqrt(a)" },
    [MO_CALL_REDUCE_AND] = { "1", "x != 0", "a != 0 && b != 0", "a" },
    [MO_CALL_REDUCE_OR] = { "0", "x != 0", "a != 0 || b != 0", "a" },
};

static const reduce_op integers[] = {
    [MO_CALL_REDUCE_SUM] = { "0", "x", PLUS, "a" },
    [MO_CALL_REDUCE_MEAN] = { "0", "x", PLUS,
                              "FOLDED > 0 ? a / (A) FOLDED : 0" },
    [MO_CALL_REDUCE_MAX] = { LEAST_INT, "x", "b > a ? b : a", "a" },
    [MO_CALL_REDUCE_MIN] = { LARGEST_INT, "x", "b < a ? b : a", "a" },
    [MO_CALL_REDUCE_PROD] = { "1", "x", "(A) (" U("a") " * " U("b") ")", "a" },
    [MO_CALL_REDUCE_L1] = { "0", "x < 0 ? (A) (0 - " U("x") ") : x", PLUS,
                            "a" },
    [MO_CALL_REDUCE_L2] = { "0", "(A) (" U("x") " * " U("x") ")", PLUS,
                            "a > 0 ? (A) sqrt((double) a) : 0" },
    [MO_CALL_REDUCE_AND] = { "1", "x != 0", "a & b", "a" },
    [MO_CALL_REDUCE_OR] = { "0", "x != 0", "a | b", "a" },
};

typedef struct reduce_kernel {
    mo_backend_kernel base;
    const mo_call *call;
    mo_cuda_function *fold, *join; /* join is NULL without splits; both are NULL
                                      for an empty result */
    mo_cuda_grid fold_grid, join_grid;
} reduce_kernel;

/* A kernel of a call. */
typedef struct reduce_pass {
    bool needed;
    const char *source, *name;
    mo_cuda_function **function;
} reduce_pass;

static mo_status prepare_reduce(mo_backend_unit *unit, const mo_call *call,
                                const mo_backend_operand *in,
                                const mo_tensor_desc *out, reduce_kernel *made,
                                mo_error *err)
{
    mo_elem elem = out[0].elem;
    reduce_shape shape =
        make_shape(&call->u.reduce, (int) mo_elem_size(elem), unit->sms);
    int64_t elements =
        mo_max_i64(mo_tensor_desc_elements(&in[0].desc), shape.kept.size);
    const reduce_pass passes[] = {
        { shape.kept.size > 0, fold_source, "reduce", &made->fold },
        { shape.splits > 1, join_source, "join", &made->join },
    };
    mo_status status = mo_cuda_check_same_type(call, in, out, err);

    made->call = call;
    if (status == MO_OK) {
        enum { JOIN_THREADS = 64 };
        status =
            mo_cuda_grid_1d(shape.kept.size, shape.outputs,
                            shape.lanes * shape.outputs, &made->fold_grid, err);

        if (status == MO_OK) {
            made->fold_grid.blocks[1] = (unsigned) shape.splits;
            if (shape.splits > 1)
                made->base.workspace = (size_t) shape.splits *
                                       (size_t) shape.kept.size *
                                       sizeof(int64_t);
            status = mo_cuda_grid_1d(shape.kept.size, JOIN_THREADS,
                                     JOIN_THREADS, &made->join_grid, err);
        }
    }
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        mo_cuda_source code = { 0 };

        if (!passes[i].needed || status != MO_OK)
            continue;
        mo_cuda_emit_types(&code, elem, shape.width, elements);
        mo_cuda_emit_epilogue(&code, call, &out[0], 1);
        mo_cuda_source_printf(
            &code,
            "#define RESULTS %lldLL\n#define FOLDED %lldLL\n"
            "#define BY_ROWS %d\n#define LANES %d\n#define OUTPUTS %d\n"
            "#define BLOCK (LANES * OUTPUTS)\n"
            "#define SPLITS %d\n#define SHARE %lldLL\n",
            (long long) shape.kept.size, (long long) shape.folded.size,
            shape.by_rows, shape.lanes, shape.outputs, shape.splits,
            (long long) shape.share);
        emit_offsets(&code, "in_of", &shape.kept, false);
        emit_offsets(&code, "out_of", &shape.kept, true);
        emit_offsets(&code, "step_of", &shape.folded, false);

        bool real = mo_elem_is_float(elem);
        const reduce_op *op_text =
            real ? &reals[call->u.reduce.op] : &integers[call->u.reduce.op];

        mo_cuda_source_printf(&code,
                              "typedef %s A;\n#define NOTHING %s\n"
                              "MO_DEVICE A part_of(A x) { return %s; }\n"
                              "MO_DEVICE A both(A a, A b) { return %s; }\n"
                              "MO_DEVICE A end_of(A a) { return %s; }\n",
                              real                  ? "double"
                              : elem == MO_ELEM_U64 ? "unsigned long long"
                                                    : "long long",
                              op_text->nothing, op_text->part, op_text->both,
                              op_text->end);
        mo_cuda_source_append(&code, passes[i].source);
        status = mo_cuda_jit_request_source(unit, &code, passes[i].name,
                                            passes[i].function, err);
    }
    return status;
}

static mo_status prepare(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         mo_error *err)
{
    reduce_kernel *made = calloc(1, sizeof *made);
    mo_status status = made ? prepare_reduce(unit, call, in, out, made, err)
                            : mo_fail_memory(err);

    if (status != MO_OK) {
        free(made);
        return status;
    }
    *kernel = &made->base;
    return MO_OK;
}

static mo_status enqueue(mo_backend_unit *unit, const mo_backend_kernel *kernel,
                         const void *const *in, void *const *out,
                         void *workspace, CUstream stream, mo_error *err)
{
    const reduce_kernel *made = (const reduce_kernel *) kernel;
    mo_cuda_epilogue_inputs extra = mo_cuda_epilogue_inputs_of(made->call, in);
    const void *from = in[0];
    void *to = out[0], *parts = made->join ? workspace : to;
    void *fold_args[] = { &from, &parts, &extra };
    void *join_args[] = { &parts, &to, &extra };
    mo_status status = MO_OK;

    if (made->fold)
        status = mo_cuda_launch(unit, made->fold, &made->fold_grid, stream,
                                fold_args, err);
    if (status == MO_OK && made->join)
        status = mo_cuda_launch(unit, made->join, &made->join_grid, stream,
                                join_args, err);
    return status;
}

const mo_cuda_kernel_class mo_cuda_reduce_kernel = { prepare, NULL, enqueue,
                                                     mo_cuda_kernel_free };
