/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/baselines/baseline.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/heap.h"
#include "schedule/sim/sim.h"

/* Ops between two checks of the clock. */
enum { STEPS_PER_CHECK = 1024 };

/* Allocates the number of inputs by op, which the caller frees; NULL: no
 * memory. */
static int *count_inputs(const mo_instance *x)
{
    int *waits = malloc(((size_t) x->n + 1) * sizeof *waits);

    for (int i = 0; waits && i < x->n; i++)
        waits[i] = x->in_start[i + 1] - x->in_start[i];
    return waits;
}

mo_status mo_baseline_topo_order(const mo_instance *x, int *order, int *place,
                                 mo_error *err)
{
    int *waits = count_inputs(x);
    int n = 0;

    if (!waits)
        return mo_fail_memory(err);
    for (int i = 0; i < x->n; i++)
        if (waits[i] == 0)
            order[n++] = i;
    for (int p = 0; p < n; p++) {
        int op = order[p];

        place[op] = p;
        for (int q = x->out_start[op]; q < x->out_start[op + 1]; q++)
            if (--waits[x->flows[q].to] == 0)
                order[n++] = x->flows[q].to;
    }
    free(waits);
    return MO_OK;
}

mo_regime mo_baseline_regime_without_memory(const mo_method_task *task)
{
    mo_regime regime = task->regime;

    regime.memory = MO_MEMORY_NONE;
    return regime;
}

mo_status mo_baseline_set_schedule(const mo_method_task *task,
                                   mo_schedule *schedule,
                                   mo_method_result *placed, mo_error *err)
{
    mo_status status;

    schedule->regime = task->regime;
    status = mo_schedule_fits_memory(task->x, schedule, &placed->fits, err);
    if (status == MO_OK)
        placed->schedule = schedule;
    else
        mo_schedule_free(schedule);
    return status;
}

mo_status mo_baseline_simulate(const mo_method_task *task, int *device,
                               int *rank, mo_method_result *placed,
                               mo_error *err)
{
    const mo_sim_plan plan = { .device = device, .rank = rank };
    mo_schedule *schedule = NULL;
    mo_sim *sim = NULL;
    mo_status status = mo_sim_new(task->x, &task->regime, &sim, err);

    if (status == MO_OK)
        status = mo_sim_schedule(sim, &plan, &schedule, err);
    mo_sim_free(sim);
    return status == MO_OK
               ? mo_baseline_set_schedule(task, schedule, placed, err)
               : status;
}

bool mo_baseline_should_stop(const mo_method_task *task, int64_t steps, int n,
                             mo_method_result *placed)
{
    if (steps % STEPS_PER_CHECK != 0 || !mo_stop_reached(task->stop))
        return false;
    snprintf(placed->why, sizeof placed->why,
             "stopped after %d of %d ops were placed", n, task->x->n);
    return true;
}

/* Ready list: ops with all inputs placed, by priority. */
typedef struct ready_list {
    const mo_instance *x;
    const int64_t *priority;
    int *waits;
    mo_heap queue;
} ready_list;

static mo_status push_ready_op(ready_list *r, int op, mo_error *err)
{
    return mo_heap_push(&r->queue, -r->priority[op], op, err);
}

mo_status mo_baseline_list_schedule(const mo_method_task *task,
                                    const int64_t *priority,
                                    mo_baseline_choose_device *choose,
                                    void *context, mo_method_result *placed,
                                    mo_error *err)
{
    const mo_regime regime = mo_baseline_regime_without_memory(task);
    ready_list r = { .x = task->x, .priority = priority };
    mo_insertion grown;
    mo_schedule *schedule = NULL;
    bool is_stopped = false;
    mo_status status = mo_insertion_open(&grown, task->x, &regime, err);

    r.waits = count_inputs(task->x);
    if (status == MO_OK && !r.waits)
        status = mo_fail_memory(err);
    for (int i = 0; i < r.x->n && status == MO_OK; i++)
        if (r.waits[i] == 0)
            status = push_ready_op(&r, i, err);
    for (int n = 0; r.queue.n > 0 && !is_stopped && status == MO_OK; n++) {
        int op = mo_heap_pop(&r.queue).id, device;

        is_stopped = mo_baseline_should_stop(task, n, n, placed);
        if (is_stopped)
            break;
        status = choose(context, &grown, op, &device, err);
        if (status == MO_OK)
            status = mo_insertion_place(&grown, op, device, err);
        for (int q = r.x->out_start[op];
             q < r.x->out_start[op + 1] && status == MO_OK; q++)
            if (--r.waits[r.x->flows[q].to] == 0)
                status = push_ready_op(&r, r.x->flows[q].to, err);
    }
    if (status == MO_OK && !is_stopped)
        status = mo_insertion_schedule(&grown, &schedule, err);
    mo_insertion_close(&grown);
    mo_heap_clear(&r.queue);
    free(r.waits);
    return schedule ? mo_baseline_set_schedule(task, schedule, placed, err)
                    : status;
}
