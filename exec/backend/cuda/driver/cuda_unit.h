/*
 * cuda.h - what is inside the CUDA backend: one maker of kernels per kind of
 * call, each in a file of its own.
 *
 * A kernel's struct begins with mo_kernel.  prepare works out what will run and
 * asks for its functions (module.h), but nothing is compiled and nothing runs
 * on the device before settle.  enqueue puts work into a stream and returns.
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

typedef struct mo_cuda_cache mo_cuda_cache; /* files kept: cache.h */
typedef struct mo_cuda_shop mo_cuda_shop;   /* compiled functions: module.h */
typedef struct mo_cuda_notes mo_cuda_notes; /* measured choices: choose.h */
typedef struct mo_cuda_blas mo_cuda_blas;   /* cuBLASLt's handle: blas.h */
typedef struct mo_cuda_dnn mo_cuda_dnn;     /* cuDNN's handle: dnn.h */
typedef struct mo_cuda_partition mo_cuda_partition; /* of a GPU: partition.h */

enum { MO_CUDA_MAX_LANES = 8 };

/* Streams of a unit: its lanes, then one for each way of transfers. */
enum { MO_CUDA_OUT = MO_CUDA_MAX_LANES, MO_CUDA_IN, MO_CUDA_STREAMS };

/* Memory that a kernel has taken for itself. */
typedef struct mo_cuda_piece {
    CUdeviceptr at;
    size_t bytes;
} mo_cuda_piece;

/* Memory of the process that is copied from: stage.h. */
typedef struct mo_cuda_staged {
    void *memory;
    size_t room;
    CUevent done; /* the copy; NULL: there is no memory */
    bool sent;    /* and not waited for */
} mo_cuda_staged;

/* What transfers are held with: hold.h. */
typedef struct mo_cuda_holder {
    struct mo_cuda_function *begin, *end, *copy;
    CUdeviceptr at; /* when the one under way began; 0: not prepared */
} mo_cuda_holder;

struct mo_unit {
    const mo_cuda_api *api;
    mo_unit_options options; /* cache is a copy; parts are the partition's */
    CUdevice device;
    CUcontext context; /* the primary one; current in the thread that opened
                          the unit, which is the only one to use it */
    CUstream stream;   /* where run and put happen */
    CUstream lanes[MO_CUDA_STREAMS]; /* [0] is stream; others by need */
    mo_cuda_partition *partition;    /* how the GPU is divided */
    char name[128];     /* "NVIDIA H200", or "NVIDIA H200, 64 of 132 SMs" */
    int arch;           /* 90 for compute capability 9.0 */
    int sms;            /* that the unit may use */
    size_t shared_most; /* shared memory a block may ask for */
    size_t l2_bytes;
    bool overlap; /* kernels begin while those before them end: MO_BEGIN */
    mo_cuda_piece *pieces;
    size_t n_pieces, pieces_room;
    int64_t kept_bytes; /* the sum of them */
    mo_cuda_staged stages[2];
    mo_cuda_holder hold;
    bool staging;                    /* which of them is filled */
    volatile long long *wrong_index; /* what kernels complain to, or NULL: no
                                        kernel may: index.h */
    mo_cuda_cache *cache;
    mo_cuda_shop *shop;
    mo_cuda_notes *notes;
    pthread_t loader;   /* of libraries: preload.h */
    bool loads;         /* it was begun */
    mo_cuda_blas *blas; /* NULL: not in this build */
    mo_cuda_dnn *dnn;   /* NULL: not in this build */
};

typedef struct mo_cuda_maker {
    /* *kernel begins as NULL.  Constants are the process's memory; what is
     * packed of them is put to the device here or in settle. */
    mo_status (*prepare)(mo_unit *unit, const mo_call *call,
                         const mo_call_operand *in, const mo_desc *out,
                         mo_kernel **kernel, mo_error *err);
    /* All functions that were asked for are compiled.  May ask for more, which
     * are compiled when all kernels were settled, or at once by
     * mo_cuda_compile; and try what is fastest.  NULL: nothing to do. */
    mo_status (*settle)(mo_unit *unit, mo_kernel *kernel, mo_error *err);
    mo_status (*enqueue)(mo_unit *unit, const mo_kernel *kernel,
                         const void *const *in, void *const *out,
                         void *workspace, CUstream stream, mo_error *err);
    void (*drop)(mo_unit *unit, mo_kernel *kernel);
} mo_cuda_maker;

struct mo_kernel {
    const mo_cuda_maker *maker; /* filled in by the backend */
    mo_call_kind kind;          /* the same; for errors */
    uint64_t consumed;          /* bit i: in[i] is never read again */
    size_t workspace;           /* bytes, right after settle */
};

extern const mo_cuda_maker mo_cuda_view;
extern const mo_cuda_maker mo_cuda_point;
extern const mo_cuda_maker mo_cuda_copy;
extern const mo_cuda_maker mo_cuda_product; /* MATMUL and CONV */
extern const mo_cuda_maker mo_cuda_pool;
extern const mo_cuda_maker mo_cuda_reduce;
extern const mo_cuda_maker mo_cuda_softmax;
extern const mo_cuda_maker mo_cuda_norm;
extern const mo_cuda_maker mo_cuda_gather;
extern const mo_cuda_maker mo_cuda_scatter;
extern const mo_cuda_maker mo_cuda_topk;
extern const mo_cuda_maker mo_cuda_cumsum;
extern const mo_cuda_maker mo_cuda_interpolate;
extern const mo_cuda_maker mo_cuda_attention;
extern const mo_cuda_maker mo_cuda_range;

/* Memory of the device, for what kernels keep themselves (packed weights); the
 * error says how much was wanted and how much is free.  free is harmless on
 * 0. */
mo_status mo_cuda_alloc(mo_unit *unit, size_t bytes, CUdeviceptr *memory,
                        mo_error *err);
void mo_cuda_free(mo_unit *unit, CUdeviceptr memory);
mo_status mo_cuda_put(mo_unit *unit, CUdeviceptr to, const void *from,
                      size_t bytes, mo_error *err);

#endif
