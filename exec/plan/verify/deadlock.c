/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "exec/plan/verify/verify_internal.h"

/*
 * Every device goes on until it has to await a transfer whose other end has not
 * begun; whoever begins one wakes the device that waits for it.  When nobody
 * can go on and somebody has not come to the end, each device that waits waits
 * for another one that does: following them leads into a circle.
 */
typedef struct replay {
    const mo_exec_plan *plan;
    int *at;     /* by device: its next step */
    char *begun; /* by transfer: how many of its ends */
    int *ready;  /* devices that can go on; as a stack */
    int n_ready;
    bool *is_ready; /* by device */
} replay;

static void wake(replay *r, int device)
{
    if (r->is_ready[device])
        return;
    r->is_ready[device] = true;
    r->ready[r->n_ready++] = device;
}

static int other_end(const mo_plan_transfer *transfer, int device)
{
    return transfer->from == device ? transfer->to : transfer->from;
}

/* Is device at a step that awaits this transfer? */
static bool awaits(const replay *r, int device, int transfer)
{
    const mo_plan_device *on = &r->plan->devices[device];
    int at = r->at[device];

    return at < on->n_steps && on->steps[at].kind == MO_PLAN_STEP_AWAIT &&
           on->steps[at].what == transfer;
}

static void go_on(replay *r, int device)
{
    const mo_plan_device *on = &r->plan->devices[device];

    for (; r->at[device] < on->n_steps; r->at[device]++) {
        const mo_plan_step *step = &on->steps[r->at[device]];

        if (step->kind == MO_PLAN_STEP_COMPUTE)
            continue;
        if (step->kind == MO_PLAN_STEP_AWAIT) {
            if (r->begun[step->what] < 2)
                return;
            continue;
        }
        if (++r->begun[step->what] == 2) {
            int other = other_end(&r->plan->transfers[step->what], device);

            if (awaits(r, other, step->what))
                wake(r, other);
        }
    }
}

static void run(replay *r)
{
    for (int d = 0; d < r->plan->n_devices; d++)
        wake(r, d);
    while (r->n_ready > 0) {
        int device = r->ready[--r->n_ready];

        r->is_ready[device] = false;
        go_on(r, device);
    }
}

static bool is_stuck(const replay *r, int device)
{
    return r->at[device] < r->plan->devices[device].n_steps;
}

/* Whom a stuck device waits for. */
static int waits_for(const replay *r, int device)
{
    const mo_plan_step *step = &r->plan->devices[device].steps[r->at[device]];

    return other_end(&r->plan->transfers[step->what], device);
}

/* Some device on the circle that waiting leads into. */
static int find_circle(const replay *r, int device)
{
    for (int n = 0; n < r->plan->n_devices; n++)
        device = waits_for(r, device);
    return device;
}

/* Adds "A waits at step 3 for 'x' from B" to text. */
static size_t tell_wait(const replay *r, int device, char *text, size_t size)
{
    const mo_exec_plan *plan = r->plan;
    int at = r->at[device], other = waits_for(r, device);
    const mo_plan_transfer *transfer =
        &plan->transfers[plan->devices[device].steps[at].what];
    int n = snprintf(text, size, "%.40s waits at step %d for '%.60s' %s %.40s",
                     mo_verify_name(plan->devices[device].id), at,
                     mo_verify_name(plan->values[transfer->from_value].name),
                     transfer->to == device ? "from" : "to be taken by",
                     mo_verify_name(plan->devices[other].id));

    return n < 0 ? 0 : (size_t) n < size ? (size_t) n : size - 1;
}

enum { MAX_TOLD = 4 }; /* a long circle is cut off: the line is one */

static mo_status tell_circle(const replay *r, int first, mo_error *err)
{
    char text[MO_ERROR_TEXT_SIZE - 64] = "";
    size_t length = 0;
    int device = first, n = 0;

    do {
        if (n > 0)
            length +=
                (size_t) snprintf(text + length, sizeof text - length, ", ");
        if (n++ == MAX_TOLD) {
            snprintf(text + length, sizeof text - length, "and so on");
            break;
        }
        length += tell_wait(r, device, text + length, sizeof text - length);
        device = waits_for(r, device);
    } while (device != first);
    return mo_fail(err, MO_E_INPUT, "plan: cannot finish: %s", text);
}

static mo_status judge(const replay *r, mo_error *err)
{
    for (int d = 0; d < r->plan->n_devices; d++)
        if (is_stuck(r, d))
            return tell_circle(r, find_circle(r, d), err);
    return MO_OK;
}

mo_status mo_verify_no_deadlock(const mo_exec_plan *plan, mo_error *err)
{
    size_t n = (size_t) plan->n_devices;
    replay r = {
        .plan = plan,
        .at = calloc(n, sizeof *r.at),
        .begun = calloc((size_t) plan->n_transfers + 1, sizeof *r.begun),
        .ready = calloc(n, sizeof *r.ready),
        .is_ready = calloc(n, sizeof *r.is_ready),
    };
    mo_status status = MO_OK;

    if (r.at && r.begun && r.ready && r.is_ready) {
        run(&r);
        status = judge(&r, err);
    } else {
        status = mo_fail_memory(err);
    }
    free(r.is_ready);
    free(r.ready);
    free(r.begun);
    free(r.at);
    return status;
}
