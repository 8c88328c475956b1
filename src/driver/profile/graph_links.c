/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/profile/measure.h"

#include <stdlib.h>
#include <string.h>

#include "driver/profile/link_rows.h"
#include "exec/runtime/run.h"

/* The measured devices. */
typedef struct bench {
    int n;
    const char **ids;
    const mo_backend **backends;
    mo_backend_unit_options *units;
    int *rank_of;
} bench;

static mo_status set_up(const mo_profiler_devices *devices, bench *b,
                        mo_error *err)
{
    size_t room = (size_t) devices->cluster->n_devices;

    b->ids = calloc(room, sizeof *b->ids);
    b->backends = calloc(room, sizeof *b->backends);
    b->units = calloc(room, sizeof *b->units);
    b->rank_of = calloc(room, sizeof *b->rank_of);
    if (!b->ids || !b->backends || !b->units || !b->rank_of)
        return mo_fail_memory(err);
    for (int k = 0; k < devices->cluster->n_devices; k++)
        if (mo_profiler_devices_available(devices, k)) {
            b->ids[b->n] = devices->cluster->devices[k].id;
            b->backends[b->n] = devices->units.backends[k];
            b->rank_of[b->n] = devices->units.rank_of[k];
            b->units[b->n++] = devices->units.options[k];
        }
    return MO_OK;
}

/* Whether links between ranks have rows that were measured so. */
static bool are_of_ranks(const mo_profile *profile, const bench *b)
{
    for (int i = 0; i < b->n; i++)
        for (int k = 0; k < b->n; k++) {
            const mo_device from = { .id = b->ids[i] },
                            to = { .id = b->ids[k] };
            const mo_profile_link *row =
                mo_profile_find_link(profile, &from, &to, 0);

            if (b->rank_of[i] != b->rank_of[k] && row &&
                (!row->path || strcmp(row->path, mo_transport_local.name) == 0))
                return false;
        }
    return true;
}

static mo_status add_links(const bench *b, const mo_profiler_ranks *ranks,
                           mo_profiler_table *rows, bool *added, mo_error *err)
{
    const mo_run_plan_options run = {
        .transport = ranks->transport,
        .world = ranks->world,
        .backends = b->backends,
        .units = b->units,
        .rank_of = b->rank_of,
    };
    const mo_measure_links_options options = { .n_devices = b->n,
                                               .ids = b->ids,
                                               .run = &run };
    mo_measure_link_row *measured = NULL;
    mo_profile_link *links = NULL;
    int n_measured = 0, n_links = 0;
    mo_status status = mo_measure_links(&options, &measured, &n_measured, err);

    if (status == MO_OK && ranks->rank == 0) {
        status = mo_profiler_link_rows_make(measured, n_measured, b->ids,
                                            &links, &n_links, err);
        if (status == MO_OK)
            status = mo_profiler_table_add_links(rows, links, n_links, err);
        *added = status == MO_OK;
    }
    free(links);
    free(measured);
    return status;
}

mo_status mo_profiler_measure_links(mo_profiler_work *w, bool *added,
                                    mo_error *err)
{
    const mo_profile *profile = w->rows.profile;
    bench b = { .n = 0 };
    mo_status status = set_up(&w->devices, &b, err);
    bool missing = false;

    *added = false;
    if (status == MO_OK)
        missing = !mo_profiler_link_rows_complete(profile, b.ids, b.n) ||
                  (profile && !are_of_ranks(profile, &b));
    if (status == MO_OK)
        status = mo_profiler_ranks_broadcast_flags(&w->ranks, &missing, 1, err);
    if (status == MO_OK && missing) {
        mo_driver_log_info(&w->o->logger, "measuring links between %d devices",
                           b.n);
        status = add_links(&b, &w->ranks, &w->rows, added, err);
    }
    free(b.ids);
    free(b.backends);
    free(b.units);
    free(b.rank_of);
    return status;
}
