/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of this machine as a cluster of the library. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cost/cluster/cpu_list.h"
#include "exec/discover/discover.h"
#include "lib/handles.h"

enum { MOST_CPUS = 64 };

/* Sets *gpus to NULL for all. */
static mo_status read_gpus(const char *text, mo_arena *arena, const int **gpus,
                           int *n, mo_error *err)
{
    static const int none[1];

    *gpus = NULL;
    *n = 0;
    if (!text)
        return MO_OK;
    if (strcmp(text, "none") == 0) {
        *gpus = none;
        return MO_OK;
    }
    if (!mo_cpu_list_read(text, arena, gpus, n))
        return mo_fail(err, MO_E_USAGE,
                       "gpus is '%.80s', which is no list of GPUs; write "
                       "numbers, as in 0,2-3, or none",
                       text);
    return *gpus ? MO_OK : mo_fail_memory(err);
}

static mo_status read_cpus(const char *text, int *cpus, mo_error *err)
{
    int64_t n = 1;

    if (text && strcmp(text, "none") == 0)
        n = 0;
    else if (text &&
             (mo_number_read_int(text, strlen(text), &n) != MO_NUMBER_OK ||
              n < 1 || n > MOST_CPUS))
        return mo_fail(err, MO_E_USAGE,
                       "cpus is '%.80s', which is no number of devices from 1 "
                       "to %d, nor none",
                       text, MOST_CPUS);
    *cpus = (int) n;
    return MO_OK;
}

moirai_status moirai_cluster_discover(const moirai_options *options,
                                      moirai_cluster **cluster,
                                      moirai_error *err)
{
    mo_error *e = mo_lib_error(err);
    const mo_lib_settings *s = mo_lib_settings_of(options);
    mo_discover_options how = { .precision = s->exec.wants.precision
                                                 ? s->exec.wants.precision
                                                 : "f32" };
    mo_discover_inventory *inventory = calloc(1, sizeof *inventory);
    mo_arena *arena = mo_arena_new();
    mo_cluster *found = NULL;
    mo_cluster_notes notes;
    const int *gpus = NULL;
    int n_gpus = 0;
    mo_status status = inventory && arena ? MO_OK : mo_fail_memory(e);

    if (status == MO_OK)
        status = read_gpus(s->gpus, arena, &gpus, &n_gpus, e);
    if (status == MO_OK)
        status = read_cpus(s->cpus, &how.cpus, e);
    if (status == MO_OK)
        status = mo_discover_local(gpus, n_gpus, inventory, e);
    if (status == MO_OK)
        status = mo_discover_cluster(inventory, 1, &how, &found, &notes, e);
    if (status == MO_OK)
        status = mo_lib_cluster_make(found, cluster, e);
    mo_arena_free(arena);
    free(inventory);
    return mo_lib_status(status);
}
