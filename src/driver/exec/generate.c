/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/exec/generate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/minmax.h"
#include "base/number.h"
#include "base/random.h"
#include "base/stop.h"
#include "exec/plan/ir/value_table.h"
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

static bool has_state(const mo_exec_plan *plan, int value, const char *state)
{
    const char *own =
        plan->values[mo_plan_value_root(plan->values, value)].state;

    return own && strcmp(own, state) == 0;
}

/* Whether the first phase reads the state, not only to update it. */
static bool is_read(const mo_exec_plan *plan, const char *state)
{
    const mo_plan_phase_start *end = &plan->phases[PREFILL + 1].start;

    for (int c = 0; c < end->call; c++) {
        const mo_call *call = &plan->calls[c].call;
        bool updates = call->n_out > 0 && has_state(plan, call->out[0], state);

        for (int i = 0; i < call->n_in && !updates; i++)
            if (has_state(plan, call->in[i], state))
                return true;
    }
    for (int t = 0; t < end->transfer; t++)
        if (has_state(plan, plan->transfers[t].from_value, state))
            return true;
    return false;
}

/* Whether the first phase continues what is in the states: if not, it is only
 * right for the first tokens. */
static bool continues(const mo_exec_plan *plan)
{
    int n = plan->phases[PREFILL + 1].start.output;

    for (int i = 0; i < n; i++)
        if (plan->outputs[i].state && !is_read(plan, plan->outputs[i].state))
            return false;
    return true;
}

/* Whether the state is written by position: again by the same tokens changes
 * nothing, and no token attends to what is behind it. */
static bool is_by_position(const mo_exec_plan *plan, const char *state)
{
    for (int c = 0; c < plan->phases[PREFILL + 1].start.call; c++) {
        const mo_call *call = &plan->calls[c].call;

        if (call->kind == MO_CALL_SCATTER &&
            call->u.scatter.kind == MO_CALL_GATHER_AXIS &&
            has_state(plan, call->out[0], state))
            return true;
    }
    return false;
}

static bool repeats(const mo_exec_plan *plan)
{
    int n = plan->phases[PREFILL + 1].start.output;

    for (int i = 0; i < n; i++)
        if (plan->outputs[i].state &&
            !is_by_position(plan, plan->outputs[i].state))
            return false;
    return true;
}

static mo_status check_plan(mo_generate_run *g, mo_error *err)
{
    const mo_exec_plan *plan = g->plan;
    mo_status status = MO_OK;

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
    g->capacity = find_capacity(plan);
    return MO_OK;
}

static mo_status check_capacity(const mo_generate_run *g, mo_error *err)
{
    if (g->n_wanted - 1 <= g->capacity - g->n_prompt)
        return MO_OK;
    if (g->n_prompt > g->capacity)
        return mo_fail(err, MO_E_INPUT,
                       "a prompt of %" PRId64 " exceeds the capacity of the "
                       "states, %" PRId64 "; shorten it, or export with a "
                       "larger --max-length, or place with a larger "
                       "--context",
                       g->n_prompt, g->capacity);
    return mo_fail(err, MO_E_INPUT,
                   "a prompt of %" PRId64 " and %" PRId64 " more tokens "
                   "exceed the capacity of the states, %" PRId64
                   "; give --generate %" PRId64
                   " at most, or export with a larger --max-length, or place "
                   "with a larger --context",
                   g->n_prompt, g->n_wanted, g->capacity,
                   g->capacity - g->n_prompt + 1);
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
            g->stop_ids[i] < 0 || g->stop_ids[i] >= g->vocabulary)
            return mo_fail(err, MO_E_USAGE,
                           "--stop %.80s is no id of a token; give a number "
                           "from 0 to %" PRId64,
                           text, g->vocabulary - 1);
        g->n_stop_ids++;
    }
    return MO_OK;
}

/* Divides the tokens of a sequence that are not in the states into runs. Those
 * that do not fill one go through the first phase behind tokens that have been
 * there before; if there are none, but for the last one, before any others; or,
 * where that takes longer, one by one. */
static mo_status divide_prompt(mo_generate_run *g, mo_error *err)
{
    const mo_plan_phase *phases = g->plan->phases;
    int64_t most = g->phases[PREFILL].tokens;
    int64_t n = g->n_prompt - g->n_past, rest;
    bool is_short = g->n_prompt < most, all = continues(g->plan);

    g->n_filling = n / most;
    if (!all)
        g->n_filling = g->n_past > 0 ? 0 : mo_min_i64(g->n_filling, 1);
    g->n_filled = g->n_filling * most;
    rest = n - g->n_filled - is_short;
    if (all && repeats(g->plan) && g->n_past + most <= g->capacity &&
        phases[PREFILL].predicted_ns < rest * phases[DECODE].predicted_ns) {
        g->n_filling++;
        g->n_filled += rest;
    }
    g->n_before = g->n_filling + n - g->n_filled - 1;
    return check_capacity(g, err);
}

static mo_status alloc_inputs(mo_generate_run *g, mo_error *err)
{
    mo_status status = MO_OK;

    for (int p = 0; p < N_PHASES && status == MO_OK; p++) {
        const mo_plan_input *inputs = g->plan->inputs;

        status =
            mo_tensor_new(&inputs[g->phases[p].ids].desc, &g->inputs[p], err);
        if (status == MO_OK)
            status = mo_tensor_new(&inputs[g->phases[p].position].desc,
                                   &g->positions[p], err);
    }
    return status;
}

mo_status mo_generate_open(const mo_exec_options *o, const mo_exec_job *job,
                           bool speaks, mo_generate_run *g, mo_error *err)
{
    const mo_sampler_options sampling = { .temperature = o->temperature,
                                          .top_k = o->top_k,
                                          .top_p = o->top_p,
                                          .seed = (uint64_t) o->seed };
    size_t n_ids;
    mo_status status;

    g->plan = job->plan;
    g->n_wanted = o->generate;
    if (o->load_states || o->save_states)
        g->weights = mo_exec_job_weights(o, job);
    status = o->load_states
                 ? mo_generate_check_model(o->load_states, g->weights, err)
                 : MO_OK;
    if (status == MO_OK)
        status = check_plan(g, err);
    if (status == MO_OK && o->save_states && !o->dry_run)
        status = mo_generate_make_folder(o->save_states,
                                         speaks ? &g->lock : NULL, err);
    if (status != MO_OK || !speaks)
        return status;
    status = read_stop_ids(o, g, err);
    if (status == MO_OK)
        status = mo_generate_make_prompt(o, g, err);
    if (status == MO_OK)
        status = divide_prompt(g, err);
    if (status != MO_OK)
        return status;
    if (!mo_size_mul((size_t) g->n_wanted, (size_t) g->batch, &n_ids))
        return mo_fail_memory(err);
    g->ids = calloc(n_ids + 1, sizeof *g->ids);
    g->times_ns = calloc((size_t) g->n_wanted + 2, sizeof *g->times_ns);
    g->is_over = calloc((size_t) g->batch + 1, sizeof *g->is_over);
    if (!g->ids || !g->times_ns || !g->is_over)
        return mo_fail_memory(err);
    status = alloc_inputs(g, err);
    if (status == MO_OK)
        status = mo_sampler_new(&sampling, g->vocabulary, &g->sampler, err);
    return status;
}

void mo_generate_clear(mo_generate_run *g)
{
    mo_tensor_clear(&g->prompt);
    for (int p = 0; p < N_PHASES; p++) {
        mo_tensor_clear(&g->inputs[p]);
        mo_tensor_clear(&g->positions[p]);
    }
    if (g->lock > 0)
        close(g->lock);
    mo_sampler_free(g->sampler);
    free(g->stop_ids);
    free(g->ids);
    free(g->times_ns);
    free(g->is_over);
    *g = (mo_generate_run){ 0 };
}

int64_t mo_generate_n_requests(const mo_generate_run *g)
{
    return g->n_before + g->n_wanted;
}

int64_t mo_generate_predicted_first_ns(const mo_generate_run *g)
{
    const mo_plan_phase *phases = g->plan->phases;

    return g->n_filling * phases[PREFILL].predicted_ns +
           (g->n_before + 1 - g->n_filling) * phases[DECODE].predicted_ns;
}

int mo_generate_phase(void *context, int64_t request)
{
    const mo_generate_run *g = context;

    return request < g->n_filling ? PREFILL : DECODE;
}

/* Returns the number of tokens before those of a request. */
static int64_t count_before(const mo_generate_run *g, int64_t request)
{
    int64_t most = g->phases[PREFILL].tokens;

    if (request >= g->n_filling)
        return g->n_past + g->n_filled + request - g->n_filling;
    if (g->n_prompt < most)
        return g->n_past;
    return mo_min_i64(g->n_past + request * most, g->n_prompt - most);
}

/* Sets the ids of a run of phase p behind `before` tokens: those of the prompt,
 * or the last that was chosen. */
static void set_inputs(mo_generate_run *g, int p, int64_t before)
{
    int64_t n = g->phases[p].tokens;

    for (int64_t b = 0; b < g->batch; b++)
        for (int64_t i = 0; i < n; i++) {
            int64_t at = p == PREFILL ? mo_min_i64(before + i, g->n_prompt - 1)
                                      : before + i;
            int64_t id =
                at < g->n_prompt
                    ? mo_tensor_get_int(&g->prompt, b * g->n_prompt + at)
                    : g->ids[(at - g->n_prompt) * g->batch + b];

            mo_tensor_set_int(&g->inputs[p], b * n + i, id);
        }
    mo_tensor_set_int(&g->positions[p], 0, before);
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
    int p = mo_generate_phase(context, request);

    (void) stopped;
    (void) err;
    if (request >= mo_generate_n_requests(g) || g->n_over == g->batch ||
        g->failure.status != MO_OK) {
        *end = true;
        return MO_OK;
    }
    if (request == 0)
        g->times_ns[0] = mo_stop_clock_ns();
    set_inputs(g, p, count_before(g, request));
    inputs[g->phases[p].ids] = lend(&g->inputs[p]);
    inputs[g->phases[p].position] = lend(&g->positions[p]);
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
    int64_t token = request - g->n_before;
    int p = mo_generate_phase(context, request);
    mo_status status;

    if (failure) {
        g->failure = *failure;
        return mo_fail(err, failure->status, "token %" PRId64 ": %s",
                       mo_max_i64(token, 0), failure->text);
    }
    if (token < 0)
        return MO_OK;
    status = choose_ids(g, token, &outputs[g->phases[p].logits], err);
    if (status != MO_OK)
        return status;
    g->times_ns[token + 1] = mo_stop_clock_ns();
    g->n = token + 1;
    return g->on_ids
               ? g->on_ids(g->context, g->ids + token * g->batch, g->batch, err)
               : MO_OK;
}
