/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of Einsum: two terms at a time, from the left, each pair a matrix
 * product with as many batches as it needs.
 *
 * A label of both terms and of the result is a batch; one of both terms that
 * is not in the result is summed over; one of a single term makes rows or
 * columns, or a further batch where strides do not allow merging them into one
 * dimension.
 *
 * A term of the equation, "b...ij,b...jk->b...ik", is a tensor with a label and
 * a stride for each dimension. A label that occurs twice in one term selects
 * its diagonal: the sum of both strides. The dimensions behind "..." have
 * labels of their own. A dimension of 1 is repeated: its stride is 0.
 */
#include <string.h>

#include "exec/op/copy_builder.h"
#include "exec/op/lower/lowerings.h"
#include "ingest/einsum.h"

/* Letters are their codes; dimension i from the end of "..." is
 * MO_EINSUM_ELLIPSIS + i. */
enum { N_LABELS = MO_EINSUM_ELLIPSIS + MO_MAX_RANK };

typedef struct einsum_term {
    int operand; /* of the lowered op */
    int n;
    int label[MO_MAX_RANK];
    int64_t stride[MO_MAX_RANK];
} einsum_term;

typedef struct einsum_equation {
    einsum_term *inputs; /* by input of the site; of the arena */
    einsum_term output;
    int64_t size[N_LABELS]; /* -1: there is no such label */
} einsum_equation;

/* Returns the place of a label in a term, or -1. */
static int find_label(const einsum_term *term, int label)
{
    for (int i = 0; i < term->n; i++)
        if (term->label[i] == label)
            return i;
    return -1;
}

/* Returns the stride of a label in a term, 0 where it does not occur. */
static int64_t label_stride(const einsum_term *term, int label)
{
    int at = find_label(term, label);

    return at < 0 ? 0 : term->stride[at];
}

/* Appends a label; returns false when the term is full. */
static bool push_label(einsum_term *term, int label)
{
    if (term->n == MO_MAX_RANK)
        return false;
    term->label[term->n] = label;
    term->stride[term->n++] = 0;
    return true;
}

/* Sets the strides of a dense tensor with the term's dimensions, row by row;
 * returns its shape. */
static mo_shape pack_term(const einsum_equation *einsum, einsum_term *term)
{
    mo_shape shape = { .rank = term->n };
    int64_t stride = 1;

    for (int i = term->n - 1; i >= 0; i--) {
        shape.dims[i] = einsum->size[term->label[i]];
        term->stride[i] = shape.dims[i] == 1 ? 0 : stride;
        stride *= shape.dims[i];
    }
    return shape;
}

/* Gives a dimension of an input to a label of its term. */
static bool add_dim(einsum_equation *e, einsum_term *term, int label,
                    int64_t dim, int64_t stride)
{
    int at = find_label(term, label);
    int64_t *size = &e->size[label];

    if (at < 0) {
        at = term->n;
        if (!push_label(term, label))
            return false;
    }
    if (dim != 1)
        term->stride[at] += stride;
    if (*size < 0 || *size == 1)
        *size = dim;
    return dim == 1 || dim == *size;
}

static bool read_input(einsum_equation *e, mo_einsum_text s,
                       const mo_shape *shape, einsum_term *term)
{
    int hidden = shape->rank - mo_einsum_count_letters(s), d = 0, label;
    int64_t strides[MO_MAX_RANK], stride = 1;

    for (int i = shape->rank - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= shape->dims[i];
    }
    if (hidden < 0)
        return false;
    while ((label = mo_einsum_take_label(&s)) >= 0) {
        int count = label == MO_EINSUM_ELLIPSIS ? hidden : 1;

        for (int i = count - 1; i >= 0; i--, d++)
            if (d >= shape->rank ||
                !add_dim(e, term, label + i, shape->dims[d], strides[d]))
                return false;
        if (label == MO_EINSUM_ELLIPSIS)
            hidden = 0;
    }
    return label == MO_EINSUM_END && d == shape->rank;
}

static bool push_ellipsis(const einsum_equation *e, einsum_term *term)
{
    for (int label = N_LABELS - 1; label >= MO_EINSUM_ELLIPSIS; label--)
        if (e->size[label] >= 0 && !push_label(term, label))
            return false;
    return true;
}

static bool read_output(const einsum_equation *e, mo_einsum_text s,
                        einsum_term *term)
{
    int label;

    while ((label = mo_einsum_take_label(&s)) >= 0)
        if (label == MO_EINSUM_ELLIPSIS) {
            if (!push_ellipsis(e, term))
                return false;
        } else if (e->size[label] < 0 || find_label(term, label) >= 0 ||
                   !push_label(term, label)) {
            return false;
        }
    return label == MO_EINSUM_END;
}

/* Without an arrow: the labels that occur once, in alphabetical order. */
static bool implicit_output(const einsum_equation *e, mo_einsum_text s,
                            einsum_term *term)
{
    int seen[MO_EINSUM_ELLIPSIS] = { 0 };

    for (; s.at < s.end; s.at++)
        if (mo_einsum_is_letter(*s.at))
            seen[(int) *s.at]++;
    if (!push_ellipsis(e, term))
        return false;
    for (int label = 0; label < MO_EINSUM_ELLIPSIS; label++)
        if (seen[label] == 1 && !push_label(term, label))
            return false;
    return true;
}

static bool read_equation(const mo_op_site *site,
                          const mo_einsum_equation *equation,
                          einsum_equation *e)
{
    mo_einsum_text inputs = equation->inputs, rest = inputs;

    for (int i = 0; i < site->n_in; i++) {
        e->inputs[i].operand = i;
        if ((i > 0 && rest.at[-1] != ',') ||
            !read_input(e, mo_einsum_take_subscript(&rest), &site->in[i].shape,
                        &e->inputs[i]))
            return false;
    }
    if (rest.at != inputs.end ||
        (site->n_in > 0 && rest.at > inputs.at && rest.at[-1] == ','))
        return false;
    return equation->output.at ? read_output(e, equation->output, &e->output)
                               : implicit_output(e, inputs, &e->output);
}

static mo_status parse_equation(const mo_op_site *site, mo_arena *arena,
                                einsum_equation *einsum, mo_error *err)
{
    mo_einsum_equation equation;
    mo_shape made;

    *einsum = (einsum_equation){ .output = { .operand = site->n_in } };
    memset(einsum->size, -1, sizeof einsum->size);
    einsum->inputs =
        mo_arena_array(arena, (size_t) site->n_in, sizeof *einsum->inputs);
    if (!einsum->inputs)
        return mo_fail_memory(err);
    if (!mo_einsum_find(site->attrs, &equation))
        return mo_op_site_fail(site, MO_E_INPUT, err, "has no equation");
    if (!read_equation(site, &equation, einsum))
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "its equation does not fit its inputs");
    made = pack_term(einsum, &einsum->output);
    return mo_op_site_check_output(site, 0, &made, err);
}

typedef struct work {
    const mo_op_site *site;
    mo_lower_result *lowered;
    const einsum_equation *einsum;
    mo_error *err;
} work;

static int64_t size_of(const work *w, int label)
{
    return w->einsum->size[label];
}

/* Allocates a temporary for the term. */
static mo_status add_temp(const work *w, einsum_term *term)
{
    mo_tensor_desc desc = { .elem = w->site->out[0].elem };

    desc.shape = pack_term(w->einsum, term);
    if (!mo_shape_fits(&desc.shape))
        return mo_op_site_fail(w->site, MO_E_LIMIT, w->err,
                               "an intermediate result is too large");
    return mo_lower_add_temp(w->lowered, w->site, &desc, &term->operand,
                             w->err);
}

/* to = from, in its order of labels. */
static mo_status add_copy(const work *w, const einsum_term *from,
                          const einsum_term *to)
{
    mo_call_copy_box box = { .from = 0, .to = 0 };

    for (int i = 0; i < to->n; i++)
        mo_lower_copy_box_push(&box, size_of(w, to->label[i]),
                               label_stride(from, to->label[i]), to->stride[i]);
    return mo_lower_copy_add_box(&box, from->operand, to->operand, w->lowered,
                                 w->err);
}

/* to = from, summed over the labels that are not in to. */
static mo_status add_sum(const work *w, const einsum_term *from,
                         const einsum_term *to)
{
    mo_call *call;
    mo_call_reduce *reduce;
    mo_status status =
        mo_lower_add_call(w->lowered, MO_CALL_REDUCE, 1, 1, &call, w->err);

    if (status != MO_OK)
        return status;
    call->in[0] = from->operand;
    call->out[0] = to->operand;
    reduce = &call->u.reduce;
    *reduce = (mo_call_reduce){ .op = MO_CALL_REDUCE_SUM, .rank = from->n };
    for (int i = 0; i < from->n; i++) {
        reduce->extent[i] = size_of(w, from->label[i]);
        reduce->in_stride[i] = from->stride[i];
        reduce->out_stride[i] = label_stride(to, from->label[i]);
        reduce->reduced[i] = find_label(to, from->label[i]) < 0;
    }
    return MO_OK;
}

static bool lacks_some(const einsum_term *of, const einsum_term *a,
                       const einsum_term *b)
{
    for (int i = 0; i < of->n; i++)
        if (find_label(a, of->label[i]) < 0 &&
            (!b || find_label(b, of->label[i]) < 0))
            return true;
    return false;
}

/* Sums over the labels that are neither in other nor in the result. */
static mo_status sum_unshared(const work *w, const einsum_term *other,
                              const einsum_term *result, einsum_term *term)
{
    einsum_term kept = { .n = 0 };
    mo_status status;

    if (!lacks_some(term, result, other))
        return MO_OK;
    for (int i = 0; i < term->n; i++)
        if (find_label(result, term->label[i]) >= 0 ||
            find_label(other, term->label[i]) >= 0)
            push_label(&kept, term->label[i]);
    status = add_temp(w, &kept);
    if (status == MO_OK)
        status = add_sum(w, term, &kept);
    *term = kept;
    return status;
}

/* Role of a label of two terms and their result. */
typedef enum role { BATCH, ROW, COLUMN, SUMMED } role;

static role role_of(const einsum_term *a, const einsum_term *b,
                    const einsum_term *c, int label)
{
    if (find_label(c, label) < 0)
        return SUMMED;
    if (find_label(a, label) < 0)
        return COLUMN;
    return find_label(b, label) < 0 ? ROW : BATCH;
}

/* Labels that may be one dimension, outermost first. */
typedef struct run {
    int n;
    int label[MO_MAX_RANK];
} run;

/* Returns true when label, then next, can be one dimension of the term. */
static bool can_merge(const work *w, const einsum_term *term, int label,
                      int next)
{
    return label_stride(term, label) ==
           label_stride(term, next) * size_of(w, next);
}

static bool is_one(const work *w, const einsum_term *term, const run *r)
{
    for (int i = 0; i + 1 < r->n; i++)
        if (!can_merge(w, term, r->label[i], r->label[i + 1]))
            return false;
    return true;
}

/* Labels of a role in the order of a term, without those of size 1. */
static run labels_of_role(const work *w, const einsum_term *order, role wanted,
                          const einsum_term *a, const einsum_term *b,
                          const einsum_term *c)
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

static int64_t stride_of(const einsum_term *term, const run *r)
{
    return r->n > 0 ? label_stride(term, r->label[r->n - 1]) : 0;
}

/* The term with the labels of a run innermost, in its order. */
static mo_status make_contiguous(const work *w, const run *r, einsum_term *term)
{
    einsum_term moved = { .n = 0 };
    mo_status status;

    if (is_one(w, term, r))
        return MO_OK;
    for (int i = 0; i < term->n; i++) {
        bool inner = false;

        for (int j = 0; j < r->n; j++)
            inner = inner || r->label[j] == term->label[i];
        if (!inner)
            push_label(&moved, term->label[i]);
    }
    for (int j = 0; j < r->n; j++)
        push_label(&moved, r->label[j]);
    status = add_temp(w, &moved);
    if (status == MO_OK)
        status = add_copy(w, term, &moved);
    *term = moved;
    return status;
}

static void add_batch(const work *w, const einsum_term *a, const einsum_term *b,
                      const einsum_term *c, int label, mo_call_matmul *m)
{
    int d = m->n_batch++;

    m->extent[d] = size_of(w, label);
    m->a.batch[d] = label_stride(a, label);
    m->b.batch[d] = label_stride(b, label);
    m->c.batch[d] = label_stride(c, label);
}

/* The innermost labels of a run that are one dimension in two terms; the others
 * become batches. */
static run take_inner_run(const work *w, const einsum_term *own,
                          const einsum_term *c, run *all)
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

static mo_status add_call(const work *w, mo_call_kind kind,
                          const einsum_term *a, const einsum_term *b,
                          const einsum_term *c, mo_call **call)
{
    mo_status status = mo_lower_add_call(w->lowered, kind, 2, 1, call, w->err);

    if (status != MO_OK)
        return status;
    (*call)->in[0] = a->operand;
    (*call)->in[1] = b->operand;
    (*call)->out[0] = c->operand;
    return MO_OK;
}

/* Nothing is summed: elementwise product. */
static mo_status add_multiply(const work *w, const einsum_term *a,
                              const einsum_term *b, const einsum_term *c)
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
        p->operands[0].access.stride[i] = label_stride(a, c->label[i]);
        p->operands[1].access.stride[i] = label_stride(b, c->label[i]);
        p->out.stride[i] = c->stride[i];
    }
    p->result = mo_point_push_step(p, step);
    return MO_OK;
}

static mo_status add_product(const work *w, einsum_term a, einsum_term b,
                             const einsum_term *c)
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
    if (status == MO_OK) {
        mo_call_matmul *m = &call->u.matmul;
        run rows = labels_of_role(w, c, ROW, &a, &b, c),
            columns = labels_of_role(w, c, COLUMN, &a, &b, c);
        run batches = labels_of_role(w, c, BATCH, &a, &b, c);
        run row = take_inner_run(w, &a, c, &rows);
        run column = take_inner_run(w, &b, c, &columns);

        *m = (mo_call_matmul){ .m = extent_of(w, &row),
                               .n = extent_of(w, &column),
                               .k = extent_of(w, &summed) };
        m->a.row = stride_of(&a, &row);
        m->a.column = stride_of(&a, &summed);
        m->b.row = stride_of(&b, &summed);
        m->b.column = stride_of(&b, &column);
        m->c.row = stride_of(c, &row);
        m->c.column = stride_of(c, &column);
        for (int i = 0; i < batches.n; i++)
            add_batch(w, &a, &b, c, batches.label[i], m);
        for (int i = 0; i < rows.n; i++)
            add_batch(w, &a, &b, c, rows.label[i], m);
        for (int i = 0; i < columns.n; i++)
            add_batch(w, &a, &b, c, columns.label[i], m);
    }
    return status;
}

/* Returns true when a label occurs in the result or behind input i. */
static bool is_wanted(const work *w, int i, int label)
{
    for (int j = i + 1; j < w->site->n_in; j++)
        if (find_label(&w->einsum->inputs[j], label) >= 0)
            return true;
    return find_label(&w->einsum->output, label) >= 0;
}

static bool keep_wanted(const work *w, int i, const einsum_term *from,
                        einsum_term *to)
{
    for (int d = 0; d < from->n; d++)
        if (is_wanted(w, i, from->label[d]) &&
            find_label(to, from->label[d]) < 0 &&
            !push_label(to, from->label[d]))
            return false;
    return true;
}

/* The term of the product of a and input i. */
static mo_status make_result(const work *w, int i, const einsum_term *a,
                             const einsum_term *b, einsum_term *result)
{
    if (i == w->site->n_in - 1) {
        *result = w->einsum->output;
        return MO_OK;
    }
    *result = (einsum_term){ .n = 0 };
    if (!keep_wanted(w, i, a, result) || !keep_wanted(w, i, b, result))
        return mo_op_site_fail(
            w->site, MO_E_SUPPORT, w->err,
            "an intermediate result has more than %d dimensions", MO_MAX_RANK);
    return add_temp(w, result);
}

mo_status mo_lower_einsum(const mo_op_site *site, mo_lower_result *lowered,
                          mo_error *err)
{
    einsum_equation einsum;
    work w = { site, lowered, &einsum, err };
    mo_status status =
        mo_op_site_check_arity(site, 1, MO_CALL_MAX_OPERANDS, 1, err);

    for (int i = 0; status == MO_OK && i < site->n_in; i++)
        if (site->in[i].elem != site->out[0].elem)
            return mo_op_site_fail(site, MO_E_SUPPORT, err,
                                   "its inputs and its output differ in type");
    if (status == MO_OK)
        status = parse_equation(site, lowered->arena, &einsum, err);
    if (status != MO_OK)
        return status;

    einsum_term a = w.einsum->inputs[0];
    status = MO_OK;

    if (w.site->n_in == 1)
        return lacks_some(&a, &w.einsum->output, NULL)
                   ? add_sum(&w, &a, &w.einsum->output)
                   : add_copy(&w, &a, &w.einsum->output);
    for (int i = 1; status == MO_OK && i < w.site->n_in; i++) {
        einsum_term b = w.einsum->inputs[i], c;

        status = make_result(&w, i, &a, &b, &c);
        if (status == MO_OK)
            status = sum_unshared(&w, &b, &c, &a);
        if (status == MO_OK)
            status = sum_unshared(&w, &a, &c, &b);
        if (status == MO_OK)
            status = add_product(&w, a, b, &c);
        a = c;
    }
    return status;
}
