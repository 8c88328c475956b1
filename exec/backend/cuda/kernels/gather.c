/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gather. Every index, whatever its kind, selects a slice of contiguous
 * elements; a thread copies the largest word that divides a slice.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "exec/backend/check_call.h"
#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/kernels/index_check.h"

typedef struct gather_kernel {
    mo_backend_kernel base;
    mo_cuda_function *function; /* NULL: the result has no elements */
    mo_cuda_grid grid;
} gather_kernel;

/* The gather for which code is generated. */
typedef struct gather_problem {
    const mo_call_gather *call;
    mo_elem index_elem;
    int64_t width;              /* bytes of a word */
    int64_t per;                /* words of a slice */
    int64_t count;              /* words of the result */
    int64_t per_batch;          /* ND: slices of the data in a batch */
    int64_t steps[MO_MAX_RANK]; /* ND: slices per step along each of dims;
                                   ELEMENTS: strides of the data */
} gather_problem;

static void set_strides(gather_problem *w, const int64_t *dims, int n)
{
    int64_t step = 1;

    for (int d = n; d-- > 0; step *= dims[d])
        w->steps[d] = step;
}

static int64_t count_slices(const mo_call_gather *g)
{
    switch (g->kind) {
    case MO_CALL_GATHER_AXIS:
        return g->batch * g->outer * g->count;
    case MO_CALL_GATHER_ND:
        return g->batch * g->count;
    default:
        return mo_shape_elements(&g->result);
    }
}

static gather_problem make_problem(const mo_call_gather *g, mo_elem elem,
                                   mo_elem index_elem)
{
    gather_problem w = { .call = g, .index_elem = index_elem, .width = 16 };
    int64_t bytes = (int64_t) mo_elem_size(elem);

    if (g->kind != MO_CALL_GATHER_ELEMENTS)
        bytes *= g->inner;
    while (bytes % w.width != 0)
        w.width /= 2;
    w.per = bytes / w.width;
    w.count = count_slices(g) * w.per;
    if (g->kind == MO_CALL_GATHER_ND) {
        w.per_batch = mo_shape_product(g->dims, g->depth);
        set_strides(&w, g->dims, g->depth);
    } else if (g->kind == MO_CALL_GATHER_ELEMENTS) {
        set_strides(&w, g->data.dims, g->data.rank);
    }
    return w;
}

static mo_status check_indices(const mo_call_gather *g,
                               const mo_backend_operand *indices, mo_error *err)
{
    switch (g->kind) {
    case MO_CALL_GATHER_AXIS:
        return mo_cuda_check_constant_indices(indices, &g->axis, 1, err);
    case MO_CALL_GATHER_ND:
        return g->depth == 0 ? MO_OK
                             : mo_cuda_check_constant_indices(indices, g->dims,
                                                              g->depth, err);
    default:
        return mo_cuda_check_constant_indices(indices, &g->data.dims[g->at], 1,
                                              err);
    }
}

static void emit_tuples(const gather_problem *w, mo_cuda_source *code)
{
    const mo_call_gather *g = w->call;
    int64_t extent[] = { g->batch, g->count, w->per };

    mo_cuda_emit_indices(code, "t", extent, 3);
    mo_cuda_source_printf(code,
                          "const long long first = (i0 * %lldLL + i1) * %dLL;\n"
                          "long long from = i0 * %lldLL;\n"
                          "const long long within = i2;\n",
                          (long long) g->count, g->depth,
                          (long long) w->per_batch);
    mo_cuda_emit_tuple_offset(code, "from", "first", g->dims, w->steps,
                              g->depth);
}

static mo_status request_function(mo_backend_unit *unit,
                                  const gather_problem *w,
                                  mo_cuda_function **function, mo_error *err)
{
    mo_cuda_source code = { 0 };
    const char *type = mo_cuda_bytes_type_name(w->width);

    mo_cuda_emit_index_check(&code, w->index_elem);
    mo_cuda_source_printf(
        &code,
        "MO_KERNEL_OF(gather, %d)(const %s *data, const %s *indices, "
        "%s *out, long long *wrong)\n{\n"
        "const %s zero = { 0 };\n"
        "MO_BEGIN();\n",
        MO_CUDA_GRID_STRIDE_THREADS, type,
        mo_cuda_elem_type_name(w->index_elem), type, type);
    mo_cuda_emit_grid_stride_loop(&code, w->count);
    if (w->call->kind == MO_CALL_GATHER_AXIS) {
        /* Device code: from is the slice, -1 where the index is out of range.
         */
        const mo_call_gather *g = w->call;
        int64_t extent[] = { g->batch, g->outer, g->count, w->per };

        mo_cuda_emit_indices(&code, "t", extent, 4);
        mo_cuda_source_printf(
            &code,
            "long long from = mo_index(indices, i0 * %lldLL + i2, "
            "%lldLL, wrong);\n"
            "if (from >= 0)\n"
            "    from += (i0 * %lldLL + i1) * %lldLL;\n"
            "const long long within = i3;\n",
            (long long) g->count, (long long) g->axis, (long long) g->outer,
            (long long) g->axis);
    } else if (w->call->kind == MO_CALL_GATHER_ND)
        emit_tuples(w, &code);
    else {
        const mo_call_gather *g = w->call;

        mo_cuda_emit_indices(&code, "t", g->result.dims, g->result.rank);
        mo_cuda_source_printf(
            &code,
            "long long from = mo_index(indices, t, %lldLL, wrong);\n"
            "if (from >= 0)\n"
            "    from = from * %lldLL",
            (long long) g->data.dims[g->at], (long long) w->steps[g->at]);
        mo_cuda_emit_offset_except(&code, w->steps, g->result.rank, g->at);
        mo_cuda_source_append(&code, ";\nconst long long within = 0;\n");
    }
    mo_cuda_source_printf(
        &code,
        "out[t] = from >= 0 ? data[from * %lldLL + within] : zero;\n"
        "}\n}\n",
        (long long) w->per);
    return mo_cuda_jit_request_source(unit, &code, "gather", function, err);
}

static mo_status prepare(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         mo_error *err)
{
    gather_problem w =
        make_problem(&call->u.gather, out[0].elem, in[1].desc.elem);
    mo_status status = mo_backend_check_gather(call, in, out, err);
    gather_kernel *gather;

    assert(!call->after);
    if (status == MO_OK)
        status = check_indices(w.call, &in[1], err);
    if (status == MO_OK)
        status = mo_cuda_index_error_enable(unit, err);
    if (status != MO_OK)
        return status;
    gather = calloc(1, sizeof *gather);
    if (!gather)
        return mo_fail_memory(err);
    gather->grid = mo_cuda_grid_stride_grid(unit, w.count);
    if (w.count > 0)
        status = request_function(unit, &w, &gather->function, err);
    if (status != MO_OK) {
        free(gather);
        return status;
    }
    *kernel = &gather->base;
    return MO_OK;
}

static mo_status enqueue(mo_backend_unit *unit, const mo_backend_kernel *kernel,
                         const void *const *in, void *const *out,
                         void *workspace, CUstream stream, mo_error *err)
{
    const gather_kernel *gather = (const gather_kernel *) kernel;
    const void *data = in[0], *indices = in[1];
    volatile long long *wrong = unit->index_error;
    void *result = out[0], *args[] = { &data, &indices, &result, &wrong };

    (void) workspace;
    if (!gather->function)
        return MO_OK;
    return mo_cuda_launch(unit, gather->function, &gather->grid, stream, args,
                          err);
}

const mo_cuda_kernel_class mo_cuda_gather_kernel = { prepare, NULL, enqueue,
                                                     mo_cuda_kernel_free };
