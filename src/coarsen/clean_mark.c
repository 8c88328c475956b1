#include "coarsen/clean_mark.h"

#include <string.h>

#include "coarsen/map.h"
#include "ingest/operator.h"

/* Types repeat, and equal texts are the same pointer: look each up once in a
 * row. */
typedef struct lookup {
    const char *type;
    const mo_operator *operator;
} lookup;

static const mo_operator *operator_of(lookup *last, const mo_op *op)
{
    if (op->type != last->type) {
        last->type = op->type;
        last->operator = op->type ? mo_operator_find(op->type) : NULL;
    }
    return last->operator;
}

static bool is_any_of(const mo_operator *operator, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(operator->name, *names) == 0)
            return true;
    return false;
}

/* The user said where it goes: then it stays a thing that goes somewhere. */
static bool is_bound(const mo_op *op)
{
    return op->pin || op->colocate;
}

static bool all_producers_are(const mo_graph *g, int op, const int *group,
                              int mark)
{
    for (int i = g->in_start[op]; i < g->in_start[op + 1]; i++)
        if (group[g->edges[g->in_edges[i]].from] != mark)
            return false;
    return true;
}

static bool producers_have_shapes(const mo_graph *g, int op)
{
    for (int i = g->in_start[op]; i < g->in_start[op + 1]; i++)
        if (!g->ops[g->edges[g->in_edges[i]].from].shape)
            return false;
    return true;
}

/*
 * A constant depends on no input, but through the shape of something whose
 * shape is static.  An op without any input is one only if it makes up what it
 * puts out: other files leave out the network's inputs.
 */
static bool is_constant(const mo_graph *g, int op, const mo_operator *operator,
                        const int *group)
{
    static const char *const makers[] = { "Const", "Range", "Broadcast", "Eye",
                                          NULL };
    static const char *const stateful[] = { "ReadValue", "Assign",
                                            "RandomUniform", NULL };

    if (!operator|| is_bound(&g->ops[op]))
        return false;
    if (mo_graph_in_degree(g, op) == 0)
        return is_any_of(operator, makers);
    if (operator->class == MO_CLASS_NONE || is_any_of(operator, stateful))
        return false;
    return (operator->class == MO_CLASS_SHAPE && producers_have_shapes(g, op)) ||
           all_producers_are(g, op, group, MO_MAP_CONSTANT);
}

void mo_clean_mark_constants(const mo_graph *g, int *group, bool *silent)
{
    lookup last = { 0 };

    for (int i = 0; i < g->n_ops; i++) {
        silent[i] = false;
        group[i] = is_constant(g, i, operator_of(&last, &g->ops[i]), group)
                       ? MO_MAP_CONSTANT
                       : i;
    }
}

/* An input of the network is wherever it is wanted, and so is a view of it. */
void mo_clean_mark_sources(const mo_graph *g, int *group, bool *silent)
{
    lookup last = { 0 };

    for (int i = 0; i < g->n_ops; i++) {
        const mo_operator *operator= operator_of(&last, &g->ops[i]);
        bool is_input = mo_graph_in_degree(g, i) == 0;

        silent[i] = false;
        group[i] = i;
        if (!operator|| is_bound(&g->ops[i]) || g->ops[i].is_output)
            continue;
        if (is_input ? operator->class == MO_CLASS_NONE
                     : operator->class == MO_CLASS_FREE &&
                           all_producers_are(g, i, group, MO_MAP_REPLICATED))
            group[i] = MO_MAP_REPLICATED;
    }
}

/* The op that alone feeds op, or -1. */
static int sole_producer(const mo_graph *g, int op)
{
    int producer = -1;

    for (int i = g->in_start[op]; i < g->in_start[op + 1]; i++) {
        int from = g->edges[g->in_edges[i]].from;

        if (producer >= 0 && from != producer)
            return -1;
        producer = from;
    }
    return producer;
}

/*
 * A view does nothing: it joins what it is a view of.  No cycle can come of it,
 * since nothing but that reaches it.  Results vanish; their producers remember
 * (mo_op.is_output).
 */
void mo_clean_mark_idle(const mo_graph *g, int *group, bool *silent)
{
    lookup last = { 0 };

    for (int i = 0; i < g->n_ops; i++) {
        const mo_operator *operator= operator_of(&last, &g->ops[i]);
        int producer = sole_producer(g, i);

        silent[i] = false;
        group[i] = i;
        if (!operator|| is_bound(&g->ops[i]) ||
            mo_graph_in_degree(g, i) == 0)
            continue;
        if (operator->class == MO_CLASS_NONE &&
            mo_graph_out_degree(g, i) == 0) {
            group[i] = MO_MAP_REPLICATED;
        } else if (operator->class == MO_CLASS_FREE && producer >= 0) {
            group[i] = group[producer];
            silent[i] = true;
        }
    }
}

void mo_clean_mark_nothing(const mo_graph *g, int *group, bool *silent)
{
    for (int i = 0; i < g->n_ops; i++) {
        group[i] = i;
        silent[i] = false;
    }
}
