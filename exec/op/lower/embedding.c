/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of embedding bags: rows of a table, gathered by index, weighted and
 * reduced by bag.
 *
 * Bags of one size are reduced along an axis.  Others are scattered by their
 * number: offsets give that of index i as the number of offsets up to i, minus
 * one.
 */

#include "exec/op/copy_builder.h"
#include "exec/op/lower/lowerings.h"
#include "exec/op/point_builder.h"

typedef struct embedding {
    int64_t rows, width, count, bags;
    mo_elem elem;
    mo_call_scatter_op op;
    int weights; /* input, or -1 */
} embedding;

static mo_status read_reduction(const mo_op_site *site, embedding *e,
                                mo_error *err)
{
    e->op = MO_CALL_SCATTER_SUM;
    if (mo_op_site_attr_equals(site, "reduction", "mean"))
        e->op = MO_CALL_SCATTER_MEAN;
    else if (mo_op_site_attr_equals(site, "reduction", "max"))
        e->op = MO_CALL_SCATTER_MAX;
    else if (mo_op_site_has_attr(site, "reduction") &&
             !mo_op_site_attr_equals(site, "reduction", "sum"))
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "has an unknown reduction");
    return MO_OK;
}

static mo_status read_embedding(const mo_op_site *site, int weights,
                                embedding *e, mo_error *err)
{
    const mo_shape *table = &site->in[0].shape;
    mo_status status = mo_op_site_check_arity(site, 2, 6, 1, err);

    if (status == MO_OK)
        status = read_reduction(site, e, err);
    if (status != MO_OK)
        return status;
    e->elem = site->in[0].elem;
    e->weights = weights < site->n_in ? weights : -1;
    e->count = mo_tensor_desc_elements(&site->in[1]);
    if (table->rank < 1 || site->out[0].shape.rank != table->rank ||
        site->out[0].elem != e->elem || mo_elem_is_float(site->in[1].elem) ||
        (e->weights >= 0 &&
         (site->in[e->weights].elem != e->elem ||
          mo_tensor_desc_elements(&site->in[e->weights]) != e->count)))
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "its table, indices and weights do not fit");
    e->rows = table->dims[0];
    e->width = 1;
    for (int d = 1; d < table->rank; d++)
        e->width *= table->dims[d];
    e->bags = site->out[0].shape.dims[0];
    return MO_OK;
}

/* Rows of the table at count indices of an input. */
static mo_status add_rows(const mo_op_site *site, const embedding *e, int input,
                          int64_t count, int *rows, mo_lower_result *lowered,
                          mo_error *err)
{
    mo_tensor_desc desc = { e->elem,
                            { .rank = 2, .dims = { count, e->width } } };
    mo_call *call;
    mo_status status = mo_lower_add_temp(lowered, site, &desc, rows, err);

    if (status == MO_OK)
        status = mo_lower_add_call(lowered, MO_CALL_GATHER, 2, 1, &call, err);
    if (status != MO_OK)
        return status;
    call->in[0] = 0;
    call->in[1] = input;
    call->out[0] = *rows;
    call->u.gather = (mo_call_gather){ .kind = MO_CALL_GATHER_AXIS,
                                       .batch = 1,
                                       .outer = 1,
                                       .axis = e->rows,
                                       .inner = e->width,
                                       .count = count };
    return MO_OK;
}

/* The rows of all indices, times their weights. */
static mo_status add_weighted(const mo_op_site *site, const embedding *e,
                              int *rows, mo_lower_result *lowered,
                              mo_error *err)
{
    mo_tensor_desc desc = { e->elem,
                            { .rank = 2, .dims = { e->count, e->width } } };
    mo_tensor_desc by = { e->elem, { .rank = 2, .dims = { e->count, 1 } } };
    mo_point_builder builder;
    int from = 0, x, w;
    mo_status status = add_rows(site, e, 1, e->count, &from, lowered, err);

    *rows = from;
    if (status != MO_OK || e->weights < 0)
        return status;
    status = mo_lower_add_temp(lowered, site, &desc, rows, err);
    if (status != MO_OK)
        return status;
    builder = mo_point_builder_init_for(site, *rows, &desc);
    x = mo_point_builder_operand(&builder, from, &desc);
    w = mo_point_builder_operand(&builder, e->weights, &by);
    mo_point_builder_store(
        &builder, mo_point_builder_binary(&builder, MO_POINT_MULTIPLY, x, w));
    return mo_point_builder_finish_call(&builder, lowered, err);
}

mo_status mo_lower_embedding_packed(const mo_op_site *site,
                                    mo_lower_result *lowered, mo_error *err)
{
    embedding e;
    mo_call *call;
    int rows = 0;
    int64_t each;
    mo_status status = read_embedding(site, 2, &e, err);

    if (status == MO_OK)
        status = add_weighted(site, &e, &rows, lowered, err);
    if (status == MO_OK)
        status = mo_lower_add_call(lowered, MO_CALL_REDUCE, 1, 1, &call, err);
    if (status != MO_OK)
        return status;
    each = e.bags > 0 ? e.count / e.bags : 0;
    call->in[0] = rows;
    call->out[0] = site->n_in;
    call->u.reduce = (mo_call_reduce){
        .op = e.op == MO_CALL_SCATTER_MEAN  ? MO_CALL_REDUCE_MEAN
              : e.op == MO_CALL_SCATTER_MAX ? MO_CALL_REDUCE_MAX
                                            : MO_CALL_REDUCE_SUM,
        .rank = 3,
        .extent = { e.bags, each, e.width },
        .in_stride = { each * e.width, e.width, 1 },
        .out_stride = { e.width, 0, 1 },
        .reduced = { false, true, false },
    };
    return MO_OK;
}

/* The number of the bag of every index, from offsets. */
static mo_status add_bag_numbers(const mo_op_site *site, const embedding *e,
                                 int *numbers, mo_lower_result *lowered,
                                 mo_error *err)
{
    mo_tensor_desc counts = { MO_ELEM_I64,
                              { .rank = 2, .dims = { e->count, 1 } } };
    mo_tensor_desc pairs = { MO_ELEM_I64,
                             { .rank = 2, .dims = { e->count, e->bags } } };
    int counter = 0, begun = 0, sums = 0, x, y;
    mo_point_builder builder;
    mo_call *call;
    mo_status status =
        mo_lower_add_counter(site, 0, &counts, lowered, &counter, err);

    if (status == MO_OK)
        status = mo_lower_add_temp(lowered, site, &pairs, &begun, err);
    if (status == MO_OK)
        status = mo_lower_add_temp(lowered, site, &counts, &sums, err);
    if (status == MO_OK)
        status = mo_lower_add_temp(lowered, site, &counts, numbers, err);
    if (status != MO_OK)
        return status;
    builder = mo_point_builder_init_for(site, begun, &pairs);
    x = mo_point_builder_operand(&builder, 2, &site->in[2]);
    y = mo_point_builder_operand(&builder, counter, &counts);
    mo_point_builder_store(
        &builder,
        mo_point_builder_binary(&builder, MO_POINT_I_LESS_EQUAL, x, y));
    status = mo_point_builder_finish_call(&builder, lowered, err);
    if (status == MO_OK)
        status = mo_lower_add_call(lowered, MO_CALL_REDUCE, 1, 1, &call, err);
    if (status != MO_OK)
        return status;
    call->in[0] = begun;
    call->out[0] = sums;
    call->u.reduce = (mo_call_reduce){ .op = MO_CALL_REDUCE_SUM,
                                       .rank = 2,
                                       .extent = { e->count, e->bags },
                                       .in_stride = { e->bags, 1 },
                                       .out_stride = { 1, 0 },
                                       .reduced = { false, true } };
    builder = mo_point_builder_init_for(site, *numbers, &counts);
    x = mo_point_builder_operand(&builder, sums, &counts);
    y = mo_point_builder_unary_params(&builder, MO_POINT_I_CLAMP, x, 1, 1);
    mo_point_builder_store(
        &builder, mo_point_builder_binary(&builder, MO_POINT_I_SUBTRACT, x, y));
    return mo_point_builder_finish_call(&builder, lowered, err);
}

static mo_status add_bags(const mo_op_site *site, const embedding *e,
                          int default_index, int numbers,
                          mo_lower_result *lowered, mo_error *err)
{
    mo_call *call;
    int rows = 0, empty = 0;
    mo_status status = add_weighted(site, e, &rows, lowered, err);

    if (status == MO_OK) {
        /* What empty bags hold: the row of the default index, or zeros. */
        int *bags = &empty;
        mo_call_copy_box box = { 0 };
        int64_t index = -1;
        int row = 0;
        status = mo_lower_add_temp(lowered, site, &site->out[0], bags, err);

        if (status == MO_OK && default_index < site->n_in)
            status = mo_op_site_const_ints_exact(site, default_index, &index, 1,
                                                 err);
        if (status == MO_OK && index >= 0)
            status = add_rows(site, e, default_index, 1, &row, lowered, err);
        if (status == MO_OK) {
            mo_lower_copy_box_push(&box, e->bags, 0, e->width);
            mo_lower_copy_box_push(&box, e->width, 1, 1);
            if (index < 0)
                box.from = MO_CALL_COPY_FILL;
            status = mo_lower_copy_add_box(&box, index < 0 ? 0 : row, *bags,
                                           lowered, err);
        }
    }
    if (status == MO_OK)
        status = mo_lower_add_call(lowered, MO_CALL_SCATTER, 3, 1, &call, err);
    if (status != MO_OK)
        return status;
    call->in[0] = empty;
    call->in[1] = numbers;
    call->in[2] = rows;
    call->out[0] = site->n_in;
    call->u.scatter = (mo_call_scatter){ .kind = MO_CALL_GATHER_AXIS,
                                         .op = e->op,
                                         .outer = 1,
                                         .axis = e->bags,
                                         .inner = e->width,
                                         .count = e->count };
    return MO_OK;
}

mo_status mo_lower_embedding_offsets(const mo_op_site *site,
                                     mo_lower_result *lowered, mo_error *err)
{
    embedding e;
    int numbers = 0;
    mo_status status = read_embedding(site, 4, &e, err);

    if (status == MO_OK)
        status = add_bag_numbers(site, &e, &numbers, lowered, err);
    if (status == MO_OK)
        status = add_bags(site, &e, 3, numbers, lowered, err);
    return status;
}

mo_status mo_lower_embedding_segments(const mo_op_site *site,
                                      mo_lower_result *lowered, mo_error *err)
{
    embedding e;
    mo_status status = read_embedding(site, 5, &e, err);

    if (status == MO_OK)
        status = add_bags(site, &e, 4, 2, lowered, err);
    return status;
}
