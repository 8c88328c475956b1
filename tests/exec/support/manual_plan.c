/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "tests/exec/support/manual_plan.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/stop.h"

enum { MAX_IN = 3 };

typedef struct builder {
    mo_exec_plan *plan;
    mo_random random;
    mo_tensor_desc desc;
    int *made_by; /* by value: the call, or -1: the input */
    int *copy;    /* value * n_devices + device: the value there, or -1 */
    int order;
} builder;

static void *take(mo_exec_plan *plan, size_t count, size_t size)
{
    void *memory = mo_arena_array(plan->arena, count, size);

    if (!memory)
        abort();
    return memory;
}

static void push_step(builder *b, int device, mo_plan_step_kind kind, int what)
{
    mo_plan_device *d = &b->plan->devices[device];

    d->steps[d->n_steps++] = (mo_plan_step){ kind, what, b->order };
}

static int push_value(builder *b, int device, const char *name)
{
    mo_exec_plan *plan = b->plan;
    int64_t bytes = (mo_tensor_desc_bytes(&b->desc) + 63) / 64 * 64;
    int v = plan->n_values++;

    plan->values[v] =
        (mo_plan_value){ .name = name,
                         .desc = b->desc,
                         .device = device,
                         .view_of = MO_PLAN_NONE,
                         .input = MO_PLAN_NONE,
                         .transfer = MO_PLAN_NONE,
                         .offset = plan->devices[device].arena_bytes };
    plan->devices[device].arena_bytes += bytes;
    return v;
}

/* The value on that device, sent there if needed; awaited by the receiver now
 * or with the call that reads it, by the sender at once or at its end. */
static int bring(builder *b, int v, int device, int *late, int *n_late)
{
    mo_exec_plan *plan = b->plan;
    int from = plan->values[v].device, t;
    int *copy = &b->copy[v * plan->n_devices + device];

    if (from == device)
        return v;
    if (*copy >= 0)
        return *copy;
    t = plan->n_transfers++;
    *copy = push_value(b, device, "copy");
    plan->values[*copy].transfer = t;
    plan->transfers[t] = (mo_plan_transfer){
        v, *copy, from, device, mo_tensor_desc_bytes(&b->desc), MO_PLAN_NONE
    };
    b->order++;
    push_step(b, device, MO_PLAN_STEP_RECEIVE, t);
    push_step(b, from, MO_PLAN_STEP_SEND, t);
    b->order++;
    if (mo_random_below(&b->random, 2) == 0)
        push_step(b, from, MO_PLAN_STEP_AWAIT, t);
    else
        late[(*n_late)++] = t;
    push_step(b, device, MO_PLAN_STEP_AWAIT, t);
    return *copy;
}

static void push_call(builder *b, const int *sources, int n_sources, int *late,
                      int *n_late)
{
    mo_exec_plan *plan = b->plan;
    int c = plan->n_calls++, device = plan->calls[c].device;
    mo_call *call = &plan->calls[c].call;
    int out;

    call->kind = MO_CALL_POINT;
    call->n_in = mo_random_below(&b->random, MAX_IN) + 1;
    call->n_out = 1;
    call->in = take(plan, MAX_IN, sizeof *call->in);
    call->out = take(plan, 1, sizeof *call->out);
    /* The backend reads its number there. */
    call->u.point.result = c;
    for (int i = 0; i < call->n_in; i++) {
        int v = sources[mo_random_below(&b->random, n_sources)];

        call->in[i] = bring(b, v, device, late, n_late);
    }
    out = push_value(b, device, "sum");
    b->made_by[out] = c;
    call->out[0] = out;
    b->order++;
    push_step(b, device, MO_PLAN_STEP_COMPUTE, c);
}

static void make_input(builder *b)
{
    mo_exec_plan *plan = b->plan;

    plan->inputs = take(plan, 1, sizeof *plan->inputs);
    plan->n_inputs = 1;
    plan->inputs[0].name = "x";
    plan->inputs[0].desc = b->desc;
    plan->inputs[0].values = take(plan, 1, sizeof(int));
    plan->inputs[0].n_values = 1;
    plan->inputs[0].values[0] = push_value(b, 0, "x");
    plan->values[0].input = 0;
    b->made_by[0] = -1;
}

static void make_outputs(builder *b)
{
    mo_exec_plan *plan = b->plan;

    plan->outputs = take(plan, (size_t) plan->n_devices, sizeof *plan->outputs);
    for (int d = 0; d < plan->n_devices; d++)
        for (int c = plan->n_calls - 1; c >= 0; c--)
            if (plan->calls[c].device == d) {
                plan->outputs[plan->n_outputs++] =
                    (mo_plan_output){ .name = "y",
                                      .value = plan->calls[c].call.out[0] };
                break;
            }
}

static void make_devices(mo_exec_plan *plan, int n_calls)
{
    static const char *const ids[] = { "A", "B", "C", "D" };
    size_t n_steps = (size_t) n_calls * (3 * MAX_IN + 1) + 16;

    plan->devices = take(plan, (size_t) plan->n_devices, sizeof *plan->devices);
    for (int d = 0; d < plan->n_devices; d++) {
        plan->devices[d].id = ids[d % 4];
        plan->devices[d].capacity_bytes = INT64_MAX;
        plan->devices[d].steps =
            take(plan, n_steps, sizeof *plan->devices[d].steps);
    }
}

static void make_calls(builder *b, int n_calls)
{
    mo_exec_plan *plan = b->plan;
    int *sources = take(plan, (size_t) n_calls + 1, sizeof *sources);
    int *late = take(plan, (size_t) n_calls * MAX_IN, sizeof *late);
    int n_late = 0;

    sources[0] = 0;
    for (int c = 0; c < n_calls; c++) {
        plan->calls[c].device = mo_random_below(&b->random, plan->n_devices);
        push_call(b, sources, c + 1, late, &n_late);
        sources[c + 1] = plan->calls[c].call.out[0];
    }
    for (int i = 0; i < n_late; i++)
        push_step(b, plan->transfers[late[i]].from, MO_PLAN_STEP_AWAIT,
                  late[i]);
}

mo_exec_plan *manual_plan_make(const manual_plan_options *options)
{
    mo_arena *arena = mo_arena_new();
    mo_exec_plan *plan = arena ? mo_arena_alloc(arena, sizeof *plan) : NULL;
    size_t n_calls = (size_t) options->n_calls;
    size_t n_values = n_calls * (1 + MAX_IN) + 1;
    builder b = { .plan = plan, .random = { options->seed } };

    if (!plan)
        abort();
    plan->arena = arena;
    plan->n_devices = options->n_devices;
    b.desc = (mo_tensor_desc){ MO_ELEM_U32, { 1, { options->elements } } };
    b.made_by = take(plan, n_values, sizeof *b.made_by);
    b.copy = take(plan, n_values * (size_t) plan->n_devices, sizeof *b.copy);
    memset(b.copy, -1, n_values * (size_t) plan->n_devices * sizeof *b.copy);
    plan->values = take(plan, n_values, sizeof *plan->values);
    plan->calls = take(plan, n_calls, sizeof *plan->calls);
    plan->transfers = take(plan, n_calls * MAX_IN, sizeof *plan->transfers);
    make_devices(plan, options->n_calls);
    make_input(&b);
    make_calls(&b, options->n_calls);
    make_outputs(&b);
    return plan;
}

static uint32_t value_of(const mo_exec_plan *plan, const uint32_t *result,
                         int v, uint32_t x)
{
    if (plan->values[v].transfer != MO_PLAN_NONE)
        v = plan->transfers[plan->values[v].transfer].from_value;
    return v == 0 ? x : result[v];
}

uint32_t manual_plan_result(const mo_exec_plan *plan, int output, uint32_t x)
{
    uint32_t *result = calloc((size_t) plan->n_values, sizeof *result), y;

    if (!result)
        abort();
    for (int c = 0; c < plan->n_calls; c++) {
        const mo_call *call = &plan->calls[c].call;
        uint32_t sum = 0;

        for (int i = 0; i < call->n_in; i++)
            sum += value_of(plan, result, call->in[i], x);
        result[call->out[0]] = sum * 31 + (uint32_t) c;
    }
    y = result[plan->outputs[output].value];
    free(result);
    return y;
}

struct mo_backend_unit {
    int open;
};

struct mo_backend_kernel {
    int64_t elements;
    int n_in;
    uint32_t number;
};

static mo_status open_unit(const mo_backend_unit_options *options,
                           mo_backend_unit **unit, mo_error *err)
{
    (void) options;
    *unit = calloc(1, sizeof **unit);
    return *unit ? MO_OK : mo_fail_memory(err);
}

static void close_unit(mo_backend_unit *unit)
{
    free(unit);
}

static mo_status alloc_memory(mo_backend_unit *unit, size_t bytes,
                              void **memory, mo_error *err)
{
    (void) unit;
    *memory = calloc(1, bytes + 1);
    return *memory ? MO_OK : mo_fail_memory(err);
}

static void release(mo_backend_unit *unit, void *memory)
{
    (void) unit;
    free(memory);
}

static mo_status prepare(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         size_t *workspace, mo_error *err)
{
    mo_backend_kernel *k = calloc(1, sizeof *k);

    (void) unit;
    (void) in;
    if (!k)
        return mo_fail_memory(err);
    k->elements = mo_tensor_desc_elements(out);
    k->n_in = call->n_in;
    k->number = (uint32_t) call->u.point.result;
    *kernel = k;
    *workspace = 64 * (size_t) call->n_in;
    return MO_OK;
}

static void drop(mo_backend_unit *unit, mo_backend_kernel *kernel)
{
    (void) unit;
    free(kernel);
}

static mo_status run(mo_backend_unit *unit, const mo_backend_kernel *kernel,
                     const void *const *in, void *const *out, void *workspace,
                     mo_error *err)
{
    uint32_t *to = out[0];

    (void) unit;
    (void) err;
    memset(workspace, 0, 64 * (size_t) kernel->n_in);
    for (int64_t i = 0; i < kernel->elements; i++) {
        uint32_t sum = 0;

        for (int k = 0; k < kernel->n_in; k++)
            sum += ((const uint32_t *) in[k])[i];
        to[i] = sum * 31 + kernel->number;
    }
    return MO_OK;
}

static mo_status run_or_fail(mo_backend_unit *unit,
                             const mo_backend_kernel *kernel,
                             const void *const *in, void *const *out,
                             void *workspace, mo_error *err)
{
    if (kernel->n_in > 2 && kernel->number % 7 == 3)
        return mo_fail(err, MO_E_INPUT, "call %u does not feel like it",
                       (unsigned) kernel->number);
    return run(unit, kernel, in, out, workspace, err);
}

static mo_status run_slowly(mo_backend_unit *unit,
                            const mo_backend_kernel *kernel,
                            const void *const *in, void *const *out,
                            void *workspace, mo_error *err)
{
    int64_t end = mo_stop_clock_ns() + 500000;

    while (mo_stop_clock_ns() < end)
        continue;
    return run(unit, kernel, in, out, workspace, err);
}

static bool consumed(const mo_backend_kernel *kernel, int in)
{
    (void) kernel;
    (void) in;
    return false;
}

#define BACKEND(how)                                                           \
    {                                                                          \
        .name = "hand", .help = "sums", .open = open_unit,                     \
        .close = close_unit, .alloc = alloc_memory, .release = release,        \
        .prepare = prepare, .free_kernel = drop, .run = (how),                 \
        .consumed = consumed                                                   \
    }

const mo_backend manual_backend = BACKEND(run);
const mo_backend manual_backend_failing = BACKEND(run_or_fail);
const mo_backend manual_backend_slow = BACKEND(run_slowly);
