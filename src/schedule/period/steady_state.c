/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/period/steady_state.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/minmax.h"
#include "schedule/period/loads.h"
#include "schedule/resource.h"

/* A task of a request: op number, or n + number of a transfer.  Slot by slot,
 * in the order of phases, task t of stage s belongs to request slot - s. */
typedef struct pipeline_task {
    int64_t phase_ns, stage;
    int rank, number;
} pipeline_task;

typedef struct pipeline {
    const mo_instance *x;
    const mo_schedule *s;
    int64_t period_ns; /* between two arrivals */
    int n_tasks;
    pipeline_task *tasks; /* in the order within a slot */
    int depth;            /* requests kept: the last depth of them */
    int64_t *end_ns;      /* by request % depth and task number */
    int64_t *ready_ns;    /* the same: latest end of the inputs */
    int64_t *idle_ns;     /* by resource, devices first: end of its last task */
    int64_t *op_ns;       /* by op: its time on the device, with overheads */
} pipeline;

static int compare_tasks(const void *a, const void *b)
{
    const pipeline_task *s = a, *t = b;

    if (s->phase_ns != t->phase_ns)
        return s->phase_ns < t->phase_ns ? -1 : 1;
    if (s->stage != t->stage)
        return s->stage > t->stage ? -1 : 1; /* the older request */
    return s->rank != t->rank ? s->rank - t->rank : s->number - t->number;
}

static void fill_tasks(pipeline *p, int64_t period_ns)
{
    const mo_schedule *s = p->s;
    const mo_instance *x = p->x;

    for (int i = 0; i < p->n_tasks; i++) {
        bool is_op = i < x->n;
        const mo_transfer *t = is_op ? NULL : &s->transfers[i - x->n];
        int64_t at_ns = is_op ? s->start_ns[i] : t->start_ns;
        int producer = is_op ? i
                       : s->regime.tensors == MO_TENSORS_ONCE
                           ? x->tensor_from[t->item]
                           : x->flows[t->item].from;

        p->tasks[i] = (pipeline_task){ .phase_ns = at_ns % period_ns,
                                       .stage = at_ns / period_ns,
                                       .rank = 2 * producer + !is_op,
                                       .number = i };
    }
    qsort(p->tasks, (size_t) p->n_tasks, sizeof *p->tasks, compare_tasks);
}

/* The moment from which the task may run, by its inputs, in this request. */
static int64_t *ready_of(const pipeline *p, int64_t request, int task)
{
    return &p->ready_ns[(request % p->depth) * p->n_tasks + task];
}

static void raise_ready(const pipeline *p, int64_t request, int task,
                        int64_t ns)
{
    int64_t *ready = ready_of(p, request, task);

    *ready = mo_max_i64(*ready, ns);
}

static int64_t run_task(const pipeline *p, int64_t ready_ns, int64_t ns,
                        const int *ids, int n, int first)
{
    int64_t at_ns = ready_ns;

    for (int i = 0; i < n && ns > 0; i++)
        at_ns = mo_max_i64(at_ns, p->idle_ns[first + ids[i]]);
    for (int i = 0; i < n && ns > 0; i++)
        p->idle_ns[first + ids[i]] = at_ns + ns;
    return at_ns + ns;
}

static int64_t run_op(const pipeline *p, int64_t request, int op)
{
    const mo_instance *x = p->x;
    const mo_schedule *s = p->s;
    int k = s->device[op];
    int64_t end_ns =
        run_task(p, *ready_of(p, request, op), p->op_ns[op], &k, 1, 0);

    for (int q = x->out_start[op]; q < x->out_start[op + 1]; q++)
        if (s->device[x->flows[q].to] == k)
            raise_ready(p, request, x->flows[q].to, end_ns);
    return end_ns;
}

static int64_t run_transfer(const pipeline *p, int64_t request, int task)
{
    const mo_instance *x = p->x;
    const mo_schedule *s = p->s;
    const mo_transfer *t = &s->transfers[task - x->n];
    bool once = s->regime.tensors == MO_TENSORS_ONCE;
    int first = once ? x->tensor_start[t->item] : t->item;
    int end = once ? x->tensor_start[t->item + 1] : t->item + 1;
    int producer = x->flows[first].from, pair[2];
    const int *ids;
    int n =
        mo_resource_list(x, s->regime.congestion, t->from, t->to, pair, &ids);
    int64_t sent_ns = p->end_ns[(request % p->depth) * p->n_tasks + producer];
    int64_t end_ns = run_task(
        p, sent_ns, mo_schedule_item_ns(x, &s->regime, t->item, t->from, t->to),
        ids, n, x->n_devices);

    for (int q = first; q < end; q++)
        if (s->device[x->flows[q].to] == t->to)
            raise_ready(p, request, x->flows[q].to, end_ns);
    return end_ns;
}

static mo_status allocate_pipeline(pipeline *p, mo_error *err)
{
    size_t n = (size_t) p->n_tasks + 1, room;
    size_t n_resources =
        (size_t) (p->x->n_devices +
                  mo_resource_count(p->x, p->s->regime.congestion)) +
        1;

    if (!mo_size_mul(n, (size_t) p->depth, &room))
        return mo_fail_memory(err);
    p->tasks = calloc(n, sizeof *p->tasks);
    p->end_ns = calloc(room, sizeof *p->end_ns);
    p->ready_ns = calloc(room, sizeof *p->ready_ns);
    p->idle_ns = calloc(n_resources, sizeof *p->idle_ns);
    p->op_ns = calloc(n, sizeof *p->op_ns);
    if (!p->tasks || !p->end_ns || !p->ready_ns || !p->idle_ns || !p->op_ns)
        return mo_fail_memory(err);
    for (int i = 0; i < p->x->n; i++)
        p->op_ns[i] = mo_instance_p_ns(p->x, i, p->s->device[i]);
    mo_period_add_overheads(p->x, p->s, p->op_ns, p->op_ns);
    return MO_OK;
}

mo_status mo_steady_state_simulate(const mo_instance *x,
                                   const mo_modulo_schedule *schedule, int n,
                                   int64_t *period_ns, mo_error *err)
{
    const mo_schedule *s = schedule->request;
    int64_t last_stage = s->makespan_ns / schedule->period_ns;
    pipeline p = { .x = x,
                   .s = s,
                   .period_ns = schedule->period_ns,
                   .n_tasks = x->n + s->n_transfers };
    /* The pipeline stays full behind the last request that is measured. */
    int64_t n_all = n + last_stage + 1;
    int64_t *finished_ns = calloc((size_t) n_all + 1, sizeof *finished_ns);
    int64_t span_ns, half = n - n / 2;
    mo_status status;

    p.depth = (int) (last_stage + 1);
    status = finished_ns ? allocate_pipeline(&p, err) : mo_fail_memory(err);
    if (status == MO_OK) {
        fill_tasks(&p, schedule->period_ns);
        int64_t n_slots = n_all + last_stage + 1;

        for (int64_t slot = 0; slot < n_slots; slot++) {
            for (int i = 0; i < p.n_tasks && slot < n_all; i++)
                *ready_of(&p, slot, i) = slot * p.period_ns;
            for (int i = 0; i < p.n_tasks; i++) {
                const pipeline_task *t = &p.tasks[i];
                int64_t request = slot - t->stage, end_ns;

                if (request < 0 || request >= n_all)
                    continue;
                end_ns = t->number < p.x->n
                             ? run_op(&p, request, t->number)
                             : run_transfer(&p, request, t->number);
                p.end_ns[(request % p.depth) * p.n_tasks + t->number] = end_ns;
                if (t->number < p.x->n)
                    finished_ns[request] =
                        mo_max_i64(finished_ns[request], end_ns);
            }
        }
        span_ns = finished_ns[n - 1] - finished_ns[n - 1 - half];
        *period_ns = span_ns / half + (span_ns % half > 0);
    }
    free(p.tasks);
    free(p.end_ns);
    free(p.ready_ns);
    free(p.idle_ns);
    free(p.op_ns);
    free(finished_ns);
    return status;
}
