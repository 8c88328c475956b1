/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Einsum: "b...ij,b...jk->b...ik".
 */
#include <string.h>

#include "base/json.h"
#include "ingest/infer/rule_fns.h"
#include "ingest/infer/rule_args.h"
#include "ingest/infer/dims.h"

enum { N_LABELS = 128 }; /* indexed by their ASCII codes */

/* What the equation's letters and its ellipsis stand for. */
typedef struct labels {
    int64_t size[N_LABELS]; /* -1: not seen yet */
    int seen[N_LABELS];     /* how often */
    mo_shape ellipsis;
} labels;

typedef struct span {
    const char *at, *end;
} span;

static bool is_label(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool take(span *s, const char *text)
{
    size_t length = strlen(text);

    if ((size_t) (s->end - s->at) < length || memcmp(s->at, text, length) != 0)
        return false;
    s->at += length;
    return true;
}

static int count_labels(span subscript)
{
    int count = 0;

    for (const char *at = subscript.at; at < subscript.end; at++)
        count += is_label(*at);
    return count;
}

/* A size of 1 is stretched, as everywhere. */
static mo_status see_label(labels *known, char label, int64_t dim,
                           mo_error *err)
{
    int64_t *size = &known->size[(int) label];

    known->seen[(int) label]++;
    if (*size >= 0 && dim == 1)
        return MO_OK;
    if (*size >= 0 && *size != 1 && *size != dim)
        return mo_fail(err, MO_E_INPUT, "label '%c' is both %lld and %lld",
                       label, (long long) *size, (long long) dim);
    *size = dim;
    return MO_OK;
}

/* The ellipsis hides count dimensions of shape. */
static mo_status see_ellipsis(labels *known, const mo_shape *shape, int first,
                              int count, mo_error *err)
{
    mo_shape hidden = { .rank = count };

    memcpy(hidden.dims, shape->dims + first,
           (size_t) count * sizeof *hidden.dims);
    if (!mo_dims_broadcast(&known->ellipsis, &hidden, &known->ellipsis))
        return mo_dims_fail_broadcast(err, &known->ellipsis, &hidden);
    return MO_OK;
}

/* Matches one input's subscript, "b...ij", with its shape. */
static mo_status see_subscript(labels *known, span subscript,
                               const mo_shape *shape, mo_error *err)
{
    int next = 0, hidden = shape->rank - count_labels(subscript);
    mo_status status = MO_OK;

    while (status == MO_OK && hidden >= 0 && subscript.at < subscript.end) {
        if (take(&subscript, " "))
            continue;
        if (take(&subscript, "...")) {
            status = see_ellipsis(known, shape, next, hidden, err);
            next += hidden;
            hidden = 0;
        } else if (is_label(*subscript.at) && next < shape->rank) {
            status =
                see_label(known, *subscript.at++, shape->dims[next++], err);
        } else {
            break;
        }
    }
    if (status == MO_OK &&
        (subscript.at < subscript.end || next != shape->rank))
        return mo_fail(err, MO_E_INPUT, "its equation does not fit %s",
                       mo_dims_format(shape).text);
    return status;
}

static void push_ellipsis(const labels *known, mo_shape *output)
{
    for (int d = 0; d < known->ellipsis.rank; d++)
        mo_dims_push(output, known->ellipsis.dims[d]);
}

static mo_status push_subscript(const labels *known, span subscript,
                                mo_shape *output, mo_error *err)
{
    while (subscript.at < subscript.end) {
        if (take(&subscript, " "))
            continue;
        if (take(&subscript, "...")) {
            push_ellipsis(known, output);
            continue;
        }
        if (!is_label(*subscript.at) || known->seen[(int) *subscript.at] == 0)
            return mo_fail(err, MO_E_INPUT,
                           "its equation has an output that is in no input");
        mo_dims_push(output, known->size[(int) *subscript.at++]);
    }
    return MO_OK;
}

/* An equation without an arrow means what is there once, in alphabetical
 * order. */
static void push_single(const labels *known, mo_shape *output)
{
    push_ellipsis(known, output);
    for (int label = 0; label < N_LABELS; label++)
        if (known->seen[label] == 1)
            mo_dims_push(output, known->size[label]);
}

/* Takes all up to a comma, or to the end, off the inputs. */
static span take_subscript(span *inputs)
{
    size_t rest = (size_t) (inputs->end - inputs->at);
    const char *comma = memchr(inputs->at, ',', rest);
    span subscript = { inputs->at, comma ? comma : inputs->end };

    inputs->at = comma ? comma + 1 : inputs->end;
    return subscript;
}

static const char *find_arrow(span equation)
{
    while (equation.at < equation.end) {
        const char *here = equation.at;

        if (take(&equation, "->"))
            return here;
        equation.at++;
    }
    return NULL;
}

mo_status mo_infer_shape_einsum(const mo_infer_rule_op *op, mo_shape *outputs,
                                mo_error *err)
{
    size_t length = 0;
    const char *raw =
        op->attrs ? mo_json_find(op->attrs, "equation", &length) : NULL;
    const char *arrow;
    span inputs;
    labels known = { .ellipsis = { 0 } };
    mo_status status = MO_OK;

    if (!raw || length < 2)
        return mo_fail(err, MO_E_INPUT, "has no equation");
    inputs = (span){ raw + 1, raw + length - 1 }; /* without the quotes */
    arrow = find_arrow(inputs);
    inputs.end = arrow ? arrow : inputs.end;
    memset(known.size, -1, sizeof known.size);
    for (int i = 0; status == MO_OK && i < op->n_inputs; i++)
        status = see_subscript(&known, take_subscript(&inputs),
                               &op->inputs[i].shape, err);
    if (status != MO_OK)
        return status;
    if (inputs.at != inputs.end)
        return mo_fail(err, MO_E_INPUT,
                       "its equation is for more than %d inputs", op->n_inputs);
    outputs[0] = (mo_shape){ 0 };
    if (arrow)
        return push_subscript(&known, (span){ arrow + 2, raw + length - 1 },
                              outputs, err);
    push_single(&known, outputs);
    return MO_OK;
}
