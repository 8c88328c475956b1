/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weight conversion: products of many rows with weights in a storage format
 * become products of weights of the data's type, which tensor cores multiply:
 *
 *     x - [linear W]          W - [dequantize] - W'
 *                        ->   x - [matmul W']
 *
 * W' is a value like others: its memory is used again after the product.
 * Weights that have the type of the data are read as they are.
 */
#include <stdbool.h>
#include <stddef.h>

#include "exec/plan/ir/value_table.h"
#include "exec/plan/passes/passes.h"
#include "exec/tensor/block_format.h"

/* Up to so many rows a kernel reads the weights once. */
enum { MOST_FEW_ROWS = 8 };

typedef struct conversion {
    mo_exec_plan *plan;
    mo_plan_values values;
    mo_plan_call *calls;
    int n;
} conversion;

static bool has_many_rows(const mo_call *call)
{
    const mo_call_linear *l = &call->u.linear;

    return call->kind == MO_CALL_LINEAR && l->m > MOST_FEW_ROWS && l->n > 0 &&
           l->k > 0;
}

static mo_status add_conversion(conversion *c, const mo_plan_call *linear,
                                int *converted, mo_error *err)
{
    const mo_call_linear *l = &linear->call.u.linear;
    const mo_plan_value *data = &c->values.items[linear->call.in[0]];
    mo_tensor_desc desc = { data->desc.elem, { 2, { l->n, l->k } } };
    mo_plan_value value = mo_plan_value_init(
        c->values.items[linear->call.in[1]].name, &desc, linear->device);
    mo_plan_call *call = &c->calls[c->n];
    mo_status status;

    value.item = linear->item;
    status = mo_plan_values_add(&c->values, &value, converted, err);
    *call = *linear;
    call->call = (mo_call){ .kind = MO_CALL_DEQUANTIZE, .n_in = 1, .n_out = 1 };
    call->call.first_extra = 1;
    call->call.u.dequantize = (mo_call_dequantize){ l->format, l->n * l->k };
    call->call.in = mo_arena_array(c->plan->arena, 1, sizeof *call->call.in);
    call->call.out = mo_arena_array(c->plan->arena, 1, sizeof *call->call.out);
    if (status == MO_OK && (!call->call.in || !call->call.out))
        status = mo_fail_memory(err);
    if (status != MO_OK)
        return status;
    call->call.in[0] = linear->call.in[1];
    call->call.out[0] = *converted;
    c->n++;
    return MO_OK;
}

static mo_status convert(conversion *c, const mo_plan_call *linear,
                         mo_error *err)
{
    mo_call_linear l = linear->call.u.linear;
    int weights = linear->call.in[1];
    mo_plan_call product = *linear;
    mo_status status = MO_OK;

    if (c->values.items[weights].desc.elem !=
        c->values.items[linear->call.in[0]].desc.elem)
        status = add_conversion(c, linear, &weights, err);
    if (status != MO_OK)
        return status;
    product.call.kind = MO_CALL_MATMUL;
    product.call.u.matmul =
        (mo_call_matmul){ .m = l.m,
                          .n = l.n,
                          .k = l.k,
                          .a = { .row = l.k, .column = 1 },
                          .b = { .row = 1, .column = l.k },
                          .c = { .row = l.n, .column = 1 } };
    product.call.in = mo_arena_array(c->plan->arena, (size_t) linear->call.n_in,
                                     sizeof *product.call.in);
    if (!product.call.in)
        return mo_fail_memory(err);
    for (int i = 0; i < linear->call.n_in; i++)
        product.call.in[i] = i == 1 ? weights : linear->call.in[i];
    c->calls[c->n++] = product;
    return MO_OK;
}

mo_status mo_pass_convert_weights(const bool *enabled, mo_exec_plan *plan,
                                  mo_error *err)
{
    conversion c = { .plan = plan };
    size_t many = 0;
    mo_status status;

    for (int i = 0; enabled && i < plan->n_calls; i++)
        many += has_many_rows(&plan->calls[i].call);
    if (many == 0)
        return MO_OK;
    c.calls = mo_arena_array(plan->arena, (size_t) plan->n_calls + many,
                             sizeof *c.calls);
    status = c.calls ? mo_plan_values_copy(plan, &c.values, err)
                     : mo_fail_memory(err);
    for (int i = 0; i < plan->n_calls && status == MO_OK; i++) {
        const mo_plan_call *call = &plan->calls[i];
        const mo_call_linear *l = &call->call.u.linear;

        /* Kernels convert sixteen numbers at a time. */
        if (enabled[call->device] && has_many_rows(&call->call) &&
            l->n * l->k % 16 == 0)
            status = convert(&c, call, err);
        else
            c.calls[c.n++] = *call;
    }
    if (status == MO_OK)
        status = mo_plan_values_commit(&c.values, plan, err);
    mo_plan_values_clear(&c.values);
    if (status != MO_OK)
        return status;
    plan->calls = c.calls;
    plan->n_calls = c.n;
    return MO_OK;
}
