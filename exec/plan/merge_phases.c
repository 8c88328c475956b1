/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/plan/build.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "exec/plan/ir/value_table.h"
#include "exec/plan/schedule/schedule_steps.h"

typedef struct merging {
    mo_exec_plan *const *plans;
    int n;
    mo_exec_plan *made;
} merging;

static int renumber(int number, int first)
{
    return number == MO_PLAN_NONE ? MO_PLAN_NONE : number + first;
}

/* Counts are sums below INT_MAX. */
static bool add_count(int *sum, int more)
{
    if (more > INT_MAX - *sum)
        return false;
    *sum += more;
    return true;
}

static bool advance(mo_plan_phase_start *start, const mo_exec_plan *plan)
{
    int order = 0;

    for (int d = 0; d < plan->n_devices; d++)
        for (int i = 0; i < plan->devices[d].n_steps; i++)
            order = mo_max_int(order, plan->devices[d].steps[i].order + 1);
    return add_count(&start->call, plan->n_calls) &&
           add_count(&start->value, plan->n_values) &&
           add_count(&start->transfer, plan->n_transfers) &&
           add_count(&start->item, plan->n_items) &&
           add_count(&start->input, plan->n_inputs) &&
           add_count(&start->output, plan->n_outputs) &&
           add_count(&start->order, order);
}

static mo_status alloc_all(merging *m, const char *const *names, mo_error *err)
{
    mo_exec_plan *made = m->made;
    mo_plan_phase_start end = { 0 };
    size_t n = (size_t) m->n + 1;

    made->phases = mo_arena_array(made->arena, n, sizeof *made->phases);
    made->parts = mo_arena_array(made->arena, n, sizeof *made->parts);
    if (!made->phases || !made->parts)
        return mo_fail_memory(err);
    for (int p = 0; p < m->n; p++) {
        made->phases[p] = (mo_plan_phase){
            .name = mo_arena_text(made->arena, names[p], strlen(names[p])),
            .predicted_ns = m->plans[p]->predicted_ns,
            .start = end,
        };
        if (!made->phases[p].name)
            return mo_fail_memory(err);
        if (!advance(&end, m->plans[p]))
            return mo_fail(err, MO_E_LIMIT,
                           "the phases have more than 2^31 values or steps");
    }
    made->phases[m->n].start = end;
    made->n_devices = m->plans[0]->n_devices;
    made->n_calls = end.call;
    made->n_values = end.value;
    made->n_transfers = end.transfer;
    made->n_items = end.item;
    made->n_inputs = end.input;
    made->n_outputs = end.output;
#define ALLOC(array, count)                                                    \
    (made->array = mo_arena_array(made->arena, (size_t) (count) + 1,           \
                                  sizeof *made->array))
    return ALLOC(devices, made->n_devices) && ALLOC(calls, end.call) &&
                   ALLOC(values, end.value) && ALLOC(transfers, end.transfer) &&
                   ALLOC(items, end.item) && ALLOC(inputs, end.input) &&
                   ALLOC(outputs, end.output)
               ? MO_OK
               : mo_fail_memory(err);
#undef ALLOC
}

static mo_status copy_numbers(mo_exec_plan *made, const int *from, int n,
                              int first, int **to, mo_error *err)
{
    *to = mo_arena_array(made->arena, (size_t) n + 1, sizeof **to);
    if (!*to)
        return mo_fail_memory(err);
    for (int i = 0; i < n; i++)
        (*to)[i] = from[i] + first;
    return MO_OK;
}

static mo_status copy_values(merging *m, int p, mo_error *err)
{
    const mo_exec_plan *plan = m->plans[p];
    const mo_plan_phase_start *start = &m->made->phases[p].start;

    for (int v = 0; v < plan->n_values; v++) {
        mo_plan_value *to = &m->made->values[start->value + v];

        *to = plan->values[v];
        to->view_of = renumber(to->view_of, start->value);
        to->input = renumber(to->input, start->input);
        to->transfer = renumber(to->transfer, start->transfer);
        to->item = renumber(to->item, start->item);
        if (to->part) {
            mo_plan_slice *part = mo_arena_alloc(m->made->arena, sizeof *part);

            if (!part)
                return mo_fail_memory(err);
            *part = *to->part;
            part->of += start->value;
            to->part = part;
        }
    }
    for (int t = 0; t < plan->n_transfers; t++) {
        mo_plan_transfer *to = &m->made->transfers[start->transfer + t];

        *to = plan->transfers[t];
        to->from_value += start->value;
        to->to_value += start->value;
    }
    return MO_OK;
}

static mo_status copy_calls(merging *m, int p, mo_error *err)
{
    const mo_exec_plan *plan = m->plans[p];
    const mo_plan_phase_start *start = &m->made->phases[p].start;
    mo_status status = MO_OK;

    for (int i = 0; i < plan->n_items; i++)
        m->made->items[start->item + i] = plan->items[i];
    for (int c = 0; c < plan->n_calls && status == MO_OK; c++) {
        mo_plan_call *to = &m->made->calls[start->call + c];

        *to = plan->calls[c];
        to->item += start->item;
        to->timed_as += start->item;
        status = copy_numbers(m->made, plan->calls[c].call.in, to->call.n_in,
                              start->value, &to->call.in, err);
        if (status == MO_OK)
            status =
                copy_numbers(m->made, plan->calls[c].call.out, to->call.n_out,
                             start->value, &to->call.out, err);
        if (status == MO_OK)
            status = copy_numbers(m->made, plan->calls[c].depends_on,
                                  to->n_depends_on, start->call,
                                  &to->depends_on, err);
    }
    return status;
}

static mo_status copy_ports(merging *m, int p, mo_error *err)
{
    const mo_exec_plan *plan = m->plans[p];
    const mo_plan_phase_start *start = &m->made->phases[p].start;
    mo_status status = MO_OK;

    for (int i = 0; i < plan->n_inputs && status == MO_OK; i++) {
        mo_plan_input *to = &m->made->inputs[start->input + i];

        *to = plan->inputs[i];
        status = copy_numbers(m->made, plan->inputs[i].values, to->n_values,
                              start->value, &to->values, err);
    }
    for (int i = 0; i < plan->n_outputs; i++) {
        m->made->outputs[start->output + i] = plan->outputs[i];
        m->made->outputs[start->output + i].value += start->value;
    }
    return status;
}

/* The steps of all phases on a device, one phase behind the other. */
static mo_status copy_device(merging *m, int d, mo_error *err)
{
    mo_plan_device *to = &m->made->devices[d];
    size_t n = 0;

    *to = m->plans[0]->devices[d];
    for (int p = 0; p < m->n; p++) {
        const mo_plan_device *from = &m->plans[p]->devices[d];

        n += (size_t) from->n_steps;
        to->arena_bytes = mo_max_i64(to->arena_bytes, from->arena_bytes);
        to->n_streams = mo_max_int(to->n_streams, from->n_streams);
    }
    to->steps = mo_arena_array(m->made->arena, n + 1, sizeof *to->steps);
    if (!to->steps)
        return mo_fail_memory(err);
    to->n_steps = 0;
    for (int p = 0; p < m->n; p++) {
        const mo_plan_device *from = &m->plans[p]->devices[d];
        const mo_plan_phase_start *start = &m->made->phases[p].start;

        for (int i = 0; i < from->n_steps; i++) {
            mo_plan_step *step = &to->steps[to->n_steps++];

            *step = from->steps[i];
            step->what += step->kind == MO_PLAN_STEP_COMPUTE ? start->call
                                                             : start->transfer;
            step->order += start->order;
        }
    }
    return MO_OK;
}

/* Returns a value of the state on a device, or NULL. */
static const mo_plan_value *find_state(const mo_exec_plan *plan,
                                       const char *state, int device)
{
    for (int v = 0; v < plan->n_values; v++) {
        const mo_plan_value *value = &plan->values[v];

        if (value->state && value->device == device &&
            strcmp(value->state, state) == 0)
            return value;
    }
    return NULL;
}

/* Each state of phase p is in the other one, at the same place. */
static mo_status check_states(const merging *m, const char *const *names, int p,
                              int other, mo_error *err)
{
    for (int v = 0; v < m->plans[p]->n_values; v++) {
        const mo_plan_value *value = &m->plans[p]->values[v], *same;

        if (!value->state)
            continue;
        same = find_state(m->plans[other], value->state, value->device);
        if (!same)
            return mo_fail(err, MO_E_INPUT,
                           "state '%.160s' of phase '%.80s' is not in phase "
                           "'%.80s' on device '%.80s'; all phases need the "
                           "same states",
                           value->state, names[p], names[other],
                           m->made->devices[value->device].id);
        if (same->offset != value->offset ||
            !mo_tensor_desc_equal(&same->desc, &value->desc)) {
            char a[MO_TENSOR_DESC_TEXT_SIZE], b[MO_TENSOR_DESC_TEXT_SIZE];

            return mo_fail(err, MO_E_INPUT,
                           "state '%.160s' is %s in phase '%.80s' and %s in "
                           "'%.80s'; export both with the same capacity",
                           value->state, mo_tensor_desc_format(&value->desc, a),
                           names[p], mo_tensor_desc_format(&same->desc, b),
                           names[other]);
        }
    }
    return MO_OK;
}

mo_status mo_plan_merge_phases(mo_exec_plan *const *plans,
                               const char *const *names, int n,
                               mo_exec_plan **merged, mo_error *err)
{
    merging m = { .plans = plans, .n = n, .made = calloc(1, sizeof *m.made) };
    mo_status status = MO_OK;

    if (!m.made)
        return mo_fail_memory(err);
    m.made->arena = mo_arena_new();
    status = m.made->arena ? alloc_all(&m, names, err) : mo_fail_memory(err);
    for (int p = 0; p < n && status == MO_OK; p++) {
        status = copy_values(&m, p, err);
        if (status == MO_OK)
            status = copy_calls(&m, p, err);
        if (status == MO_OK)
            status = copy_ports(&m, p, err);
        m.made->predicted_ns += plans[p]->predicted_ns;
    }
    for (int d = 0; d < m.made->n_devices && status == MO_OK; d++)
        status = copy_device(&m, d, err);
    for (int p = 1; p < n && status == MO_OK; p++) {
        status = check_states(&m, names, p, 0, err);
        if (status == MO_OK)
            status = check_states(&m, names, 0, p, err);
    }
    if (status == MO_OK)
        status = mo_plan_count_weights(m.made, err);
    if (status == MO_OK) {
        for (int p = 0; p < n; p++)
            m.made->parts[p] = plans[p];
        m.made->n_phases = n;
        *merged = m.made;
    } else
        mo_plan_free(m.made);
    return status;
}
