/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/algo/epilogue_kernel.h"

#include <assert.h>
#include <stdlib.h>

/* The program as a call of its own, which the kernel points to. */
struct mo_cuda_epilogue_kernel {
    mo_call call;
    int in[MO_POINT_MAX_OPERANDS], out[1];
    int first_extra; /* of the original call */
    mo_backend_kernel *kernel;
};

/* Returns whether in[i], if present, has the result's type and that many
 * elements. */
static bool matches_result(const mo_cuda_algo_problem *problem, int i,
                           int64_t elements)
{
    return i < 0 || (problem->in[i].desc.elem == problem->out[0].elem &&
                     mo_tensor_desc_elements(&problem->in[i].desc) == elements);
}

bool mo_cuda_epilogue_is_fusable(const mo_cuda_algo_problem *problem,
                                 const mo_cuda_epilogue *epilogue,
                                 int64_t columns)
{
    if (epilogue->residual_last && epilogue->residual >= 0 &&
        epilogue->act != MO_CUDA_ACT_NONE)
        return false;
    return matches_result(problem, epilogue->bias, columns) &&
           matches_result(problem, epilogue->residual,
                          mo_tensor_desc_elements(&problem->out[0]));
}

mo_status mo_cuda_epilogue_kernel_new(mo_backend_unit *unit,
                                      const mo_cuda_algo_problem *problem,
                                      mo_cuda_epilogue_kernel **tail,
                                      mo_error *err)
{
    mo_backend_operand in[MO_POINT_MAX_OPERANDS];
    mo_cuda_epilogue_kernel *new = calloc(1, sizeof *new);
    mo_status status;

    if (!new)
        return mo_fail_memory(err);
    new->first_extra = problem->call->first_extra;
    new->call.kind = MO_CALL_POINT;
    new->call.u.point = *problem->call->after;
    new->call.n_in = problem->call->after->n_operands;
    new->call.n_out = 1;
    new->call.in = new->in;
    new->call.out = new->out;
    for (int i = 1; i < new->call.n_in; i++)
        new->in[i] = i;
    new->call.first_extra = new->call.n_in;
    in[0] = (mo_backend_operand){ .desc = problem->out[0] };
    for (int i = 1; i < new->call.n_in; i++)
        in[i] = problem->in[new->first_extra + i - 1];
    status = mo_cuda_pointwise_kernel.prepare(unit, &new->call, in,
                                              problem->out, &new->kernel, err);
    if (status != MO_OK) {
        mo_cuda_epilogue_kernel_free(unit, new);
        return status;
    }
    /* The pointwise kernel needs neither finalize nor a workspace. */
    assert(!mo_cuda_pointwise_kernel.finalize && new->kernel->workspace == 0);
    *tail = new;
    return MO_OK;
}

void mo_cuda_epilogue_kernel_free(mo_backend_unit *unit,
                                  mo_cuda_epilogue_kernel *tail)
{
    if (!tail)
        return;
    if (tail->kernel)
        mo_cuda_pointwise_kernel.drop(unit, tail->kernel);
    free(tail);
}

mo_status mo_cuda_epilogue_kernel_enqueue(mo_backend_unit *unit,
                                          const mo_cuda_epilogue_kernel *tail,
                                          const void *const *in,
                                          void *const *out, CUstream stream,
                                          mo_error *err)
{
    const void *operands[MO_POINT_MAX_OPERANDS];

    operands[0] = out[0];
    for (int i = 1; i < tail->call.n_in; i++)
        operands[i] = in[tail->first_extra + i - 1];
    return mo_cuda_pointwise_kernel.enqueue(unit, tail->kernel, operands, out,
                                            NULL, stream, err);
}
