/* SPDX-License-Identifier: Apache-2.0 */
/*
 * algo.h - algorithms of one matrix product or convolution, as in cuBLASLt and
 * cuDNN.
 *
 * MATMUL and CONV have several: our kernels on tensor cores (tensorcore*.c),
 * cuBLASLt (cublaslt/), cuDNN (cudnn/), one for few rows (matvec.h), and direct
 * kernels that always work (direct*.c). matmul_conv.c collects those that support a call, times them
 * (autotune.h), and keeps the fastest.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_ALGO_H
#define MO_EXEC_BACKEND_CUDA_ALGO_ALGO_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/backend/cuda/kernels/kernel_class.h"

/* A call with what all algorithms need of it, computed once. */
typedef struct mo_cuda_algo_problem {
    const mo_call *call;
    const mo_backend_operand *in;
    const mo_tensor_desc *out;
    /* CONV with constant weights and channels last: the weights as [out,
     * spatial, in / groups], transposed as [in, spatial, out / groups]; 0
     * otherwise (in[1] is read as it is). With TF32 they are rounded to it
     * already. */
    CUdeviceptr weights;
    /* The constant weights, or a constant b without batches, in the layout of
     * our tensor core kernels: [out or n][pitch], k running fastest as it does
     * in weights, padded with zeros, rounded like them; 0: none. */
    CUdeviceptr columns;
    int64_t pitch;
    /* Name of the only algorithm to be found, since it is the fastest in the
     * tuning cache; NULL: all. */
    const char *only;
} mo_cuda_algo_problem;

/* Returns whether an algorithm with a name that begins with this word, or this
 * very one, is to be found. */
bool mo_cuda_algo_kind_wanted(const mo_cuda_algo_problem *problem,
                              const char *word);
bool mo_cuda_algo_wanted(const mo_cuda_algo_problem *problem, const char *name);

typedef struct mo_cuda_algo mo_cuda_algo;
enum { MO_CUDA_ALGO_NAME_SIZE = 64 };

typedef struct mo_cuda_algo_class {
    /* As in mo_cuda_kernel_class; workspace has algo->workspace bytes. */
    mo_status (*enqueue)(mo_backend_unit *unit, const mo_cuda_algo *algo,
                         const void *const *in, void *const *out,
                         void *workspace, CUstream stream, mo_error *err);
    void (*drop)(mo_backend_unit *unit, mo_cuda_algo *algo);
} mo_cuda_algo_class;

/* First member of the struct of each algorithm. */
struct mo_cuda_algo {
    const mo_cuda_algo_class *kind;
    /* "tensor 64x64x32 s3 k4", for the tuning cache and traces: the kind, then
     * its configuration. Those of libraries contain the version. */
    char name[MO_CUDA_ALGO_NAME_SIZE];
    size_t workspace;
    uint64_t consumed; /* bit i: in[i] of the call is not read */
};

/* The caller owns the list: it drops each algorithm and frees the array, which
 * is NULL while the list is empty. */
typedef struct mo_cuda_algo_list {
    mo_cuda_algo **algos;
    int n;
} mo_cuda_algo_list;

/* Appends algo, which the list owns from now on; drops it when there is no
 * memory. */
mo_status mo_cuda_algo_list_add(mo_backend_unit *unit, mo_cuda_algo_list *algos,
                                mo_cuda_algo *algo, mo_error *err);

/* Appends the algorithms that support the problem and are wanted, the likely
 * fastest first; none where it is not supported. The problem and all it points
 * to outlive the algorithms. */
typedef mo_status mo_cuda_algo_finder(mo_backend_unit *unit,
                                      const mo_cuda_algo_problem *problem,
                                      mo_cuda_algo_list *algos, mo_error *err);

mo_cuda_algo_finder
    mo_cuda_tensorcore_algos; /* tensor cores, f32 by plain FMA too */
mo_cuda_algo_finder mo_cuda_direct_algos;   /* exactly one */
mo_cuda_algo_finder mo_cuda_matvec_algos;   /* few rows: one, or none */
mo_cuda_algo_finder mo_cuda_cublaslt_algos; /* none without cuBLASLt */
mo_cuda_algo_finder mo_cuda_cudnn_algos;    /* none without cuDNN */

/* The epilogue of a call in the form that libraries support. */
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
    int residual; /* in[residual]: has the layout of out[0]; -1 */
    bool residual_last;
    mo_cuda_activation act;
    double x, y;
} mo_cuda_epilogue;

/* Returns false when the program has another form; true for a call without a
 * program. */
bool mo_cuda_epilogue_match(const mo_call *call, const mo_backend_operand *in,
                            const mo_tensor_desc *out,
                            mo_cuda_epilogue *epilogue);

/* Classes of matrix products and convolutions (matmul_conv.c), and of attention
 * (fused_attention.c). */
extern const mo_cuda_kernel_class mo_cuda_matmul_conv_kernel;
extern const mo_cuda_kernel_class mo_cuda_attention_kernel;

#endif
