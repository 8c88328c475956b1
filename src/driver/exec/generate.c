/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/exec/generate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "base/number.h"
#include "base/random.h"
#include "base/stop.h"
#include "driver/exec/input_tensors.h"
#include "exec/tensor/npy.h"

enum { PREFILL, DECODE, N_PHASES };

static mo_status fail_ports(const mo_exec_plan *plan, int p, const char *what,
                            mo_error *err)
{
    return mo_fail(err, MO_E_SUPPORT,
                   "phase '%.80s' has %s; --generate needs the inputs ids "
                   "[batch, n] and position [1], and one output of logits, "
                   "beside states, as moirai-export --max-length writes them",
                   plan->phases[p].name, what);
}

static mo_status find_ports(mo_generate_run *g, int p, mo_error *err)
{
    const mo_exec_plan *plan = g->plan;
    const mo_plan_phase_start *first = &plan->phases[p].start;
    const mo_plan_phase_start *end = &plan->phases[p + 1].start;
    mo_generate_ports *ports = &g->phases[p];

    *ports = (mo_generate_ports){ -1, -1, -1, 0 };
    for (int i = first->input; i < end->input; i++) {
        const mo_plan_input *input = &plan->inputs[i];
        const mo_tensor_desc *desc = &input->desc;

        if (input->state)
            continue;
        if (mo_elem_is_float(desc->elem) || desc->elem == MO_ELEM_BOOL)
            return fail_ports(plan, p, "an input that is no integer", err);
        if (desc->shape.rank == 2 && ports->ids < 0)
            ports->ids = i;
        else if (mo_tensor_desc_elements(desc) == 1 && ports->position < 0)
            ports->position = i;
        else
            return fail_ports(plan, p, "other inputs", err);
    }
    for (int i = first->output; i < end->output; i++) {
        if (plan->outputs[i].state)
            continue;
        if (ports->logits >= 0)
            return fail_ports(plan, p, "several outputs", err);
        ports->logits = i;
    }
    if (ports->ids < 0 || ports->position < 0)
        return fail_ports(plan, p, "not both inputs", err);
    if (ports->logits < 0)
        return fail_ports(plan, p, "no output", err);
    ports->tokens = plan->inputs[ports->ids].desc.shape.dims[1];
    return MO_OK;
}

/* The rows of logits are [batch] or [batch, n]. */
static mo_status check_logits(mo_generate_run *g, int p, mo_error *err)
{
    const mo_tensor_desc desc =
        mo_plan_output_desc(g->plan, g->phases[p].logits);
    const mo_shape *shape = &desc.shape;
    int64_t batch = g->plan->inputs[g->phases[p].ids].desc.shape.dims[0];

    if (!mo_elem_is_float(desc.elem) || shape->rank < 2 || shape->rank > 3 ||
        shape->dims[0] != batch || mo_tensor_desc_elements(&desc) == 0)
        return fail_ports(g->plan, p, "an output that is no logits", err);
    if (p == PREFILL) {
        g->batch = batch;
        g->vocabulary = shape->dims[shape->rank - 1];
    }
    if (batch != g->batch || g->vocabulary != shape->dims[shape->rank - 1])
        return mo_fail(err, MO_E_INPUT,
                       "the phases differ in batch or vocabulary");
    return MO_OK;
}

/* The length of the axis along which tokens are written into the states. */
static int64_t find_capacity(const mo_exec_plan *plan)
{
    int64_t capacity = INT64_MAX;

    for (int c = 0; c < plan->n_calls; c++) {
        const mo_call *call = &plan->calls[c].call;

        if (call->kind == MO_CALL_SCATTER &&
            call->u.scatter.kind == MO_CALL_GATHER_AXIS &&
            plan->values[call->out[0]].state)
            capacity = mo_min_i64(capacity, call->u.scatter.axis);
    }
    return capacity;
}

static mo_status check_plan(mo_generate_run *g, int64_t wanted, mo_error *err)
{
    const mo_exec_plan *plan = g->plan;
    mo_status status = MO_OK;
    int64_t prompt;

    if (plan->n_phases != N_PHASES)
        return mo_fail(err, MO_E_SUPPORT,
                       "has %d phases; --generate needs two, for the prompt "
                       "and for one token",
                       plan->n_phases);
    for (int p = 0; p < N_PHASES && status == MO_OK; p++) {
        status = find_ports(g, p, err);
        if (status == MO_OK)
            status = check_logits(g, p, err);
    }
    if (status != MO_OK)
        return status;
    if (g->phases[DECODE].tokens != 1)
        return fail_ports(plan, DECODE, "ids of several tokens", err);
    prompt = g->phases[PREFILL].tokens;
    g->capacity = find_capacity(plan);
    if (wanted - 1 > g->capacity - prompt)
        return mo_fail(err, MO_E_INPUT,
                       "a prompt of %" PRId64 " and %" PRId64 " more tokens "
                       "exceed the capacity of the states, %" PRId64
                       "; give --generate %" PRId64
                       " at most, or export with a larger --max-length",
                       prompt, wanted, g->capacity,
                       mo_max_i64(g->capacity - prompt + 1, 0));
    return MO_OK;
}

static mo_status read_stop_ids(const mo_exec_options *o, mo_generate_run *g,
                               mo_error *err)
{
    g->stop_ids = calloc(o->stop.count + 1, sizeof *g->stop_ids);
    if (!g->stop_ids)
        return mo_fail_memory(err);
    for (size_t i = 0; i < o->stop.count; i++) {
        const char *text = o->stop.items[i];

        if (mo_number_read_int(text, strlen(text), &g->stop_ids[i]) !=
                MO_NUMBER_OK ||
            g->stop_ids[i] < 0)
            return mo_fail(err, MO_E_USAGE,
                           "--stop %.80s is no id of a token; give a number",
                           text);
        g->n_stop_ids++;
    }
    return MO_OK;
}

static mo_status check_id(const mo_generate_run *g, const char *file,
                          int64_t id, mo_error *err)
{
    if (id >= 0 && id < g->vocabulary)
        return MO_OK;
    return mo_fail_at(err, MO_E_INPUT, file, 0,
                      "the prompt has the id %" PRId64
                      ", and the vocabulary ends at %" PRId64,
                      id, g->vocabulary - 1);
}

/* Copies the prompt of the caller. */
static mo_status take_prompt(mo_generate_run *g, mo_error *err)
{
    const mo_tensor_desc *desc = &g->plan->inputs[g->phases[PREFILL].ids].desc;
    char text[MO_TENSOR_DESC_TEXT_SIZE];
    mo_status status;

    if ((uint64_t) mo_tensor_desc_elements(desc) != g->n_given)
        return mo_fail(err, MO_E_INPUT,
                       "a prompt of %zu ids was given; the workload takes %s",
                       g->n_given, mo_tensor_desc_format(desc, text));
    status = mo_tensor_new(desc, &g->prompt, err);
    for (size_t i = 0; i < g->n_given && status == MO_OK; i++) {
        status = check_id(g, NULL, g->given[i], err);
        mo_tensor_set_int(&g->prompt, (int64_t) i, g->given[i]);
    }
    return status;
}

static mo_status make_prompt(const mo_exec_options *o, mo_generate_run *g,
                             mo_error *err)
{
    const mo_plan_input *input = &g->plan->inputs[g->phases[PREFILL].ids];
    int64_t n = mo_tensor_desc_elements(&input->desc);
    mo_status status;

    if (g->given)
        return take_prompt(g, err);
    if (!o->prompt) {
        mo_random random = { (uint64_t) o->seed };

        status = mo_tensor_new(&input->desc, &g->prompt, err);
        for (int64_t i = 0; i < n && status == MO_OK; i++)
            mo_tensor_set_int(
                &g->prompt, i,
                mo_random_below(&random,
                                (int) mo_min_i64(g->vocabulary, 1 << 30)));
        return status;
    }
    status = mo_npy_read(o->prompt, &g->prompt, err);
    if (status == MO_OK)
        status = mo_exec_input_check(input, o->prompt, &g->prompt.desc, err);
    if (status == MO_OK)
        status = mo_exec_input_convert(input, &g->prompt, err);
    for (int64_t i = 0; i < n && status == MO_OK; i++)
        status = check_id(g, o->prompt, mo_tensor_get_int(&g->prompt, i), err);
    return status;
}

static mo_status alloc_inputs(mo_generate_run *g, mo_error *err)
{
    const mo_exec_plan *plan = g->plan;
    const mo_generate_ports *phases = g->phases;
    mo_status status =
        mo_tensor_new(&plan->inputs[phases[DECODE].ids].desc, &g->token, err);

    if (status == MO_OK)
        status = mo_tensor_new(&plan->inputs[phases[PREFILL].position].desc,
                               &g->position, err);
    if (status == MO_OK)
        status = mo_tensor_new(&plan->inputs[phases[DECODE].position].desc,
                               &g->decode_position, err);
    return status;
}

mo_status mo_generate_open(const mo_exec_options *o, const mo_exec_plan *plan,
                           bool speaks, mo_generate_run *g, mo_error *err)
{
    const mo_sampler_options sampling = { .temperature = o->temperature,
                                          .top_k = o->top_k,
                                          .top_p = o->top_p,
                                          .seed = (uint64_t) o->seed };
    size_t n_ids;
    mo_status status;

    g->plan = plan;
    g->n_wanted = o->generate;
    status = check_plan(g, o->generate, err);
    if (status != MO_OK || !speaks)
        return status;
    if (!mo_size_mul((size_t) g->n_wanted, (size_t) g->batch, &n_ids))
        return mo_fail_memory(err);
    g->ids = calloc(n_ids + 1, sizeof *g->ids);
    g->times_ns = calloc((size_t) g->n_wanted + 2, sizeof *g->times_ns);
    g->is_over = calloc((size_t) g->batch + 1, sizeof *g->is_over);
    if (!g->ids || !g->times_ns || !g->is_over)
        return mo_fail_memory(err);
    status = read_stop_ids(o, g, err);
    if (status == MO_OK)
        status = make_prompt(o, g, err);
    if (status == MO_OK)
        status = alloc_inputs(g, err);
    if (status == MO_OK)
        status = mo_sampler_new(&sampling, g->vocabulary, &g->sampler, err);
    return status;
}

void mo_generate_clear(mo_generate_run *g)
{
    mo_tensor_clear(&g->prompt);
    mo_tensor_clear(&g->token);
    mo_tensor_clear(&g->position);
    mo_tensor_clear(&g->decode_position);
    mo_sampler_free(g->sampler);
    free(g->stop_ids);
    free(g->ids);
    free(g->times_ns);
    free(g->is_over);
    *g = (mo_generate_run){ 0 };
}

int mo_generate_phase(void *context, int64_t request)
{
    (void) context;
    return request == 0 ? PREFILL : DECODE;
}

/* The inputs are lent: clearing them frees nothing. */
static mo_tensor_dense lend(const mo_tensor_dense *tensor)
{
    return (mo_tensor_dense){ .desc = tensor->desc, .data = tensor->data };
}

mo_status mo_generate_next(void *context, int64_t request,
                           const atomic_bool *stopped, mo_tensor_dense *inputs,
                           bool *end, mo_error *err)
{
    mo_generate_run *g = context;
    const mo_generate_ports *ports =
        &g->phases[mo_generate_phase(context, request)];

    (void) stopped;
    (void) err;
    if (request >= g->n_wanted || g->n_over == g->batch ||
        g->failure.status != MO_OK) {
        *end = true;
        return MO_OK;
    }
    if (request == 0) {
        g->times_ns[0] = mo_stop_clock_ns();
        inputs[ports->ids] = lend(&g->prompt);
        inputs[ports->position] = lend(&g->position);
        return MO_OK;
    }
    for (int64_t b = 0; b < g->batch; b++)
        mo_tensor_set_int(&g->token, b, g->ids[(request - 1) * g->batch + b]);
    mo_tensor_set_int(&g->decode_position, 0,
                      g->phases[PREFILL].tokens + request - 1);
    inputs[ports->ids] = lend(&g->token);
    inputs[ports->position] = lend(&g->decode_position);
    return MO_OK;
}

static bool is_stop(const mo_generate_run *g, int64_t id)
{
    for (size_t i = 0; i < g->n_stop_ids; i++)
        if (g->stop_ids[i] == id)
            return true;
    return false;
}

/* A sequence that is over repeats the id that has ended it. */
static mo_status choose_ids(mo_generate_run *g, int64_t step,
                            const mo_tensor_dense *logits, mo_error *err)
{
    int64_t row = mo_tensor_desc_elements(&logits->desc) / g->batch;
    int64_t *ids = g->ids + step * g->batch;

    for (int64_t b = 0; b < g->batch; b++) {
        if (g->is_over[b]) {
            ids[b] = ids[b - g->batch];
            continue;
        }
        ids[b] = mo_sampler_choose(g->sampler, logits,
                                   (b + 1) * row - g->vocabulary);
        if (ids[b] < 0)
            return mo_fail(err, MO_E_INPUT,
                           "token %" PRId64 ": no logit is a number; look for "
                           "NaN in the weights, or take --precision f32",
                           step);
        g->is_over[b] = is_stop(g, ids[b]);
        g->n_over += g->is_over[b];
    }
    return MO_OK;
}

mo_status mo_generate_take(void *context, int64_t request,
                           const mo_tensor_dense *outputs,
                           const mo_error *failure, mo_error *err)
{
    mo_generate_run *g = context;
    const mo_generate_ports *ports =
        &g->phases[mo_generate_phase(context, request)];
    mo_status status;

    if (failure) {
        g->failure = *failure;
        return mo_fail(err, failure->status, "token %" PRId64 ": %s", request,
                       failure->text);
    }
    status = choose_ids(g, request, &outputs[ports->logits], err);
    if (status != MO_OK)
        return status;
    g->times_ns[request + 1] = mo_stop_clock_ns();
    g->n = request + 1;
    return g->on_ids ? g->on_ids(g->context, g->ids + request * g->batch,
                                 g->batch, err)
                     : MO_OK;
}
