/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/discover/discover.h"

#include <string.h>

#include "exec/discover/discover_internal.h"

static mo_status check_gpus(const int *gpus, int n,
                            const mo_discover_inventory *survey, mo_error *err)
{
    for (int i = 0; i < n; i++) {
        if (gpus[i] >= 0 && gpus[i] < survey->n_gpus)
            continue;
        if (survey->n_gpus == 0)
            return mo_fail(err, MO_E_INPUT, "there is no GPU %d: %s", gpus[i],
                           survey->no_gpu);
        return mo_fail(err, MO_E_INPUT,
                       "there is no GPU %d: this machine has %d, counted from "
                       "0",
                       gpus[i], survey->n_gpus);
    }
    return MO_OK;
}

/* Bits of peers are told by places in the list, which change. */
static uint64_t moved_peers(uint64_t peers, const int *gpus, int n)
{
    uint64_t moved = 0;

    for (int i = 0; i < n; i++)
        moved |= (peers >> gpus[i] & 1) << i;
    return moved;
}

/* gpus are sorted, each is there once. */
static void keep_gpus(const int *gpus, int n, mo_discover_inventory *survey)
{
    for (int i = 0; i < n; i++) {
        survey->gpus[i] = survey->gpus[gpus[i]];
        survey->gpus[i].peers = moved_peers(survey->gpus[i].peers, gpus, n);
    }
    survey->n_gpus = n;
}

mo_status mo_discover_local(const int *gpus, int n_gpus,
                            mo_discover_inventory *survey, mo_error *err)
{
    mo_status status = MO_OK;

    /* It travels as it is, whatever lies between its members. */
    memset(survey, 0, sizeof *survey);
    survey->version = MO_DISCOVER_INVENTORY_VERSION;
    mo_discover_host_cpu(survey);
    mo_discover_network(survey);
    if (gpus && n_gpus == 0)
        return MO_OK;
    mo_discover_cuda_gpus(survey);
    if (gpus)
        status = check_gpus(gpus, n_gpus, survey, err);
    if (gpus && status == MO_OK)
        keep_gpus(gpus, n_gpus, survey);
    return status;
}
