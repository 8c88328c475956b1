/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "exec/plan/schedule/offsets.h"
#include "exec/runtime/device/device_run_internal.h"

/* Where a transfer begins that goes through memory of the process. */
static bool begins(const mo_run_device *d, const mo_run_action *a)
{
    return (a->kind == MO_PLAN_STEP_SEND || a->kind == MO_PLAN_STEP_RECEIVE) &&
           !(d->carried && d->carried[a->what]);
}

static int find_await(const mo_run_device *d, int begin)
{
    int i = begin + 1;

    while (i < d->n_actions && (d->actions[i].kind != MO_PLAN_STEP_AWAIT ||
                                d->actions[i].what != d->actions[begin].what))
        i++;
    return i;
}

/* A block for each transfer, from where it begins to where it is awaited. */
static int list_blocks(const mo_run_device *d, mo_plan_buffer *blocks)
{
    int n = 0;

    for (int i = 0; i < d->n_actions; i++)
        if (begins(d, &d->actions[i]))
            blocks[n++] =
                (mo_plan_buffer){ .owner = i,
                                  .begin = i,
                                  .end = find_await(d, i),
                                  .bytes = (int64_t) d->actions[i].bytes };
    return n;
}

static void point_to(mo_run_device *d, const mo_plan_buffer *block)
{
    d->actions[block->owner].data = d->staging + block->offset;
    if (block->end < d->n_actions)
        d->actions[block->end].data = d->staging + block->offset;
}

mo_status mo_run_alloc_staging(mo_run_device *d, mo_error *err)
{
    mo_plan_buffer *blocks =
        mo_arena_array(d->arena, (size_t) d->n_actions + 1, sizeof *blocks);
    mo_plan_arena_size packed = { 0 };
    mo_status status;
    void *near = NULL;
    int n;

    if (!blocks)
        return mo_fail_memory(err);
    n = list_blocks(d, blocks);
    status = mo_plan_assign_offsets(blocks, n, &packed, err);
    if (status == MO_OK && n > 0)
        status = d->backend->alloc_near(
            d->unit, (size_t) packed.bytes + MO_PLAN_BUFFER_ALIGN, &near, err);
    d->staging = near;
    for (int i = 0; i < n && status == MO_OK; i++)
        point_to(d, &blocks[i]);
    return status;
}
