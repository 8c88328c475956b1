/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "exec/plan/lower/lower_internal.h"

/*
 * Edges, constants and attrs each tell some of an op's inputs, by port.  An
 * edge without a port can only be the first port that is left, and only where
 * no other edge could be it, too, or where the order means nothing.
 */
typedef struct given {
    int port; /* or MO_PORT_NONE */
    int tensor;
} given;

typedef struct gathering {
    mo_plan_lower_state *l;
    int op;
    given *items;
    size_t n, room;
} gathering;

static mo_status take(void *context, int port, int tensor, mo_error *err)
{
    gathering *all = context;
    mo_status status;

    if (port < MO_PORT_NONE)
        return mo_plan_lower_fail(all->l, all->op, err,
                                  "an input has a name, not a number; give its "
                                  "edge a number as dst_port");
    if (port >= MO_CALL_MAX_OPERANDS || all->n >= MO_CALL_MAX_OPERANDS)
        return mo_plan_lower_fail(all->l, all->op, err,
                                  "it has more than %d inputs",
                                  MO_CALL_MAX_OPERANDS);
    status = MO_ARRAY_GROW(all->items, all->n, all->room, err);
    if (status == MO_OK)
        all->items[all->n++] = (given){ port, tensor };
    return status;
}

/* The tensor at output port of id. */
static mo_status take_output(gathering *all, int id, int port, int dst_port,
                             mo_error *err)
{
    const int *first = &all->l->first_tensor[id];
    int n = first[1] - first[0];

    if (port == MO_PORT_NONE && n == 1)
        port = 0;
    if (port < 0 || port >= n)
        return mo_plan_lower_fail(
            all->l, all->op, err,
            "it reads an output of '%.80s' that is not told: "
            "give that a shape and a dtype for each output, "
            "and the edge a src_port",
            all->l->g->ops[id].name);
    return take(all, dst_port, first[0] + port, err);
}

static mo_status gather(gathering *all, mo_error *err)
{
    const mo_graph *g = all->l->g;
    mo_status status = MO_OK;

    for (int i = g->in_start[all->op];
         i < g->in_start[all->op + 1] && status == MO_OK; i++) {
        const mo_edge *edge = &g->edges[g->in_edges[i]];

        status = take_output(all, edge->from, g->tensors[edge->tensor].port,
                             edge->dst_port, err);
    }
    for (int f = g->feed_start[all->op];
         f < g->feed_start[all->op + 1] && status == MO_OK; f++) {
        int port = g->feed_port[f];

        status =
            take_output(all, g->feeds[f].from, port, g->feeds[f].dst_port, err);
    }
    return status == MO_OK
               ? mo_plan_lower_attr_tensors(all->l, all->op, take, all, err)
               : status;
}

/* Does the order of its inputs mean nothing? */
static bool is_symmetric(const char *type)
{
    static const char *const types[] = {
        "Add",       "Multiply",   "Maximum", "Minimum",  "LogicalAnd",
        "LogicalOr", "LogicalXor", "Equal",   "NotEqual", "SquaredDifference",
    };

    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i]) == 0)
            return true;
    return false;
}

static mo_status put(gathering *all, int *in, int port, int tensor,
                     mo_error *err)
{
    if (in[port] != MO_PLAN_NONE)
        return mo_plan_lower_fail(all->l, all->op, err,
                                  "two edges say that they are input %d", port);
    in[port] = tensor;
    return MO_OK;
}

static mo_status put_told(gathering *all, int *in, int n, int *loose,
                          mo_error *err)
{
    mo_status status = MO_OK;

    *loose = 0;
    for (size_t i = 0; i < all->n && status == MO_OK; i++) {
        const given *it = &all->items[i];

        if (it->port == MO_PORT_NONE)
            ++*loose;
        else if (it->port >= n)
            status = mo_plan_lower_fail(
                all->l, all->op, err, "it has an input %d, but none before it",
                it->port);
        else
            status = put(all, in, it->port, it->tensor, err);
    }
    return status;
}

static mo_status put_loose(gathering *all, int *in, int loose, mo_error *err)
{
    int port = 0;

    if (loose > 1 && !is_symmetric(all->l->ops[all->op].type))
        return mo_plan_lower_fail(
            all->l, all->op, err,
            "nothing tells its inputs apart; give its edges "
            "a dst_port");
    for (size_t i = 0; i < all->n && loose > 0; i++) {
        if (all->items[i].port != MO_PORT_NONE)
            continue;
        while (in[port] != MO_PLAN_NONE)
            port++;
        in[port] = all->items[i].tensor;
    }
    return MO_OK;
}

static mo_status arrange(gathering *all, mo_error *err)
{
    mo_plan_lower_op *op = &all->l->ops[all->op];
    int n = (int) all->n, loose;
    mo_status status;

    op->in = mo_arena_array(all->l->scratch, all->n, sizeof *op->in);
    if (!op->in)
        return mo_fail_memory(err);
    for (int i = 0; i < n; i++)
        op->in[i] = MO_PLAN_NONE;
    status = put_told(all, op->in, n, &loose, err);
    if (status == MO_OK)
        status = put_loose(all, op->in, loose, err);
    if (status == MO_OK)
        op->n_in = n;
    return status;
}

mo_status mo_plan_lower_op_inputs(mo_plan_lower_state *l, int op, mo_error *err)
{
    gathering all = { .l = l, .op = op };
    mo_status status = gather(&all, err);

    if (status == MO_OK)
        status = arrange(&all, err);
    free(all.items);
    return status;
}
