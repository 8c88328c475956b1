/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bounds were proven for the instance as given.  A model of a rounded one
 * has times that are up to half a step shorter: its schedules are shorter by
 * at most that for each op and transfer, of which none occurs twice on a path
 * through the subject of a proof.  Less that, and in whole steps, the bound
 * holds for them, too.
 */
#include "models/frame/frame.h"

static int64_t bound_after_rounding(const mo_frame *f, int64_t ns,
                                    int64_t n_items)
{
    int64_t left_ns = ns - n_items * ((f->step_ns + 1) / 2);

    if (f->step_ns == 1)
        return ns;
    return left_ns > 0 ? left_ns / f->step_ns * f->step_ns : 0;
}

/* Ops are in topological order: those between two of them have numbers between
 * theirs. */
int64_t mo_frame_proven_pair_ns(const mo_frame *f, size_t number, int a, int b)
{
    const mo_proven_bounds_pair *pair = &f->proven->pairs[number];
    int first = pair->u == MO_FREE ? 0 : pair->u;
    int end = pair->v == MO_FREE ? f->x->n : pair->v;
    int n_flows = f->x->out_start[end] - f->x->out_start[first];

    return bound_after_rounding(f, pair->least_ns[a * f->x->n_devices + b],
                                (int64_t) end - first + n_flows);
}

int64_t mo_frame_proven_ns(const mo_frame *f)
{
    if (!f->proven)
        return 0;
    return bound_after_rounding(f, f->proven->lower_ns,
                                (int64_t) f->x->n + f->x->n_flows);
}
