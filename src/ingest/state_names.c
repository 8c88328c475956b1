/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/state_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const char prefix[] = "state:";

/* A name, or what stands in front of * and behind it. */
typedef struct pattern {
    const char *head, *tail;
    size_t n_head, n_tail;
    bool has_star;
} pattern;

bool mo_state_is_item(const char *value)
{
    return strncmp(value, prefix, sizeof prefix - 1) == 0;
}

mo_status mo_state_leave_out(const mo_read_options *options,
                             mo_read_options *others, mo_error *err)
{
    mo_option_list kept = { .count = 0 };
    mo_status status = MO_OK;

    *others = *options;
    for (size_t i = 0; i < options->values.count && status == MO_OK; i++) {
        if (mo_state_is_item(options->values.items[i]))
            continue;
        status = MO_ARRAY_GROW(kept.items, kept.count, kept.room, err);
        if (status == MO_OK)
            kept.items[kept.count++] = options->values.items[i];
    }
    others->values = kept;
    return status;
}

/* Returns whether the text is a name, or has one * at most. */
static bool read_pattern(const char *text, size_t length, pattern *p)
{
    const char *star = memchr(text, '*', length);

    *p = (pattern){ .head = text, .n_head = length };
    if (star) {
        p->has_star = true;
        p->n_head = (size_t) (star - text);
        p->tail = star + 1;
        p->n_tail = length - p->n_head - 1;
    }
    return length > 0 && !(star && memchr(p->tail, '*', p->n_tail));
}

/* Returns whether the name fits, with what * stands for. */
static bool fits(const pattern *p, const char *name, const char **text,
                 size_t *length)
{
    size_t n = strlen(name);

    if (n < p->n_head + p->n_tail || (!p->has_star && n != p->n_head) ||
        memcmp(name, p->head, p->n_head) != 0 ||
        (p->n_tail > 0 &&
         memcmp(name + n - p->n_tail, p->tail, p->n_tail) != 0))
        return false;
    *text = name + p->n_head;
    *length = n - p->n_head - p->n_tail;
    return true;
}

/* Returns the op with the name that the pattern has for that text, or -1. */
static int find_output(const mo_graph *g, const pattern *p, const char *text,
                       size_t length)
{
    const char *other;
    size_t n;

    for (int i = 0; i < g->n_ops; i++)
        if (fits(p, g->ops[i].name, &other, &n) && n == length &&
            memcmp(other, text, n) == 0 && mo_graph_in_degree(g, i) > 0)
            return i;
    return -1;
}

/* Both ops get the name of the input. */
static mo_status name_pair(mo_graph *g, int input, int output, const char *item,
                           mo_error *err)
{
    mo_op *from = &g->ops[input], *to = &g->ops[output];

    if (from->state || to->state)
        return mo_fail(err, MO_E_USAGE,
                       "--state %.100s: '%.100s' is a state already", item,
                       from->state ? from->name : to->name);
    from->state = to->state = from->name;
    return MO_OK;
}

static mo_status name_item(const char *item, mo_graph *g, mo_error *err)
{
    const char *equals = strchr(item, '='), *text;
    pattern input, output;
    size_t length;
    int n = 0;
    mo_status status = MO_OK;

    if (!equals || !read_pattern(item, (size_t) (equals - item), &input) ||
        !read_pattern(equals + 1, strlen(equals + 1), &output) ||
        input.has_star != output.has_star)
        return mo_fail(err, MO_E_USAGE,
                       "--state %.100s: give an input and the output that "
                       "replaces it, as in past=present, with one * in both or "
                       "in none",
                       item);
    for (int i = 0; i < g->n_ops && status == MO_OK; i++) {
        int other;

        if (mo_graph_in_degree(g, i) > 0 ||
            !fits(&input, g->ops[i].name, &text, &length))
            continue;
        n++;
        other = find_output(g, &output, text, length);
        status = other >= 0 ? name_pair(g, i, other, item, err)
                            : mo_fail(err, MO_E_USAGE,
                                      "--state %.100s: the graph has no output "
                                      "for its input '%.100s'",
                                      item, g->ops[i].name);
    }
    if (status == MO_OK && n == 0)
        return mo_fail(err, MO_E_USAGE,
                       "--state %.100s: the graph has no input '%.*s'", item,
                       (int) (equals - item), item);
    return status;
}

mo_status mo_state_name(const mo_option_list *values, mo_graph *g,
                        mo_error *err)
{
    mo_status status = MO_OK;

    for (size_t i = 0; i < values->count && status == MO_OK; i++)
        if (mo_state_is_item(values->items[i]))
            status = name_item(values->items[i] + sizeof prefix - 1, g, err);
    return status;
}
