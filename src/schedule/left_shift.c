/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that takes a device or a port, ops and transfers, is a node; ops
 * come first.  Nodes are sorted by the claimed start and appended one after the
 * other, each to all that it occupies.
 *
 * Where starts are equal, the graph decides, and then what takes no time goes
 * first: it may lie where something else begins, and behind that it would have
 * to wait.  Both together are a sort key: how many nodes that do take time have
 * the same start and must come before (late, which is 0 in a schedule that
 * keeps its promises), whether a node takes time, the op it is or comes from.
 */
#include "schedule/schedule.h"

#include <stdbool.h>
#include <stdlib.h>

#include "schedule/resource.h"

typedef struct node {
    int64_t claimed_ns, length_ns;
    int late;
    int op; /* itself, or whose output is sent; numbers are topological */
    int number;
} node;

enum { NOT_YET = -1 };

/* A device, port, channel or link.  Things that take no time exclude none of
 * their kind, so they wait only for what took time; it waits for all. */
typedef struct line {
    int64_t busy_ns, free_ns;
} line;

typedef struct shifter {
    const mo_instance *x;
    mo_schedule *s;
    int n_nodes;
    node *nodes;
    int *via;        /* by flow: the node that brings it to its reader */
    int64_t *end_ns; /* by node, or NOT_YET */
    line *devices, *resources;
} shifter;

static int producer(const shifter *h, const mo_transfer *t)
{
    return h->s->regime.tensors == MO_TENSORS_ONCE ? h->x->tensor_from[t->item]
                                                   : h->x->flows[t->item].from;
}

static void find_ways(shifter *h)
{
    const mo_instance *x = h->x;
    const mo_schedule *s = h->s;
    bool once = s->regime.tensors == MO_TENSORS_ONCE;

    for (int q = 0; q < x->n_flows; q++) {
        const mo_flow *flow = &x->flows[q];
        int to = s->device[flow->to];

        h->via[q] = s->device[flow->from] == to
                        ? flow->from
                        : s->n + (int) (mo_schedule_transfer(
                                            s, once ? flow->tensor : q, to) -
                                        s->transfers);
    }
}

/* Node b comes behind node a. */
static void put_behind(const node *a, node *b)
{
    int late = a->late + (a->length_ns > 0);

    if (a->claimed_ns == b->claimed_ns && late > b->late)
        b->late = late;
}

static void add_op(shifter *h, int op)
{
    node *it = &h->nodes[op];

    *it = (node){ .claimed_ns = h->s->start_ns[op],
                  .length_ns = mo_instance_p_ns(h->x, op, h->s->device[op]),
                  .op = op,
                  .number = op };
    for (int j = h->x->in_start[op]; j < h->x->in_start[op + 1]; j++)
        put_behind(&h->nodes[h->via[h->x->in_flows[j]]], it);
}

static void add_transfer(shifter *h, int number, int from)
{
    const mo_transfer *t = &h->s->transfers[number];
    node *it = &h->nodes[h->s->n + number];

    *it = (node){ .claimed_ns = t->start_ns,
                  .length_ns = mo_schedule_item_ns(h->x, &h->s->regime, t->item,
                                                   t->from, t->to),
                  .op = from,
                  .number = h->s->n + number };
    put_behind(&h->nodes[from], it);
}

/* Transfers are in the order of the ops they come from. */
static void add_nodes(shifter *h)
{
    int t = 0;

    for (int i = 0; i < h->s->n; i++) {
        add_op(h, i);
        for (; t < h->s->n_transfers && producer(h, &h->s->transfers[t]) == i;
             t++)
            add_transfer(h, t, i);
    }
    for (int v = 0; v < h->n_nodes; v++)
        h->end_ns[v] = NOT_YET;
}

static int compare_nodes(const void *a, const void *b)
{
    const node *v = a, *w = b;

    if (v->claimed_ns != w->claimed_ns)
        return v->claimed_ns < w->claimed_ns ? -1 : 1;
    if (v->late != w->late)
        return v->late < w->late ? -1 : 1;
    if ((v->length_ns > 0) != (w->length_ns > 0))
        return v->length_ns > 0 ? 1 : -1;
    if (v->op != w->op)
        return v->op < w->op ? -1 : 1;
    return (v->number > w->number) - (v->number < w->number);
}

static void lift(int64_t *ns, int64_t to_ns)
{
    if (*ns < to_ns)
        *ns = to_ns;
}

static int64_t soonest(const line *l, int64_t length_ns)
{
    return length_ns > 0 ? l->free_ns : l->busy_ns;
}

static void occupy(line *l, int64_t end_ns, int64_t length_ns)
{
    lift(&l->free_ns, end_ns);
    if (length_ns > 0)
        l->busy_ns = end_ns;
}

static mo_status append_op(shifter *h, const node *it, mo_error *err)
{
    const mo_instance *x = h->x;
    line *device = &h->devices[h->s->device[it->op]];
    int64_t start_ns = soonest(device, it->length_ns);

    for (int j = x->in_start[it->op]; j < x->in_start[it->op + 1]; j++) {
        int q = x->in_flows[j], way = h->via[q];

        if (h->end_ns[way] == NOT_YET)
            return mo_fail(err, MO_E_INPUT,
                           "op '%.200s' starts before %sop '%.200s', which it "
                           "reads",
                           x->op_names[it->op],
                           way < h->s->n ? "" : "the transfer from ",
                           x->op_names[x->flows[q].from]);
        lift(&start_ns, h->end_ns[way]);
    }
    h->end_ns[it->number] = start_ns + it->length_ns;
    occupy(device, h->end_ns[it->number], it->length_ns);
    return MO_OK;
}

/* Some op that waits for the transfer. */
static const char *reader_name(const shifter *h, int number)
{
    int q = 0;

    while (h->via[q] != number)
        q++;
    return h->x->op_names[h->x->flows[q].to];
}

static mo_status append_transfer(shifter *h, const node *it, mo_error *err)
{
    const mo_transfer *t = &h->s->transfers[it->number - h->s->n];
    int64_t start_ns = h->end_ns[it->op];
    int pair[2], n_held;
    const int *held;

    if (start_ns == NOT_YET)
        return mo_fail(err, MO_E_INPUT,
                       "the transfer from op '%.200s' to op '%.200s' starts "
                       "before op '%.200s' does",
                       h->x->op_names[it->op], reader_name(h, it->number),
                       h->x->op_names[it->op]);
    n_held = mo_resource_list(h->x, h->s->regime.congestion, t->from, t->to,
                              pair, &held);
    for (int r = 0; r < n_held; r++)
        lift(&start_ns, soonest(&h->resources[held[r]], it->length_ns));
    h->end_ns[it->number] = start_ns + it->length_ns;
    for (int r = 0; r < n_held; r++)
        occupy(&h->resources[held[r]], h->end_ns[it->number], it->length_ns);
    return MO_OK;
}

static mo_status append_nodes(shifter *h, mo_error *err)
{
    mo_status status = MO_OK;

    for (int v = 0; v < h->n_nodes && status == MO_OK; v++) {
        const node *it = &h->nodes[v];

        status = it->number < h->s->n ? append_op(h, it, err)
                                      : append_transfer(h, it, err);
    }
    return status;
}

static void keep_times(shifter *h)
{
    mo_schedule *s = h->s;

    s->makespan_ns = 0;
    for (int v = 0; v < h->n_nodes; v++) {
        const node *it = &h->nodes[v];
        int64_t end_ns = h->end_ns[it->number];

        if (it->number < s->n) {
            s->start_ns[it->op] = end_ns - it->length_ns;
            lift(&s->makespan_ns, end_ns);
        } else {
            mo_transfer *t = &s->transfers[it->number - s->n];

            t->start_ns = end_ns - it->length_ns;
            t->end_ns = end_ns;
        }
    }
}

static mo_status prepare(shifter *h, mo_error *err)
{
    size_t n_nodes = (size_t) h->n_nodes + 1;

    h->nodes = calloc(n_nodes, sizeof *h->nodes);
    h->end_ns = calloc(n_nodes, sizeof *h->end_ns);
    h->via = calloc((size_t) h->x->n_flows + 1, sizeof *h->via);
    h->devices = calloc((size_t) h->x->n_devices + 1, sizeof *h->devices);
    h->resources =
        calloc((size_t) mo_resource_count(h->x, h->s->regime.congestion) + 1,
               sizeof *h->resources);
    return h->nodes && h->end_ns && h->via && h->devices && h->resources
               ? MO_OK
               : mo_fail_memory(err);
}

mo_status mo_schedule_left_shift(const mo_instance *x, mo_schedule *s,
                                 mo_error *err)
{
    shifter h = { .x = x, .s = s, .n_nodes = s->n + s->n_transfers };
    mo_status status = prepare(&h, err);

    if (status == MO_OK) {
        find_ways(&h);
        add_nodes(&h);
        qsort(h.nodes, (size_t) h.n_nodes, sizeof *h.nodes, compare_nodes);
        status = append_nodes(&h, err);
    }
    if (status == MO_OK)
        keep_times(&h);
    free(h.resources);
    free(h.devices);
    free(h.via);
    free(h.end_ns);
    free(h.nodes);
    return status;
}
