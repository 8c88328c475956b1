/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "models/frame/frame_internal.h"
#include "models/sink/scale.h"

void mo_frame_free_rounded(mo_frame *f)
{
    if (!f->rounded)
        return;
    free(f->rounded->p_ns);
    free(f->rounded->comm_ns);
    free(f->rounded);
}

/* A rounded copy; NULL when memory cannot be allocated. */
static int64_t *round_array(const int64_t *ns, int64_t n, int64_t step_ns)
{
    int64_t *rounded = malloc(((size_t) n + 1) * sizeof *rounded);

    for (int64_t i = 0; i < n && rounded; i++)
        rounded[i] = mo_scale_rounded_ns(step_ns, ns[i]);
    return rounded;
}

/* All but the times is borrowed from x. */
static mo_instance *round_times(const mo_instance *x, int64_t step_ns)
{
    int64_t n_places = (int64_t) x->n * x->n_devices;
    int64_t n_sends = (int64_t) x->n_comm_rows * x->n_kinds;
    mo_instance *rounded = malloc(sizeof *rounded);

    if (!rounded)
        return NULL;
    *rounded = *x;
    rounded->arena = NULL;
    rounded->p_ns = round_array(x->p_ns, n_places, step_ns);
    rounded->comm_ns = round_array(x->comm_ns, n_sends, step_ns);
    return rounded;
}

mo_status mo_frame_round_times(mo_frame *f, int64_t step_ns,
                               int64_t *reached_ns, mo_error *err)
{
    mo_instance *rounded = round_times(f->given, step_ns);
    mo_status status = MO_OK;

    mo_frame_free_rounded(f);
    f->rounded = rounded;
    if (!rounded || !rounded->p_ns || !rounded->comm_ns)
        return mo_fail_memory(err);
    f->x = rounded;
    if (f->start) {
        status = mo_schedule_left_shift(f->x, f->start, err);
        *reached_ns = f->start->makespan_ns;
    }
    return status;
}
