/* SPDX-License-Identifier: Apache-2.0 */
/* Verifier: every step occurs once, a total order exists, and no deadlock. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "exec/plan/verify/verify_internal.h"

/*
 * Steps seen of a transfer, a bit each:
 *
 *     from   send ....... await
 *     to     receive .... await
 */
enum { BEGUN = 1, AWAITED = 2, SENDER = 0, RECEIVER = 2 };

typedef struct seen {
    bool *called;         /* by call */
    unsigned char *moved; /* by transfer: the bits, shifted by the end */
} seen;

static mo_status record_call(const mo_exec_plan *plan, seen *s, int device,
                             int step, mo_error *err)
{
    int call = plan->devices[device].steps[step].what;

    if (plan->calls[call].device != device)
        return mo_verify_fail(plan, device, step, err,
                              "is the work of another device");
    if (s->called[call])
        return mo_verify_fail(plan, device, step, err, "is done twice");
    s->called[call] = true;
    return MO_OK;
}

static mo_status record_transfer(const mo_exec_plan *plan, seen *s, int device,
                                 int step, mo_error *err)
{
    const mo_plan_step *it = &plan->devices[device].steps[step];
    int end;
    unsigned bits, bit = it->kind == MO_PLAN_STEP_AWAIT ? AWAITED : BEGUN;
    const mo_plan_transfer *transfer = &plan->transfers[it->what];

    if (transfer->from == device)
        end = SENDER;
    else
        end = transfer->to == device ? RECEIVER : -1;
    if (end < 0 || (it->kind == MO_PLAN_STEP_SEND && end != SENDER) ||
        (it->kind == MO_PLAN_STEP_RECEIVE && end != RECEIVER))
        return mo_verify_fail(plan, device, step, err,
                              "is a transfer of other devices");
    bits = (unsigned) s->moved[it->what] >> end;
    if (bits & bit)
        return mo_verify_fail(plan, device, step, err, "comes twice");
    if (bit == AWAITED && !(bits & BEGUN))
        return mo_verify_fail(plan, device, step, err,
                              "comes before the transfer has begun");
    s->moved[it->what] |= (unsigned char) (bit << end);
    return MO_OK;
}

static mo_status record_step(const mo_exec_plan *plan, seen *s, int device,
                             int step, mo_error *err)
{
    const mo_plan_step *it = &plan->devices[device].steps[step];
    bool is_call = it->kind == MO_PLAN_STEP_COMPUTE;

    if ((unsigned) it->kind > MO_PLAN_STEP_AWAIT || it->what < 0 ||
        it->what >= (is_call ? plan->n_calls : plan->n_transfers))
        return mo_fail(err, MO_E_INPUT,
                       "plan: step %d of device %d is about what does not "
                       "exist",
                       step, device);
    return is_call ? record_call(plan, s, device, step, err)
                   : record_transfer(plan, s, device, step, err);
}

static mo_status check_all_seen(const mo_exec_plan *plan, const seen *s,
                                mo_error *err)
{
    const unsigned all = (BEGUN | AWAITED) << SENDER | (BEGUN | AWAITED)
                                                           << RECEIVER;

    for (int c = 0; c < plan->n_calls; c++)
        if (!s->called[c])
            return mo_fail(err, MO_E_INPUT, "plan: call %d is never done", c);
    for (int t = 0; t < plan->n_transfers; t++)
        if (s->moved[t] != all)
            return mo_fail(err, MO_E_INPUT,
                           "plan: transfer %d is not begun and awaited at "
                           "both ends",
                           t);
    return MO_OK;
}

mo_status mo_verify_steps(const mo_exec_plan *plan, mo_error *err)
{
    seen s = { calloc((size_t) plan->n_calls + 1, sizeof *s.called),
               calloc((size_t) plan->n_transfers + 1, sizeof *s.moved) };
    mo_status status = s.called && s.moved ? MO_OK : mo_fail_memory(err);

    for (int d = 0; d < plan->n_devices; d++)
        for (int i = 0; i < plan->devices[d].n_steps && status == MO_OK; i++)
            status = record_step(plan, &s, d, i, err);
    if (status == MO_OK)
        status = check_all_seen(plan, &s, err);
    free(s.moved);
    free(s.called);
    return status;
}

/* Both ends of a transfer are posted at one position, and every await is
 * behind it. */
static mo_status check_position(const mo_exec_plan *plan, int device, int step,
                                int *begun, mo_error *err)
{
    const mo_plan_step *it = &plan->devices[device].steps[step];
    int *place;

    if (step > 0 && it->order <= it[-1].order)
        return mo_verify_fail(plan, device, step, err,
                              "is not in the total order");
    if (it->kind == MO_PLAN_STEP_COMPUTE)
        return MO_OK;
    place = &begun[it->what];
    if (it->kind == MO_PLAN_STEP_AWAIT)
        return it->order > *place
                   ? MO_OK
                   : mo_verify_fail(plan, device, step, err,
                                    "is before its transfer in the total "
                                    "order");
    if (*place != INT_MIN && *place != it->order)
        return mo_verify_fail(plan, device, step, err,
                              "has another place in the total order than its "
                              "other end");
    *place = it->order;
    return MO_OK;
}

/* Only the two ends of a transfer share a position. */
static int compare_positions(const void *a, const void *b)
{
    const mo_plan_step *x = *(const mo_plan_step *const *) a;
    const mo_plan_step *y = *(const mo_plan_step *const *) b;

    return (x->order > y->order) - (x->order < y->order);
}

static bool are_ends(const mo_plan_step *a, const mo_plan_step *b)
{
    return a->what == b->what && a->kind != b->kind &&
           (a->kind == MO_PLAN_STEP_SEND || a->kind == MO_PLAN_STEP_RECEIVE) &&
           (b->kind == MO_PLAN_STEP_SEND || b->kind == MO_PLAN_STEP_RECEIVE);
}

static mo_status check_sorted(const mo_plan_step *const *steps, size_t n,
                              mo_error *err)
{
    int call = -1;

    for (size_t i = 0; i < n; i++) {
        if (i > 0 && steps[i]->order == steps[i - 1]->order &&
            !are_ends(steps[i], steps[i - 1]))
            return mo_fail(err, MO_E_INPUT,
                           "plan: two steps share place %d of the total order",
                           steps[i]->order);
        if (steps[i]->kind != MO_PLAN_STEP_COMPUTE)
            continue;
        if (steps[i]->what <= call)
            return mo_fail(err, MO_E_INPUT,
                           "plan: call %d is not in the total order",
                           steps[i]->what);
        call = steps[i]->what;
    }
    return MO_OK;
}

static mo_status check_merged_order(const mo_exec_plan *plan, mo_error *err)
{
    const mo_plan_step **steps;
    size_t n = 0;
    mo_status status;

    for (int d = 0; d < plan->n_devices; d++)
        n += (size_t) plan->devices[d].n_steps;
    steps = calloc(n + 1, sizeof *steps);
    if (!steps)
        return mo_fail_memory(err);
    n = 0;
    for (int d = 0; d < plan->n_devices; d++)
        for (int i = 0; i < plan->devices[d].n_steps; i++)
            steps[n++] = &plan->devices[d].steps[i];
    qsort(steps, n, sizeof *steps, compare_positions);
    status = check_sorted(steps, n, err);
    free(steps);
    return status;
}

mo_status mo_verify_total_order(const mo_exec_plan *plan, mo_error *err)
{
    size_t n = (size_t) plan->n_transfers;
    int *begun = malloc((n + 1) * sizeof *begun);
    mo_status status = begun ? MO_OK : mo_fail_memory(err);

    for (size_t t = 0; t < n && status == MO_OK; t++)
        begun[t] = INT_MIN;
    for (int d = 0; d < plan->n_devices; d++)
        for (int i = 0; i < plan->devices[d].n_steps && status == MO_OK; i++)
            status = check_position(plan, d, i, begun, err);
    free(begun);
    return status == MO_OK ? check_merged_order(plan, err) : status;
}

/*
 * Deadlock detection by replay: every device proceeds until it awaits a
 * transfer whose other end has not been posted; posting wakes the device that
 * waits for it. When no device can proceed and one is not at its end, each
 * waiting device waits for another: following the wait-for graph leads into a
 * cycle.
 */
typedef struct replay {
    const mo_exec_plan *plan;
    int *at;     /* by device: its next step */
    char *begun; /* by transfer: number of posted ends */
    int *ready;  /* stack of devices that can proceed */
    int n_ready;
    bool *is_ready; /* by device */
} replay;

static void wake_device(replay *r, int device)
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

/* Returns whether device is at a step that awaits this transfer. */
static bool awaits(const replay *r, int device, int transfer)
{
    const mo_plan_device *on = &r->plan->devices[device];
    int at = r->at[device];

    return at < on->n_steps && on->steps[at].kind == MO_PLAN_STEP_AWAIT &&
           on->steps[at].what == transfer;
}

static void advance_device(replay *r, int device)
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
                wake_device(r, other);
        }
    }
}

static void replay_all(replay *r)
{
    for (int d = 0; d < r->plan->n_devices; d++)
        wake_device(r, d);
    while (r->n_ready > 0) {
        int device = r->ready[--r->n_ready];

        r->is_ready[device] = false;
        advance_device(r, device);
    }
}

/* The device that a blocked device waits for. */
static int blocking_device(const replay *r, int device)
{
    const mo_plan_step *step = &r->plan->devices[device].steps[r->at[device]];

    return other_end(&r->plan->transfers[step->what], device);
}

/* Some device on the cycle reached from this one. */
static int find_cycle(const replay *r, int device)
{
    for (int n = 0; n < r->plan->n_devices; n++)
        device = blocking_device(r, device);
    return device;
}

/* Appends "A waits at step 3 for 'x' from B" to text. */
static size_t format_wait(const replay *r, int device, char *text, size_t size)
{
    const mo_exec_plan *plan = r->plan;
    int at = r->at[device], other = blocking_device(r, device);
    const mo_plan_transfer *transfer =
        &plan->transfers[plan->devices[device].steps[at].what];
    int n = snprintf(text, size, "%.40s waits at step %d for '%.60s' %s %.40s",
                     mo_verify_name(plan->devices[device].id), at,
                     mo_verify_name(plan->values[transfer->from_value].name),
                     transfer->to == device ? "from" : "to be taken by",
                     mo_verify_name(plan->devices[other].id));

    return n < 0 ? 0 : (size_t) n < size ? (size_t) n : size - 1;
}

enum { MAX_LISTED = 4 }; /* a long cycle is cut off: the message is one line */

static mo_status format_cycle(const replay *r, int first, mo_error *err)
{
    char text[MO_ERROR_TEXT_SIZE - 64] = "";
    size_t length = 0;
    int device = first, n = 0;

    do {
        if (n > 0)
            length +=
                (size_t) snprintf(text + length, sizeof text - length, ", ");
        if (n++ == MAX_LISTED) {
            snprintf(text + length, sizeof text - length, "and so on");
            break;
        }
        length += format_wait(r, device, text + length, sizeof text - length);
        device = blocking_device(r, device);
    } while (device != first);
    return mo_fail(err, MO_E_INPUT, "plan: cannot finish: %s", text);
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
        replay_all(&r);
        for (int d = 0; d < plan->n_devices && status == MO_OK; d++)
            if (r.at[d] < plan->devices[d].n_steps)
                status = format_cycle(&r, find_cycle(&r, d), err);
    } else {
        status = mo_fail_memory(err);
    }
    free(r.is_ready);
    free(r.ready);
    free(r.begun);
    free(r.at);
    return status;
}
