/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/stop.h"
#include "exec/backend/cuda/driver/cuda_unit.h"
#include "exec/transport/nccl/p2p_internal.h"

/* NCCL notices that a connection is broken before the watch knows why. */
static const int64_t hearsay_ns = 3000000000;
static const int64_t closing_ns = 2000000000;

static void rest(void)
{
    const struct timespec moment = { 0, 20000 };

    nanosleep(&moment, NULL);
}

/* --------------------------------------------------------------- giving up */

typedef struct abortion {
    const mo_nccl_api *api;
    ncclComm_t comm;
    mo_nccl_abort_count *aborts;
} abortion;

static void *abort_one(void *context)
{
    abortion *a = context;

    a->api->ncclCommAbort(a->comm);
    atomic_fetch_sub(&a->aborts->under_way, 1);
    free(a);
    return NULL;
}

/* Where no thread can be had it is left alone: the process ends anyway. */
static void begin_abort(mo_nccl_p2p *nccl, mo_nccl_comm *comm)
{
    abortion *a = comm->comm ? malloc(sizeof *a) : NULL;
    pthread_t thread;

    if (!a)
        return;
    *a = (abortion){ nccl->api, comm->comm, nccl->aborts };
    comm->comm = NULL;
    atomic_fetch_add(&nccl->aborts->under_way, 1);
    if (pthread_create(&thread, NULL, abort_one, a) == 0) {
        pthread_detach(thread);
        return;
    }
    atomic_fetch_sub(&nccl->aborts->under_way, 1);
    free(a);
}

mo_status mo_nccl_comms_abort(mo_nccl_p2p *nccl, const mo_error *why,
                              mo_error *err)
{
    if (!nccl->given_up) {
        nccl->given_up = true;
        nccl->error = *why;
        for (int s = 0; s < nccl->lines.n_seats; s++)
            begin_abort(nccl, &nccl->comms[s]);
    }
    if (err)
        *err = nccl->error;
    return nccl->error.status;
}

/* ----------------------------------------------------------------- looking */

/* Who is at the other end of a communicator of two; -1: of one of all, nobody
 * knows. */
static int other_rank(const mo_nccl_p2p *nccl, int seat)
{
    if (nccl->lines.seats[seat].n_seats == 2)
        for (int i = 0; i < nccl->lines.n; i++)
            if (nccl->lines.lines[i].own == seat)
                return mo_nccl_peer_rank(nccl, i);
    return -1;
}

mo_status mo_nccl_comm_handle_error(mo_nccl_p2p *nccl, int seat,
                                    ncclResult_t result, mo_error *err)
{
    const mo_nccl_p2p_options *o = &nccl->options;
    int64_t until = mo_stop_clock_ns() + hearsay_ns;
    int other = other_rank(nccl, seat);
    mo_error why = { 0 }, said = { 0 };

    while (o->failure(o->context, &why) == MO_OK && mo_stop_clock_ns() < until)
        rest();
    if (why.status != MO_OK)
        return mo_nccl_comms_abort(nccl, &why, err);
    mo_nccl_check(nccl->api, "a transfer", result, &said);
    if (other >= 0)
        mo_fail(&why, MO_E_IO, "the way to rank %d is broken: %s", other,
                said.text);
    else
        mo_fail(&why, MO_E_IO, "the way to another rank is broken: %s",
                said.text);
    return mo_nccl_comms_abort(nccl, &why, err);
}

static mo_status check_patience(mo_nccl_p2p *nccl, mo_error *err)
{
    int64_t took = mo_stop_clock_ns() - atomic_load(&nccl->run_began_ns);
    mo_error why = { 0 };

    if (took <= nccl->patience_ns)
        return MO_OK;
    mo_fail(&why, MO_E_IO,
            "nothing has come of the transfers for %.0f s though all ranks are "
            "alive (MOIRAI_NCCL_PATIENCE says how long to wait)",
            (double) took * 1e-9);
    mo_nccl_flight_recorder_append(&nccl->ring, &why);
    return mo_nccl_comms_abort(nccl, &why, err);
}

/* *busy: NCCL is not done with what this one was told. */
static mo_status look_at(mo_nccl_p2p *nccl, int seat, bool *busy, mo_error *err)
{
    ncclComm_t comm = nccl->comms[seat].comm;
    ncclResult_t state = ncclSuccess, result;

    *busy = false;
    if (!comm)
        return MO_OK;
    result = nccl->api->ncclCommGetAsyncError(comm, &state);
    if (result == ncclSuccess)
        result = state;
    *busy = result == ncclInProgress;
    return result == ncclSuccess || *busy
               ? MO_OK
               : mo_nccl_comm_handle_error(nccl, seat, result, err);
}

static mo_status look_elsewhere(mo_nccl_p2p *nccl, mo_error *err)
{
    const mo_nccl_p2p_options *o = &nccl->options;
    mo_error why = { 0 };

    if (nccl->given_up)
        return mo_nccl_comms_abort(nccl, NULL, err);
    if (o->failure(o->context, &why) != MO_OK)
        return mo_nccl_comms_abort(nccl, &why, err);
    return check_patience(nccl, err);
}

mo_status mo_nccl_comms_check(mo_nccl_p2p *nccl, mo_error *err)
{
    mo_status status = look_elsewhere(nccl, err);
    bool busy;

    for (int s = 0; s < nccl->lines.n_seats && status == MO_OK; s++)
        status = look_at(nccl, s, &busy, err);
    return status;
}

mo_status mo_nccl_comm_wait(mo_nccl_p2p *nccl, int seat, mo_error *err)
{
    mo_status status;
    bool busy = true;

    while ((status = look_at(nccl, seat, &busy, err)) == MO_OK && busy) {
        status = look_elsewhere(nccl, err);
        if (status != MO_OK)
            break;
        rest();
    }
    return status;
}

/* ------------------------------------------------------------------ making */

static mo_status keep_context(mo_nccl_p2p *nccl, int seat,
                              mo_backend_unit *unit, mo_error *err)
{
    mo_nccl_comm *comm = &nccl->comms[seat];
    mo_status status = mo_backend_cuda.enter(unit, err);

    if (status != MO_OK)
        return status;
    comm->device = unit->device;
    status = mo_cuda_check(
        nccl->driver, "cuDevicePrimaryCtxRetain",
        nccl->driver->cuDevicePrimaryCtxRetain(&comm->context, unit->device),
        err);
    if (status != MO_OK)
        comm->context = NULL;
    return status;
}

static mo_status begin_comm(mo_nccl_p2p *nccl, int s, mo_backend_unit *unit,
                            mo_error *err)
{
    const mo_nccl_member *seat = &nccl->lines.seats[s];
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    mo_status status = keep_context(nccl, s, unit, err);

    if (status != MO_OK)
        return status;
    config.blocking = 0;
    return mo_nccl_check(nccl->api, "ncclCommInitRankConfig",
                         nccl->api->ncclCommInitRankConfig(
                             &nccl->comms[s].comm, seat->n_seats,
                             nccl->ids[seat->id], seat->seat, &config),
                         err);
}

/* One number after the other: whoever comes to one has all before behind him,
 * so nobody waits in a circle.  Seats of one number are here together. */
mo_status mo_nccl_comms_create(mo_nccl_p2p *nccl, mo_backend_unit *const *units,
                               mo_error *err)
{
    const mo_nccl_member *seats = nccl->lines.seats;
    mo_status status = MO_OK;

    for (int first = 0, s = 0; first < nccl->lines.n_seats; first = s) {
        for (s = first; s < nccl->lines.n_seats && status == MO_OK &&
                        seats[s].id == seats[first].id;
             s++)
            status = begin_comm(nccl, s, units[seats[s].device], err);
        for (int i = first; i < s && status == MO_OK; i++)
            status = mo_nccl_comm_wait(nccl, i, err);
        if (status != MO_OK)
            break;
    }
    return status;
}

/* ----------------------------------------------------------------- closing */

static void enter(mo_nccl_p2p *nccl, int seat)
{
    if (nccl->comms[seat].context)
        nccl->driver->cuCtxSetCurrent(nccl->comms[seat].context);
}

/* True when they are gone. */
static bool finish_all(mo_nccl_p2p *nccl)
{
    mo_status status = MO_OK;

    for (int s = 0; s < nccl->lines.n_seats && status == MO_OK; s++)
        if (nccl->comms[s].comm) {
            enter(nccl, s);
            status = mo_nccl_check(
                nccl->api, "ncclCommFinalize",
                nccl->api->ncclCommFinalize(nccl->comms[s].comm), NULL);
        }
    for (int s = 0; s < nccl->lines.n_seats && status == MO_OK; s++)
        status = mo_nccl_comm_wait(nccl, s, NULL);
    for (int s = 0; s < nccl->lines.n_seats && status == MO_OK; s++)
        if (nccl->comms[s].comm) {
            enter(nccl, s);
            nccl->api->ncclCommDestroy(nccl->comms[s].comm);
            nccl->comms[s].comm = NULL;
        }
    return status == MO_OK;
}

/* False where one hangs in spite of all. */
static bool await_aborts(const mo_nccl_p2p *nccl)
{
    int64_t until = mo_stop_clock_ns() + closing_ns;

    while (atomic_load(&nccl->aborts->under_way) > 0 &&
           mo_stop_clock_ns() < until)
        rest();
    return atomic_load(&nccl->aborts->under_way) == 0;
}

void mo_nccl_comms_destroy(mo_nccl_p2p *nccl)
{
    static const mo_error why = { .status = MO_E_IO,
                                  .text = "NCCL cannot come to an end" };

    mo_nccl_p2p_start_run(nccl);
    if (nccl->given_up || !finish_all(nccl))
        (void) mo_nccl_comms_abort(nccl, &why, NULL);
    if (!await_aborts(nccl))
        return;
    for (int s = 0; s < nccl->lines.n_seats; s++)
        if (nccl->comms[s].context)
            nccl->driver->cuDevicePrimaryCtxRelease(nccl->comms[s].device);
    free(nccl->aborts);
    nccl->aborts = NULL;
}
