/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns streams to the stages of a program. */
#include <config.h>

#include <math.h>

#include "exec/backend/cuda/graph/stages_internal.h"

enum { MAX_TURNS = 8 };

/* How long a stage takes, roughly: longer on fewer SMs, but not in proportion.
 * Transfers count as calls on few. */
static double weight_of(const mo_cuda_stages *s, const mo_cuda_stage *at)
{
    const mo_cuda_stage_owner *owner = &s->owners[at->owner];

    return at->n_calls / sqrt(owner->transfers ? 2.0 : owner->unit->sms);
}

/* A stage is a server of the pipeline: with as many streams as requests that it
 * may serve at the same time. Each stage of a GPU has one, and the longest have
 * those that are left. */
static void assign_turns(mo_cuda_stages *s, CUdevice device)
{
    int n = 0;

    for (int i = 0; i < s->n_stages; i++)
        if (s->owners[s->stages[i].owner].unit->device == device)
            n += s->stages[i].n_turns;
    for (; n < MO_CUDA_MAX_STAGES; n++) {
        mo_cuda_stage *best = NULL;

        for (int i = 0; i < s->n_stages; i++) {
            mo_cuda_stage *at = &s->stages[i];

            if (s->owners[at->owner].unit->device == device &&
                at->n_turns < MAX_TURNS &&
                (!best || weight_of(s, at) / at->n_turns >
                              weight_of(s, best) / best->n_turns))
                best = at;
        }
        if (best)
            best->n_turns++;
    }
}

static mo_status find_stream(mo_cuda_stages *s, mo_cuda_stage *at,
                             mo_error *err)
{
    mo_cuda_stage_owner *owner = &s->owners[at->owner];
    int index = owner->n_streams + owner->unit->slot % at->n_turns;
    mo_status status = mo_cuda_unit_make_current(owner->unit, err);

    owner->n_streams += at->n_turns;
    if (status == MO_OK)
        status = mo_cuda_unit_stage_stream(owner->unit, owner->transfers, index,
                                           &at->stream, err);
    return status;
}

mo_status mo_cuda_stages_assign_streams(mo_cuda_stages *s, mo_error *err)
{
    mo_status status = MO_OK;

    for (int k = 0; k < s->n_owners; k++)
        assign_turns(s, s->owners[k].unit->device);
    for (int i = 0; i < s->n_stages && status == MO_OK; i++)
        status = find_stream(s, &s->stages[i], err);
    return status;
}
