/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/op/einsum_equation.h"

#include <string.h>

#include "base/json.h"

typedef struct span {
    const char *at, *end;
} span;

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

/* ---- reading */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The next label of a subscript, MO_LOWER_EINSUM_ELLIPSIS for "...", -1 at its
 * end, -2 for what is none. */
static int take_label(span *s)
{
    while (s->at < s->end && *s->at == ' ')
        s->at++;
    if (s->at == s->end)
        return -1;
    if (is_letter(*s->at))
        return *s->at++;
    if (s->end - s->at >= 3 && memcmp(s->at, "...", 3) == 0) {
        s->at += 3;
        return MO_LOWER_EINSUM_ELLIPSIS;
    }
    return -2;
}

static int count_letters(span s)
{
    int count = 0, label;

    while ((label = take_label(&s)) >= 0)
        count += label < MO_LOWER_EINSUM_ELLIPSIS;
    return count;
}

/* Dimension d of an input stands at a label. */
static bool put_dim(mo_lower_einsum_equation *e, mo_lower_einsum_term *term,
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

static bool read_input(mo_lower_einsum_equation *e, span s,
                       const mo_shape *shape, mo_lower_einsum_term *term)
{
    int hidden = shape->rank - count_letters(s), d = 0, label;
    int64_t strides[MO_MAX_RANK], stride = 1;

    for (int i = shape->rank - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= shape->dims[i];
    }
    if (hidden < 0)
        return false;
    while ((label = take_label(&s)) >= 0) {
        int count = label == MO_LOWER_EINSUM_ELLIPSIS ? hidden : 1;

        for (int i = count - 1; i >= 0; i--, d++)
            if (d >= shape->rank ||
                !put_dim(e, term, label + i, shape->dims[d], strides[d]))
                return false;
        if (label == MO_LOWER_EINSUM_ELLIPSIS)
            hidden = 0;
    }
    return label == -1 && d == shape->rank;
}

static bool put_dots(const mo_lower_einsum_equation *e,
                     mo_lower_einsum_term *term)
{
    for (int label = MO_LOWER_EINSUM_LABELS - 1;
         label >= MO_LOWER_EINSUM_ELLIPSIS; label--)
        if (e->size[label] >= 0 && !mo_lower_einsum_term_push(term, label))
            return false;
    return true;
}

static bool read_output(const mo_lower_einsum_equation *e, span s,
                        mo_lower_einsum_term *term)
{
    int label;

    while ((label = take_label(&s)) >= 0)
        if (label == MO_LOWER_EINSUM_ELLIPSIS) {
            if (!put_dots(e, term))
                return false;
        } else if (e->size[label] < 0 ||
                   mo_lower_einsum_term_find(term, label) >= 0 ||
                   !mo_lower_einsum_term_push(term, label)) {
            return false;
        }
    return label == -1;
}

/* Without an arrow: what is there once, in alphabetical order. */
static bool guess_output(const mo_lower_einsum_equation *e, span s,
                         mo_lower_einsum_term *term)
{
    int seen[MO_LOWER_EINSUM_ELLIPSIS] = { 0 };

    for (; s.at < s.end; s.at++)
        if (is_letter(*s.at))
            seen[(int) *s.at]++;
    if (!put_dots(e, term))
        return false;
    for (int label = 0; label < MO_LOWER_EINSUM_ELLIPSIS; label++)
        if (seen[label] == 1 && !mo_lower_einsum_term_push(term, label))
            return false;
    return true;
}

static span take_subscript(span *inputs)
{
    size_t rest = (size_t) (inputs->end - inputs->at);
    const char *comma = memchr(inputs->at, ',', rest);
    span s = { inputs->at, comma ? comma : inputs->end };

    inputs->at = comma ? comma + 1 : inputs->end;
    return s;
}

static bool read_equation(const mo_op_site *site, span equation,
                          mo_lower_einsum_equation *e)
{
    span inputs = equation, rest, output = { NULL, NULL };

    for (const char *at = equation.at; at + 1 < equation.end; at++)
        if (at[0] == '-' && at[1] == '>') {
            inputs.end = at;
            output = (span){ at + 2, equation.end };
            break;
        }
    rest = inputs;
    for (int i = 0; i < site->n_in; i++) {
        e->inputs[i].operand = i;
        if ((i > 0 && rest.at[-1] != ',') ||
            !read_input(e, take_subscript(&rest), &site->in[i].shape,
                        &e->inputs[i]))
            return false;
    }
    if (rest.at != inputs.end ||
        (site->n_in > 0 && rest.at > inputs.at && rest.at[-1] == ','))
        return false;
    return output.at ? read_output(e, output, &e->output)
                     : guess_output(e, inputs, &e->output);
}

mo_status mo_lower_einsum_parse(const mo_op_site *site, mo_arena *arena,
                                mo_lower_einsum_equation *einsum, mo_error *err)
{
    size_t length = 0;
    const char *text =
        site->attrs ? mo_json_find(site->attrs, "equation", &length) : NULL;
    mo_shape made;

    *einsum = (mo_lower_einsum_equation){ .output = { .operand = site->n_in } };
    memset(einsum->size, -1, sizeof einsum->size);
    einsum->inputs =
        mo_arena_array(arena, (size_t) site->n_in, sizeof *einsum->inputs);
    if (!einsum->inputs)
        return mo_fail_memory(err);
    if (!text || length < 2 || *text != '"')
        return mo_op_site_fail(site, MO_E_INPUT, err, "has no equation");
    if (!read_equation(site, (span){ text + 1, text + length - 1 }, einsum))
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "its equation does not fit its inputs");
    made = mo_lower_einsum_term_pack(einsum, &einsum->output);
    return mo_op_site_check_output(site, 0, &made, err);
}
