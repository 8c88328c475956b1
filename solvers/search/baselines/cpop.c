/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPoP: H. Topcuoglu, S. Hariri, M.-Y. Wu: Performance-effective and low-
 * complexity task scheduling for heterogeneous computing (IEEE TPDS 13(3),
 * 2002).
 *
 * List scheduling with a critical path: the priority of an op is its upward
 * rank plus its downward rank, the longest path through it with mean times.
 * The ops of one critical path go to the device that runs them fastest
 * together, the others to the device with the earliest finish time, into the
 * first gap; of the ready ops the highest priority goes first.
 *
 * Decided here: of several critical paths the one with the smallest numbers.
 * Pins and groups come first. As in HEFT, transfers use the gaps that the
 * task's congestion leaves, and memory is ignored.
 */
#include <stdlib.h>

#include "schedule/heuristic/mean_cost.h"
#include "solvers/search/baselines/baseline.h"

typedef struct cpop {
    const mo_instance *x;
    const mo_regime *regime;
    int64_t *rows_ns;         /* mean transfer times */
    int64_t *down_ns, *up_ns; /* downward and upward rank, by op */
    int64_t *priority_ns;     /* sum of both */
    bool *critical;
    int device; /* of the critical path */
} cpop;

static void raise_to(int64_t *ns, int64_t to_ns)
{
    if (*ns < to_ns)
        *ns = to_ns;
}

/* Returns the least time from the start of op to the start of the flow's
 * reader. */
static int64_t step_ns(const cpop *c, int op, int flow)
{
    return mo_mean_cost_op_ns(c->x, op) +
           mo_mean_cost_flow_ns(c->x, c->regime, c->rows_ns, flow);
}

/* Returns the next op of the critical path; -1: it ends here. */
static int next_critical(const cpop *c, int op)
{
    for (int q = c->x->out_start[op]; q < c->x->out_start[op + 1]; q++) {
        int reader = c->x->flows[q].to;

        if (c->up_ns[op] == step_ns(c, op, q) + c->up_ns[reader])
            return reader;
    }
    return -1;
}

static mo_status open_cpop(cpop *c, mo_error *err)
{
    size_t n = (size_t) c->x->n + 1;
    int64_t *length_ns =
        calloc((size_t) c->x->n_devices + 1, sizeof *length_ns);
    mo_status status = mo_mean_cost_rows(c->x, &c->rows_ns, err);
    int first;

    c->down_ns = calloc(n, sizeof *c->down_ns);
    c->up_ns = calloc(n, sizeof *c->up_ns);
    c->priority_ns = calloc(n, sizeof *c->priority_ns);
    c->critical = calloc(n, sizeof *c->critical);
    if (status == MO_OK && (!length_ns || !c->down_ns || !c->up_ns ||
                            !c->priority_ns || !c->critical))
        status = mo_fail_memory(err);
    if (status == MO_OK) {
        const mo_instance *x = c->x;

        for (int i = 0; i < x->n; i++)
            for (int q = x->out_start[i]; q < x->out_start[i + 1]; q++)
                raise_to(&c->down_ns[x->flows[q].to],
                         c->down_ns[i] + step_ns(c, i, q));
        for (int i = x->n - 1; i >= 0; i--) {
            c->up_ns[i] = mo_mean_cost_op_ns(x, i);
            for (int q = x->out_start[i]; q < x->out_start[i + 1]; q++)
                raise_to(&c->up_ns[i],
                         step_ns(c, i, q) + c->up_ns[x->flows[q].to]);
            c->priority_ns[i] = c->down_ns[i] + c->up_ns[i];
        }
        /* length_ns is scratch, by device: the length of the critical path
         * there. Takes the first device with the shortest. */
        /* Returns the first op of a critical path; -1: no ops. */
        first = -1;
        for (int i = 0; i < c->x->n; i++)
            if (c->down_ns[i] == 0 &&
                (first < 0 || c->up_ns[i] > c->up_ns[first]))
                first = i;
        for (int op = first; op >= 0; op = next_critical(c, op)) {
            c->critical[op] = true;
            for (int k = 0; k < c->x->n_devices; k++)
                length_ns[k] += mo_instance_p_ns(c->x, op, k);
        }
        for (int k = 1; k < c->x->n_devices; k++)
            if (length_ns[k] < length_ns[c->device])
                c->device = k;
    }
    free(length_ns);
    return status;
}

static mo_status choose_for_op(void *context, mo_insertion *grown, int op,
                               int *device, mo_error *err)
{
    const cpop *c = context;

    *device = c->device;
    if (c->critical[op] && mo_insertion_is_allowed(grown, op, *device))
        return MO_OK;
    return mo_insertion_best_device(grown, op, NULL, device, err);
}

static mo_status place_cpop(const mo_method_task *task,
                            mo_method_result *placed, mo_error *err)
{
    cpop c = { .x = task->x, .regime = &task->regime };
    mo_status status = open_cpop(&c, err);

    if (status == MO_OK)
        status = mo_baseline_list_schedule(task, c.priority_ns, choose_for_op,
                                           &c, placed, err);
    free(c.critical);
    free(c.priority_ns);
    free(c.up_ns);
    free(c.down_ns);
    free(c.rows_ns);
    return status;
}

const mo_method mo_method_cpop = {
    .name = "cpop",
    .help = "a longest way on one device, the others where they end first",
    .source = "Topcuoglu, Hariri, Wu 2002",
    .all = true,
    .place = place_cpop,
};
