/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "schedule/validate/validate_internal.h"

/* Texts of violations: numbers of the paper, names in quotes, exact
 * amounts. */

enum { TEXT_SIZE = 2048, NAME_SIZE = 150 };

static const struct {
    const char *number, *word;
} rules[] = {
    [MO_VIOLATION_ASSIGNMENT] = { "(1c)", "(1c) assignment" },
    [MO_VIOLATION_PIN] = { "pin:", "pin" },
    [MO_VIOLATION_GROUP] = { "group:", "group" },
    [MO_VIOLATION_PRECEDENCE] = { "(1a)", "(1a) precedence" },
    [MO_VIOLATION_MEMORY] = { "(1d)", "(1d) memory" },
    [MO_VIOLATION_OVERLAP] = { "(1e)", "(1e) overlap" },
    [MO_VIOLATION_TRANSFER] = { "(1f)", "(1f) transfer" },
    [MO_VIOLATION_CONGESTION] = { "(1g)", "(1g) congestion" },
    [MO_VIOLATION_OBJECTIVE] = { "(1)", "(1) objective" },
};

const char *mo_violation_kind_name(mo_violation_kind rule)
{
    return rules[rule].word;
}

void mo_validate_add_violation(mo_validate_state *j, mo_violation_kind rule,
                               int64_t amount, const char *format, ...)
{
    mo_verdict *v = j->verdict;
    char line[TEXT_SIZE], *text;
    int length;
    va_list args;

    if (v->n == j->max) {
        v->more = true;
        return;
    }
    length = snprintf(line, sizeof line, "%s ", rules[rule].number);
    va_start(args, format);
    vsnprintf(line + length, sizeof line - (size_t) length, format, args);
    va_end(args);
    text = mo_arena_text(v->arena, line, strlen(line));
    if (text)
        v->violations[v->n++] = (mo_violation){ rule, amount, text };
    else
        j->status = mo_fail_memory(j->err);
}

static mo_validate_label quote_name(const char *name)
{
    mo_validate_label label;
    char visible[NAME_SIZE];

    snprintf(label.text, sizeof label.text, "\"%s\"",
             mo_utf8_escape_controls(visible, sizeof visible, name));
    return label;
}

mo_validate_label mo_validate_label_op(const mo_instance *x, int op)
{
    return quote_name(x->op_names[op]);
}

mo_validate_label mo_validate_label_device(const mo_instance *x, int device)
{
    mo_validate_label label;

    mo_utf8_escape_controls(label.text, NAME_SIZE, x->device_ids[device]);
    return label;
}

mo_validate_label mo_validate_label_us(int64_t ns)
{
    uint64_t size = ns < 0 ? -(uint64_t) ns : (uint64_t) ns;
    mo_validate_label label;
    size_t end;

    snprintf(label.text, sizeof label.text, "%s%llu.%03u", ns < 0 ? "-" : "",
             (unsigned long long) (size / 1000), (unsigned) (size % 1000));
    end = strlen(label.text);
    while (label.text[end - 1] == '0')
        end--;
    if (label.text[end - 1] == '.')
        end--;
    memcpy(label.text + end, " us", sizeof " us");
    return label;
}

/* An op may have several outputs, which have no names here. */
static mo_validate_label label_tensor(const mo_instance *x, int tensor)
{
    int from = x->tensor_from[tensor], first = tensor;
    bool is_only;
    mo_validate_label label;

    while (first > 0 && x->tensor_from[first - 1] == from)
        first--;
    is_only = tensor == first && (tensor + 1 == x->n_tensors ||
                                  x->tensor_from[tensor + 1] != from);
    if (is_only)
        return mo_validate_label_op(x, from);
    snprintf(label.text, sizeof label.text, "output %d of %.160s",
             tensor - first + 1, mo_validate_label_op(x, from).text);
    return label;
}

mo_validate_label mo_validate_label_transfer(const mo_validate_state *j,
                                             const mo_transfer *t)
{
    const mo_instance *x = j->x;
    mo_validate_label from = mo_validate_label_device(x, t->from);
    mo_validate_label to = mo_validate_label_device(x, t->to);
    mo_validate_label what = label_tensor(x, mo_validate_tensor(j, t->item)),
                      label;

    if (j->s->regime.tensors == MO_TENSORS_ONCE)
        snprintf(label.text, sizeof label.text, "%.180s from %.160s to %.160s",
                 what.text, from.text, to.text);
    else
        snprintf(label.text, sizeof label.text,
                 "%.180s to %.160s from %.160s to %.160s", what.text,
                 mo_validate_label_op(x, x->flows[t->item].to).text, from.text,
                 to.text);
    return label;
}
