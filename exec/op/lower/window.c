/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sliding windows of convolutions and pools: strides, dilations and padding
 * from an operator's attributes.
 */
#include "exec/op/lower/lowerings.h"

#include <stddef.h>
#include <string.h>

/* No sum of two such numbers, nor their product with a dimension's index in a
 * tensor of this process, overflows. */
#define LARGEST ((int64_t) 1 << 24)

mo_status mo_lower_window_check(const mo_op_site *site, int *spatial,
                                mo_error *err)
{
    int rank = site->n_in > 0 ? site->in[0].shape.rank : 0;

    if (rank < 3 || rank > 2 + MO_CALL_MAX_SPATIAL)
        return mo_op_site_fail(
            site, MO_E_SUPPORT, err,
            "can be run with 1 to %d spatial dimensions only",
            MO_CALL_MAX_SPATIAL);
    if (site->n_out < 1 || site->out[0].shape.rank != rank)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "its output has not as many dimensions as its "
                               "input");
    *spatial = rank - 2;
    return MO_OK;
}

static mo_status check_range(const mo_op_site *site, const mo_call_window *f,
                             mo_error *err)
{
    for (int d = 0; d < f->spatial; d++)
        if (f->stride[d] < 1 || f->dilation[d] < 1 || f->kernel[d] < 1 ||
            f->stride[d] > LARGEST || f->dilation[d] > LARGEST ||
            f->kernel[d] > LARGEST || f->pad_begin[d] < -LARGEST ||
            f->pad_end[d] < -LARGEST || f->pad_begin[d] > LARGEST ||
            f->pad_end[d] > LARGEST)
            return mo_op_site_fail(site, MO_E_INPUT, err,
                                   "its window is out of range");
    return MO_OK;
}

/* Padding of "same": every stride begins a window. When a pool rounds up there
 * may be one window more, behind all of this. */
static void pad_same(mo_call_window *f, bool upper)
{
    for (int d = 0; d < f->spatial; d++) {
        int64_t span = (f->kernel[d] - 1) * f->dilation[d] + 1;
        int64_t windows = (f->in[d] + f->stride[d] - 1) / f->stride[d];
        int64_t total = (windows - 1) * f->stride[d] + span - f->in[d];
        int64_t half;

        total = total > 0 ? total : 0;
        half = total / 2;
        f->pad_begin[d] = upper ? half : total - half;
        f->pad_end[d] = total - f->pad_begin[d];
    }
}

static mo_status pad_by_rule(const mo_op_site *site, mo_call_window *f,
                             mo_error *err)
{
    static const char key[] = "auto_pad";

    if (mo_op_site_attr_equals(site, key, "same_upper"))
        pad_same(f, true);
    else if (mo_op_site_attr_equals(site, key, "same_lower"))
        pad_same(f, false);
    else if (mo_op_site_attr_equals(site, key, "valid"))
        for (int d = 0; d < f->spatial; d++)
            f->pad_begin[d] = f->pad_end[d] = 0;
    else if (mo_op_site_has_attr(site, key) &&
             !mo_op_site_attr_equals(site, key, "explicit") &&
             !mo_op_site_attr_equals(site, key, "notset"))
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "has an unknown auto_pad");
    return MO_OK;
}

mo_status mo_lower_window_read(const mo_op_site *site, const int64_t *kernel,
                               mo_call_window *sweep, mo_error *err)
{
    mo_call_window f = { 0 };
    size_t bytes;
    mo_status status = mo_lower_window_check(site, &f.spatial, err);

    if (status != MO_OK)
        return status;
    bytes = (size_t) f.spatial * sizeof *kernel;
    memcpy(f.in, site->in[0].shape.dims + 2, bytes);
    memcpy(f.out, site->out[0].shape.dims + 2, bytes);
    memcpy(f.kernel, kernel, bytes);

    int n = f.spatial;
    status = mo_op_site_attr_ints(site, "strides", 1, f.stride, n, err);

    if (status == MO_OK)
        status = mo_op_site_attr_ints(site, "dilations", 1, f.dilation, n, err);
    if (status == MO_OK)
        status =
            mo_op_site_attr_ints(site, "pads_begin", 0, f.pad_begin, n, err);
    if (status == MO_OK)
        status = mo_op_site_attr_ints(site, "pads_end", 0, f.pad_end, n, err);
    if (status == MO_OK)
        status = check_range(site, &f, err);
    if (status == MO_OK)
        status = pad_by_rule(site, &f, err);
    if (status == MO_OK)
        *sweep = f;
    return status;
}
