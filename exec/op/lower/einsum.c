/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of Einsum: two terms at a time, from the left, each pair a matrix
 * product with as many batches as it needs.
 *
 * A label of both terms and of the result is a batch; one of both terms that
 * is not in the result is summed over; one of a single term makes rows or
 * columns, or a further batch where strides do not allow merging them into one
 * dimension.
 */
#include <string.h>

#include "exec/op/copy_builder.h"
#include "exec/op/einsum_equation.h"
#include "exec/op/lower/lowerings.h"

typedef struct work {
    const mo_op_site *site;
    mo_arena *arena;
    mo_lower_result *lowered;
    const mo_lower_einsum_equation *einsum;
    mo_error *err;
} work;

static int64_t size_of(const work *w, int label)
{
    return w->einsum->size[label];
}

static mo_status fail_rank(const work *w)
{
    return mo_op_site_fail(w->site, MO_E_SUPPORT, w->err,
                           "an intermediate result has more than %d dimensions",
                           MO_MAX_RANK);
}

/* Allocates a temporary for the term. */
static mo_status add_temp(const work *w, mo_lower_einsum_term *term)
{
    mo_tensor_desc desc = { .elem = w->site->out[0].elem };

    desc.shape = mo_lower_einsum_term_pack(w->einsum, term);
    if (!mo_shape_fits(&desc.shape))
        return mo_op_site_fail(w->site, MO_E_LIMIT, w->err,
                               "an intermediate result is too large");
    return mo_lower_add_temp(w->lowered, w->arena, w->site, &desc,
                             &term->operand, w->err);
}

/* to = from, in its order of labels. */
static mo_status add_copy(const work *w, const mo_lower_einsum_term *from,
                          const mo_lower_einsum_term *to)
{
    mo_call_copy_box box = { .from = 0, .to = 0 };

    for (int i = 0; i < to->n; i++)
        mo_lower_copy_box_push(&box, size_of(w, to->label[i]),
                               mo_lower_einsum_term_stride(from, to->label[i]),
                               to->stride[i]);
    return mo_lower_copy_add_box(&box, from->operand, to->operand, w->arena,
                                 w->lowered, w->err);
}

/* to = from, summed over the labels that are not in to. */
static mo_status add_sum(const work *w, const mo_lower_einsum_term *from,
                         const mo_lower_einsum_term *to)
{
    mo_call *call;
    mo_call_reduce *reduce;
    mo_status status = mo_lower_add_call(w->lowered, w->arena, MO_CALL_REDUCE,
                                         1, 1, &call, w->err);

    if (status != MO_OK)
        return status;
    call->in[0] = from->operand;
    call->out[0] = to->operand;
    reduce = &call->u.reduce;
    *reduce = (mo_call_reduce){ .op = MO_CALL_REDUCE_SUM, .rank = from->n };
    for (int i = 0; i < from->n; i++) {
        reduce->extent[i] = size_of(w, from->label[i]);
        reduce->in_stride[i] = from->stride[i];
        reduce->out_stride[i] = mo_lower_einsum_term_stride(to, from->label[i]);
        reduce->reduced[i] = mo_lower_einsum_term_find(to, from->label[i]) < 0;
    }
    return MO_OK;
}

static bool lacks_some(const mo_lower_einsum_term *of,
                       const mo_lower_einsum_term *a,
                       const mo_lower_einsum_term *b)
{
    for (int i = 0; i < of->n; i++)
        if (mo_lower_einsum_term_find(a, of->label[i]) < 0 &&
            (!b || mo_lower_einsum_term_find(b, of->label[i]) < 0))
            return true;
    return false;
}

/* Sums over the labels that are neither in other nor in the result. */
static mo_status sum_unshared(const work *w, const mo_lower_einsum_term *other,
                              const mo_lower_einsum_term *result,
                              mo_lower_einsum_term *term)
{
    mo_lower_einsum_term kept = { .n = 0 };
    mo_status status;

    if (!lacks_some(term, result, other))
        return MO_OK;
    for (int i = 0; i < term->n; i++)
        if (mo_lower_einsum_term_find(result, term->label[i]) >= 0 ||
            mo_lower_einsum_term_find(other, term->label[i]) >= 0)
            mo_lower_einsum_term_push(&kept, term->label[i]);
    status = add_temp(w, &kept);
    if (status == MO_OK)
        status = add_sum(w, term, &kept);
    *term = kept;
    return status;
}

/* Role of a label of two terms and their result. */
typedef enum role { BATCH, ROW, COLUMN, SUMMED } role;

static role role_of(const mo_lower_einsum_term *a,
                    const mo_lower_einsum_term *b,
                    const mo_lower_einsum_term *c, int label)
{
    if (mo_lower_einsum_term_find(c, label) < 0)
        return SUMMED;
    if (mo_lower_einsum_term_find(a, label) < 0)
        return COLUMN;
    return mo_lower_einsum_term_find(b, label) < 0 ? ROW : BATCH;
}

/* Labels that may be one dimension, outermost first. */
typedef struct run {
    int n;
    int label[MO_MAX_RANK];
} run;

/* Returns true when label, then next, can be one dimension of the term. */
static bool can_merge(const work *w, const mo_lower_einsum_term *term,
                      int label, int next)
{
    return mo_lower_einsum_term_stride(term, label) ==
           mo_lower_einsum_term_stride(term, next) * size_of(w, next);
}

static bool is_one(const work *w, const mo_lower_einsum_term *term,
                   const run *r)
{
    for (int i = 0; i + 1 < r->n; i++)
        if (!can_merge(w, term, r->label[i], r->label[i + 1]))
            return false;
    return true;
}

/* Labels of a role in the order of a term, without those of size 1. */
static run labels_of_role(const work *w, const mo_lower_einsum_term *order,
                          role wanted, const mo_lower_einsum_term *a,
                          const mo_lower_einsum_term *b,
                          const mo_lower_einsum_term *c)
{
    run r = { .n = 0 };

    for (int i = 0; i < order->n; i++)
        if (size_of(w, order->label[i]) != 1 &&
            role_of(a, b, c, order->label[i]) == wanted)
            r.label[r.n++] = order->label[i];
    return r;
}

static int64_t extent_of(const work *w, const run *r)
{
    int64_t extent = 1;

    for (int i = 0; i < r->n; i++)
        extent *= size_of(w, r->label[i]);
    return extent;
}

static int64_t stride_of(const mo_lower_einsum_term *term, const run *r)
{
    return r->n > 0 ? mo_lower_einsum_term_stride(term, r->label[r->n - 1]) : 0;
}

/* The term with the labels of a run innermost, in its order. */
static mo_status make_contiguous(const work *w, const run *r,
                                 mo_lower_einsum_term *term)
{
    mo_lower_einsum_term moved = { .n = 0 };
    mo_status status;

    if (is_one(w, term, r))
        return MO_OK;
    for (int i = 0; i < term->n; i++) {
        bool inner = false;

        for (int j = 0; j < r->n; j++)
            inner = inner || r->label[j] == term->label[i];
        if (!inner)
            mo_lower_einsum_term_push(&moved, term->label[i]);
    }
    for (int j = 0; j < r->n; j++)
        mo_lower_einsum_term_push(&moved, r->label[j]);
    status = add_temp(w, &moved);
    if (status == MO_OK)
        status = add_copy(w, term, &moved);
    *term = moved;
    return status;
}

static void add_batch(const work *w, const mo_lower_einsum_term *a,
                      const mo_lower_einsum_term *b,
                      const mo_lower_einsum_term *c, int label,
                      mo_call_matmul *m)
{
    int d = m->n_batch++;

    m->extent[d] = size_of(w, label);
    m->a.batch[d] = mo_lower_einsum_term_stride(a, label);
    m->b.batch[d] = mo_lower_einsum_term_stride(b, label);
    m->c.batch[d] = mo_lower_einsum_term_stride(c, label);
}

/* The innermost labels of a run that are one dimension in two terms; the others
 * become batches. */
static run take_inner_run(const work *w, const mo_lower_einsum_term *own,
                          const mo_lower_einsum_term *c, run *all)
{
    run inner = { .n = 0 };
    int from = all->n;

    if (from > 0)
        from--;
    while (from > 0 &&
           can_merge(w, own, all->label[from - 1], all->label[from]) &&
           can_merge(w, c, all->label[from - 1], all->label[from]))
        from--;
    for (int i = from; i < all->n; i++)
        inner.label[inner.n++] = all->label[i];
    all->n = from;
    return inner;
}

static void fill_product(const work *w, const mo_lower_einsum_term *a,
                         const mo_lower_einsum_term *b,
                         const mo_lower_einsum_term *c, const run *summed,
                         mo_call_matmul *m)
{
    run rows = labels_of_role(w, c, ROW, a, b, c),
        columns = labels_of_role(w, c, COLUMN, a, b, c);
    run batches = labels_of_role(w, c, BATCH, a, b, c);
    run row = take_inner_run(w, a, c, &rows);
    run column = take_inner_run(w, b, c, &columns);

    *m = (mo_call_matmul){ .m = extent_of(w, &row),
                           .n = extent_of(w, &column),
                           .k = extent_of(w, summed) };
    m->a.row = stride_of(a, &row);
    m->a.column = stride_of(a, summed);
    m->b.row = stride_of(b, summed);
    m->b.column = stride_of(b, &column);
    m->c.row = stride_of(c, &row);
    m->c.column = stride_of(c, &column);
    for (int i = 0; i < batches.n; i++)
        add_batch(w, a, b, c, batches.label[i], m);
    for (int i = 0; i < rows.n; i++)
        add_batch(w, a, b, c, rows.label[i], m);
    for (int i = 0; i < columns.n; i++)
        add_batch(w, a, b, c, columns.label[i], m);
}

static mo_status add_call(const work *w, mo_call_kind kind,
                          const mo_lower_einsum_term *a,
                          const mo_lower_einsum_term *b,
                          const mo_lower_einsum_term *c, mo_call **call)
{
    mo_status status =
        mo_lower_add_call(w->lowered, w->arena, kind, 2, 1, call, w->err);

    if (status != MO_OK)
        return status;
    (*call)->in[0] = a->operand;
    (*call)->in[1] = b->operand;
    (*call)->out[0] = c->operand;
    return MO_OK;
}

/* Nothing is summed: elementwise product. */
static mo_status add_multiply(const work *w, const mo_lower_einsum_term *a,
                              const mo_lower_einsum_term *b,
                              const mo_lower_einsum_term *c)
{
    mo_point_step step = { .op = MO_POINT_MULTIPLY, .a = 0, .b = 1 };
    mo_call *call;
    mo_point_program *p;
    mo_status status = add_call(w, MO_CALL_POINT, a, b, c, &call);

    if (status != MO_OK)
        return status;
    p = &call->u.point;
    p->n_operands = 2;
    p->operands[0].elem = p->operands[1].elem = w->site->out[0].elem;
    for (int i = 0; i < c->n; i++) {
        p->operands[0].access.stride[i] =
            mo_lower_einsum_term_stride(a, c->label[i]);
        p->operands[1].access.stride[i] =
            mo_lower_einsum_term_stride(b, c->label[i]);
        p->out.stride[i] = c->stride[i];
    }
    p->result = mo_point_push_step(p, step);
    return MO_OK;
}

static mo_status add_product(const work *w, mo_lower_einsum_term a,
                             mo_lower_einsum_term b,
                             const mo_lower_einsum_term *c)
{
    run summed = labels_of_role(w, &a, SUMMED, &a, &b, c);
    mo_call *call;
    mo_status status;

    if (summed.n == 0 && mo_elem_is_float(w->site->out[0].elem))
        return add_multiply(w, &a, &b, c);
    status = make_contiguous(w, &summed, &a);
    if (status == MO_OK)
        status = make_contiguous(w, &summed, &b);
    if (status == MO_OK)
        status = add_call(w, MO_CALL_MATMUL, &a, &b, c, &call);
    if (status == MO_OK)
        fill_product(w, &a, &b, c, &summed, &call->u.matmul);
    return status;
}

/* Returns true when a label occurs in the result or behind input i. */
static bool is_wanted(const work *w, int i, int label)
{
    for (int j = i + 1; j < w->site->n_in; j++)
        if (mo_lower_einsum_term_find(&w->einsum->inputs[j], label) >= 0)
            return true;
    return mo_lower_einsum_term_find(&w->einsum->output, label) >= 0;
}

static bool keep_wanted(const work *w, int i, const mo_lower_einsum_term *from,
                        mo_lower_einsum_term *to)
{
    for (int d = 0; d < from->n; d++)
        if (is_wanted(w, i, from->label[d]) &&
            mo_lower_einsum_term_find(to, from->label[d]) < 0 &&
            !mo_lower_einsum_term_push(to, from->label[d]))
            return false;
    return true;
}

/* The term of the product of a and input i. */
static mo_status make_result(const work *w, int i,
                             const mo_lower_einsum_term *a,
                             const mo_lower_einsum_term *b,
                             mo_lower_einsum_term *result)
{
    if (i == w->site->n_in - 1) {
        *result = w->einsum->output;
        return MO_OK;
    }
    *result = (mo_lower_einsum_term){ .n = 0 };
    if (!keep_wanted(w, i, a, result) || !keep_wanted(w, i, b, result))
        return fail_rank(w);
    return add_temp(w, result);
}

static mo_status lower_terms(const work *w)
{
    mo_lower_einsum_term a = w->einsum->inputs[0];
    mo_status status = MO_OK;

    if (w->site->n_in == 1)
        return lacks_some(&a, &w->einsum->output, NULL)
                   ? add_sum(w, &a, &w->einsum->output)
                   : add_copy(w, &a, &w->einsum->output);
    for (int i = 1; status == MO_OK && i < w->site->n_in; i++) {
        mo_lower_einsum_term b = w->einsum->inputs[i], c;

        status = make_result(w, i, &a, &b, &c);
        if (status == MO_OK)
            status = sum_unshared(w, &b, &c, &a);
        if (status == MO_OK)
            status = sum_unshared(w, &a, &c, &b);
        if (status == MO_OK)
            status = add_product(w, a, b, &c);
        a = c;
    }
    return status;
}

mo_status mo_lower_einsum(const mo_op_site *site, mo_arena *arena,
                          mo_lower_result *lowered, mo_error *err)
{
    mo_lower_einsum_equation einsum;
    work w = { site, arena, lowered, &einsum, err };
    mo_status status =
        mo_op_site_check_arity(site, 1, MO_CALL_MAX_OPERANDS, 1, err);

    for (int i = 0; status == MO_OK && i < site->n_in; i++)
        if (site->in[i].elem != site->out[0].elem)
            return mo_op_site_fail(site, MO_E_SUPPORT, err,
                                   "its inputs and its output differ in type");
    if (status == MO_OK)
        status = mo_lower_einsum_parse(site, arena, &einsum, err);
    return status == MO_OK ? lower_terms(&w) : status;
}
