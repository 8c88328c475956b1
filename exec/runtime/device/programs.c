/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/runtime/device/device_run_internal.h"

/*
 * Calls between two transfers are one program:
 *
 *     compute a   compute b   send x   compute c   await x   compute d
 *     |------ program 0 ----|          | prog. 1 |           | prog. 2 |
 */
static int count_programs(const mo_run_device *d)
{
    int n = 0;

    for (int i = 0; i < d->n_actions; i++)
        n += d->actions[i].kind == MO_PLAN_STEP_COMPUTE &&
             (i == 0 || d->actions[i - 1].kind != MO_PLAN_STEP_COMPUTE);
    return n;
}

/* Waits for calls of programs before are over when this one begins.
 * position: by call of the plan, its place in the program, from first on. */
static mo_status fill_call(mo_run_device *d, const mo_run_program *p, int i,
                           const int *position, mo_error *err)
{
    const mo_run_action *a = &d->actions[p->first + i];
    const mo_plan_call *planned = &d->plan->calls[a->what];
    int *waits = mo_arena_array(d->arena, (size_t) planned->n_depends_on + 1,
                                sizeof *waits);
    int n = 0;

    if (!waits)
        return mo_fail_memory(err);
    for (int k = 0; k < planned->n_depends_on; k++)
        if (position[planned->depends_on[k]] >= p->first)
            waits[n++] = position[planned->depends_on[k]] - p->first;
    p->calls[i] =
        (mo_backend_program_call){ .kernel = a->kernel,
                                   .in = a->in,
                                   .out = a->out,
                                   .workspace = d->workspaces[planned->stream],
                                   .lane = planned->stream,
                                   .waits = waits,
                                   .n_waits = n };
    return MO_OK;
}

static mo_status fill_program(mo_run_device *d, mo_run_program *p,
                              int *position, mo_error *err)
{
    mo_status status = MO_OK;

    p->calls = mo_arena_array(d->arena, (size_t) p->n, sizeof *p->calls);
    if (!p->calls)
        return mo_fail_memory(err);
    for (int i = 0; i < p->n; i++)
        position[d->actions[p->first + i].what] = p->first + i;
    for (int i = 0; i < p->n && status == MO_OK; i++)
        status = fill_call(d, p, i, position, err);
    return status;
}

mo_status mo_run_partition_programs(mo_run_device *d, mo_error *err)
{
    size_t room = (size_t) count_programs(d) + 1;
    int *position = mo_arena_array(d->arena, (size_t) d->plan->n_calls + 1,
                                   sizeof *position);
    mo_status status = MO_OK;

    d->programs = mo_arena_array(d->arena, room, sizeof *d->programs);
    if (!d->programs || !position)
        return mo_fail_memory(err);
    for (int c = 0; c < d->plan->n_calls; c++)
        position[c] = -1;
    for (int i = 0; i < d->n_actions && status == MO_OK; i++) {
        mo_run_program *p = &d->programs[d->n_programs];

        if (d->actions[i].kind != MO_PLAN_STEP_COMPUTE)
            continue;
        p->first = i;
        while (i < d->n_actions && d->actions[i].kind == MO_PLAN_STEP_COMPUTE)
            i++;
        p->n = i - p->first;
        d->n_programs++;
        status = fill_program(d, p, position, err);
    }
    return status;
}

mo_status mo_run_record_programs(mo_run_device *d, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < d->n_programs && status == MO_OK; i++) {
        mo_run_program *p = &d->programs[i];

        status = d->backend->record(d->unit, p->calls, p->n, &p->recorded, err);
    }
    d->are_recorded = status == MO_OK;
    return status;
}

void mo_run_free_programs(mo_run_device *d)
{
    for (int i = 0; i < d->n_programs; i++)
        if (d->programs[i].recorded)
            d->backend->forget(d->unit, d->programs[i].recorded);
}
