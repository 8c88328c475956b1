/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "exec/plan/lower/lower_internal.h"
#include "exec/plan/passes/passes.h"

static mo_status begin(mo_plan_lower_state *l, mo_error *err)
{
    size_t n = (size_t) l->g->n_ops;
    mo_status status;

    l->scratch = mo_arena_new();
    if (!l->scratch)
        return mo_fail_memory(err);
    l->ops = mo_arena_array(l->scratch, n, sizeof *l->ops);
    if (!l->ops)
        return mo_fail_memory(err);
    status = mo_plan_lower_number_tensors(l, err);
    for (int id = 0; id < l->g->n_ops && status == MO_OK; id++) {
        l->ops[id].type = mo_plan_lower_op_type(&l->g->ops[id]);
        l->ops[id].n_out = l->first_tensor[id + 1] - l->first_tensor[id];
    }
    return status;
}

static mo_status lower(mo_plan_lower_state *l, mo_error *err)
{
    static mo_status (*const steps[])(mo_plan_lower_state *, mo_error *) = {
        mo_plan_lower_all_ops,       mo_plan_lower_find_io,
        mo_plan_lower_find_replicas, mo_plan_lower_build_items,
        mo_plan_lower_write_io,
    };
    mo_status status = begin(l, err);

    if (status == MO_OK)
        mo_plan_lower_assign_devices(l);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && status == MO_OK; i++)
        status = steps[i](l, err);
    if (status == MO_OK)
        status = mo_plan_values_commit(&l->values, l->plan, err);
    return status == MO_OK ? mo_pass_dce(l->plan, err) : status;
}

static void clear(mo_plan_lower_state *l)
{
    mo_plan_values_clear(&l->values);
    free(l->outputs);
    free(l->inputs);
    free(l->needs);
    free(l->places);
    free(l->tensors);
    mo_arena_free(l->scratch);
}

mo_status mo_plan_lower(const mo_plan_source *source, mo_exec_plan *plan,
                        mo_error *err)
{
    mo_plan_lower_state l = { .source = source,
                              .g = source->fine,
                              .plan = plan,
                              .network_input = MO_PLAN_NONE,
                              .causal = MO_PLAN_NONE };
    mo_status status = lower(&l, err);

    clear(&l);
    return status;
}
