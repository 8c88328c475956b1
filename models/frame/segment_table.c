/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "models/frame/frame_internal.h"
#include "schedule/bound/segment_bound.h"

/* Ops are in topological order: between two consecutive clean cuts lie the ops
 * with the numbers between theirs. */

enum { MAX_WORK = 1 << 20 }; /* ops by devices to the third: a second or two */

/* Above that there are no tables. */
static bool is_affordable(const mo_frame *f)
{
    int64_t n = f->x->n, n_devices = f->x->n_devices;

    return f->n_cuts > 1 && n_devices <= 64 &&
           n * n_devices * n_devices * n_devices <= MAX_WORK;
}

static mo_status allocate_table(mo_frame *f, mo_error *err)
{
    size_t n_devices = (size_t) f->x->n_devices;

    f->segment_ns = calloc((size_t) f->n_cuts * n_devices * n_devices,
                           sizeof *f->segment_ns);
    return f->segment_ns ? MO_OK : mo_fail_memory(err);
}

static void fill_table(mo_frame *f, mo_bound_segments *segments, int *numbers)
{
    int n_devices = f->x->n_devices;

    for (int i = 0; i < f->x->n; i++)
        numbers[i] = i;
    for (int c = 0; c + 1 < f->n_cuts; c++) {
        int u = f->cuts[c], v = f->cuts[c + 1];
        mo_bound_segment segment = { u, v, numbers + u + 1, v - u - 1 };

        mo_bound_segments_table(segments, &segment, f->horizon_ns,
                                f->segment_ns +
                                    (int64_t) c * n_devices * n_devices);
    }
}

mo_status mo_frame_find_segments(mo_frame *f, mo_error *err)
{
    mo_allowed_devices domains = mo_frame_allowed_devices(f);
    mo_bound_segments *segments = NULL;
    int *numbers;
    mo_status status;

    if (!is_affordable(f))
        return MO_OK;
    if (!f->segment_ns && allocate_table(f, err) != MO_OK)
        return MO_E_MEMORY;
    numbers = malloc((size_t) f->x->n * sizeof *numbers);
    status = numbers ? mo_bound_segments_new(&domains, &segments, err)
                     : mo_fail_memory(err);
    if (status == MO_OK)
        fill_table(f, segments, numbers);
    mo_bound_segments_free(segments);
    free(numbers);
    return status;
}
