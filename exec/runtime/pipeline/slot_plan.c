/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/runtime/pipeline/pipeline_internal.h"

#include <limits.h>
#include <stdlib.h>

#include "exec/plan/ir/value_table.h"

enum { MAX_PHASE = 1000 };

/* Busy time of a request, at most: more than 100 days. */
static const int64_t max_busy_ns = INT64_C(1) << 53;

/* Numbers the transfers of one slot; returns how many there are. */
static int64_t number_transfers(const mo_exec_plan *plan,
                                mo_pipeline_slots *slots)
{
    int64_t n = plan->n_transfers;

    slots->first_start = (int) n;
    n += plan->n_devices;
    for (int v = 0; v < plan->n_values; v++)
        slots->inputs[v] = MO_PLAN_NONE;
    for (int i = 0; i < plan->n_inputs; i++)
        for (int k = 0; k < plan->inputs[i].n_values; k++) {
            int v = plan->inputs[i].values[k];
            const mo_plan_value *root =
                &plan->values[mo_plan_value_root(plan->values, v)];

            /* A value is written before a run if it has bytes, and a call or a
             * transfer reads it. */
            if (root->offset != MO_PLAN_NONE && !root->constant &&
                !plan->inputs[i].state &&
                mo_tensor_desc_bytes(&plan->values[v].desc) > 0)
                slots->inputs[v] = (int) n++;
        }
    slots->first_output = (int) n;
    for (int i = 0; i < plan->n_outputs; i++) {
        const mo_plan_value *value = &plan->values[plan->outputs[i].value];
        bool is_sent = !value->constant && !plan->outputs[i].state &&
                       mo_tensor_desc_bytes(&value->desc) > 0;

        slots->outputs[i] = is_sent ? (int) n++ : MO_PLAN_NONE;
    }
    slots->first_done = (int) n;
    return n + plan->n_devices;
}

static void fill_slot(const mo_exec_plan *plan, int s, mo_pipeline_slots *slots)
{
    mo_plan_transfer *t =
        slots->plan.transfers + mo_pipeline_transfer(slots, s, 0);
    int n = slots->n_slots, frontend = plan->n_devices * n + s;

    for (int i = 0; i < plan->n_transfers; i++) {
        t[i] = plan->transfers[i];
        t[i].from = plan->transfers[i].from * n + s;
        t[i].to = plan->transfers[i].to * n + s;
    }
    for (int d = 0; d < plan->n_devices; d++) {
        t[slots->first_start + d] =
            (mo_plan_transfer){ .from = frontend,
                                .to = d * n + s,
                                .bytes = sizeof(mo_pipeline_start) };
        t[slots->first_done + d] = (mo_plan_transfer){
            .from = d * n + s, .to = frontend, .bytes = sizeof(mo_pipeline_done)
        };
    }
    for (int v = 0; v < plan->n_values; v++)
        if (slots->inputs[v] != MO_PLAN_NONE)
            t[slots->inputs[v]] = (mo_plan_transfer){
                .from = frontend,
                .to = plan->values[v].device * n + s,
                .bytes = mo_tensor_desc_bytes(&plan->values[v].desc)
            };
    for (int i = 0; i < plan->n_outputs; i++)
        if (slots->outputs[i] != MO_PLAN_NONE) {
            const mo_plan_value *value = &plan->values[plan->outputs[i].value];

            t[slots->outputs[i]] =
                (mo_plan_transfer){ .from = value->device * n + s,
                                    .to = frontend,
                                    .bytes =
                                        mo_tensor_desc_bytes(&value->desc) };
        }
}

static mo_status alloc_all(const mo_exec_plan *plan, mo_pipeline_slots *slots,
                           mo_error *err)
{
    size_t n = (size_t) slots->n_slots;
    size_t n_devices = ((size_t) plan->n_devices + 1) * n;
    int64_t n_transfers = number_transfers(plan, slots);

    if (n_transfers > INT_MAX / slots->n_slots)
        return mo_fail(err, MO_E_LIMIT,
                       "%d requests in flight make too many transfers; run "
                       "fewer at a time",
                       slots->n_slots);
    slots->n_transfers = (int) n_transfers;
    slots->plan.n_transfers = slots->n_transfers * slots->n_slots;
    slots->plan.n_devices = (int) n_devices;
    slots->plan.values = plan->values;
    slots->plan.n_values = plan->n_values;
    slots->plan.transfers =
        calloc((size_t) slots->plan.n_transfers, sizeof *slots->plan.transfers);
    slots->plan.devices = calloc(n_devices, sizeof *slots->plan.devices);
    slots->rank_of = calloc(n_devices, sizeof *slots->rank_of);
    slots->backends = calloc(n_devices, sizeof *slots->backends);
    if (!slots->plan.transfers || !slots->plan.devices || !slots->rank_of ||
        !slots->backends)
        return mo_fail_memory(err);
    return MO_OK;
}

mo_status mo_pipeline_slots_make(const mo_exec_plan *plan, const int *rank_of,
                                 const mo_backend *const *backends, int n_slots,
                                 mo_pipeline_slots *slots, mo_error *err)
{
    mo_status status;

    slots->n_slots = n_slots;
    slots->n_devices = plan->n_devices;
    slots->inputs = calloc((size_t) plan->n_values + 1, sizeof *slots->inputs);
    slots->outputs =
        calloc((size_t) plan->n_outputs + 1, sizeof *slots->outputs);
    status = slots->inputs && slots->outputs ? alloc_all(plan, slots, err)
                                             : mo_fail_memory(err);
    for (int s = 0; s < n_slots && status == MO_OK; s++) {
        int frontend = plan->n_devices * n_slots + s;

        fill_slot(plan, s, slots);
        for (int d = 0; d < plan->n_devices; d++) {
            slots->plan.devices[d * n_slots + s].id = plan->devices[d].id;
            slots->rank_of[d * n_slots + s] = rank_of[d];
            slots->backends[d * n_slots + s] = backends[d];
        }
        slots->plan.devices[frontend].id = "intake";
        slots->backends[frontend] = &mo_backend_cpu;
    }
    return status;
}

void mo_pipeline_slots_clear(mo_pipeline_slots *slots)
{
    free(slots->plan.transfers);
    free(slots->plan.devices);
    free(slots->rank_of);
    free(slots->backends);
    free(slots->inputs);
    free(slots->outputs);
    *slots = (mo_pipeline_slots){ .n_slots = 0 };
}

mo_status mo_pipeline_decode_start(const mo_pipeline_start *start,
                                   mo_error *err)
{
    if (start->request < -1 || start->phase < 0 || start->phase > MAX_PHASE)
        return mo_fail(err, MO_E_IO, "a request %lld of phase %lld",
                       (long long) start->request, (long long) start->phase);
    return MO_OK;
}

mo_status mo_pipeline_decode_done(mo_pipeline_done *done, mo_error *err)
{
    done->text[sizeof done->text - 1] = '\0';
    if (done->busy_ns < 0 || done->busy_ns > max_busy_ns ||
        done->slot_bytes < 0 || done->shared_bytes < 0 || done->status < 0 ||
        done->status > MO_E_INFEASIBLE)
        return mo_fail(err, MO_E_IO, "a result with impossible numbers");
    return MO_OK;
}
