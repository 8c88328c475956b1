/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/measure/bench.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/minmax.h"

/*
 * The plan of the benchmark: pair by pair, size by size, each message several
 * times. A token from the receiver precedes each message: a sender that is
 * ahead would copy before the receiver begins to wait, and the time would lack
 * that copy. Between two pairs a token goes from the last receiver to both of
 * the next: no two pairs are ever busy at the same time.
 */
static const int64_t sizes[] = { 1 << 10,   4 << 10, 16 << 10, 64 << 10,
                                 256 << 10, 1 << 20, 4 << 20,  16 << 20 };

enum {
    N_SIZES = sizeof sizes / sizeof *sizes,
    TOKEN_SIZE = 0, /* index of a token's size */
    LARGEST = 16 << 20,
    DEFAULT_REPEATS = 15,
    /* Larger messages vary less and are sent less often, so that those of two
     * devices fit into shared memory. */
    MANY_UP_TO = 1 << 20,
    FEWER = 3
};

/* The steps of a message. */
typedef struct sample {
    int transfer;
    int send, receive, arrival; /* steps of its sender and its receiver */
} sample;

typedef struct work {
    const mo_measure_links_options *options;
    int repeats, n_pairs;
    mo_exec_plan *plan;
    sample *samples; /* by pair, size, repeat */
    int n_samples;
} work;

static int repeats_of(const work *w, int size)
{
    return sizes[size] <= MANY_UP_TO ? w->repeats
                                     : (w->repeats + FEWER - 1) / FEWER;
}

/* Values of a device: for each size one to send and one to receive. */
static int value_index(int device, int size, bool received)
{
    return (device * N_SIZES + size) * 2 + received;
}

static void fill_value(mo_exec_plan *plan, int device, int size, bool received)
{
    plan->values[value_index(device, size, received)] = (mo_plan_value){
        .name = received ? "received" : "sent",
        .desc = { MO_ELEM_U8, { 1, { sizes[size] } } },
        .device = device,
        .view_of = MO_PLAN_NONE,
        .input = MO_PLAN_NONE,
        .transfer = MO_PLAN_NONE,
        .offset = received ? LARGEST : 0,
    };
}

static int append_step(mo_exec_plan *plan, int device, mo_plan_step_kind kind,
                       int what)
{
    mo_plan_device *d = &plan->devices[device];

    d->steps[d->n_steps] = (mo_plan_step){ kind, what, 2 * what };
    d->steps[d->n_steps].order += kind == MO_PLAN_STEP_AWAIT;
    return d->n_steps++;
}

static sample append_message(mo_exec_plan *plan, int from, int to, int size)
{
    int t = plan->n_transfers++;
    sample s = { .transfer = t };

    plan->transfers[t] = (mo_plan_transfer){ value_index(from, size, false),
                                             value_index(to, size, true),
                                             from,
                                             to,
                                             sizes[size],
                                             MO_PLAN_NONE };
    s.send = append_step(plan, from, MO_PLAN_STEP_SEND, t);
    s.receive = append_step(plan, to, MO_PLAN_STEP_RECEIVE, t);
    append_step(plan, from, MO_PLAN_STEP_AWAIT, t);
    s.arrival = append_step(plan, to, MO_PLAN_STEP_AWAIT, t);
    return s;
}

static void append_token(mo_exec_plan *plan, int holder, int next)
{
    if (holder >= 0 && holder != next)
        append_message(plan, holder, next, TOKEN_SIZE);
}

static mo_status make_devices(work *w, size_t n_steps, mo_error *err)
{
    mo_exec_plan *plan = w->plan;

    for (int d = 0; d < plan->n_devices; d++) {
        mo_plan_device *device = &plan->devices[d];

        device->id = w->options->ids[d];
        device->arena_bytes = (int64_t) 2 * LARGEST;
        device->capacity_bytes = INT64_MAX;
        device->steps =
            mo_arena_array(plan->arena, n_steps, sizeof *device->steps);
        if (!device->steps)
            return mo_fail_memory(err);
        for (int size = 0; size < N_SIZES; size++) {
            fill_value(plan, d, size, false);
            fill_value(plan, d, size, true);
        }
    }
    return MO_OK;
}

static mo_status make_plan(work *w, mo_error *err)
{
    mo_arena *arena = mo_arena_new();
    mo_exec_plan *plan = arena ? mo_arena_alloc(arena, sizeof *plan) : NULL;
    size_t n_devices = (size_t) w->options->n_devices;
    size_t per_pair = (size_t) N_SIZES * (size_t) w->repeats;
    size_t n_messages = (size_t) w->n_pairs * (2 * per_pair + 2);
    mo_status status;

    w->plan = plan;
    if (!plan) {
        mo_arena_free(arena);
        return mo_fail_memory(err);
    }
    plan->arena = arena;
    plan->n_devices = w->options->n_devices;
    plan->n_values = plan->n_devices * N_SIZES * 2;
    plan->devices = mo_arena_array(arena, n_devices, sizeof *plan->devices);
    plan->values =
        mo_arena_array(arena, (size_t) plan->n_values, sizeof *plan->values);
    plan->transfers =
        mo_arena_array(arena, n_messages, sizeof *plan->transfers);
    w->samples = mo_arena_array(arena, n_messages, sizeof *w->samples);
    if (!plan->devices || !plan->values || !plan->transfers || !w->samples)
        return mo_fail_memory(err);
    /* A device takes part in two pairs with each other one, and in tokens. */
    status = make_devices(
        w, 2 * n_devices * 4 * per_pair + 6 * (size_t) w->n_pairs, err);
    if (status == MO_OK) {
        int n = w->options->n_devices, holder = -1;

        for (int from = 0; from < n; from++)
            for (int to = 0; to < n; to++) {
                if (from == to)
                    continue;
                append_token(w->plan, holder, from);
                append_token(w->plan, holder, to);
                for (int size = 0; size < N_SIZES; size++)
                    for (int i = 0; i < repeats_of(w, size); i++) {
                        append_token(w->plan, to, from);
                        w->samples[w->n_samples++] =
                            append_message(w->plan, from, to, size);
                    }
                holder = to;
            }
    }
    return status;
}

static mo_measure_link_row
summarize_message(const work *w, const mo_run_result *result, int from, int to,
                  const sample *samples, int size, int64_t *sorted)
{
    const mo_run_plan_options *run = w->options->run;
    int n = repeats_of(w, size);

    for (int i = 0; i < n; i++) {
        const sample *s = &samples[i];
        int64_t sent = result->steps[from][s->send].begin_ns;
        int64_t expected = result->steps[to][s->receive].begin_ns;
        int64_t begun = mo_max_i64(sent, expected);
        int64_t arrived = result->steps[to][s->arrival].end_ns;

        sorted[i] = arrived > begun ? arrived - begun : 0;
    }
    qsort(sorted, (size_t) n, sizeof *sorted, mo_compare_i64);
    return (mo_measure_link_row){
        .from = from,
        .to = to,
        .bytes = sizes[size],
        .median_ns = sorted[(n - 1) / 2],
        .spread_ns = sorted[(n - 1) * 3 / 4] - sorted[(n - 1) / 4],
        .count = n,
        .path = run->transport->path
                    ? run->transport->path(run->world, samples->transfer)
                    : mo_transport_local.name
    };
}

static mo_status summarize_messages(const work *w, const mo_run_result *result,
                                    mo_measure_link_row **rows, int *n_rows,
                                    mo_error *err)
{
    mo_measure_link_row *made =
        calloc((size_t) w->n_pairs * N_SIZES + 1, sizeof *made);
    int64_t *sorted = calloc((size_t) w->repeats, sizeof *sorted);
    const sample *samples = w->samples;
    int n = 0, n_devices = w->options->n_devices;

    if (!made || !sorted) {
        free(made);
        free(sorted);
        return mo_fail_memory(err);
    }
    for (int from = 0; from < n_devices; from++)
        for (int to = 0; to < n_devices; to++)
            for (int size = 0; from != to && size < N_SIZES; size++) {
                made[n++] = summarize_message(w, result, from, to, samples,
                                              size, sorted);
                samples += repeats_of(w, size);
            }
    free(sorted);
    *rows = made;
    *n_rows = n;
    return MO_OK;
}

mo_status mo_measure_links(const mo_measure_links_options *options,
                           mo_measure_link_row **rows, int *n_rows,
                           mo_error *err)
{
    mo_run_plan_options run = *options->run;
    mo_run_result result = { 0 };
    work w = { .options = options };
    mo_status status;

    *rows = NULL;
    *n_rows = 0;
    w.repeats = options->repeats > 0 ? options->repeats : DEFAULT_REPEATS;
    w.n_pairs = options->n_devices * (options->n_devices - 1);
    run.inputs = NULL;
    run.warm_ups = run.runs = 1;
    run.trace = true;
    status = make_plan(&w, err);
    if (status == MO_OK)
        status = mo_run_plan(w.plan, &run, &result, err);
    if (status == MO_OK && result.n_runs > 0 &&
        run.transport->rank(run.world) == 0)
        status = summarize_messages(&w, &result, rows, n_rows, err);
    mo_run_result_clear(&result);
    if (w.plan)
        mo_arena_free(w.plan->arena);
    return status;
}
