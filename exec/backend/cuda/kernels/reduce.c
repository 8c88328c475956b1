/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/jit/codegen_epilogue.h"
#include "exec/backend/cuda/kernels/reduce_shape.h"
#include "exec/backend/cuda/kernels/single_kernel.h"

#include "exec/backend/cuda/kernels/reduce.inc"

/* What an element x contributes, and what two gathered values a and b make. */
typedef struct recipe {
    const char *nothing, *part, *both, *end;
} recipe;

#define LEAST_INT "(-0x7fffffffffffffffll - 1)"
#define U(x)      "(unsigned long long) " x
#define PLUS      "(A) (" U("a") " + " U("b") ")"

static const recipe reals[] = {
    [MO_CALL_REDUCE_SUM] = { "0", "x", "a + b", "a" },
    [MO_CALL_REDUCE_MEAN] = { "0", "x", "a + b", "a / (A) FOLDED" },
    [MO_CALL_REDUCE_MAX] = { "-MO_INF_D", "x", "b > a ? b : a", "a" },
    [MO_CALL_REDUCE_MIN] = { "MO_INF_D", "x", "b < a ? b : a", "a" },
    [MO_CALL_REDUCE_PROD] = { "1", "x", "a * b", "a" },
    [MO_CALL_REDUCE_L1] = { "0", "fabs(x)", "a + b", "a" },
    [MO_CALL_REDUCE_L2] = { "0", "x * x", "a + b", "sqrt(a)" },
    [MO_CALL_REDUCE_AND] = { "1", "x != 0", "a != 0 && b != 0", "a" },
    [MO_CALL_REDUCE_OR] = { "0", "x != 0", "a != 0 || b != 0", "a" },
};

static const recipe integers[] = {
    [MO_CALL_REDUCE_SUM] = { "0", "x", PLUS, "a" },
    [MO_CALL_REDUCE_MEAN] = { "0", "x", PLUS, "FOLDED > 0 ? a / FOLDED : 0" },
    [MO_CALL_REDUCE_MAX] = { LEAST_INT, "x", "b > a ? b : a", "a" },
    [MO_CALL_REDUCE_MIN] = { "0x7fffffffffffffffll", "x", "b < a ? b : a",
                             "a" },
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
    mo_cuda_function *fold, *join; /* NULL: none */
    mo_cuda_grid fold_grid, join_grid;
} reduce_kernel;

static void add_recipe(mo_cuda_source *code, mo_call_reduce_op op, bool real)
{
    const recipe *how = real ? &reals[op] : &integers[op];

    mo_cuda_source_printf(code,
                          "typedef %s A;\n#define NOTHING %s\n"
                          "MO_DEVICE A part_of(A x) { return %s; }\n"
                          "MO_DEVICE A both(A a, A b) { return %s; }\n"
                          "MO_DEVICE A end_of(A a) { return %s; }\n",
                          real ? "double" : "long long", how->nothing,
                          how->part, how->both, how->end);
}

static mo_status ask(mo_backend_unit *unit, const mo_call *call,
                     const mo_backend_operand *in, const mo_tensor_desc *out,
                     const mo_cuda_reduce_shape *shape, const char *source,
                     const char *name, mo_cuda_function **function,
                     mo_error *err)
{
    mo_elem elem = out[0].elem;
    int64_t elements = mo_tensor_desc_elements(&in[0].desc);
    mo_cuda_source code = { 0 };

    if (elements < shape->kept.size)
        elements = shape->kept.size;
    mo_cuda_emit_types(&code, elem, shape->width, elements);
    mo_cuda_emit_epilogue(&code, call, &out[0], 1);
    mo_cuda_emit_reduce_shape(&code, shape);
    add_recipe(&code, call->u.reduce.op, mo_elem_is_float(elem));
    mo_cuda_source_append(&code, source);
    return mo_cuda_jit_request_source(unit, &code, name, function, err);
}

static mo_status set_grids(const mo_cuda_reduce_shape *shape,
                           reduce_kernel *made, mo_error *err)
{
    enum { JOIN_THREADS = 64 };
    mo_status status =
        mo_cuda_grid_1d(shape->kept.size, shape->outputs,
                        shape->lanes * shape->outputs, &made->fold_grid, err);

    if (status != MO_OK)
        return status;
    made->fold_grid.blocks[1] = (unsigned) shape->splits;
    if (shape->splits > 1)
        made->base.workspace = (size_t) shape->splits *
                               (size_t) shape->kept.size * sizeof(int64_t);
    return mo_cuda_grid_1d(shape->kept.size, JOIN_THREADS, JOIN_THREADS,
                           &made->join_grid, err);
}

static mo_status make(mo_backend_unit *unit, const mo_call *call,
                      const mo_backend_operand *in, const mo_tensor_desc *out,
                      reduce_kernel *made, mo_error *err)
{
    mo_cuda_reduce_shape shape = mo_cuda_reduce_shape_of(
        &call->u.reduce, (int) mo_elem_size(out[0].elem), unit->sms);
    mo_status status = mo_cuda_check_same_type(call, in, out, err);

    made->call = call;
    if (status == MO_OK)
        status = set_grids(&shape, made, err);
    if (status == MO_OK && shape.kept.size > 0)
        status = ask(unit, call, in, out, &shape, fold_source, "reduce",
                     &made->fold, err);
    if (status == MO_OK && shape.splits > 1)
        status = ask(unit, call, in, out, &shape, join_source, "join",
                     &made->join, err);
    return status;
}

static mo_status prepare(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         mo_error *err)
{
    reduce_kernel *made = calloc(1, sizeof *made);
    mo_status status =
        made ? make(unit, call, in, out, made, err) : mo_fail_memory(err);

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
