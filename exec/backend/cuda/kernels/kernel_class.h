/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_class.h - the virtual table of kernels: one class per kind of call.
 *
 * A kernel's struct begins with mo_backend_kernel.  prepare derives what will
 * run and requests its functions (jit_cache.h); nothing is compiled and nothing
 * runs on the device before finalize.  enqueue adds the work to a stream and
 * returns.
 */
#ifndef MO_EXEC_BACKEND_CUDA_KERNELS_KERNEL_CLASS_H
#define MO_EXEC_BACKEND_CUDA_KERNELS_KERNEL_CLASS_H

#include "exec/backend/cuda/driver/cuda_unit.h"

typedef struct mo_cuda_kernel_class {
    /* Allocates *kernel, which is NULL before.  Constants are host memory; what
     * is packed of them is copied to the device here or in finalize. */
    mo_status (*prepare)(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         mo_error *err);
    /* All requested functions are compiled.  May request more, which are
     * compiled after all kernels were settled, or at once by
     * mo_cuda_jit_compile, and may time alternatives.  NULL: nothing to do. */
    mo_status (*finalize)(mo_backend_unit *unit, mo_backend_kernel *kernel,
                          mo_error *err);
    mo_status (*enqueue)(mo_backend_unit *unit, const mo_backend_kernel *kernel,
                         const void *const *in, void *const *out,
                         void *workspace, CUstream stream, mo_error *err);
    void (*drop)(mo_backend_unit *unit, mo_backend_kernel *kernel);
} mo_cuda_kernel_class;

struct mo_backend_kernel {
    const mo_cuda_kernel_class *cls; /* set by the backend */
    mo_call_kind kind;               /* set by the backend; for errors */
    uint64_t digest;   /* set by the backend: of kind, types and shapes */
    uint64_t consumed; /* bit i: in[i] is never read again */
    size_t workspace;  /* bytes, final after finalize */
};

/* Adds a kernel's work to a stream.  An error text begins with the kind of the
 * call. */
mo_status mo_cuda_kernel_enqueue(mo_backend_unit *unit,
                                 const mo_backend_kernel *kernel,
                                 const void *const *in, void *const *out,
                                 void *workspace, CUstream stream,
                                 mo_error *err);

/* Prefixes the text of an error with the kind of call, "matmul: CUDA: ...";
 * returns status. */
mo_status mo_cuda_kernel_error(mo_call_kind kind, mo_status status,
                               mo_error *err);

/* drop of a kernel that is a single block of memory. */
void mo_cuda_kernel_free(mo_backend_unit *unit, mo_backend_kernel *kernel);

extern const mo_cuda_kernel_class mo_cuda_view_kernel;
extern const mo_cuda_kernel_class mo_cuda_pointwise_kernel;
extern const mo_cuda_kernel_class mo_cuda_copy_kernel;
extern const mo_cuda_kernel_class mo_cuda_pool_kernel;
extern const mo_cuda_kernel_class mo_cuda_reduce_kernel;
extern const mo_cuda_kernel_class mo_cuda_softmax_kernel;
extern const mo_cuda_kernel_class mo_cuda_norm_kernel;
extern const mo_cuda_kernel_class mo_cuda_gather_kernel;
extern const mo_cuda_kernel_class mo_cuda_scatter_kernel;
extern const mo_cuda_kernel_class mo_cuda_topk_kernel;
extern const mo_cuda_kernel_class mo_cuda_cumsum_kernel;
extern const mo_cuda_kernel_class mo_cuda_interpolate_kernel;
extern const mo_cuda_kernel_class mo_cuda_range_kernel;
extern const mo_cuda_kernel_class mo_cuda_rnn_kernel;
extern const mo_cuda_kernel_class mo_cuda_grid_sample_kernel;
extern const mo_cuda_kernel_class mo_cuda_linear_kernel;
extern const mo_cuda_kernel_class mo_cuda_dequantize_kernel;

#endif
