/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of pools: maxima and averages of windows, of adaptive windows, or
 * of everything.
 */
#include <string.h>

#include "exec/op/lower/lowerings.h"

static mo_status add_pool(const mo_op_site *site, mo_call_pool *pool,
                          mo_lower_result *lowered, mo_error *err)
{
    const mo_shape *in = &site->in[0].shape, *out = &site->out[0].shape;
    mo_call *call;
    mo_status status;

    for (int i = 0; i < site->n_out; i++)
        if (!mo_shape_equal(&site->out[i].shape, out) ||
            out->dims[0] != in->dims[0] || out->dims[1] != in->dims[1])
            return mo_op_site_fail(
                site, MO_E_INPUT, err,
                "its output %d has not the input's batch and "
                "channels",
                i);
    pool->batch = in->dims[0];
    pool->channels = in->dims[1];
    status =
        mo_lower_add_call(lowered, MO_CALL_POOL, 1, site->n_out, &call, err);
    if (status != MO_OK)
        return status;
    call->in[0] = 0;
    for (int i = 0; i < site->n_out; i++)
        call->out[i] = site->n_in + i;
    call->u.pool = *pool;
    return MO_OK;
}

/* The second output, the indices of maxima, may be absent. */
static mo_status check_max_counts(const mo_op_site *site, int most_in,
                                  mo_error *err)
{
    if (site->n_in < 1 || site->n_in > most_in || site->n_out < 1 ||
        site->n_out > 2)
        return mo_op_site_fail(
            site, MO_E_INPUT, err,
            "has %d inputs and %d outputs, not 1 to %d and 1 "
            "to 2",
            site->n_in, site->n_out, most_in);
    return MO_OK;
}

static mo_status read_window(const mo_op_site *site, mo_call_window *sweep,
                             mo_error *err)
{
    int64_t kernel[MO_CALL_MAX_SPATIAL];
    int spatial;
    mo_status status = mo_lower_window_check(site, &spatial, err);

    if (status == MO_OK)
        status = mo_op_site_attr_ints(site, "kernel", 1, kernel, spatial, err);
    if (status == MO_OK)
        status = mo_lower_window_read(site, kernel, sweep, err);
    return status;
}

mo_status mo_lower_max_pool(const mo_op_site *site, mo_lower_result *lowered,
                            mo_error *err)
{
    mo_call_pool pool = { 0 };
    int64_t axis = 0;
    mo_status status = check_max_counts(site, 1, err);

    if (status == MO_OK)
        status = read_window(site, &pool.sweep, err);
    if (status == MO_OK)
        status = mo_op_site_attr_int(site, "axis", 0, &axis, err);
    if (status == MO_OK)
        status = mo_op_site_normalize_axis(site, axis, site->in[0].shape.rank,
                                           &pool.index_axis, err);
    return status == MO_OK ? add_pool(site, &pool, lowered, err) : status;
}

static bool is_padded(const mo_call_window *sweep)
{
    for (int d = 0; d < sweep->spatial; d++)
        if (sweep->pad_begin[d] != 0 || sweep->pad_end[d] != 0)
            return true;
    return false;
}

/* Where nothing is padded OpenVINO counts data only, although the last window
 * may extend beyond the end (ceil). */
static mo_call_pool_count divisor_of(const mo_op_site *site,
                                     const mo_call_window *sweep)
{
    bool exclude = mo_op_site_attr_bool(
        site, "exclude-pad", mo_op_site_attr_bool(site, "exclude_pad", false));

    if (exclude || !is_padded(sweep))
        return MO_CALL_POOL_COUNT_DATA;
    return mo_op_site_attr_equals(site, "rounding_type", "ceil_torch")
               ? MO_CALL_POOL_COUNT_PADDED
               : MO_CALL_POOL_COUNT_KERNEL;
}

mo_status mo_lower_avg_pool(const mo_op_site *site, mo_lower_result *lowered,
                            mo_error *err)
{
    mo_call_pool pool = { .average = true };
    mo_status status = mo_op_site_check_arity(site, 1, 1, 1, err);

    if (status == MO_OK)
        status = read_window(site, &pool.sweep, err);
    if (status != MO_OK)
        return status;
    pool.count = divisor_of(site, &pool.sweep);
    return add_pool(site, &pool, lowered, err);
}

/* Windows follow from the sizes alone. */
static mo_status lower_adaptive(const mo_op_site *site, bool average,
                                mo_lower_result *lowered, mo_error *err)
{
    mo_call_pool pool = { .average = average,
                          .count = MO_CALL_POOL_COUNT_DATA,
                          .adaptive = true,
                          .index_axis = 2 };
    mo_call_window *sweep = &pool.sweep;
    mo_status status = mo_lower_window_check(site, &sweep->spatial, err);
    size_t bytes = (size_t) sweep->spatial * sizeof *sweep->in;

    if (status != MO_OK)
        return status;
    memcpy(sweep->in, site->in[0].shape.dims + 2, bytes);
    memcpy(sweep->out, site->out[0].shape.dims + 2, bytes);
    for (int d = 0; d < sweep->spatial; d++)
        sweep->kernel[d] = sweep->stride[d] = sweep->dilation[d] = 1;
    return add_pool(site, &pool, lowered, err);
}

mo_status mo_lower_adaptive_max_pool(const mo_op_site *site,
                                     mo_lower_result *lowered, mo_error *err)
{
    mo_status status = check_max_counts(site, 2, err);

    return status == MO_OK ? lower_adaptive(site, false, lowered, err) : status;
}

mo_status mo_lower_adaptive_avg_pool(const mo_op_site *site,
                                     mo_lower_result *lowered, mo_error *err)
{
    mo_status status = mo_op_site_check_arity(site, 1, 2, 1, err);

    return status == MO_OK ? lower_adaptive(site, true, lowered, err) : status;
}

/* A global pool is an adaptive one with one window. */
static mo_status lower_global(const mo_op_site *site, bool average,
                              mo_lower_result *lowered, mo_error *err)
{
    mo_shape one;
    mo_status status = mo_op_site_check_arity(site, 1, 1, 1, err);

    if (status != MO_OK)
        return status;
    one = site->in[0].shape;
    for (int d = 2; d < one.rank; d++)
        one.dims[d] = 1;
    status = mo_op_site_check_output(site, 0, &one, err);
    return status == MO_OK ? lower_adaptive(site, average, lowered, err)
                           : status;
}

mo_status mo_lower_global_max_pool(const mo_op_site *site,
                                   mo_lower_result *lowered, mo_error *err)
{
    return lower_global(site, false, lowered, err);
}

mo_status mo_lower_global_avg_pool(const mo_op_site *site,
                                   mo_lower_result *lowered, mo_error *err)
{
    return lower_global(site, true, lowered, err);
}
