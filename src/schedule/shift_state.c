/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/shift_state.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/resource.h"

/*
 * Left-shift by serial list scheduling in the order of the claimed starts.
 * Nodes are what occupies a resource: the ops, then the transfers.  They are
 * sorted by claimed start and appended one after the other, each to all the
 * resources that it occupies.
 *
 * Where starts are equal, precedence decides, and then what takes no time goes
 * first: it may lie where something else begins, and behind that it would have
 * to wait.  Both together are a sort key: the number of predecessors at the
 * same start that do take time (depth, which is 0 in a feasible schedule),
 * whether a node takes time, the op that it is or comes from.
 */

enum { NOT_SCHEDULED = -1 };

static int producer_of(const mo_shift_state *h, const mo_transfer *t)
{
    return h->s->regime.tensors == MO_TENSORS_ONCE ? h->x->tensor_from[t->item]
                                                   : h->x->flows[t->item].from;
}

static void find_delivering_nodes(mo_shift_state *h)
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

/* Raises the depth of b, a successor of a, at equal claimed starts. */
static void raise_depth(const mo_shift_node *a, mo_shift_node *b)
{
    int depth = a->depth + (a->length_ns > 0);

    if (a->claimed_ns == b->claimed_ns && depth > b->depth)
        b->depth = depth;
}

static void add_transfer_node(mo_shift_state *h, int number, int from)
{
    const mo_transfer *t = &h->s->transfers[number];
    mo_shift_node *it = &h->nodes[h->s->n + number];

    *it = (mo_shift_node){ .claimed_ns = t->start_ns,
                           .length_ns = mo_schedule_item_ns(
                               h->x, &h->s->regime, t->item, t->from, t->to),
                           .op = from,
                           .number = h->s->n + number };
    raise_depth(&h->nodes[from], it);
}

static int compare_nodes(const void *a, const void *b)
{
    const mo_shift_node *v = a, *w = b;

    if (v->claimed_ns != w->claimed_ns)
        return v->claimed_ns < w->claimed_ns ? -1 : 1;
    if (v->depth != w->depth)
        return v->depth < w->depth ? -1 : 1;
    if ((v->length_ns > 0) != (w->length_ns > 0))
        return v->length_ns > 0 ? 1 : -1;
    if (v->op != w->op)
        return v->op < w->op ? -1 : 1;
    return (v->number > w->number) - (v->number < w->number);
}

static void raise_to(int64_t *ns, int64_t to_ns)
{
    if (*ns < to_ns)
        *ns = to_ns;
}

static int64_t earliest_start(const mo_shift_resource *l, int64_t length_ns)
{
    return length_ns > 0 ? l->free_ns : l->busy_ns;
}

static void occupy_resource(mo_shift_resource *l, int64_t end_ns,
                            int64_t length_ns)
{
    raise_to(&l->free_ns, end_ns);
    if (length_ns > 0)
        l->busy_ns = end_ns;
}

static mo_status append_op(mo_shift_state *h, const mo_shift_node *it,
                           mo_error *err)
{
    const mo_instance *x = h->x;
    mo_shift_resource *device = &h->devices[h->s->device[it->op]];
    int64_t start_ns = earliest_start(device, it->length_ns);

    for (int j = x->in_start[it->op]; j < x->in_start[it->op + 1]; j++) {
        int q = x->in_flows[j], way = h->via[q];

        if (h->end_ns[way] == NOT_SCHEDULED)
            return mo_fail(err, MO_E_INPUT,
                           "op '%.200s' starts before %sop '%.200s', which it "
                           "reads",
                           x->op_names[it->op],
                           way < h->s->n ? "" : "the transfer from ",
                           x->op_names[x->flows[q].from]);
        raise_to(&start_ns, h->end_ns[way]);
    }
    h->end_ns[it->number] = start_ns + it->length_ns;
    occupy_resource(device, h->end_ns[it->number], it->length_ns);
    return MO_OK;
}

/* The name of some op that reads what the transfer delivers, for messages. */
static const char *reader_name(const mo_shift_state *h, int number)
{
    int q = 0;

    while (h->via[q] != number)
        q++;
    return h->x->op_names[h->x->flows[q].to];
}

static mo_status append_transfer(mo_shift_state *h, const mo_shift_node *it,
                                 mo_error *err)
{
    const mo_transfer *t = &h->s->transfers[it->number - h->s->n];
    int64_t start_ns = h->end_ns[it->op];
    int pair[2], n_held;
    const int *held;

    if (start_ns == NOT_SCHEDULED)
        return mo_fail(err, MO_E_INPUT,
                       "the transfer from op '%.200s' to op '%.200s' starts "
                       "before op '%.200s' does",
                       h->x->op_names[it->op], reader_name(h, it->number),
                       h->x->op_names[it->op]);
    n_held = mo_resource_list(h->x, h->s->regime.congestion, t->from, t->to,
                              pair, &held);
    for (int r = 0; r < n_held; r++)
        raise_to(&start_ns,
                 earliest_start(&h->resources[held[r]], it->length_ns));
    h->end_ns[it->number] = start_ns + it->length_ns;
    for (int r = 0; r < n_held; r++)
        occupy_resource(&h->resources[held[r]], h->end_ns[it->number],
                        it->length_ns);
    return MO_OK;
}

void mo_shift_state_clear(mo_shift_state *h)
{
    free(h->resources);
    free(h->devices);
    free(h->via);
    free(h->end_ns);
    free(h->nodes);
}

mo_status mo_shift_state_open(mo_shift_state *h, const mo_instance *x,
                              const mo_schedule *s, mo_error *err)
{
    size_t n_nodes = (size_t) s->n + (size_t) s->n_transfers + 1;
    int t = 0;

    *h = (mo_shift_state){ .x = x, .s = s, .n_nodes = s->n + s->n_transfers };
    h->nodes = calloc(n_nodes, sizeof *h->nodes);
    h->end_ns = calloc(n_nodes, sizeof *h->end_ns);
    h->via = calloc((size_t) x->n_flows + 1, sizeof *h->via);
    h->devices = calloc((size_t) x->n_devices + 1, sizeof *h->devices);
    h->resources =
        calloc((size_t) mo_resource_count(x, s->regime.congestion) + 1,
               sizeof *h->resources);
    if (!h->nodes || !h->end_ns || !h->via || !h->devices || !h->resources)
        return mo_fail_memory(err);
    find_delivering_nodes(h);
    /* Transfers are in the order of the ops that produce them. */
    for (int i = 0; i < s->n; i++) {
        mo_shift_node *it = &h->nodes[i];

        *it =
            (mo_shift_node){ .claimed_ns = s->start_ns[i],
                             .length_ns = mo_instance_p_ns(x, i, s->device[i]),
                             .op = i,
                             .number = i };
        for (int j = x->in_start[i]; j < x->in_start[i + 1]; j++)
            raise_depth(&h->nodes[h->via[x->in_flows[j]]], it);
        for (; t < s->n_transfers && producer_of(h, &s->transfers[t]) == i; t++)
            add_transfer_node(h, t, i);
    }
    qsort(h->nodes, (size_t) h->n_nodes, sizeof *h->nodes, compare_nodes);
    return MO_OK;
}

static void reset_resources(mo_shift_state *h)
{
    memset(h->devices, 0, (size_t) h->x->n_devices * sizeof *h->devices);
    memset(h->resources, 0,
           (size_t) mo_resource_count(h->x, h->s->regime.congestion) *
               sizeof *h->resources);
}

mo_status mo_shift_state_run(mo_shift_state *h, mo_error *err)
{
    mo_status status = MO_OK;

    reset_resources(h);
    for (int v = 0; v < h->n_nodes; v++)
        h->end_ns[v] = NOT_SCHEDULED;
    for (int v = 0; v < h->n_nodes && status == MO_OK; v++) {
        const mo_shift_node *it = &h->nodes[v];

        status = it->number < h->s->n ? append_op(h, it, err)
                                      : append_transfer(h, it, err);
    }
    return status;
}

/* The same backward in time: busy_ns and free_ns are tails of what waits.  The
 * tail of a node is raised by its readers before it is computed. */
void mo_shift_state_tails(mo_shift_state *h, int64_t *tail_ns)
{
    const mo_instance *x = h->x;
    const mo_schedule *s = h->s;

    reset_resources(h);
    memset(tail_ns, 0, (size_t) h->n_nodes * sizeof *tail_ns);
    for (int v = h->n_nodes - 1; v >= 0; v--) {
        const mo_shift_node *it = &h->nodes[v];
        int64_t *tail = &tail_ns[it->number];

        if (it->number < s->n) {
            mo_shift_resource *device = &h->devices[s->device[it->op]];

            raise_to(tail, earliest_start(device, it->length_ns));
            *tail += it->length_ns;
            occupy_resource(device, *tail, it->length_ns);
            for (int j = x->in_start[it->op]; j < x->in_start[it->op + 1]; j++)
                raise_to(&tail_ns[h->via[x->in_flows[j]]], *tail);
        } else {
            const mo_transfer *t = &s->transfers[it->number - s->n];
            int pair[2];
            const int *held;
            int n_held = mo_resource_list(x, s->regime.congestion, t->from,
                                          t->to, pair, &held);

            for (int r = 0; r < n_held; r++)
                raise_to(tail,
                         earliest_start(&h->resources[held[r]], it->length_ns));
            *tail += it->length_ns;
            for (int r = 0; r < n_held; r++)
                occupy_resource(&h->resources[held[r]], *tail, it->length_ns);
            raise_to(&tail_ns[it->op], *tail);
        }
    }
}
