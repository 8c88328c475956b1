/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_unit.h - the state of one opened GPU: context, streams, device memory
 * and caches.  Contents of mo_backend_unit for all files of the CUDA backend.
 *
 * A unit is used by one thread at a time, which has made its context current.
 */
#ifndef MO_EXEC_BACKEND_CUDA_DRIVER_CUDA_UNIT_H
#define MO_EXEC_BACKEND_CUDA_DRIVER_CUDA_UNIT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/backend/backend.h"
#include "exec/backend/cuda/driver/cuda_api.h"
#include "exec/op/call.h"

typedef struct mo_cuda_disk_cache mo_cuda_disk_cache;     /* disk_cache.h */
typedef struct mo_cuda_jit_cache mo_cuda_jit_cache;       /* jit_cache.h */
typedef struct mo_cuda_tuning_cache mo_cuda_tuning_cache; /* autotune.h */
typedef struct mo_cuda_sm_partition mo_cuda_sm_partition; /* sm_partition.h */

enum { MO_CUDA_MAX_COMPUTE_STREAMS = 8, MO_CUDA_STAGE_STREAMS = 32 };

/* Streams of a unit: those for kernels, then one for each direction of
 * transfers. */
enum {
    MO_CUDA_STREAM_SEND = MO_CUDA_MAX_COMPUTE_STREAMS,
    MO_CUDA_STREAM_RECEIVE,
    MO_CUDA_STREAM_COUNT
};

/* Device memory that mo_cuda_alloc returned. */
typedef struct mo_cuda_allocation {
    CUdeviceptr at;
    size_t bytes;
} mo_cuda_allocation;

/* A pinned host buffer: staging_buffer.h. */
typedef struct mo_cuda_staging_buffer {
    void *memory;
    size_t room;
    CUevent done; /* after the last copy; NULL: no buffer is allocated */
    bool sent;    /* a copy was enqueued and not waited for */
} mo_cuda_staging_buffer;

/* Kernels of link emulation: link_emulation.h. */
typedef struct mo_cuda_link_emulator {
    struct mo_cuda_function *begin, *end, *copy;
    CUdeviceptr begun_at; /* by slot: begin of the current transfer in ns of the
                             GPU's timer; 0: not prepared */
} mo_cuda_link_emulator;

struct mo_backend_unit {
    const mo_cuda_api *api;
    mo_backend_unit_options options; /* cache is a copy; parts are borrowed from
                                        the partition */
    CUdevice device;
    CUcontext context; /* the device's primary context, current in the thread
                          that uses the unit */
    CUstream stream;   /* of single kernels and copies: streams[0] */
    CUstream streams[MO_CUDA_STREAM_COUNT]; /* NULL: not created yet */
    /* Of kernels and of transfers in stages (graph/stages.h); NULL: not created
     * yet. */
    CUstream stage_streams[2][MO_CUDA_STAGE_STREAMS];
    mo_cuda_sm_partition *partition;
    char name[128]; /* "NVIDIA H200", or "NVIDIA H200, 64 of 132 SMs" */
    int arch;       /* 90 for compute capability 9.0 */
    int sms;        /* multiprocessors that the unit may use */
    size_t max_shared_bytes; /* shared memory of a block, at most */
    size_t l2_bytes;
    bool has_pdl; /* programmatic dependent launch: MO_BEGIN in prelude.c */
    mo_cuda_allocation *allocations;
    size_t n_allocations, allocations_room;
    int64_t allocated_bytes; /* the sum of them */
    mo_cuda_staging_buffer staging[2];
    int staging_current; /* the one acquired last */
    mo_cuda_link_emulator link_emulator;
    int slot; /* of programs that are captured: kernels with a state keep it by
                 slot */
    volatile long long *index_error; /* mapped host memory that kernels report
                                        to; NULL: no kernel checks indices:
                                        index_check.h */
    mo_cuda_disk_cache *disk_cache;
    mo_cuda_jit_cache *jit_cache;
    mo_cuda_tuning_cache *tuning_cache;
    pthread_t preload_thread; /* library_preload.c */
    bool preload_started;     /* the thread is to be joined */
    /* Handles of libraries (algo/libraries.h); NULL: not created yet. */
    struct cublasLtContext *cublaslt;
    struct cudnnContext *cudnn;
};

/* Returns the number of programs that may run at the same time. */
static inline int mo_cuda_unit_slots(const mo_backend_unit *unit)
{
    return unit->options.n_slots > 1 ? unit->options.n_slots : 1;
}

/* Returns whether the device has thread block clusters. */
bool mo_cuda_has_clusters(const mo_backend_unit *unit);

/* Makes the unit's context the current one of the calling thread. */
mo_status mo_cuda_unit_make_current(mo_backend_unit *unit, mo_error *err);

/* Sets *stream to the compute stream of that index, or to
 * MO_CUDA_STREAM_SEND or _RECEIVE; creates it on first use.  The unit owns it.
 */
mo_status mo_cuda_unit_stream(mo_backend_unit *unit, int index,
                              CUstream *stream, mo_error *err);

/* As mo_cuda_unit_stream, for stages; indices beyond MO_CUDA_STAGE_STREAMS
 * begin anew. */
mo_status mo_cuda_unit_stage_stream(mo_backend_unit *unit, bool transfers,
                                    int index, CUstream *stream, mo_error *err);

/* Allocates device memory that kernels keep themselves (packed weights).  The
 * caller frees it with mo_cuda_free(), which accepts 0; the unit frees the rest
 * when it is closed.  MO_E_MEMORY names the bytes wanted and free. */
mo_status mo_cuda_alloc(mo_backend_unit *unit, size_t bytes,
                        CUdeviceptr *memory, mo_error *err);
void mo_cuda_free(mo_backend_unit *unit, CUdeviceptr memory);

/* As mo_cuda_alloc, but the unit keeps no record of it: the caller frees it
 * with cuMemFree. */
mo_status mo_cuda_alloc_untracked(mo_backend_unit *unit, size_t bytes,
                                  CUdeviceptr *memory, mo_error *err);

/* Enqueues a copy on a stream of the current context; none of 0 bytes. */
mo_status mo_cuda_enqueue_upload(const mo_cuda_api *api, CUstream stream,
                                 CUdeviceptr to, const void *from, size_t bytes,
                                 mo_error *err);
mo_status mo_cuda_enqueue_download(const mo_cuda_api *api, CUstream stream,
                                   void *to, CUdeviceptr from, size_t bytes,
                                   mo_error *err);

/* Copies of bytes on unit->stream; both return when the copy is complete. */
mo_status mo_cuda_copy_to_device(mo_backend_unit *unit, CUdeviceptr to,
                                 const void *from, size_t bytes, mo_error *err);
mo_status mo_cuda_copy_from_device(mo_backend_unit *unit, void *to,
                                   CUdeviceptr from, size_t bytes,
                                   mo_error *err);

#endif
