/* SPDX-License-Identifier: Apache-2.0 */
/*
 * way.h - ways to do one product or convolution.
 *
 * MATMUL and CONV have several: tensor cores by our own kernels (tensor*.c),
 * cuBLASLt (blas*.c), cuDNN (dnn*.c), and plain ones that always work
 * (direct*.c).  product.c collects those that can do a call, tries them, and
 * keeps the fastest.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_ALGO_H
#define MO_EXEC_BACKEND_CUDA_ALGO_ALGO_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/backend/cuda/kernels/kernel_class.h"

/* What is to be done, worked out once for all ways. */
typedef struct mo_cuda_algo_problem {
    const mo_call *call;
    const mo_backend_operand *in;
    const mo_tensor_desc *out;
    /* CONV with constant weights and channels last: they lie as [out, spatial,
     * in / groups] here; 0 otherwise (read in[1] as it is).  With TF32 they are
     * rounded to it already. */
    CUdeviceptr weights;
    /* The constant weights, or a constant b without batches, as our own tensor
     * kernels read them: [out or n][pitch], k running fastest as it does in
     * weights, zeros behind it, rounded like them; 0: there are none. */
    CUdeviceptr columns;
    int64_t pitch;
    /* While ways are looked for: the name of the only one that is wanted, since
     * it was the fastest before; NULL: all are. */
    const char *only;
} mo_cuda_algo_problem;

/* Is any way wanted whose name begins with this word; and this very one? */
bool mo_cuda_algo_kind_wanted(const mo_cuda_algo_problem *problem,
                              const char *word);
bool mo_cuda_algo_wanted(const mo_cuda_algo_problem *problem, const char *name);

typedef struct mo_cuda_algo mo_cuda_algo;
enum { MO_CUDA_ALGO_NAME_SIZE = 64 };

typedef struct mo_cuda_algo_class {
    /* As of makers; workspace has way->workspace bytes. */
    mo_status (*enqueue)(mo_backend_unit *unit, const mo_cuda_algo *algo,
                         const void *const *in, void *const *out,
                         void *workspace, CUstream stream, mo_error *err);
    void (*drop)(mo_backend_unit *unit, mo_cuda_algo *algo);
} mo_cuda_algo_class;

/* The beginning of each way's own struct. */
struct mo_cuda_algo {
    const mo_cuda_algo_class *kind;
    /* "tensor 64x64x32 s3 k4", for notes and traces: the kind, and whatever
     * tells it from others.  A library's has the library's version. */
    char name[MO_CUDA_ALGO_NAME_SIZE];
    size_t workspace;
    uint64_t consumed; /* bit i: in[i] of the call is not read by it */
};

typedef struct mo_cuda_algo_list {
    mo_cuda_algo **algos;
    int n;
} mo_cuda_algo_list;

/* Takes way over; drops it when there is no memory. */
mo_status mo_cuda_algo_list_add(mo_backend_unit *unit, mo_cuda_algo_list *algos,
                                mo_cuda_algo *algo, mo_error *err);

/* Each adds the ways it knows for the task and that are wanted, the likely best
 * first; none where it cannot do it.  The task and all it points to live as
 * long as the ways. */
typedef mo_status mo_cuda_algo_finder(mo_backend_unit *unit,
                                      const mo_cuda_algo_problem *problem,
                                      mo_cuda_algo_list *algos, mo_error *err);

mo_cuda_algo_finder
    mo_cuda_tensorcore_algos; /* tensor cores, f32 by plain FMA too */
mo_cuda_algo_finder mo_cuda_direct_algos;   /* exactly one */
mo_cuda_algo_finder mo_cuda_cublaslt_algos; /* none without cuBLASLt */
mo_cuda_algo_finder mo_cuda_cudnn_algos;    /* none without cuDNN */

/* The epilogue of a call as libraries know it, or not at all. */
typedef enum mo_cuda_activation {
    MO_CUDA_ACT_NONE,
    MO_CUDA_ACT_RELU,
    MO_CUDA_ACT_GELU_TANH,
    MO_CUDA_ACT_GELU_ERF,
    MO_CUDA_ACT_SIGMOID,
    MO_CUDA_ACT_SWISH,
    MO_CUDA_ACT_TANH,
    MO_CUDA_ACT_CLAMP /* between x and y */
} mo_cuda_activation;

/* out = act(product + bias + residual), or act(product + bias) + residual. */
typedef struct mo_cuda_epilogue {
    int bias;     /* in[bias]: one number per column (MATMUL) or channel; -1 */
    int residual; /* in[residual]: lies as out[0] does; -1 */
    bool residual_last;
    mo_cuda_activation act;
    double x, y;
} mo_cuda_epilogue;

/* False when the program is anything else; true without a program at all. */
bool mo_cuda_epilogue_match(const mo_call *call, const mo_backend_operand *in,
                            const mo_tensor_desc *out,
                            mo_cuda_epilogue *epilogue);

/* Classes of matrix products and convolutions (matmul_conv.c), and of attention
 * (fused_attention.c). */
extern const mo_cuda_kernel_class mo_cuda_matmul_conv_kernel;
extern const mo_cuda_kernel_class mo_cuda_attention_kernel;

#endif
