/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of convolutions, ordinary and transposed, grouped or not.
 */
#include "exec/op/lower/lowerings.h"

/* Layout of weights: groups in front or not, and the order of the channels. */
typedef struct filter {
    bool grouped, transposed;
} filter;

static mo_status fail_filter(const mo_op_site *site, mo_error *err)
{
    char data[MO_TENSOR_DESC_TEXT_SIZE], weights[MO_TENSOR_DESC_TEXT_SIZE];
    char out[MO_TENSOR_DESC_TEXT_SIZE];

    return mo_op_site_fail(site, MO_E_INPUT, err,
                           "a filter %s over %s does not make %s",
                           mo_tensor_desc_format(&site->in[1], weights),
                           mo_tensor_desc_format(&site->in[0], data),
                           mo_tensor_desc_format(&site->out[0], out));
}

static mo_status read_channels(const mo_op_site *site, const filter *f,
                               mo_call_conv *conv, mo_error *err)
{
    const mo_shape *data = &site->in[0].shape, *out = &site->out[0].shape;
    const mo_shape *weights = &site->in[1].shape;
    int lead = f->grouped ? 3 : 2;
    int64_t groups, first, second;

    if (weights->rank != data->rank - 2 + lead)
        return fail_filter(site, err);
    groups = f->grouped ? weights->dims[0] : 1;
    first = weights->dims[lead - 2];
    second = weights->dims[lead - 1];
    conv->batch = data->dims[0];
    conv->in_channels = data->dims[1];
    conv->out_channels = out->dims[1];
    conv->groups = groups;
    if (groups < 1 || out->dims[0] != data->dims[0] ||
        data->dims[1] != groups * (f->transposed ? first : second) ||
        out->dims[1] != groups * (f->transposed ? second : first))
        return fail_filter(site, err);
    return MO_OK;
}

/* No window may end beyond the padding. */
static bool windows_fit(const mo_call_window *f)
{
    for (int d = 0; d < f->spatial; d++) {
        int64_t span = (f->kernel[d] - 1) * f->dilation[d] + 1;
        int64_t room = f->in[d] + f->pad_begin[d] + f->pad_end[d];

        if (f->out[d] > 0 && (f->out[d] - 1) * f->stride[d] + span > room)
            return false;
    }
    return true;
}

static mo_status lower_filter(const mo_op_site *site, const filter *f,
                              mo_lower_result *lowered, mo_error *err)
{
    mo_call_conv conv = { .transposed = f->transposed };
    mo_call *call;
    int spatial;
    mo_status status =
        mo_op_site_check_arity(site, 2, f->transposed ? 3 : 2, 1, err);

    if (status == MO_OK)
        status = mo_lower_window_check(site, &spatial, err);
    if (status == MO_OK)
        status = read_channels(site, f, &conv, err);
    if (status == MO_OK)
        status = mo_lower_window_read(
            site, site->in[1].shape.dims + (f->grouped ? 3 : 2), &conv.sweep,
            err);
    if (status == MO_OK && f->transposed) {
        /* Padding of a transposed convolution that gives the requested size;
         * without one "same" pads nothing. */
        bool upper = mo_op_site_attr_equals(site, "auto_pad", "same_upper");
        bool lower = mo_op_site_attr_equals(site, "auto_pad", "same_lower");
        int64_t extra[MO_CALL_MAX_SPATIAL];
        status = mo_op_site_attr_ints(site, "output_padding", 0, extra,
                                      conv.sweep.spatial, err);

        for (int d = 0;
             status == MO_OK && (upper || lower) && d < conv.sweep.spatial;
             d++) {
            int64_t span =
                (conv.sweep.kernel[d] - 1) * conv.sweep.dilation[d] + 1;
            int64_t total = conv.sweep.stride[d] * (conv.sweep.in[d] - 1) +
                            span - conv.sweep.out[d];
            int64_t half;

            total = total + extra[d] > 0 ? total + extra[d] : 0;
            if (site->n_in < 3)
                total = 0;
            half = total / 2;
            conv.sweep.pad_begin[d] = upper ? total - half : half;
            conv.sweep.pad_end[d] = total - conv.sweep.pad_begin[d];
        }
    }
    if (status != MO_OK)
        return status;
    if (!f->transposed && !windows_fit(&conv.sweep))
        return fail_filter(site, err);
    status = mo_lower_add_call(lowered, MO_CALL_CONV, 2, 1, &call, err);
    if (status != MO_OK)
        return status;
    call->in[0] = 0;
    call->in[1] = 1;
    call->out[0] = site->n_in;
    call->u.conv = conv;
    return MO_OK;
}

mo_status mo_lower_conv(const mo_op_site *site, mo_lower_result *lowered,
                        mo_error *err)
{
    const filter f = { .grouped = false };

    return lower_filter(site, &f, lowered, err);
}

mo_status mo_lower_group_conv(const mo_op_site *site, mo_lower_result *lowered,
                              mo_error *err)
{
    const filter f = { .grouped = true };

    return lower_filter(site, &f, lowered, err);
}

mo_status mo_lower_conv_transpose(const mo_op_site *site,
                                  mo_lower_result *lowered, mo_error *err)
{
    const filter f = { .transposed = true };

    return lower_filter(site, &f, lowered, err);
}

mo_status mo_lower_group_conv_transpose(const mo_op_site *site,
                                        mo_lower_result *lowered, mo_error *err)
{
    const filter f = { .grouped = true, .transposed = true };

    return lower_filter(site, &f, lowered, err);
}
