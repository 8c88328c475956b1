/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/measure/bench.h"

#include <stdlib.h>
#include <time.h>

#include "base/arena.h"
#include "base/minmax.h"
#include "exec/runtime/pipeline/pipeline.h"

/*
 * The plan: HOPS calls, by turns on both devices, each a copy of some time. In
 * between, where bytes is not 0, a transfer to the device of the next call.
 *
 * That of the host is a chain of small copies, from an input to an output, on
 * one device, or by turns on both with a transfer between any two.
 */
enum {
    HOPS = 16,
    DEVICES = 2,
    SMALL = 4 << 10,
    LARGE = 256 << 10,
    ELEMENTS = 1 << 16, /* of the copies */
    REQUESTS = 120,
    REPEATS = 3,
    HOST_ELEMENTS = 1 << 10, /* so few that a copy is hidden by its launch */
    HOST_REQUESTS = 4000,    /* at most, and for so long */
    HOST_NS = 200000000
};

typedef struct hop_plan {
    mo_exec_plan plan;
    mo_plan_device devices[DEVICES];
    mo_plan_step steps[DEVICES][4 * HOPS];
    mo_plan_value values[2 * DEVICES + 2 * HOPS];
    mo_plan_call calls[HOPS];
    mo_plan_transfer transfers[HOPS];
    mo_call_copy_box box;
    int operands[2 * HOPS]; /* what is copied, and where to */
    mo_plan_input input;
    mo_plan_output output;
} hop_plan;

static int add_value(hop_plan *h, int device, int64_t elements)
{
    int v = h->plan.n_values++;
    int64_t bytes = elements * (int64_t) sizeof(float);

    h->values[v] = (mo_plan_value){
        .name = "copy",
        .desc = { MO_ELEM_F32, { 1, { elements } } },
        .device = device,
        .view_of = MO_PLAN_NONE,
        .input = MO_PLAN_NONE,
        .transfer = MO_PLAN_NONE,
        .item = MO_PLAN_NONE,
        .offset = h->devices[device].arena_bytes,
    };
    h->devices[device].arena_bytes += (bytes + 63) / 64 * 64;
    return v;
}

static void add_step(hop_plan *h, int device, mo_plan_step_kind kind, int what,
                     int order)
{
    mo_plan_device *d = &h->devices[device];

    d->steps[d->n_steps++] = (mo_plan_step){ kind, what, order };
}

static void add_transfer(hop_plan *h, int hop, int sent, int got)
{
    int t = h->plan.n_transfers++, from = hop % DEVICES, to = 1 - from;
    int64_t bytes = mo_tensor_desc_bytes(&h->values[sent].desc);

    h->values[got].transfer = t;
    h->transfers[t] =
        (mo_plan_transfer){ sent, got, from, to, bytes, MO_PLAN_NONE };
    add_step(h, to, MO_PLAN_STEP_RECEIVE, t, 3 * hop + 1);
    add_step(h, from, MO_PLAN_STEP_SEND, t, 3 * hop + 1);
    add_step(h, to, MO_PLAN_STEP_AWAIT, t, 3 * hop + 2);
}

static void begin_plan(hop_plan *h, int n_calls, int64_t elements)
{
    static const char *const ids[DEVICES] = { "first", "second" };

    h->plan = (mo_exec_plan){ .n_devices = DEVICES,
                              .n_calls = n_calls,
                              .devices = h->devices,
                              .values = h->values,
                              .calls = h->calls,
                              .transfers = h->transfers };
    h->box = (mo_call_copy_box){ .rank = 1,
                                 .extent = { elements },
                                 .in_stride = { 1 },
                                 .out_stride = { 1 } };
    for (int d = 0; d < DEVICES; d++)
        h->devices[d] = (mo_plan_device){ .id = ids[d],
                                          .steps = h->steps[d],
                                          .capacity_bytes = INT64_MAX };
}

/* operands: what is copied, and where to. */
static void add_call(hop_plan *h, int i, int device, int *operands)
{
    h->calls[i] = (mo_plan_call){ .call = { .kind = MO_CALL_COPY,
                                            .n_in = 1,
                                            .n_out = 1,
                                            .first_extra = 1,
                                            .in = operands,
                                            .out = operands + 1,
                                            .u.copy = { &h->box, 1, -1 } },
                                  .item = MO_PLAN_NONE,
                                  .timed_as = MO_PLAN_NONE,
                                  .device = device };
    add_step(h, device, MO_PLAN_STEP_COMPUTE, i, 3 * i);
}

static void await_sent(hop_plan *h)
{
    for (int t = 0; t < h->plan.n_transfers; t++)
        add_step(h, h->transfers[t].from, MO_PLAN_STEP_AWAIT, t,
                 3 * h->plan.n_calls + t);
}

static mo_status make_inputs(void *context, int64_t request,
                             mo_tensor_dense *inputs, mo_error *err)
{
    const hop_plan *h = context;

    (void) request;
    return h->plan.n_inputs > 0 ? mo_tensor_new(&h->input.desc, inputs, err)
                                : MO_OK;
}

/* Processor time of this process. */
static int64_t process_ns(void)
{
    struct timespec t = { 0 };

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t) t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Two devices, and how many requests are in flight. */
typedef struct device_pair {
    const mo_backend *backend;
    const mo_backend_unit_options *units;
    int in_flight;
} device_pair;

/* Processor time of so many requests, and their period; either may be NULL. */
static mo_status measure_stream(hop_plan *h, const device_pair *on, int64_t n,
                                int64_t *ns, int64_t *period_ns, mo_error *err)
{
    static const int rank_of[DEVICES] = { 0 };
    const mo_backend *backends[DEVICES] = { on->backend, on->backend };
    const mo_transport_world_options world_options = { 0 };
    mo_run_plan_options run = { .transport = &mo_transport_local,
                                .backends = backends,
                                .units = on->units,
                                .rank_of = rank_of,
                                .runs = 1 };
    const mo_pipeline_options options = { .run = &run,
                                          .n_slots = on->in_flight,
                                          .n_requests = n,
                                          .source = make_inputs,
                                          .sink = mo_pipeline_discard_outputs,
                                          .context = h };
    mo_pipeline_result result = { 0 };
    mo_status status = mo_transport_local.open(&world_options, &run.world, err);
    int64_t begun_ns = process_ns();

    if (status != MO_OK)
        return status;
    status = mo_pipeline_run(&h->plan, &options, &result, err);
    if (ns)
        *ns = process_ns() - begun_ns;
    if (period_ns)
        *period_ns = result.period_ns;
    mo_pipeline_result_clear(&result);
    mo_transport_local.close(run.world);
    return status;
}

/* Processor time of a request: the median of several streams, less the start,
 * which is that of a stream of few requests. */
static mo_status measure_request(const device_pair *on, int64_t bytes,
                                 double *request_ns, mo_error *err)
{
    hop_plan *h = calloc(1, sizeof *h);
    int64_t ns[REPEATS] = { 0 }, few_ns = 0;
    mo_status status = h ? MO_OK : mo_fail_memory(err);

    if (h) {
        int64_t elements = bytes / (int64_t) sizeof(float);

        begin_plan(h, HOPS, ELEMENTS);
        for (int d = 0; d < DEVICES; d++) {
            h->operands[2 * d] = add_value(h, d, ELEMENTS);
            h->operands[2 * d + 1] = add_value(h, d, ELEMENTS);
        }
        for (int i = 0; i < HOPS; i++) {
            int d = i % DEVICES;

            add_call(h, i, d, &h->operands[2 * d]);
            if (bytes > 0) {
                int sent = add_value(h, d, elements);

                add_transfer(h, i, sent, add_value(h, 1 - d, elements));
            }
        }
        await_sent(h);
    }
    if (status == MO_OK)
        status = measure_stream(h, on, on->in_flight, &few_ns, NULL, err);
    for (int i = 0; i < REPEATS && status == MO_OK; i++)
        status =
            measure_stream(h, on, on->in_flight + REQUESTS, &ns[i], NULL, err);
    qsort(ns, REPEATS, sizeof *ns, mo_compare_i64);
    *request_ns = (double) (ns[REPEATS / 2] - few_ns) / REQUESTS;
    free(h);
    return status;
}

mo_status mo_measure_overhead_run(const mo_backend_unit_options *units,
                                  int in_flight, mo_measure_overhead *measured,
                                  mo_error *err)
{
    const device_pair on = { &mo_backend_cpu, units, in_flight };
    double alone_ns, small_ns, large_ns, byte_ns;
    mo_status status = measure_request(&on, 0, &alone_ns, err);

    if (status == MO_OK)
        status = measure_request(&on, SMALL, &small_ns, err);
    if (status == MO_OK)
        status = measure_request(&on, LARGE, &large_ns, err);
    if (status != MO_OK)
        return status;
    small_ns = mo_max_double(small_ns - alone_ns, 0) / (2 * HOPS);
    large_ns = mo_max_double(large_ns - alone_ns, 0) / (2 * HOPS);
    byte_ns = mo_max_double(large_ns - small_ns, 0) / (LARGE - SMALL);
    *measured = (mo_measure_overhead){
        .overhead_us = mo_max_double(small_ns - byte_ns * SMALL, 0) / 1000,
        .copy_gbs = byte_ns > 1e-3 ? 1 / byte_ns : 0,
    };
    return MO_OK;
}

/* The period of a short stream gives the length of the one that counts. */
static mo_status measure_chain(const device_pair *on, int n_calls,
                               int n_devices, int64_t *period_ns, mo_error *err)
{
    hop_plan *h = calloc(1, sizeof *h);
    int64_t n = 8 * on->in_flight;
    mo_status status;

    if (!h)
        return mo_fail_memory(err);

    int read;

    begin_plan(h, n_calls, HOST_ELEMENTS);
    read = add_value(h, 0, HOST_ELEMENTS);
    h->values[read].input = 0;
    for (int i = 0; i < n_calls; i++) {
        int d = i % n_devices, made = add_value(h, d, HOST_ELEMENTS);

        h->operands[2 * i] = read;
        h->operands[2 * i + 1] = read = made;
        add_call(h, i, d, &h->operands[2 * i]);
        if (n_devices > 1 && i + 1 < n_calls) {
            read = add_value(h, 1 - d, HOST_ELEMENTS);
            add_transfer(h, i, made, read);
        }
    }
    await_sent(h);
    h->input = (mo_plan_input){ .name = "input",
                                .desc = h->values[h->operands[0]].desc,
                                .values = &h->operands[0],
                                .n_values = 1 };
    h->output = (mo_plan_output){ .name = "output", .value = read };
    h->plan.inputs = &h->input;
    h->plan.outputs = &h->output;
    h->plan.n_inputs = h->plan.n_outputs = 1;
    status = measure_stream(h, on, n, NULL, period_ns, err);
    n = mo_min_i64(HOST_NS / mo_max_i64(*period_ns, 1), HOST_REQUESTS);
    if (status == MO_OK && n > 8 * on->in_flight)
        status = measure_stream(h, on, n, NULL, period_ns, err);
    free(h);
    return status;
}

/* us of each of n, by which one period is longer than another. */
static double difference_us(int64_t longer_ns, int64_t ns, int n)
{
    return mo_max_double((double) (longer_ns - ns), 0) / n / 1000;
}

mo_status mo_measure_host_run(const mo_backend *backend,
                              const mo_backend_unit_options *units,
                              int in_flight, mo_measure_host *measured,
                              mo_error *err)
{
    const device_pair on = { backend, units, in_flight };
    int64_t one_ns = 0, calls_ns = 0, hops_ns = 0;
    mo_status status = measure_chain(&on, 1, 1, &one_ns, err);

    if (status == MO_OK)
        status = measure_chain(&on, HOPS, 1, &calls_ns, err);
    if (status == MO_OK)
        status = measure_chain(&on, HOPS, DEVICES, &hops_ns, err);
    if (status == MO_OK)
        *measured = (mo_measure_host){
            .request_us = (double) one_ns / 1000,
            .call_us = difference_us(calls_ns, one_ns, HOPS - 1),
            .transfer_us = difference_us(hops_ns, calls_ns, HOPS - 1),
        };
    return status;
}
