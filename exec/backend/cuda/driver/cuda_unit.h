/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda.h - what is inside the CUDA backend: one maker of kernels per kind of
 * call, each in a file of its own.
 *
 * A kernel's struct begins with mo_backend_kernel.  prepare works out what will
 * run and asks for its functions (module.h), but nothing is compiled and
 * nothing runs on the device before settle.  enqueue puts work into a stream
 * and returns.
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

typedef struct mo_cuda_disk_cache mo_cuda_disk_cache; /* files kept: cache.h */
typedef struct mo_cuda_jit_cache
    mo_cuda_jit_cache; /* compiled functions: module.h */
typedef struct mo_cuda_tuning_cache
    mo_cuda_tuning_cache; /* measured choices: choose.h */
typedef struct mo_cuda_cublaslt
    mo_cuda_cublaslt;                       /* cuBLASLt's handle: blas.h */
typedef struct mo_cuda_cudnn mo_cuda_cudnn; /* cuDNN's handle: dnn.h */
typedef struct mo_cuda_sm_partition
    mo_cuda_sm_partition; /* of a GPU: partition.h */

enum { MO_CUDA_MAX_COMPUTE_STREAMS = 8 };

/* Streams of a unit: its lanes, then one for each way of transfers. */
enum {
    MO_CUDA_STREAM_SEND = MO_CUDA_MAX_COMPUTE_STREAMS,
    MO_CUDA_STREAM_RECEIVE,
    MO_CUDA_STREAM_COUNT
};

/* Memory that a kernel has taken for itself. */
typedef struct mo_cuda_allocation {
    CUdeviceptr at;
    size_t bytes;
} mo_cuda_allocation;

/* Memory of the process that is copied from: stage.h. */
typedef struct mo_cuda_staging_buffer {
    void *memory;
    size_t room;
    CUevent done; /* the copy; NULL: there is no memory */
    bool sent;    /* and not waited for */
} mo_cuda_staging_buffer;

/* What transfers are held with: hold.h. */
typedef struct mo_cuda_link_emulator {
    struct mo_cuda_function *begin, *end, *copy;
    CUdeviceptr at; /* when the one under way began; 0: not prepared */
} mo_cuda_link_emulator;

struct mo_backend_unit {
    const mo_cuda_api *api;
    mo_backend_unit_options
        options; /* cache is a copy; parts are the partition's */
    CUdevice device;
    CUcontext context; /* the primary one; current in the thread that opened
                          the unit, which is the only one to use it */
    CUstream stream;   /* where run and put happen */
    CUstream lanes[MO_CUDA_STREAM_COUNT]; /* [0] is stream; others by need */
    mo_cuda_sm_partition *partition;      /* how the GPU is divided */
    char name[128];     /* "NVIDIA H200", or "NVIDIA H200, 64 of 132 SMs" */
    int arch;           /* 90 for compute capability 9.0 */
    int sms;            /* that the unit may use */
    size_t shared_most; /* shared memory a block may ask for */
    size_t l2_bytes;
    bool overlap; /* kernels begin while those before them end: MO_BEGIN */
    mo_cuda_allocation *pieces;
    size_t n_pieces, pieces_room;
    int64_t kept_bytes; /* the sum of them */
    mo_cuda_staging_buffer stages[2];
    mo_cuda_link_emulator hold;
    bool staging;                    /* which of them is filled */
    volatile long long *wrong_index; /* what kernels complain to, or NULL: no
                                        kernel may: index.h */
    mo_cuda_disk_cache *cache;
    mo_cuda_jit_cache *shop;
    mo_cuda_tuning_cache *notes;
    pthread_t loader;       /* of libraries: preload.h */
    bool loads;             /* it was begun */
    mo_cuda_cublaslt *blas; /* NULL: not in this build */
    mo_cuda_cudnn *dnn;     /* NULL: not in this build */
};

typedef struct mo_cuda_kernel_class {
    /* *kernel begins as NULL.  Constants are the process's memory; what is
     * packed of them is put to the device here or in settle. */
    mo_status (*prepare)(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         mo_error *err);
    /* All functions that were asked for are compiled.  May ask for more, which
     * are compiled when all kernels were settled, or at once by
     * mo_cuda_jit_compile; and try what is fastest.  NULL: nothing to do. */
    mo_status (*settle)(mo_backend_unit *unit, mo_backend_kernel *kernel,
                        mo_error *err);
    mo_status (*enqueue)(mo_backend_unit *unit, const mo_backend_kernel *kernel,
                         const void *const *in, void *const *out,
                         void *workspace, CUstream stream, mo_error *err);
    void (*drop)(mo_backend_unit *unit, mo_backend_kernel *kernel);
} mo_cuda_kernel_class;

struct mo_backend_kernel {
    const mo_cuda_kernel_class *maker; /* filled in by the backend */
    mo_call_kind kind;                 /* the same; for errors */
    uint64_t consumed;                 /* bit i: in[i] is never read again */
    size_t workspace;                  /* bytes, right after settle */
};

extern const mo_cuda_kernel_class mo_cuda_view_kernel;
extern const mo_cuda_kernel_class mo_cuda_pointwise_kernel;
extern const mo_cuda_kernel_class mo_cuda_copy_kernel;
extern const mo_cuda_kernel_class
    mo_cuda_matmul_conv_kernel; /* MATMUL and CONV */
extern const mo_cuda_kernel_class mo_cuda_pool_kernel;
extern const mo_cuda_kernel_class mo_cuda_reduce_kernel;
extern const mo_cuda_kernel_class mo_cuda_softmax_kernel;
extern const mo_cuda_kernel_class mo_cuda_norm_kernel;
extern const mo_cuda_kernel_class mo_cuda_gather_kernel;
extern const mo_cuda_kernel_class mo_cuda_scatter_kernel;
extern const mo_cuda_kernel_class mo_cuda_topk_kernel;
extern const mo_cuda_kernel_class mo_cuda_cumsum_kernel;
extern const mo_cuda_kernel_class mo_cuda_interpolate_kernel;
extern const mo_cuda_kernel_class mo_cuda_attention_kernel;
extern const mo_cuda_kernel_class mo_cuda_range_kernel;

/* Memory of the device, for what kernels keep themselves (packed weights); the
 * error says how much was wanted and how much is free.  free is harmless on
 * 0. */
mo_status mo_cuda_alloc(mo_backend_unit *unit, size_t bytes,
                        CUdeviceptr *memory, mo_error *err);
void mo_cuda_free(mo_backend_unit *unit, CUdeviceptr memory);
mo_status mo_cuda_copy_to_device(mo_backend_unit *unit, CUdeviceptr to,
                                 const void *from, size_t bytes, mo_error *err);

#endif
