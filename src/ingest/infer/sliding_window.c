/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/infer/sliding_window.h"

#include "base/array.h"
#include "ingest/infer/rule_args.h"

mo_status mo_infer_window_read(const mo_infer_rule_op *op, int n,
                               mo_infer_window *window, mo_error *err)
{
    mo_infer_window w = { .n = n };
    mo_status status = mo_infer_arg_ints(op, "strides", 1, w.stride, n, err);

    if (status == MO_OK)
        status = mo_infer_arg_ints(op, "dilations", 1, w.dilation, n, err);
    if (status == MO_OK)
        status = mo_infer_arg_ints(op, "pads_begin", 0, w.begin, n, err);
    if (status == MO_OK)
        status = mo_infer_arg_ints(op, "pads_end", 0, w.end, n, err);
    if (status != MO_OK)
        return status;
    for (int d = 0; d < n; d++)
        if (w.stride[d] < 1 || w.dilation[d] < 1)
            return mo_fail(err, MO_E_INPUT,
                           "a stride or a dilation is less than 1");
    if (mo_infer_arg_is(op, "auto_pad", "valid"))
        w.pad = MO_INFER_PAD_VALID;
    else if (mo_infer_arg_is(op, "auto_pad", "same_upper") ||
             mo_infer_arg_is(op, "auto_pad", "same_lower"))
        w.pad = MO_INFER_PAD_SAME;
    if (mo_infer_arg_is(op, "rounding_type", "ceil"))
        w.round = MO_INFER_ROUND_CEIL;
    else if (mo_infer_arg_is(op, "rounding_type", "ceil_torch"))
        w.round = MO_INFER_ROUND_CEIL_TORCH;
    *window = w;
    return MO_OK;
}

mo_status mo_infer_window_span(const mo_infer_window *window, int d,
                               int64_t kernel, int64_t *size, mo_error *err)
{
    int64_t span;

    if (kernel < 1)
        return mo_fail(err, MO_E_INPUT, "its kernel is empty");
    if (!mo_int64_mul(kernel - 1, window->dilation[d], &span) ||
        span >= MO_MAX_ELEMENTS)
        return mo_fail(err, MO_E_LIMIT, "its kernel is too large");
    *size = span + 1;
    return MO_OK;
}

/* Both paddings together that "same" means. */
static int64_t same_padding(int64_t dim, int64_t stride, int64_t span)
{
    int64_t start = dim > 0 ? (dim - 1) / stride * stride : 0;

    return start + span > dim ? start + span - dim : 0;
}

mo_status mo_infer_window_count(const mo_infer_window *window, int d,
                                int64_t dim, int64_t kernel, int64_t *out,
                                mo_error *err)
{
    int64_t stride = window->stride[d], begin = 0, end = 0, span = 0, room;
    mo_status status = mo_infer_window_span(window, d, kernel, &span, err);

    if (status != MO_OK)
        return status;
    if (window->pad == MO_INFER_PAD_SAME)
        end = same_padding(dim, stride, span);
    if (window->pad == MO_INFER_PAD_EXPLICIT) {
        begin = window->begin[d];
        end = window->end[d];
    }
    room = dim + begin + end - span;
    if (room < 0)
        return mo_fail(err, MO_E_INPUT,
                       "its kernel spans %lld of %lld items along spatial "
                       "dimension %d",
                       (long long) span, (long long) room + span, d);
    *out = 1 + room / stride +
           (window->round != MO_INFER_ROUND_FLOOR && room % stride != 0);
    if (window->round == MO_INFER_ROUND_CEIL_TORCH &&
        (*out - 1) * stride >= dim + begin)
        --*out;
    return MO_OK;
}
