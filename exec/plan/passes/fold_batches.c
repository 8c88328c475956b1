/* SPDX-License-Identifier: Apache-2.0 */
/* Batch folding: products of few rows with one matrix become one product. */
#include "exec/plan/passes/passes.h"

void mo_pass_fold_batches(mo_exec_plan *plan)
{
    for (int c = 0; c < plan->n_calls; c++)
        if (plan->calls[c].call.kind == MO_CALL_MATMUL)
            mo_call_matmul_fold(&plan->calls[c].call.u.matmul);
}
