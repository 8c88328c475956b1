/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Max and average pooling: pool.cu.
 */
#include "base/array.h"
#include "exec/backend/check_call.h"
#include "exec/backend/cuda/jit/codegen_epilogue.h"
#include "exec/backend/cuda/kernels/single_kernel.h"
#include "exec/backend/cuda/jit/codegen.h"
#include "exec/op/call.h"

enum {
    BLOCK = 128,
    SIDE = 32, /* neighbouring results of a block that splits windows */
    MAX_SPLIT = 16,
    MIN_PER_THREAD =
        4, /* elements per thread, at least, where windows are split */
    SMALL_WINDOW = 16
};

typedef struct pool_shape {
    mo_call_pool call; /* in three spatial dimensions */
    int64_t window;    /* elements of a window, at most */
    int width, split;
    bool small;
    bool has_indices;
} pool_shape;

#include "exec/backend/cuda/kernels/pool.inc"

static int64_t window_elements(const mo_call_pool *c)
{
    const mo_call_window *s = &c->sweep;
    int64_t window = 1;

    for (int d = 0; d < MO_CALL_MAX_SPATIAL; d++) {
        int64_t size = s->kernel[d];

        if (c->adaptive)
            size = s->out[d] > 0 ? s->in[d] / s->out[d] + 1 : 1;
        if (!mo_int64_mul(window, size, &window))
            return INT64_MAX;
    }
    return window;
}

static pool_shape make_shape(const mo_backend_unit *unit, const mo_call *call,
                             const mo_tensor_desc *out)
{
    pool_shape shape = { .call = call->u.pool, .width = 1 };
    const mo_call_pool *c = &shape.call;

    shape.call.sweep = mo_call_window_to_3d(&call->u.pool.sweep);
    shape.has_indices = call->n_out > 1;
    shape.window = window_elements(c);
    shape.small = !c->adaptive && shape.window <= SMALL_WINDOW;
    if (c->channels_last && !shape.has_indices)
        shape.width = mo_cuda_epilogue_vector_width(call, out, c->channels);

    int64_t items = mo_tensor_desc_elements(out) / shape.width;
    int split = 1;

    if (shape.small || shape.has_indices ||
        items > (int64_t) unit->sms * 4 * SIDE)
        shape.split = 1;
    else {
        while (split < MAX_SPLIT && split <= shape.window / MIN_PER_THREAD / 2)
            split *= 2;
        shape.split = split;
    }
    return shape;
}

static mo_status prepare(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         mo_error *err)
{
    pool_shape shape = make_shape(unit, call, &out[0]);
    int side = shape.split > 1 ? SIDE : BLOCK;
    int64_t elements = mo_tensor_desc_elements(&out[0]);
    int64_t in_elements = mo_tensor_desc_elements(&in[0].desc);
    mo_cuda_single_kernel_spec draft = { .name = "pool" };
    mo_status status = mo_backend_check_pool(call, in, out, err);

    if (status == MO_OK && out[0].elem == MO_ELEM_F64)
        status = mo_fail(err, MO_E_SUPPORT, "a pool of f64 cannot be run");
    if (status == MO_OK)
        status = mo_cuda_grid_1d(elements / shape.width, side,
                                 side * shape.split, &draft.grid, err);
    if (status != MO_OK)
        return status;
    elements = elements > in_elements ? elements : in_elements;
    mo_cuda_emit_types(&draft.code, out[0].elem, shape.width,
                       mo_cuda_window_max_index(&shape.call.sweep, elements));
    mo_cuda_emit_epilogue(&draft.code, call, &out[0], shape.width);

    const mo_call_pool *c = &shape.call;

    mo_cuda_emit_window(&draft.code, &c->sweep);
    mo_cuda_source_printf(
        &draft.code,
        "#define CHANNELS ((PLACE) %lld)\n#define PLACES O\n"
        "#define AVERAGE %d\n#define ADAPTIVE %d\n"
        "#define LAST %d\n#define DEEP %d\n#define BLOCK %d\n"
        "#define ITEMS %lldLL\n",
        (long long) c->channels, c->average, c->adaptive, c->channels_last,
        shape.split, shape.split > 1 ? SIDE * shape.split : BLOCK,
        (long long) (mo_tensor_desc_elements(&out[0]) / shape.width));

    const mo_call_window *s = &shape.call.sweep;

    for (int d = 0; d < MO_CALL_MAX_SPATIAL; d++)
        mo_cuda_source_printf(&draft.code, "#define E%d ((PLACE) %lld)\n", d,
                              (long long) s->in[d] + s->pad_end[d]);
    mo_cuda_source_printf(&draft.code,
                          "#define COUNT_DATA %d\n#define COUNT_PADDED %d\n",
                          shape.call.count == MO_CALL_POOL_COUNT_DATA,
                          shape.call.count == MO_CALL_POOL_COUNT_PADDED);

    bool has_indices = call->n_out > 1;

    mo_cuda_source_printf(&draft.code, "#define INDICES %d\n", has_indices);
    if (has_indices)
        mo_cuda_source_printf(
            &draft.code,
            "typedef %s INDEX;\n#define INDEX_SIZE ((PLACE) %lld)\n",
            mo_cuda_elem_type_name(out[1].elem),
            (long long) mo_call_pool_index_size(&call->u.pool));
    mo_cuda_source_append(&draft.code, common_source);
    mo_cuda_source_append(&draft.code,
                          shape.small ? small_source : large_source);
    mo_cuda_source_append(&draft.code, ending_source);
    mo_cuda_source_append(&draft.code,
                          shape.has_indices ? head_with_indices : head);
    mo_cuda_source_append(&draft.code, body);
    return mo_cuda_single_kernel_new(unit, call, 1, &draft, kernel, err);
}

const mo_cuda_kernel_class mo_cuda_pool_kernel = {
    prepare, NULL, mo_cuda_single_kernel_enqueue, mo_cuda_single_kernel_free
};
