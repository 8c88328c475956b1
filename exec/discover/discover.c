/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/discover/discover.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

#include "exec/discover/discover_internal.h"

mo_status mo_discover_local(const int *gpus, int n_gpus,
                            mo_discover_inventory *inventory, mo_error *err)
{
    mo_status status = MO_OK;

    /* Padding is zeroed, too: the struct is sent as bytes. */
    memset(inventory, 0, sizeof *inventory);
    inventory->version = MO_DISCOVER_INVENTORY_VERSION;
    status = mo_discover_host_cpu(inventory, err);
    if (status != MO_OK)
        return status;
    mo_discover_network(inventory);
    if (gpus && n_gpus == 0)
        return MO_OK;
    mo_discover_cuda_gpus(inventory);
    if (!gpus)
        return MO_OK;
    for (int i = 0; i < n_gpus; i++) {
        if (gpus[i] >= 0 && gpus[i] < inventory->n_gpus)
            continue;
        if (inventory->n_gpus == 0)
            return mo_fail(err, MO_E_INPUT, "there is no GPU %d: %s", gpus[i],
                           inventory->no_gpu);
        return mo_fail(err, MO_E_INPUT,
                       "there is no GPU %d: this machine has %d, counted from "
                       "0",
                       gpus[i], inventory->n_gpus);
    }
    /* gpus is sorted without duplicates. Bits of peers are indices in the list,
     * which change. */
    for (int i = 0; i < n_gpus; i++) {
        uint64_t peers = inventory->gpus[gpus[i]].peers;

        inventory->gpus[i] = inventory->gpus[gpus[i]];
        inventory->gpus[i].peers = 0;
        for (int k = 0; k < n_gpus; k++)
            inventory->gpus[i].peers |= (peers >> gpus[k] & 1) << k;
    }
    inventory->n_gpus = n_gpus;
    return MO_OK;
}

static bool is_text(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

static bool is_rate(double value)
{
    return isfinite(value) && value >= 0;
}

bool mo_discover_decode_inventory(const mo_discover_inventory *inventory)
{
    bool sound =
        inventory->version == MO_DISCOVER_INVENTORY_VERSION &&
        is_text(inventory->host, sizeof inventory->host) &&
        is_text(inventory->machine, sizeof inventory->machine) &&
        is_text(inventory->cpu, sizeof inventory->cpu) &&
        is_text(inventory->network, sizeof inventory->network) &&
        is_text(inventory->no_gpu, sizeof inventory->no_gpu) &&
        inventory->processors > 0 &&
        inventory->processors <= MO_DISCOVER_MAX_PROCESSORS &&
        inventory->cores >= 0 &&
        inventory->cores <= MO_DISCOVER_MAX_PROCESSORS &&
        is_rate(inventory->clock_mhz) && is_rate(inventory->flops_per_cycle) &&
        is_rate(inventory->socket_gbps) && is_rate(inventory->network_gbps) &&
        inventory->memory_bytes >= 0 && inventory->n_cpus >= 0 &&
        inventory->n_cpus <= MO_DISCOVER_MAX_CPUS && inventory->n_gpus >= 0 &&
        inventory->n_gpus <= MO_DISCOVER_MAX_GPUS;

    for (int i = 0; sound && i < inventory->n_cpus; i++)
        sound = inventory->cpus[i] >= 0 && inventory->core_of[i] >= 0;
    for (int g = 0; sound && g < inventory->n_gpus; g++) {
        const mo_discover_gpu *gpu = &inventory->gpus[g];

        sound = is_text(gpu->name, sizeof gpu->name) && gpu->n_nvlinks >= 0 &&
                gpu->n_nvlinks <= MO_DISCOVER_MAX_NVLINKS &&
                gpu->ordinal >= 0 && gpu->arch >= 0 && gpu->sms >= 0 &&
                gpu->socket >= -1 && gpu->memory_bytes >= 0 &&
                is_rate(gpu->clock_mhz) && is_rate(gpu->bandwidth_gbs) &&
                is_rate(gpu->pci_gbps);
    }
    return sound;
}

static mo_status check_inventories(const mo_discover_inventory *inventories,
                                   int n_ranks, mo_error *err)
{
    for (int r = 0; r < n_ranks; r++)
        if (!mo_discover_decode_inventory(&inventories[r]))
            return mo_fail(
                err, MO_E_INPUT,
                "the description of the machine of rank %d cannot be "
                "read; start the same version everywhere",
                r);
    return MO_OK;
}

/* Broadcast: a plan in which the only device of each rank receives all
 * inventories from that of rank 0, and the thread that runs this rank's
 * part. */
typedef struct broadcast {
    const mo_transport *transport;
    mo_transport_world *world;
    mo_discover_inventory *inventories;
    int n_ranks, rank;
    mo_exec_plan plan;
    char (*ids)[16];
    int *rank_of;
    mo_status status;
    mo_error err;
} broadcast;

static void *run_device(void *context)
{
    broadcast *s = context;
    const mo_transport *transport = s->transport;
    int first = s->rank == 0 ? 0 : s->rank - 1;
    int end = s->rank == 0 ? s->plan.n_transfers : s->rank;
    mo_status status = MO_OK;

    for (int t = first; t < end && status == MO_OK; t++)
        status = s->rank == 0
                     ? transport->send(s->world, t, s->inventories, &s->err)
                     : transport->receive(s->world, t, s->inventories, &s->err);
    for (int t = first; t < end && status == MO_OK; t++)
        status = transport->wait(s->world, t, s->rank == 0, &s->err);
    s->status = status;
    transport->leave(s->world);
    return NULL;
}

static mo_status make_plan(broadcast *s, mo_error *err)
{
    size_t n = (size_t) s->n_ranks;

    s->ids = calloc(n, sizeof *s->ids);
    s->rank_of = calloc(n, sizeof *s->rank_of);
    s->plan.devices = calloc(n, sizeof *s->plan.devices);
    s->plan.transfers = calloc(n, sizeof *s->plan.transfers);
    if (!s->ids || !s->rank_of || !s->plan.devices || !s->plan.transfers)
        return mo_fail_memory(err);
    s->plan.n_devices = s->n_ranks;
    for (int r = 0; r < s->n_ranks; r++) {
        snprintf(s->ids[r], sizeof s->ids[r], "rank%d", r);
        s->plan.devices[r].id = s->ids[r];
        s->rank_of[r] = r;
        if (r > 0)
            s->plan.transfers[s->plan.n_transfers++] = (mo_plan_transfer){
                .to = r,
                .bytes = (int64_t) (n * sizeof *s->inventories),
                .tensor = MO_PLAN_NONE,
            };
    }
    return MO_OK;
}

static mo_status run_broadcast(broadcast *s, mo_error *err)
{
    pthread_t thread;
    mo_status status = s->transport->begin(s->world, &s->plan, s->rank_of, 1,
                                           MO_DISCOVER_INVENTORY_VERSION, err);

    if (status != MO_OK)
        return status;
    if (pthread_create(&thread, NULL, run_device, s) != 0)
        return mo_fail_memory(err);
    status = s->transport->serve(s->world, 1, err);
    pthread_join(thread, NULL);
    if (status == MO_OK && s->status != MO_OK) {
        if (err)
            *err = s->err;
        status = s->status;
    }
    return status;
}

mo_status mo_discover_gather(const mo_transport *transport,
                             mo_transport_world *world, bool everywhere,
                             mo_discover_inventory *inventories, mo_error *err)
{
    broadcast s = { .transport = transport,
                    .world = world,
                    .inventories = inventories,
                    .n_ranks = transport->n_ranks(world),
                    .rank = transport->rank(world) };
    mo_status status = MO_OK;
    int n = transport->n_ranks(world), rank = transport->rank(world);

    for (int r = 1; r < n && status == MO_OK; r++)
        if (rank == 0 || rank == r)
            status = transport->collect(world, r, &inventories[r],
                                        sizeof *inventories, err);
    if (status == MO_OK && s.rank == 0)
        status = check_inventories(inventories, s.n_ranks, err);
    if (status == MO_OK && everywhere && s.n_ranks > 1) {
        status = make_plan(&s, err);
        if (status == MO_OK)
            status = run_broadcast(&s, err);
        if (status == MO_OK)
            status = check_inventories(inventories, s.n_ranks, err);
    }
    free(s.plan.transfers);
    free(s.plan.devices);
    free(s.rank_of);
    free(s.ids);
    return status;
}
