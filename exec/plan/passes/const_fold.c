/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constant folding: calls with constant operands only are evaluated at plan
 * construction.
 */
#include "exec/plan/passes/passes.h"

#include <stdlib.h>

#include "base/array.h"
#include "exec/weights/evaluate.h"
#include "exec/plan/ir/value_table.h"

/* Larger results stay calls: every rank builds the whole plan and must not
 * read the weights of all other ranks for it. Numbers computed from a counter
 * alone, as the matrix of a Fourier transform, need no weights. */
enum { MAX_FOLDED_BYTES = 1 << 20, MAX_GENERATED_BYTES = 1 << 24 };

static bool is_readable(const mo_exec_plan *plan, int value)
{
    const mo_tensor_dense *constant =
        mo_plan_value_constant(plan->values, value);

    return constant && !plan->values[value].channels_last &&
           (uintptr_t) constant->data % mo_elem_size(constant->desc.elem) == 0;
}

/* Whether all that the call reads is computed from counters. */
static bool is_generated(const mo_call *call, const bool *generated)
{
    bool all = call->n_in > 0 || call->kind == MO_CALL_RANGE;

    for (int i = 0; i < call->n_in; i++)
        all = all && generated[call->in[i]];
    return all;
}

static bool is_foldable(const mo_exec_plan *plan, const mo_call *call,
                        bool is_generated)
{
    int64_t bytes = 0;

    for (int i = 0; i < call->n_in; i++)
        if (!is_readable(plan, call->in[i]) ||
            !mo_int64_add(bytes,
                          mo_tensor_desc_bytes(&plan->values[call->in[i]].desc),
                          &bytes))
            return false;
    for (int i = 0; i < call->n_out; i++)
        if (!mo_int64_add(
                bytes, mo_tensor_desc_bytes(&plan->values[call->out[i]].desc),
                &bytes))
            return false;
    return is_generated ? bytes <= MAX_GENERATED_BYTES
                        : call->n_in > 0 && bytes <= MAX_FOLDED_BYTES;
}

/* Allocates the call's results as constants of the plan. */
static mo_status alloc_results(mo_exec_plan *plan, const mo_call *call,
                               mo_tensor_dense *results, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < call->n_out && status == MO_OK; i++) {
        mo_plan_value *out = &plan->values[call->out[i]];
        mo_tensor_dense *constant;

        status = mo_plan_add_constant(plan, &out->desc, &constant, err);
        if (status != MO_OK)
            return status;
        out->constant = constant;
        results[i] = *constant;
    }
    return status;
}

mo_status mo_pass_const_fold(mo_exec_plan *plan, mo_error *err)
{
    bool *generated = calloc((size_t) plan->n_values + 1, sizeof *generated);
    mo_status status = generated ? MO_OK : mo_fail_memory(err);
    int n = 0;

    for (int c = 0; c < plan->n_calls && status == MO_OK; c++) {
        const mo_call *call = &plan->calls[c].call;
        bool from_counter = is_generated(call, generated);

        if (call->kind != MO_CALL_VIEW &&
            is_foldable(plan, call, from_counter)) {
            mo_tensor_dense *in = calloc((size_t) call->n_in + 1, sizeof *in);
            mo_tensor_dense *out =
                calloc((size_t) call->n_out + 1, sizeof *out);
            status = in && out ? alloc_results(plan, call, out, err)
                               : mo_fail_memory(err);

            for (int i = 0; i < call->n_in && status == MO_OK; i++)
                in[i] = (mo_tensor_dense){
                    .desc = plan->values[call->in[i]].desc,
                    .data =
                        mo_plan_value_constant(plan->values, call->in[i])->data
                };
            if (status == MO_OK)
                status = mo_weights_eval_call(call, in, out, err);
            for (int i = 0; i < call->n_out; i++)
                generated[call->out[i]] = from_counter;
            free(out);
            free(in);
        } else
            mo_pass_keep_call(plan, c, &n);
    }
    plan->n_calls = n;
    free(generated);
    return status;
}
