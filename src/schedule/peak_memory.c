/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/schedule.h"

#include <stdlib.h>

#include "schedule/live_memory.h"

static void sum_static_bytes(const mo_instance *x, const mo_schedule *s,
                             int64_t *peak_bytes)
{
    for (int k = 0; k < x->n_devices; k++)
        peak_bytes[k] = 0;
    for (int i = 0; i < s->n; i++)
        peak_bytes[s->device[i]] += x->memory_bytes[i];
}

mo_status mo_schedule_peak_memory(const mo_instance *x, const mo_schedule *s,
                                  int64_t *peak_bytes, mo_error *err)
{
    if (s->regime.memory == MO_MEMORY_LIVE)
        return mo_live_memory_peak(x, s, peak_bytes, err);
    sum_static_bytes(x, s, peak_bytes);
    return MO_OK;
}

mo_status mo_schedule_fits_memory(const mo_instance *x, const mo_schedule *s,
                                  bool *fits, mo_error *err)
{
    int64_t *peak_bytes;
    mo_status status;

    *fits = true;
    if (s->regime.memory == MO_MEMORY_NONE)
        return MO_OK;
    peak_bytes = calloc((size_t) x->n_devices + 1, sizeof *peak_bytes);
    if (!peak_bytes)
        return mo_fail_memory(err);
    status = mo_schedule_peak_memory(x, s, peak_bytes, err);
    for (int k = 0; k < x->n_devices && status == MO_OK; k++)
        *fits = *fits && peak_bytes[k] <= x->capacity_bytes[k];
    free(peak_bytes);
    return status;
}
