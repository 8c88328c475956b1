/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/op/einsum_equation.h"

#include <string.h>

int mo_lower_einsum_term_find(const mo_lower_einsum_term *term, int label)
{
    for (int i = 0; i < term->n; i++)
        if (term->label[i] == label)
            return i;
    return -1;
}

int64_t mo_lower_einsum_term_stride(const mo_lower_einsum_term *term, int label)
{
    int at = mo_lower_einsum_term_find(term, label);

    return at < 0 ? 0 : term->stride[at];
}

bool mo_lower_einsum_term_push(mo_lower_einsum_term *term, int label)
{
    if (term->n == MO_MAX_RANK)
        return false;
    term->label[term->n] = label;
    term->stride[term->n++] = 0;
    return true;
}

mo_shape mo_lower_einsum_term_pack(const mo_lower_einsum_equation *einsum,
                                   mo_lower_einsum_term *term)
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
static bool add_dim(mo_lower_einsum_equation *e, mo_lower_einsum_term *term,
                    int label, int64_t dim, int64_t stride)
{
    int at = mo_lower_einsum_term_find(term, label);
    int64_t *size = &e->size[label];

    if (at < 0) {
        at = term->n;
        if (!mo_lower_einsum_term_push(term, label))
            return false;
    }
    if (dim != 1)
        term->stride[at] += stride;
    if (*size < 0 || *size == 1)
        *size = dim;
    return dim == 1 || dim == *size;
}

static bool read_input(mo_lower_einsum_equation *e, mo_einsum_text s,
                       const mo_shape *shape, mo_lower_einsum_term *term)
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

static bool push_ellipsis(const mo_lower_einsum_equation *e,
                          mo_lower_einsum_term *term)
{
    for (int label = MO_LOWER_EINSUM_LABELS - 1; label >= MO_EINSUM_ELLIPSIS;
         label--)
        if (e->size[label] >= 0 && !mo_lower_einsum_term_push(term, label))
            return false;
    return true;
}

static bool read_output(const mo_lower_einsum_equation *e, mo_einsum_text s,
                        mo_lower_einsum_term *term)
{
    int label;

    while ((label = mo_einsum_take_label(&s)) >= 0)
        if (label == MO_EINSUM_ELLIPSIS) {
            if (!push_ellipsis(e, term))
                return false;
        } else if (e->size[label] < 0 ||
                   mo_lower_einsum_term_find(term, label) >= 0 ||
                   !mo_lower_einsum_term_push(term, label)) {
            return false;
        }
    return label == MO_EINSUM_END;
}

/* Without an arrow: the labels that occur once, in alphabetical order. */
static bool implicit_output(const mo_lower_einsum_equation *e, mo_einsum_text s,
                            mo_lower_einsum_term *term)
{
    int seen[MO_EINSUM_ELLIPSIS] = { 0 };

    for (; s.at < s.end; s.at++)
        if (mo_einsum_is_letter(*s.at))
            seen[(int) *s.at]++;
    if (!push_ellipsis(e, term))
        return false;
    for (int label = 0; label < MO_EINSUM_ELLIPSIS; label++)
        if (seen[label] == 1 && !mo_lower_einsum_term_push(term, label))
            return false;
    return true;
}

static bool read_equation(const mo_op_site *site,
                          const mo_einsum_equation *equation,
                          mo_lower_einsum_equation *e)
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

mo_status mo_lower_einsum_parse(const mo_op_site *site, mo_arena *arena,
                                mo_lower_einsum_equation *einsum, mo_error *err)
{
    mo_einsum_equation equation;
    mo_shape made;

    *einsum = (mo_lower_einsum_equation){ .output = { .operand = site->n_in } };
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
    made = mo_lower_einsum_term_pack(einsum, &einsum->output);
    return mo_op_site_check_output(site, 0, &made, err);
}
