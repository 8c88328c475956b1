/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/state.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"
#include "base/minmax.h"
#include "graph/op_attrs.h"
#include "ingest/operator.h"

typedef struct states {
    mo_graph *g;
    mo_intern *names; /* of states and of groups, with a letter in front */
    mo_arena *arena;
    int *parent;    /* by op: union-find of what shares a device */
    int *first;     /* by name: the first op that has it, -1 */
    bool *is_state; /* by root */
} states;

static bool is_kind(const mo_op *op, const char *name)
{
    return op->kind && strcmp(op->kind->name, name) == 0;
}

/* Returns the name of the state that op reads or writes, and its length; NULL:
 * none. */
static const char *state_of(const mo_op *op, size_t *length)
{
    const mo_attr *id = is_kind(op, "ReadValue") || is_kind(op, "Assign")
                            ? mo_attr_find_string(op->attr_list, "variable_id")
                            : NULL;

    *length = op->state ? strlen(op->state) : id ? id->length : 0;
    return op->state ? op->state : id ? id->text : NULL;
}

int64_t mo_state_bytes(const mo_graph *g)
{
    int64_t bytes = 0;

    for (int i = 0; i < g->n_ops; i++) {
        const mo_op *op = &g->ops[i];
        size_t length;

        if (state_of(op, &length) && op->output_bytes > 0 &&
            (is_kind(op, "ReadValue") || mo_graph_in_degree(g, i) == 0) &&
            !mo_int64_add(bytes, op->output_bytes, &bytes))
            return INT64_MAX;
    }
    return bytes;
}

static int find_root(int *parent, int op)
{
    while (parent[op] != op)
        op = parent[op] = parent[parent[op]];
    return op;
}

static void join(states *s, int a, int b)
{
    a = find_root(s->parent, a);
    b = find_root(s->parent, b);
    /* The first op of a group is its root. */
    s->parent[mo_max_int(a, b)] = mo_min_int(a, b);
}

static mo_status number_name(const states *s, char kind, const char *text,
                             size_t length, int *number, mo_error *err)
{
    char *name = mo_arena_array(s->arena, length + 1, 1);

    if (!name)
        return mo_fail_memory(err);
    name[0] = kind;
    memcpy(name + 1, text, length);
    return mo_intern_put(s->names, name, length + 1, number, err);
}

/* Joins the op with all that have the same name. */
static mo_status join_name(states *s, char kind, const char *text,
                           size_t length, int op, mo_error *err)
{
    int number, n = mo_intern_count(s->names);
    mo_status status = number_name(s, kind, text, length, &number, err);

    if (status == MO_OK && number == n)
        s->first[number] = op;
    if (status == MO_OK)
        join(s, s->first[number], op);
    return status;
}

static void join_neighbours(states *s, int i)
{
    mo_graph *g = s->g;
    mo_op *op = &g->ops[i];
    bool is_input = is_kind(op, "ReadValue") || mo_graph_in_degree(g, i) == 0;
    bool is_sink =
        is_kind(op, "Assign") || (op->kind && op->kind->class == MO_CLASS_NONE);

    for (int e = g->out_start[i]; e < g->out_start[i + 1] && is_input; e++)
        join(s, i, g->edges[e].to);
    for (int e = g->in_start[i]; e < g->in_start[i + 1] && is_sink; e++)
        join(s, i, g->edges[g->in_edges[e]].from);
    if (is_input && op->output_bytes > 0) {
        op->memory_bytes = mo_max_i64(op->memory_bytes, op->output_bytes);
        op->weight_bytes = mo_max_i64(op->weight_bytes, op->output_bytes);
    }
}

static mo_status join_all(states *s, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < s->g->n_ops; i++)
        s->parent[i] = i;
    for (int i = 0; i < s->g->n_ops && status == MO_OK; i++) {
        const mo_op *op = &s->g->ops[i];
        size_t length;
        const char *name = state_of(op, &length);

        if (op->colocate)
            status =
                join_name(s, 'g', op->colocate, strlen(op->colocate), i, err);
        if (status == MO_OK && name)
            status = join_name(s, 's', name, length, i, err);
        if (status == MO_OK && name)
            join_neighbours(s, i);
    }
    return status;
}

/* A group has the text of one of its ops, else the name of its first op. */
static mo_status set_groups(states *s, mo_error *err)
{
    mo_graph *g = s->g;
    const char **text =
        mo_arena_array(s->arena, (size_t) g->n_ops + 1, sizeof *text);

    if (!text)
        return mo_fail_memory(err);
    for (int i = 0; i < g->n_ops; i++) {
        int root = find_root(s->parent, i);
        size_t length;

        s->is_state[root] |= state_of(&g->ops[i], &length) != NULL;
        if (!text[root])
            text[root] = g->ops[i].colocate;
    }
    for (int i = 0; i < g->n_ops; i++) {
        int root = find_root(s->parent, i);

        if (s->is_state[root])
            g->ops[i].colocate = text[root] ? text[root] : g->ops[root].name;
    }
    return MO_OK;
}

/* Which op reads a state, and which one writes it; -1: none. */
typedef struct use {
    int reader, writer;
} use;

static mo_status take_use(const mo_graph *g, int op, use *it, mo_error *err)
{
    const mo_op *this = &g->ops[op];
    bool reads = mo_graph_in_degree(g, op) == 0;
    int *place = reads ? &it->reader : &it->writer;

    if (*place >= 0)
        return mo_fail_at(err, MO_E_INPUT, NULL, this->line,
                          "'%.100s' and '%.100s' both %s the state '%.100s'; "
                          "name another one",
                          g->ops[*place].name, this->name,
                          reads ? "read" : "write", this->state);
    *place = op;
    return MO_OK;
}

/* A named state has one reader, without inputs, and one writer at most.  Ops of
 * a coarse graph stand for several. */
static mo_status check_states(const states *s, mo_error *err)
{
    const mo_graph *g = s->g;
    int n = mo_intern_count(s->names);
    use *uses = mo_arena_array(s->arena, (size_t) n + 1, sizeof *uses);
    mo_status status = uses ? MO_OK : mo_fail_memory(err);

    for (int i = 0; i < g->n_ops && status == MO_OK; i++)
        if (g->ops[i].members)
            return MO_OK;
    for (int i = 0; i < n && status == MO_OK; i++)
        uses[i] = (use){ -1, -1 };
    for (int i = 0; i < g->n_ops && status == MO_OK; i++) {
        int number;

        if (!g->ops[i].state)
            continue;
        status = number_name(s, 's', g->ops[i].state, strlen(g->ops[i].state),
                             &number, err);
        if (status == MO_OK)
            status = take_use(g, i, &uses[number], err);
    }
    for (int i = 0; i < n && status == MO_OK; i++) {
        const use *it = &uses[i];
        const mo_op *op = it->writer >= 0 ? &g->ops[it->writer] : NULL;

        status =
            !op || it->reader >= 0
                ? MO_OK
                : mo_fail_at(err, MO_E_INPUT, NULL, op->line,
                             "no op reads the state '%.100s' that '%.100s' "
                             "writes; give it to the op without inputs that "
                             "stands for it",
                             op->state, op->name);
    }
    return status;
}

mo_status mo_state_apply(mo_graph *g, mo_error *err)
{
    states s = { .g = g };
    size_t n = (size_t) g->n_ops + 1, length;
    bool has_state = false;
    mo_status status = MO_OK;

    for (int i = 0; i < g->n_ops && !has_state; i++)
        has_state = state_of(&g->ops[i], &length) != NULL;
    if (!has_state)
        return MO_OK;
    s.arena = mo_arena_new();
    s.names = s.arena ? mo_intern_new(s.arena) : NULL;
    s.parent = calloc(n, sizeof *s.parent);
    s.first = calloc(2 * n, sizeof *s.first);
    s.is_state = calloc(n, sizeof *s.is_state);
    if (!s.names || !s.parent || !s.first || !s.is_state)
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = join_all(&s, err);
    if (status == MO_OK)
        status = check_states(&s, err);
    if (status == MO_OK)
        status = set_groups(&s, err);
    free(s.is_state);
    free(s.first);
    free(s.parent);
    mo_intern_free(s.names);
    mo_arena_free(s.arena);
    return status;
}

/* Begins the items of values that name a state. */
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
