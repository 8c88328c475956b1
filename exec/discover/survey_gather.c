/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/discover/discover_internal.h"

/* ------------------------------------------------------- from all to rank 0 */

static bool is_text(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

static bool is_gpu_sound(const mo_discover_gpu *gpu)
{
    return is_text(gpu->name, sizeof gpu->name) && gpu->n_nvlinks >= 0 &&
           gpu->n_nvlinks <= MO_DISCOVER_MAX_NVLINKS && gpu->ordinal >= 0;
}

/* Another program at the other end may say anything. */
static bool is_sound(const mo_discover_inventory *survey)
{
    bool sound = survey->version == MO_DISCOVER_INVENTORY_VERSION &&
                 is_text(survey->host, sizeof survey->host) &&
                 is_text(survey->machine, sizeof survey->machine) &&
                 is_text(survey->cpu, sizeof survey->cpu) &&
                 is_text(survey->network, sizeof survey->network) &&
                 is_text(survey->no_gpu, sizeof survey->no_gpu) &&
                 survey->processors > 0 && survey->n_gpus >= 0 &&
                 survey->n_gpus <= MO_DISCOVER_MAX_GPUS;

    for (int g = 0; sound && g < survey->n_gpus; g++)
        sound = is_gpu_sound(&survey->gpus[g]);
    return sound;
}

static mo_status check_all(const mo_discover_inventory *surveys, int n_ranks,
                           mo_error *err)
{
    for (int r = 0; r < n_ranks; r++)
        if (!is_sound(&surveys[r]))
            return mo_fail(err, MO_E_INPUT,
                           "what rank %d tells of its machine cannot be read; "
                           "start the same version everywhere",
                           r);
    return MO_OK;
}

static mo_status collect(const mo_transport *transport,
                         mo_transport_world *world,
                         mo_discover_inventory *surveys, mo_error *err)
{
    int n = transport->n_ranks(world), rank = transport->rank(world);
    mo_status status = MO_OK;

    for (int r = 1; r < n && status == MO_OK; r++)
        if (rank == 0 || rank == r)
            status =
                transport->collect(world, r, &surveys[r], sizeof *surveys, err);
    return status;
}

/* ------------------------------------------------------- from rank 0 to all */

/* A plan whose only device of each rank gets all surveys from that of rank 0,
 * and the thread that does this rank's part of it. */
typedef struct spread {
    const mo_transport *transport;
    mo_transport_world *world;
    mo_discover_inventory *surveys;
    int n_ranks, rank;
    mo_exec_plan plan;
    char (*ids)[16];
    int *rank_of;
    mo_status status;
    mo_error err;
} spread;

static mo_status send_all(spread *s)
{
    mo_status status = MO_OK;

    for (int t = 0; t < s->plan.n_transfers && status == MO_OK; t++)
        status = s->transport->send(s->world, t, s->surveys, &s->err);
    for (int t = 0; t < s->plan.n_transfers && status == MO_OK; t++)
        status = s->transport->wait(s->world, t, true, &s->err);
    return status;
}

static mo_status receive_own(spread *s)
{
    int t = s->rank - 1;
    mo_status status = s->transport->receive(s->world, t, s->surveys, &s->err);

    return status == MO_OK ? s->transport->wait(s->world, t, false, &s->err)
                           : status;
}

static void *work(void *context)
{
    spread *s = context;

    s->status = s->rank == 0 ? send_all(s) : receive_own(s);
    s->transport->leave(s->world);
    return NULL;
}

static mo_status make_plan(spread *s, mo_error *err)
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
                .bytes = (int64_t) (n * sizeof *s->surveys),
                .tensor = MO_PLAN_NONE,
            };
    }
    return MO_OK;
}

static mo_status run_spread(spread *s, mo_error *err)
{
    pthread_t thread;
    mo_status status = s->transport->begin(s->world, &s->plan, s->rank_of, 1,
                                           MO_DISCOVER_INVENTORY_VERSION, err);

    if (status != MO_OK)
        return status;
    if (pthread_create(&thread, NULL, work, s) != 0)
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
                             mo_discover_inventory *surveys, mo_error *err)
{
    spread s = { .transport = transport,
                 .world = world,
                 .surveys = surveys,
                 .n_ranks = transport->n_ranks(world),
                 .rank = transport->rank(world) };
    mo_status status = collect(transport, world, surveys, err);

    if (status == MO_OK && s.rank == 0)
        status = check_all(surveys, s.n_ranks, err);
    if (status == MO_OK && everywhere && s.n_ranks > 1) {
        status = make_plan(&s, err);
        if (status == MO_OK)
            status = run_spread(&s, err);
        if (status == MO_OK)
            status = check_all(surveys, s.n_ranks, err);
    }
    free(s.plan.transfers);
    free(s.plan.devices);
    free(s.rank_of);
    free(s.ids);
    return status;
}
