/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/op/lower.h"

#include <stddef.h>
#include <string.h>

static const char *const kind_names[MO_CALL_KINDS] = {
    [MO_CALL_VIEW] = "view",
    [MO_CALL_POINT] = "point",
    [MO_CALL_COPY] = "copy",
    [MO_CALL_MATMUL] = "matmul",
    [MO_CALL_CONV] = "conv",
    [MO_CALL_POOL] = "pool",
    [MO_CALL_REDUCE] = "reduce",
    [MO_CALL_SOFTMAX] = "softmax",
    [MO_CALL_NORM] = "norm",
    [MO_CALL_GATHER] = "gather",
    [MO_CALL_SCATTER] = "scatter",
    [MO_CALL_TOPK] = "topk",
    [MO_CALL_CUMSUM] = "cumsum",
    [MO_CALL_INTERPOLATE] = "interpolate",
    [MO_CALL_ATTENTION] = "attention",
    [MO_CALL_RANGE] = "range",
    [MO_CALL_RNN] = "rnn",
    [MO_CALL_GRID_SAMPLE] = "grid_sample",
    [MO_CALL_LINEAR] = "linear",
    [MO_CALL_EXPERTS] = "experts",
    [MO_CALL_DEQUANTIZE] = "dequantize",
};

const char *mo_call_kind_name(mo_call_kind kind)
{
    return kind_names[kind];
}

int64_t mo_call_pool_index_size(const mo_call_pool *call)
{
    int64_t size = 1;

    for (int d = 0; d < call->sweep.spatial; d++)
        if (2 + d >= call->index_axis)
            size *= call->sweep.in[d];
    if (call->index_axis <= 1)
        size *= call->channels;
    return call->index_axis <= 0 ? size * call->batch : size;
}

static void prepend_dims(int64_t *dims, int spatial, int64_t missing)
{
    int lacking = MO_CALL_MAX_SPATIAL - spatial;

    for (int d = MO_CALL_MAX_SPATIAL - 1; d >= 0; d--)
        dims[d] = d < lacking ? missing : dims[d - lacking];
}

mo_call_window mo_call_window_to_3d(const mo_call_window *sweep)
{
    mo_call_window s = *sweep;

    prepend_dims(s.in, s.spatial, 1);
    prepend_dims(s.out, s.spatial, 1);
    prepend_dims(s.kernel, s.spatial, 1);
    prepend_dims(s.stride, s.spatial, 1);
    prepend_dims(s.dilation, s.spatial, 1);
    prepend_dims(s.pad_begin, s.spatial, 0);
    prepend_dims(s.pad_end, s.spatial, 0);
    s.spatial = MO_CALL_MAX_SPATIAL;
    return s;
}

/* Appends a zeroed item to *items; false without memory. The arena keeps the
 * old array. */
static bool append_item(mo_arena *arena, void **items, int count, size_t size)
{
    void *larger;

    if ((count & (count - 1)) != 0) /* full at powers of two */
        return true;
    larger = mo_arena_array(arena, count > 0 ? 2 * (size_t) count : 1, size);
    if (!larger)
        return false;
    if (count > 0)
        memcpy(larger, *items, (size_t) count * size);
    *items = larger;
    return true;
}

mo_status mo_lower_add_call(mo_lower_result *lowered, mo_call_kind kind,
                            int n_in, int n_out, mo_call **call, mo_error *err)
{
    void *calls = lowered->calls;
    mo_call *made;

    if (n_in > MO_CALL_MAX_OPERANDS || n_out > MO_CALL_MAX_OPERANDS)
        return mo_fail(err, MO_E_LIMIT,
                       "an op with more than %d inputs or outputs cannot be "
                       "run",
                       MO_CALL_MAX_OPERANDS);
    if (!append_item(lowered->arena, &calls, lowered->n_calls, sizeof *made))
        return mo_fail_memory(err);
    lowered->calls = calls;
    made = &lowered->calls[lowered->n_calls];
    made->kind = kind;
    made->n_in = made->first_extra = n_in;
    made->n_out = n_out;
    made->in = mo_arena_array(lowered->arena, (size_t) n_in, sizeof *made->in);
    made->out =
        mo_arena_array(lowered->arena, (size_t) n_out, sizeof *made->out);
    if (!made->in || !made->out)
        return mo_fail_memory(err);
    lowered->n_calls++;
    *call = made;
    return MO_OK;
}

mo_status mo_lower_add_temp(mo_lower_result *lowered, const mo_op_site *site,
                            const mo_tensor_desc *desc, int *number,
                            mo_error *err)
{
    void *temps = lowered->temps;

    if (!append_item(lowered->arena, &temps, lowered->n_temps, sizeof *desc))
        return mo_fail_memory(err);
    lowered->temps = temps;
    lowered->temps[lowered->n_temps] = *desc;
    *number = site->n_in + site->n_out + lowered->n_temps++;
    return MO_OK;
}

bool mo_call_window_is_pixel_wise(const mo_call_window *sweep)
{
    for (int d = 0; d < sweep->spatial; d++)
        if (sweep->kernel[d] != 1 || sweep->stride[d] != 1 ||
            sweep->pad_begin[d] != 0 || sweep->pad_end[d] != 0)
            return false;
    return true;
}
