/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/request_batches.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "base/stop.h"

/* A request; one that cannot be read has an error. */
typedef struct member {
    int64_t request;
    int phase;               /* of its own shape */
    mo_tensor_dense *inputs; /* until they are concatenated; NULL: a failure */
    mo_error *failure;
} member;

typedef struct batch {
    member *members;
    size_t n, room;
    int n_read; /* members without a failure */
    int phase;
} batch;

struct mo_exec_batches {
    mo_exec_requests *requests;
    int64_t most, wait_ns;
    int64_t next_request;
    member pending; /* read, and of another shape than the last batch */
    bool has_pending;
    mo_tensor_dense *inputs; /* by input of the plan: of the next request */
    mo_tensor_dense *slices; /* by output of a phase */
    batch batches[MO_EXEC_REQUEST_PHASES]; /* by number, modulo their number */
    mo_exec_batch_counts counts;
};

/* Whether `one` has the first dimension 1, and `many` is its batch of n > 0, or
 * of any n, which is set. */
static bool is_batch(const mo_tensor_desc *one, const mo_tensor_desc *many,
                     int64_t *n)
{
    size_t rest = sizeof one->shape.dims[0];

    if (one->elem != many->elem || one->shape.rank != many->shape.rank ||
        one->shape.rank < 1 || one->shape.dims[0] != 1 ||
        many->shape.dims[0] < 1 || (*n > 0 && many->shape.dims[0] != *n))
        return false;
    *n = many->shape.dims[0];
    rest *= (size_t) one->shape.rank - 1;
    return memcmp(one->shape.dims + 1, many->shape.dims + 1, rest) == 0;
}

/* Returns how many requests of phase p a run of phase q takes: 0 or more. */
static int64_t count_taken(const mo_exec_requests *r, int p, int q)
{
    const mo_exec_plan *one = mo_exec_requests_part(r, p);
    const mo_exec_plan *many = mo_exec_requests_part(r, q);
    int64_t n = 0;
    bool fits = true;

    for (int i = 0; i < one->n_inputs && fits; i++)
        fits = is_batch(&one->inputs[i].desc, &many->inputs[i].desc, &n);
    for (int i = 0; i < one->n_outputs && fits; i++) {
        const mo_tensor_desc a = mo_plan_output_desc(one, i);
        const mo_tensor_desc b = mo_plan_output_desc(many, i);

        fits = is_batch(&a, &b, &n);
    }
    return fits ? n : 0;
}

/* Returns the phase of the smallest batch of n requests of phase p, or p where
 * there is none, which *taken are run by. */
static int find_batch(const mo_exec_requests *r, int p, int64_t n,
                      int64_t *taken)
{
    int best = p;

    *taken = 1;
    for (int q = 0; q < r->whole->n_phases; q++) {
        int64_t takes = count_taken(r, p, q);

        if (takes >= n && (*taken < n || takes < *taken)) {
            best = q;
            *taken = takes;
        }
    }
    return best;
}

/* Returns the most requests of phase p that a batch has, up to most. */
static int64_t find_limit(const mo_exec_requests *r, int p, int64_t most)
{
    int64_t limit = 1;

    for (int q = 0; q < r->whole->n_phases; q++)
        limit = mo_max_i64(limit, count_taken(r, p, q));
    return mo_min_i64(limit, most);
}

mo_status mo_exec_batches_new(mo_exec_requests *requests, int64_t most,
                              double wait_us, mo_exec_batches **batches,
                              mo_error *err)
{
    const mo_exec_plan *plan = requests->whole;
    mo_exec_batches *made;
    bool any = false;

    for (int p = 0; p < plan->n_phases; p++)
        any |= find_limit(requests, p, most) > 1;
    if (!any)
        return mo_fail(err, MO_E_USAGE,
                       "--batch needs a placement for the batch 1 and larger "
                       "ones, the first dimension of all inputs and outputs; "
                       "place it with --shape, as in 'ids=1,32;4,32;8,32'");
    made = calloc(1, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    made->requests = requests;
    made->most = most;
    made->wait_ns = (int64_t) (wait_us * 1000);
    made->inputs = calloc((size_t) plan->n_inputs + 1, sizeof *made->inputs);
    made->slices = calloc((size_t) plan->n_outputs + 1, sizeof *made->slices);
    if (!made->inputs || !made->slices) {
        mo_exec_batches_free(made);
        return mo_fail_memory(err);
    }
    *batches = made;
    return MO_OK;
}

static void clear_inputs(const mo_exec_requests *r, member *m)
{
    for (int i = 0; m->inputs && i < r->plan->n_inputs; i++)
        mo_tensor_clear(&m->inputs[i]);
    free(m->inputs);
    m->inputs = NULL;
}

static void clear_batch(const mo_exec_requests *r, batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        clear_inputs(r, &b->members[i]);
        free(b->members[i].failure);
    }
    free(b->members);
    *b = (batch){ .n = 0 };
}

void mo_exec_batches_free(mo_exec_batches *b)
{
    if (!b)
        return;
    for (int i = 0; i < MO_EXEC_REQUEST_PHASES; i++)
        clear_batch(b->requests, &b->batches[i]);
    if (b->has_pending)
        clear_inputs(b->requests, &b->pending);
    free(b->inputs);
    free(b->slices);
    free(b);
}

mo_exec_batch_counts mo_exec_batches_count(const mo_exec_batches *b)
{
    return b->counts;
}

int mo_exec_batches_phase(void *context, int64_t number)
{
    const mo_exec_batches *b = context;

    return b->batches[number % MO_EXEC_REQUEST_PHASES].phase;
}

/* Reads the next request into *m; *end: there is none. */
static mo_status read_member(mo_exec_batches *b, const atomic_bool *stopped,
                             member *m, bool *end, mo_error *err)
{
    mo_exec_requests *r = b->requests;
    size_t n = (size_t) r->plan->n_inputs;
    mo_error why = { 0 };
    mo_status got;

    *m = (member){ .request = b->next_request };
    *end = b->next_request >= r->n;
    if (*end)
        return MO_OK;
    got = mo_exec_requests_from_stdin(r->options)
              ? mo_exec_requests_next(r, m->request, stopped, b->inputs, end,
                                      &why)
              : mo_exec_requests_read(r, m->request, b->inputs, &why);
    if (got == MO_OK && !*end) {
        m->phase = mo_exec_requests_phase(r, m->request);
        m->inputs = calloc(n + 1, sizeof *m->inputs);
        if (m->inputs) {
            mo_tensor_dense *from =
                b->inputs + r->whole->phases[m->phase].start.input;

            memcpy(m->inputs, from, n * sizeof *from);
            memset(from, 0, n * sizeof *from);
        }
    } else if (!*end) {
        m->failure = malloc(sizeof *m->failure);
        if (m->failure)
            *m->failure = why;
    }
    for (int i = 0; i < r->whole->n_inputs; i++)
        mo_tensor_clear(&b->inputs[i]);
    b->next_request += !*end;
    return *end || m->inputs || m->failure ? MO_OK : mo_fail_memory(err);
}

/* Takes requests for a batch. */
static mo_status gather(mo_exec_batches *b, const atomic_bool *stopped,
                        batch *to, mo_error *err)
{
    mo_exec_requests *r = b->requests;
    int64_t limit = 1, deadline_ns = 0;
    mo_status status = MO_OK;
    int base = 0;

    while (to->n_read < limit && status == MO_OK) {
        member m = b->pending;
        bool end = false;

        if (to->n > 0 && mo_exec_requests_from_stdin(r->options) &&
            !mo_exec_stream_is_ready(&r->stream, deadline_ns, stopped))
            break;
        if (!b->has_pending)
            status = read_member(b, stopped, &m, &end, err);
        b->has_pending = false;
        if (status != MO_OK || end)
            break;
        if (m.inputs && to->n_read > 0 && m.phase != base) {
            b->pending = m;
            b->has_pending = true;
            break;
        }
        if (m.inputs && to->n_read == 0) {
            base = m.phase;
            limit = find_limit(r, base, b->most);
        }
        if (to->n == 0)
            deadline_ns = mo_stop_clock_ns() + b->wait_ns;
        to->n_read += m.inputs != NULL;
        status = MO_ARRAY_GROW(to->members, to->n, to->room, err);
        if (status == MO_OK)
            to->members[to->n++] = m;
        else {
            clear_inputs(r, &m);
            free(m.failure);
        }
    }
    return status;
}

/* Concatenates the inputs of the members; rows that are left are those of the
 * last one. */
static mo_status concatenate(const mo_exec_requests *r, batch *b,
                             mo_tensor_dense *inputs, mo_error *err)
{
    const mo_exec_plan *plan = mo_exec_requests_part(r, b->phase);
    mo_status status = MO_OK;

    for (int i = 0; i < plan->n_inputs && status == MO_OK; i++) {
        char *to;
        int64_t left = plan->inputs[i].desc.shape.dims[0], bytes = 0;
        const void *last = NULL;

        status = mo_tensor_new(&plan->inputs[i].desc, &inputs[i], err);
        to = inputs[i].data;
        for (size_t k = 0; k < b->n && status == MO_OK; k++) {
            const member *m = &b->members[k];

            if (!m->inputs)
                continue;
            last = m->inputs[i].data;
            bytes = mo_tensor_desc_bytes(&m->inputs[i].desc);
            memcpy(to, last, (size_t) bytes);
            to += bytes;
            left--;
        }
        for (; left > 0 && status == MO_OK; left--, to += bytes)
            memcpy(to, last, (size_t) bytes);
    }
    return status;
}

mo_status mo_exec_batches_next(void *context, int64_t number,
                               const atomic_bool *stopped,
                               mo_tensor_dense *inputs, bool *end,
                               mo_error *err)
{
    mo_exec_batches *b = context;
    mo_exec_requests *r = b->requests;
    batch *to = &b->batches[number % MO_EXEC_REQUEST_PHASES];
    const member *first = NULL;
    int64_t taken;
    mo_status status;

    clear_batch(r, to);
    status = gather(b, stopped, to, err);
    *end = status == MO_OK && to->n == 0;
    if (status != MO_OK || *end)
        return status;
    for (size_t k = 0; k < to->n && !first; k++)
        first = to->members[k].inputs ? &to->members[k] : NULL;
    if (!first) {
        if (err)
            *err = *to->members[0].failure;
        return to->members[0].failure->status;
    }
    to->phase = find_batch(r, first->phase, to->n_read, &taken);
    inputs += r->whole->phases[to->phase].start.input;
    if (to->phase == first->phase)
        for (int i = 0; i < r->plan->n_inputs; i++) {
            inputs[i] = first->inputs[i];
            first->inputs[i] = (mo_tensor_dense){ .own = false };
        }
    else
        status = concatenate(r, to, inputs, err);
    for (size_t k = 0; k < to->n; k++) {
        bool was_read = to->members[k].inputs != NULL;

        clear_inputs(r, &to->members[k]);
        to->members[k].phase = was_read ? first->phase : -1;
    }
    return status;
}

mo_status mo_exec_batches_write(void *context, int64_t number,
                                const mo_tensor_dense *outputs,
                                const mo_error *failure, mo_error *err)
{
    mo_exec_batches *b = context;
    const mo_exec_requests *r = b->requests;
    batch *from = &b->batches[number % MO_EXEC_REQUEST_PHASES];
    int64_t row = 0;
    mo_status status = MO_OK;

    if (outputs)
        outputs += r->whole->phases[from->phase].start.output;
    b->counts.n_batches += from->n_read > 0;
    for (size_t k = 0; k < from->n && status == MO_OK; k++) {
        const member *m = &from->members[k];
        const mo_error *why = m->failure ? m->failure : failure;

        for (int i = 0; i < r->plan->n_outputs && !why; i++) {
            mo_tensor_desc desc = outputs[i].desc;

            if (from->n_read > 1)
                desc.shape.dims[0] = 1;
            b->slices[i] = (mo_tensor_dense){
                .desc = desc,
                .data = (char *) outputs[i].data +
                        row * mo_tensor_desc_bytes(&desc),
            };
        }
        row += !m->failure;
        b->counts.n_requests++;
        b->counts.n_completed += !why;
        status = mo_exec_requests_deliver(b->requests, m->request,
                                          why ? NULL : b->slices, why, err);
    }
    clear_batch(r, from);
    return status;
}
