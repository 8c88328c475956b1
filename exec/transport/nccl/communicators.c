/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL communicators: nonblocking creation, error polling, abort. */
#include <config.h>

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/stop.h"
#include "exec/backend/cuda/driver/cuda_unit.h"
#include "exec/transport/nccl/p2p_internal.h"

/* NCCL notices a broken connection before the failure detector knows the
 * cause. */
static const int64_t cause_wait_ns = 3000000000;
static const int64_t abort_wait_ns = 2000000000;

static void pause_briefly(void)
{
    const struct timespec moment = { 0, 20000 };

    nanosleep(&moment, NULL);
}

typedef struct abort_task {
    const mo_nccl_api *api;
    ncclComm_t comm;
    mo_nccl_abort_count *abort_count;
} abort_task;

static void *run_abort(void *context)
{
    abort_task *a = context;

    a->api->ncclCommAbort(a->comm);
    atomic_fetch_sub(&a->abort_count->n_pending, 1);
    free(a);
    return NULL;
}

mo_status mo_nccl_comms_abort(mo_nccl_p2p *nccl, const mo_error *why,
                              mo_error *err)
{
    if (!nccl->aborted) {
        nccl->aborted = true;
        nccl->error = *why;
        /* Each communicator is aborted in a thread of its own. If no thread
         * can be started it is left alone: the process exits anyway. */
        for (int s = 0; s < nccl->layout.n_members; s++) {
            mo_nccl_comm *comm = &nccl->comms[s];
            abort_task *a = comm->comm ? malloc(sizeof *a) : NULL;
            pthread_t thread;

            if (!a)
                continue;
            *a = (abort_task){ nccl->api, comm->comm, nccl->abort_count };
            comm->comm = NULL;
            atomic_fetch_add(&nccl->abort_count->n_pending, 1);
            if (pthread_create(&thread, NULL, run_abort, a) == 0) {
                pthread_detach(thread);
            } else {
                atomic_fetch_sub(&nccl->abort_count->n_pending, 1);
                free(a);
            }
        }
    }
    if (err)
        *err = nccl->error;
    return nccl->error.status;
}

mo_status mo_nccl_comm_handle_error(mo_nccl_p2p *nccl, int member,
                                    ncclResult_t result, mo_error *err)
{
    const mo_nccl_p2p_options *o = &nccl->options;
    int64_t until = mo_stop_clock_ns() + cause_wait_ns;
    int other = -1; /* unknown in a communicator of all */
    mo_error why = { 0 }, nccl_error = { 0 };

    if (nccl->layout.members[member].comm_size == 2)
        for (int i = 0; i < nccl->layout.n && other < 0; i++)
            if (nccl->layout.pairs[i].own == member)
                other = mo_nccl_peer_rank(nccl, i);
    while (o->failure(o->context, &why) == MO_OK && mo_stop_clock_ns() < until)
        pause_briefly();
    if (why.status != MO_OK)
        return mo_nccl_comms_abort(nccl, &why, err);
    mo_nccl_check(nccl->api, "a transfer", result, &nccl_error);
    if (other >= 0)
        mo_fail(&why, MO_E_IO, "the way to rank %d is broken: %s", other,
                nccl_error.text);
    else
        mo_fail(&why, MO_E_IO, "the way to another rank is broken: %s",
                nccl_error.text);
    return mo_nccl_comms_abort(nccl, &why, err);
}

/* *busy: the last call on this communicator is still in progress. */
static mo_status check_comm(mo_nccl_p2p *nccl, int member, bool *busy,
                            mo_error *err)
{
    ncclComm_t comm = nccl->comms[member].comm;
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
               : mo_nccl_comm_handle_error(nccl, member, result, err);
}

static mo_status check_job(mo_nccl_p2p *nccl, mo_error *err)
{
    const mo_nccl_p2p_options *o = &nccl->options;
    int64_t took = mo_stop_clock_ns() - atomic_load(&nccl->run_started_ns);
    mo_error why = { 0 };

    if (nccl->aborted)
        return mo_nccl_comms_abort(nccl, NULL, err);
    if (o->failure(o->context, &why) != MO_OK)
        return mo_nccl_comms_abort(nccl, &why, err);
    if (took <= nccl->time_limit_ns)
        return MO_OK;
    mo_fail(&why, MO_E_IO,
            "no transfer completed in %.0f s although all ranks are alive "
            "(MOIRAI_NCCL_PATIENCE sets the limit)",
            (double) took * 1e-9);
    mo_nccl_p2p_add_error_context(nccl, &why);
    return mo_nccl_comms_abort(nccl, &why, err);
}

mo_status mo_nccl_comms_check(mo_nccl_p2p *nccl, mo_error *err)
{
    mo_status status = check_job(nccl, err);
    bool busy;

    for (int s = 0; s < nccl->layout.n_members && status == MO_OK; s++)
        status = check_comm(nccl, s, &busy, err);
    return status;
}

mo_status mo_nccl_comm_wait(mo_nccl_p2p *nccl, int member, mo_error *err)
{
    mo_status status;
    bool busy = true;

    while ((status = check_comm(nccl, member, &busy, err)) == MO_OK && busy) {
        status = check_job(nccl, err);
        if (status != MO_OK)
            break;
        pause_briefly();
    }
    return status;
}

/* Communicators are created in ascending order of ids on every rank, so no
 * cycle of waiting ranks can form. Members with one id are created together. */
mo_status mo_nccl_comms_create(mo_nccl_p2p *nccl, mo_backend_unit *const *units,
                               mo_error *err)
{
    const mo_nccl_member *members = nccl->layout.members;
    mo_status status = MO_OK;

    for (int first = 0, s = 0; first < nccl->layout.n_members; first = s) {
        for (s = first; s < nccl->layout.n_members && status == MO_OK &&
                        members[s].id == members[first].id;
             s++) {
            const mo_nccl_member *member = &nccl->layout.members[s];
            ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
            mo_backend_unit *unit = units[members[s].device];
            mo_nccl_comm *comm = &nccl->comms[s];
            status = mo_backend_cuda.bind_thread(unit, err);

            if (status == MO_OK) {
                comm->device = unit->device;
                status = mo_cuda_check(nccl->driver, "cuDevicePrimaryCtxRetain",
                                       nccl->driver->cuDevicePrimaryCtxRetain(
                                           &comm->context, unit->device),
                                       err);
                if (status != MO_OK)
                    comm->context = NULL;
            }

            if (status == MO_OK) {
                config.blocking = 0;
                status = mo_nccl_check(
                    nccl->api, "ncclCommInitRankConfig",
                    nccl->api->ncclCommInitRankConfig(
                        &nccl->comms[s].comm, member->comm_size,
                        nccl->ids[member->id], member->comm_rank, &config),
                    err);
            }
        }
        for (int i = first; i < s && status == MO_OK; i++)
            status = mo_nccl_comm_wait(nccl, i, err);
        if (status != MO_OK)
            break;
    }
    return status;
}

static void enter_context(mo_nccl_p2p *nccl, int member)
{
    if (nccl->comms[member].context)
        nccl->driver->cuCtxSetCurrent(nccl->comms[member].context);
}

/* Finalizes and destroys all communicators; returns false when that failed. */
static bool finalize_all(mo_nccl_p2p *nccl)
{
    mo_status status = MO_OK;

    for (int s = 0; s < nccl->layout.n_members && status == MO_OK; s++)
        if (nccl->comms[s].comm) {
            enter_context(nccl, s);
            status = mo_nccl_check(
                nccl->api, "ncclCommFinalize",
                nccl->api->ncclCommFinalize(nccl->comms[s].comm), NULL);
        }
    for (int s = 0; s < nccl->layout.n_members && status == MO_OK; s++)
        status = mo_nccl_comm_wait(nccl, s, NULL);
    for (int s = 0; s < nccl->layout.n_members && status == MO_OK; s++)
        if (nccl->comms[s].comm) {
            enter_context(nccl, s);
            nccl->api->ncclCommDestroy(nccl->comms[s].comm);
            nccl->comms[s].comm = NULL;
        }
    return status == MO_OK;
}

void mo_nccl_comms_destroy(mo_nccl_p2p *nccl)
{
    static const mo_error why = { .status = MO_E_IO,
                                  .text = "NCCL cannot come to an end" };
    int64_t until;

    mo_nccl_p2p_start_run(nccl);
    if (nccl->aborted || !finalize_all(nccl))
        (void) mo_nccl_comms_abort(nccl, &why, NULL);
    until = mo_stop_clock_ns() + abort_wait_ns;
    while (atomic_load(&nccl->abort_count->n_pending) > 0 &&
           mo_stop_clock_ns() < until)
        pause_briefly();
    if (atomic_load(&nccl->abort_count->n_pending) > 0)
        return; /* an abort hangs */
    for (int s = 0; s < nccl->layout.n_members; s++)
        if (nccl->comms[s].context)
            nccl->driver->cuDevicePrimaryCtxRelease(nccl->comms[s].device);
    free(nccl->abort_count);
    nccl->abort_count = NULL;
}
