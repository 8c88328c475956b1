/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of local response normalization (Krizhevsky et al., 2012): x /
 * (bias + alpha / n * sum of squares)^beta, the sum over a window of n
 * elements around x. Squares, their average by a pool, then the rest.
 */
#include "exec/op/axes.h"
#include "exec/op/point_builder.h"
#include "exec/op/lower/lowerings.h"

typedef struct window {
    double alpha, beta, bias;
    int64_t size;
    int first, last; /* dimensions that the window extends along */
} window;

static mo_status read_lrn(const mo_op_site *site, window *lrn, mo_error *err)
{
    mo_status status = mo_op_site_check_arity(site, 1, 2, 1, err);

    if (status == MO_OK)
        status = mo_op_site_attr_real(site, "alpha", 1e-4, &lrn->alpha, err);
    if (status == MO_OK)
        status = mo_op_site_attr_real(site, "beta", 0.75, &lrn->beta, err);
    if (status == MO_OK)
        status = mo_op_site_attr_real(site, "bias", 1, &lrn->bias, err);
    if (status == MO_OK)
        status = mo_op_site_attr_int(site, "size", 1, &lrn->size, err);
    if (status == MO_OK && (lrn->size < 1 || lrn->size > INT32_MAX ||
                            !mo_elem_is_float(site->in[0].elem) ||
                            !mo_tensor_desc_equal(&site->in[0], &site->out[0])))
        return mo_op_site_fail(
            site, MO_E_INPUT, err,
            "makes reals of reals with windows of 1 or more");
    if (status != MO_OK)
        return status;

    bool marks[MO_MAX_RANK];
    status = MO_OK;

    for (int d = 0; d < MO_MAX_RANK; d++)
        marks[d] = d == 1;
    if (site->n_in > 1)
        status = mo_lower_axes_mask(site, marks, err);
    if (status != MO_OK)
        return status;
    while (lrn->first < MO_MAX_RANK && !marks[lrn->first])
        lrn->first++;
    for (lrn->last = lrn->first;
         lrn->last + 1 < MO_MAX_RANK && marks[lrn->last + 1];)
        lrn->last++;
    for (int d = lrn->last + 1; d < MO_MAX_RANK; d++)
        if (marks[d])
            lrn->last = MO_MAX_RANK;
    if (lrn->last >= site->in[0].shape.rank ||
        lrn->last - lrn->first >= MO_CALL_MAX_SPATIAL - 1)
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "its axes are not one or two neighbours");
    return MO_OK;
}

/* The pool divides by its own size, which is one less than an even one. */
static double scale_factor(const window *lrn)
{
    int64_t width = (lrn->size - 1) / 2 * 2 + 1;
    double factor = lrn->alpha;

    for (int d = lrn->first; d <= lrn->last; d++)
        factor *= (double) width / (double) lrn->size;
    return factor;
}

/* u^-beta is e^(-beta log u). */
static mo_status add_quotient(const mo_op_site *site, const window *lrn,
                              int averages, mo_lower_result *lowered,
                              mo_error *err)
{
    mo_point_builder builder = mo_point_builder_init(site);
    int x = mo_point_builder_operand(&builder, 0, &site->in[0]);
    int u = mo_point_builder_operand(&builder, averages, &site->in[0]);

    u = mo_point_builder_unary_params(&builder, MO_POINT_AFFINE, u,
                                      scale_factor(lrn), lrn->bias);
    u = mo_point_builder_unary(&builder, MO_POINT_LOG, u);
    u = mo_point_builder_unary_params(&builder, MO_POINT_AFFINE, u, -lrn->beta,
                                      0);
    u = mo_point_builder_unary(&builder, MO_POINT_EXP, u);
    mo_point_builder_store(
        &builder, mo_point_builder_binary(&builder, MO_POINT_MULTIPLY, x, u));
    return mo_point_builder_finish_call(&builder, lowered, err);
}

mo_status mo_lower_lrn(const mo_op_site *site, mo_lower_result *lowered,
                       mo_error *err)
{
    window lrn = { 0 };
    int squares = 0, averages = 0;
    mo_status status = read_lrn(site, &lrn, err);

    if (status == MO_OK)
        status = mo_lower_add_temp(lowered, site, &site->in[0], &squares, err);
    if (status == MO_OK)
        status = mo_lower_add_temp(lowered, site, &site->in[0], &averages, err);
    if (status == MO_OK) {
        mo_point_builder builder =
            mo_point_builder_init_for(site, squares, &site->in[0]);
        int x = mo_point_builder_operand(&builder, 0, &site->in[0]);

        mo_point_builder_store(
            &builder,
            mo_point_builder_binary(&builder, MO_POINT_MULTIPLY, x, x));
        status = mo_point_builder_finish_call(&builder, lowered, err);
    }
    if (status == MO_OK) {
        /* Centred windows; the dimensions behind are one more that the window
         * does not extend along. */
        const mo_shape *shape = &site->in[0].shape;
        mo_call_pool pool = { .batch = 1, .channels = 1, .average = true };
        mo_call_window *sweep = &pool.sweep;
        int64_t reach = (lrn.size - 1) / 2;
        mo_call *call;
        status = mo_lower_add_call(lowered, MO_CALL_POOL, 1, 1, &call, err);

        if (status == MO_OK) {
            for (int d = 0; d < lrn.first; d++)
                pool.batch *= shape->dims[d];
            sweep->spatial = lrn.last - lrn.first + 2;
            for (int s = 0; s < sweep->spatial; s++) {
                bool within = s < sweep->spatial - 1;

                sweep->in[s] = within ? shape->dims[lrn.first + s] : 1;
                sweep->kernel[s] = within ? 2 * reach + 1 : 1;
                sweep->pad_begin[s] = sweep->pad_end[s] = within ? reach : 0;
                sweep->stride[s] = sweep->dilation[s] = 1;
            }
            for (int d = lrn.last + 1; d < shape->rank; d++)
                sweep->in[sweep->spatial - 1] *= shape->dims[d];
            for (int s = 0; s < sweep->spatial; s++)
                sweep->out[s] = sweep->in[s];
            call->in[0] = squares;
            call->out[0] = averages;
            call->u.pool = pool;
        }
    }
    if (status == MO_OK)
        status = add_quotient(site, &lrn, averages, lowered, err);
    return status;
}
