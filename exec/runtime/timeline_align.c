/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "exec/runtime/gather.h"

/*
 * A walk over the steps of all devices in the total order of the plan.  Those
 * that stamps tell of stay where they are.  Those that were laid out move, by a
 * delay of their device that changes where it awaits what is carried:
 *
 *     laid out    a  |--a1--|send x|      b  |recv x|await x|--b1--|
 *     aligned     a  |--a1--|send x|
 *                 b  |recv x|---await x---|--b1--|
 *
 * Laid out, several awaits in a row begin at once, and what comes behind them
 * begins with the last to end: so they follow each other here.  Who sends is
 * not held up (run_joint_waits.c): it only awaits.
 */
typedef struct carried {
    bool is_so;
    int64_t begun; /* both ends */
    int64_t took;
} carried;

typedef struct alignment {
    const mo_exec_plan *plan;
    const mo_run_device_record *records;
    mo_run_result *result;
    carried *transfers;
    int64_t *delay;   /* by device */
    int64_t *arrived; /* by device: when it had all that it awaited so far */
    int *next;        /* by device: its next step */
} alignment;

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The device whose next step is the first of all; MO_PLAN_NONE at the end. */
static int next_device(const alignment *a)
{
    int best = MO_PLAN_NONE, order = 0;

    for (int d = 0; d < a->plan->n_devices; d++) {
        const mo_plan_device *device = &a->plan->devices[d];

        if (!a->result->steps[d] || a->next[d] == device->n_steps)
            continue;
        if (best == MO_PLAN_NONE || device->steps[a->next[d]].order < order) {
            best = d;
            order = device->steps[a->next[d]].order;
        }
    }
    return best;
}

static void begin_transfer(alignment *a, int d, int i, mo_run_step *step)
{
    carried *c = &a->transfers[a->plan->devices[d].steps[i].what];
    const int64_t *took = a->records[d].by_itself;

    c->is_so = took && took[i] > 0;
    if (!c->is_so)
        return;
    step->begin_ns += a->delay[d];
    step->end_ns += a->delay[d];
    c->begun = later(c->begun, step->begin_ns);
    c->took = later(c->took, took[i]);
}

static void await_transfer(alignment *a, int d, int t, mo_run_step *step)
{
    const carried *c = &a->transfers[t];
    int64_t end;

    if (!c->is_so) {
        a->delay[d] = a->arrived[d] = 0;
        return;
    }
    step->begin_ns += a->delay[d];
    end = later(step->begin_ns, c->begun + c->took);
    if (a->plan->transfers[t].to == d) {
        end = later(end, a->arrived[d]);
        a->arrived[d] = end;
        a->delay[d] = end - step->end_ns;
    }
    step->end_ns = end;
}

static void do_step(alignment *a, int d)
{
    int i = a->next[d]++;
    const mo_plan_step *planned = &a->plan->devices[d].steps[i];
    mo_run_step *step = &a->result->steps[d][i];

    switch (planned->kind) {
    case MO_PLAN_STEP_COMPUTE:
        step->begin_ns += a->delay[d];
        step->end_ns += a->delay[d];
        break;
    case MO_PLAN_STEP_SEND:
    case MO_PLAN_STEP_RECEIVE:
        begin_transfer(a, d, i, step);
        break;
    case MO_PLAN_STEP_AWAIT:
        await_transfer(a, d, planned->what, step);
        break;
    }
}

/* Where all of it would be longer than the run was, it is shortened. */
static void fit(alignment *a)
{
    int64_t last = 0;
    double factor;

    for (int d = 0; d < a->plan->n_devices; d++)
        for (int i = 0; i < a->next[d]; i++)
            last = later(last, a->result->steps[d][i].end_ns);
    if (last <= a->result->median_ns)
        return;
    factor = (double) a->result->median_ns / (double) last;
    for (int d = 0; d < a->plan->n_devices; d++)
        for (int i = 0; i < a->next[d]; i++) {
            mo_run_step *step = &a->result->steps[d][i];

            step->begin_ns = (int64_t) (factor * (double) step->begin_ns);
            step->end_ns = (int64_t) (factor * (double) step->end_ns);
        }
}

mo_status mo_run_align_timeline(const mo_exec_plan *plan,
                                const mo_run_device_record *records,
                                mo_run_result *result, mo_error *err)
{
    size_t devices = (size_t) plan->n_devices + 1;
    alignment a = { .plan = plan,
                    .records = records,
                    .result = result,
                    .transfers = calloc((size_t) plan->n_transfers + 1,
                                        sizeof *a.transfers),
                    .delay = calloc(devices, sizeof *a.delay),
                    .arrived = calloc(devices, sizeof *a.arrived),
                    .next = calloc(devices, sizeof *a.next) };
    bool done = a.transfers && a.delay && a.arrived && a.next;

    if (done) {
        for (int d = next_device(&a); d != MO_PLAN_NONE; d = next_device(&a))
            do_step(&a, d);
        fit(&a);
    }
    free(a.transfers);
    free(a.delay);
    free(a.arrived);
    free(a.next);
    return done ? MO_OK : mo_fail_memory(err);
}
