/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <string.h>

#include "base/stop.h"
#include "exec/transport/mpi/mpi_internal.h"

enum { COLLECT_TAG = 1, LOOK_NS = 50000 };

mo_status mo_mpi_check(int code, const char *doing, mo_error *err)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;

    if (code == MPI_SUCCESS)
        return MO_OK;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
        strcpy(text, "an error without a name");
    return mo_fail(err, MO_E_IO, "MPI: %s: %s", doing, text);
}

static bool has_failed(void *context)
{
    mo_transport_world *world = context;

    return mo_first_error_is_set(&world->ranks.inside.failure);
}

mo_status mo_mpi_request_wait(mo_transport_world *world, MPI_Request *request,
                              int peer, mo_error *err)
{
    int64_t idle_ns = mo_stop_clock_ns();
    mo_status status;
    int done = 0;

    for (;;) {
        status = mo_mpi_check(MPI_Test(request, &done, MPI_STATUS_IGNORE),
                              "wait for another rank", err);
        if (status != MO_OK || done)
            return status;
        if (has_failed(world))
            return mo_first_error_get(&world->ranks.inside.failure, err);
        if (mo_failure_detector_peer_wait_expired(world->ranks.watch, peer,
                                                  idle_ns))
            return mo_fail(err, MO_E_IO,
                           "another rank has left before the end: start all "
                           "ranks with the same command");
        mo_mpi_backoff_wait(world, idle_ns, LOOK_NS, has_failed, world);
    }
}

/* To the peer, or from it. */
static mo_status pass_piece(mo_transport_world *world, int peer, bool sending,
                            void *data, int bytes, mo_error *err)
{
    MPI_Request request;
    mo_status status;
    int code;

    if (sending)
        code = MPI_Isend(data, bytes, MPI_BYTE, peer, COLLECT_TAG,
                         world->control, &request);
    else
        code = MPI_Irecv(data, bytes, MPI_BYTE, peer, COLLECT_TAG,
                         world->control, &request);
    status = mo_mpi_check(code, "talk to another rank", err);
    return status == MO_OK ? mo_mpi_request_wait(world, &request, peer, err)
                           : status;
}

static mo_status pass(mo_transport_world *world, int peer, bool sending,
                      void *data, size_t bytes, mo_error *err)
{
    char *at = data;
    mo_status status = mo_first_error_get(&world->ranks.inside.failure, err);

    while (bytes > 0 && status == MO_OK) {
        size_t piece = bytes < MO_MPI_CHUNK_BYTES ? bytes : MO_MPI_CHUNK_BYTES;

        status = pass_piece(world, peer, sending, at, (int) piece, err);
        at += piece;
        bytes -= piece;
    }
    return status;
}

mo_status mo_mpi_collect_to_root(mo_transport_world *world, int from,
                                 void *data, size_t bytes, mo_error *err)
{
    bool sending = world->ranks.rank == from;

    if (from == 0)
        return mo_first_error_get(&world->ranks.inside.failure, err);
    return pass(world, sending ? 0 : from, sending, data, bytes, err);
}

mo_status mo_mpi_broadcast(mo_transport_world *world, void *data, size_t bytes,
                           mo_error *err)
{
    mo_status status = MO_OK;

    if (world->ranks.rank != 0)
        return pass(world, 0, false, data, bytes, err);
    for (int r = 1; r < world->ranks.n_ranks && status == MO_OK; r++)
        status = pass(world, r, true, data, bytes, err);
    return status;
}
