/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/backend/cuda/graph/queue.h"

#include <stdlib.h>

#include "exec/backend/cuda/driver/sm_partition.h"
#include "exec/backend/cuda/graph/capture.h"
#include "exec/backend/cuda/graph/stages.h"
#include "exec/backend/cuda/kernels/index_check.h"

typedef struct queue_unit {
    mo_backend_unit *unit;
    CUstream stages, transfers; /* NULL: not created yet */
} queue_unit;

struct mo_backend_queue {
    mo_backend_unit *unit; /* of the stream */
    CUstream stream;
    int n_units;
    queue_unit units[]; /* the stages of the first are on the stream */
};

mo_status mo_cuda_queue_open(mo_backend_unit *const *units, int n,
                             mo_backend_queue **queue, mo_error *err)
{
    mo_backend_queue *made =
        calloc(1, sizeof *made + (size_t) n * sizeof *made->units);
    mo_status status;

    if (!made)
        return mo_fail_memory(err);
    made->unit = units[0];
    made->n_units = n;
    for (int i = 0; i < n; i++)
        made->units[i].unit = units[i];
    status = mo_cuda_unit_make_current(made->unit, err);
    if (status == MO_OK)
        status = mo_cuda_sm_partition_stream_create(made->unit, false,
                                                    &made->stream, err);
    if (status != MO_OK) {
        free(made);
        return status;
    }
    made->units[0].stages = made->stream;
    *queue = made;
    return MO_OK;
}

mo_status mo_cuda_queue_stream(mo_backend_queue *queue, mo_backend_unit *unit,
                               bool transfers, CUstream *stream, mo_error *err)
{
    mo_status status = mo_cuda_unit_make_current(unit, err);
    queue_unit *at = queue->units;
    CUstream *found;

    while (at->unit != unit)
        at++;
    found = transfers ? &at->transfers : &at->stages;
    if (status == MO_OK && !*found)
        status =
            mo_cuda_sm_partition_stream_create(unit, transfers, found, err);
    *stream = *found;
    return status;
}

void mo_cuda_queue_close(mo_backend_queue *queue)
{
    if (!queue)
        return;
    /* Errors are those of work that nothing waits for any more. */
    for (int i = queue->n_units - 1; i >= 0; i--) {
        CUstream streams[] = { queue->units[i].transfers,
                               queue->units[i].stages };

        (void) mo_cuda_unit_make_current(queue->units[i].unit, NULL);
        for (int k = 0; k < 2; k++)
            if (streams[k]) {
                queue->unit->api->cuStreamSynchronize(streams[k]);
                queue->unit->api->cuStreamDestroy(streams[k]);
            }
    }
    free(queue);
}

mo_status mo_cuda_queue_upload(mo_backend_queue *queue, void *to,
                               const void *from, size_t bytes, mo_error *err)
{
    mo_status status = mo_cuda_unit_make_current(queue->unit, err);

    return status == MO_OK
               ? mo_cuda_enqueue_upload(queue->unit->api, queue->stream,
                                        (CUdeviceptr) to, from, bytes, err)
               : status;
}

mo_status mo_cuda_queue_download(mo_backend_queue *queue, void *to,
                                 const void *from, size_t bytes, mo_error *err)
{
    mo_status status = mo_cuda_unit_make_current(queue->unit, err);

    return status == MO_OK
               ? mo_cuda_enqueue_download(queue->unit->api, queue->stream, to,
                                          (CUdeviceptr) from, bytes, err)
               : status;
}

mo_status mo_cuda_queue_replay(mo_backend_queue *queue,
                               const mo_backend_program *program, mo_error *err)
{
    mo_status status = mo_cuda_unit_make_current(queue->unit, err);

    if (status != MO_OK)
        return status;
    return program->stages ? mo_cuda_stages_launch(program->stages, queue, err)
                           : mo_cuda_graph_launch_on(queue->unit, program,
                                                     queue->stream, err);
}

mo_status mo_cuda_queue_wait(mo_backend_queue *queue, mo_error *err)
{
    const mo_cuda_api *api = queue->unit->api;
    mo_status status = mo_cuda_unit_make_current(queue->unit, err);

    if (status == MO_OK)
        status = mo_cuda_check(api, "cuStreamSynchronize",
                               api->cuStreamSynchronize(queue->stream), err);
    for (int i = 0; i < queue->n_units && status == MO_OK; i++)
        status = mo_cuda_index_error_check(queue->units[i].unit, err);
    return status;
}
