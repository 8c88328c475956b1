/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/backend/cuda/graph/stages.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/stop.h"
#include "exec/backend/cuda/driver/cuda_unit.h"
#include "exec/backend/cuda/driver/sm_partition.h"
#include "exec/backend/cuda/graph/capture.h"
#include "exec/backend/cuda/kernels/index_check.h"

/* How long a thread waits outside of the driver. */
enum { POLL_NS = 100000000 };

typedef struct queue_unit {
    mo_backend_unit *unit;
    CUevent complete; /* NULL: not created yet */
} queue_unit;

struct mo_backend_queue {
    CUstream own; /* of the first unit */
    /* Where the next request begins: own, or the stream of the first stage of
     * its program, which other queues use, too. */
    mo_backend_unit *entry_unit;
    CUstream entry;
    /* Where work is enqueued: entry, or after a program of several stages the
     * stream of its last. */
    mo_backend_unit *unit;
    CUstream stream;
    CUdeviceptr done;      /* a word that is not 0; 0: not allocated */
    atomic_int *completed; /* pinned: done is copied to it; NULL: likewise */
    int n_units;
    queue_unit units[];
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
                                                    &made->own, err);
    made->entry_unit = made->unit;
    made->entry = made->stream = made->own;
    if (status == MO_OK) {
        const mo_cuda_api *api = made->unit->api;
        const int one = 1;
        void *word = NULL;
        status =
            mo_cuda_alloc_untracked(made->unit, sizeof one, &made->done, err);

        if (status == MO_OK)
            status = mo_cuda_copy_to_device(made->unit, made->done, &one,
                                            sizeof one, err);
        if (status == MO_OK)
            status =
                mo_cuda_check(api, "cuMemHostAlloc",
                              api->cuMemHostAlloc(&word, sizeof one,
                                                  CU_MEMHOSTALLOC_PORTABLE),
                              err);
        if (status == MO_OK)
            made->completed = word;
    }
    if (status == MO_OK)
        *queue = made;
    else
        mo_cuda_queue_close(made);
    return status;
}

void mo_cuda_queue_close(mo_backend_queue *queue)
{
    const mo_cuda_api *api = queue ? queue->unit->api : NULL;

    if (!queue)
        return;
    /* Errors are those of work that nothing waits for any more. */
    (void) mo_cuda_unit_make_current(queue->unit, NULL);
    if (queue->stream)
        api->cuStreamSynchronize(queue->stream);
    for (int i = queue->n_units - 1; i >= 0; i--) {
        (void) mo_cuda_unit_make_current(queue->units[i].unit, NULL);
        if (queue->units[i].complete)
            api->cuEventDestroy(queue->units[i].complete);
    }
    if (queue->own) {
        api->cuStreamSynchronize(queue->own);
        api->cuStreamDestroy(queue->own);
    }
    if (queue->done)
        api->cuMemFree(queue->done);
    if (queue->completed)
        api->cuMemFreeHost(queue->completed);
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

/* Records an event behind the work of the queue, in its current stream. */
static mo_status record_complete(mo_backend_queue *queue, CUevent *event,
                                 mo_error *err)
{
    const mo_cuda_api *api = queue->unit->api;
    queue_unit *at = queue->units;
    mo_status status = MO_OK;

    while (at->unit != queue->unit)
        at++;
    if (!at->complete)
        status = mo_cuda_check(
            api, "cuEventCreate",
            api->cuEventCreate(&at->complete, CU_EVENT_DISABLE_TIMING), err);
    if (status == MO_OK)
        status =
            mo_cuda_check(api, "cuEventRecord",
                          api->cuEventRecord(at->complete, queue->stream), err);
    *event = at->complete;
    return status;
}

mo_status mo_cuda_queue_replay(mo_backend_queue *queue,
                               const mo_backend_program *program, mo_error *err)
{
    mo_status status = mo_cuda_unit_make_current(queue->unit, err);
    CUstream stream;
    mo_backend_unit *unit;

    if (status == MO_OK && queue->stream != queue->entry &&
        queue->stream != queue->own) {
        /* Continues on the own stream, behind the work so far. */
        const mo_cuda_api *api = queue->unit->api;
        CUevent complete = NULL;
        status = record_complete(queue, &complete, err);

        queue->unit = queue->units[0].unit;
        queue->stream = queue->own;
        if (status == MO_OK)
            status = mo_cuda_unit_make_current(queue->unit, err);
        if (status == MO_OK)
            status = mo_cuda_check(
                api, "cuStreamWaitEvent",
                api->cuStreamWaitEvent(queue->stream, complete, 0), err);
    }
    if (status != MO_OK)
        return status;
    if (!program->stages)
        return mo_cuda_graph_launch_on(queue->unit, program, queue->stream,
                                       err);
    /* Inputs of the next request are copied in the stream that computes with
     * them, where no other one, nor its hardware queue, makes them wait. */
    unit = mo_cuda_stages_first(program->stages, &stream);
    if (queue->entry == queue->own &&
        unit->context == queue->units[0].unit->context) {
        queue->entry_unit = unit;
        queue->entry = stream;
    }
    return mo_cuda_stages_launch(program->stages, &queue->unit, &queue->stream,
                                 err);
}

/* Not for what others have enqueued behind it in a stream of stages. */
mo_status mo_cuda_queue_wait(mo_backend_queue *queue, mo_error *err)
{
    const mo_cuda_api *api = queue->unit->api;
    CUevent complete = NULL;
    mo_status status = mo_cuda_unit_make_current(queue->unit, err);
    int64_t begun_ns;

    atomic_store(queue->completed, 0);
    if (status == MO_OK)
        status = mo_cuda_enqueue_download(api, queue->stream, queue->completed,
                                          queue->done, sizeof(int), err);
    if (status == MO_OK)
        status = record_complete(queue, &complete, err);
    if (status == MO_OK) {
        /* Waits until the word that was copied behind the work of the queue
         * has arrived, at most for POLL_NS. A thread that waits in the driver
         * takes its lock again and again, and delays the launches of all other
         * queues. */
        begun_ns = mo_stop_clock_ns();
        while (atomic_load(queue->completed) == 0 &&
               mo_stop_clock_ns() - begun_ns < POLL_NS)
            sched_yield();
        status = mo_cuda_check(api, "cuEventSynchronize",
                               api->cuEventSynchronize(complete), err);
    }
    queue->unit = queue->entry_unit;
    queue->stream = queue->entry;
    for (int i = 0; i < queue->n_units && status == MO_OK; i++)
        status = mo_cuda_index_error_check(queue->units[i].unit, err);
    return status;
}
