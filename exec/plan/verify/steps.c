/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "exec/plan/verify/verify_internal.h"

/*
 * What was seen of a transfer, a bit each:
 *
 *     from   send ....... await
 *     to     receive .... await
 */
enum { BEGUN = 1, AWAITED = 2, SENDER = 0, RECEIVER = 2 };

typedef struct seen {
    bool *called;         /* by call */
    unsigned char *moved; /* by transfer: the bits, shifted by the end */
} seen;

static mo_status see_call(const mo_exec_plan *plan, seen *s, int device,
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

/* Which end of transfer the device is, -1 if none. */
static int end_of(const mo_plan_transfer *transfer, int device)
{
    if (transfer->from == device)
        return SENDER;
    return transfer->to == device ? RECEIVER : -1;
}

static mo_status see_transfer(const mo_exec_plan *plan, seen *s, int device,
                              int step, mo_error *err)
{
    const mo_plan_step *it = &plan->devices[device].steps[step];
    int end = end_of(&plan->transfers[it->what], device);
    unsigned bits, bit = it->kind == MO_PLAN_STEP_AWAIT ? AWAITED : BEGUN;

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

static mo_status see_step(const mo_exec_plan *plan, seen *s, int device,
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
    return is_call ? see_call(plan, s, device, step, err)
                   : see_transfer(plan, s, device, step, err);
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
            status = see_step(plan, &s, d, i, err);
    if (status == MO_OK)
        status = check_all_seen(plan, &s, err);
    free(s.moved);
    free(s.called);
    return status;
}
