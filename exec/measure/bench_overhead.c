/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/measure/bench_overhead.h"

#include <stdlib.h>
#include <time.h>

#include "base/arena.h"
#include "base/minmax.h"
#include "exec/runtime/pipeline/pipeline.h"

/*
 * The plan: HOPS calls, by turns on both devices, each a copy of some time. In
 * between, where bytes is not 0, a transfer to the device of the next call.
 */
enum {
    HOPS = 16,
    DEVICES = 2,
    SMALL = 4 << 10,
    LARGE = 256 << 10,
    ELEMENTS = 1 << 16, /* of the copies */
    REQUESTS = 120,
    REPEATS = 3
};

typedef struct hop_plan {
    mo_exec_plan plan;
    mo_plan_device devices[DEVICES];
    mo_plan_step steps[DEVICES][4 * HOPS];
    mo_plan_value values[2 * DEVICES + 2 * HOPS];
    mo_plan_call calls[HOPS];
    mo_plan_transfer transfers[HOPS];
    mo_call_copy_box box;
    int operands[2 * DEVICES]; /* what is copied, and where to */
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

static void add_transfer(hop_plan *h, int hop, int64_t bytes)
{
    int t = h->plan.n_transfers++, from = hop % DEVICES, to = 1 - from;
    int64_t elements = bytes / (int64_t) sizeof(float);
    int sent = add_value(h, from, elements), got = add_value(h, to, elements);

    h->values[got].transfer = t;
    h->transfers[t] =
        (mo_plan_transfer){ sent, got, from, to, bytes, MO_PLAN_NONE };
    add_step(h, to, MO_PLAN_STEP_RECEIVE, t, 3 * hop + 1);
    add_step(h, from, MO_PLAN_STEP_SEND, t, 3 * hop + 1);
    add_step(h, to, MO_PLAN_STEP_AWAIT, t, 3 * hop + 2);
}

static void fill_plan(hop_plan *h, int64_t bytes)
{
    static const char *const ids[DEVICES] = { "first", "second" };

    h->plan = (mo_exec_plan){ .n_devices = DEVICES,
                              .n_calls = HOPS,
                              .devices = h->devices,
                              .values = h->values,
                              .calls = h->calls,
                              .transfers = h->transfers };
    h->box = (mo_call_copy_box){ .rank = 1,
                                 .extent = { ELEMENTS },
                                 .in_stride = { 1 },
                                 .out_stride = { 1 } };
    for (int d = 0; d < DEVICES; d++) {
        h->devices[d] = (mo_plan_device){ .id = ids[d],
                                          .steps = h->steps[d],
                                          .capacity_bytes = INT64_MAX };
        h->operands[2 * d] = add_value(h, d, ELEMENTS);
        h->operands[2 * d + 1] = add_value(h, d, ELEMENTS);
    }
    for (int i = 0; i < HOPS; i++) {
        int d = i % DEVICES;

        h->calls[i] = (mo_plan_call){ .call = { .kind = MO_CALL_COPY,
                                                .n_in = 1,
                                                .n_out = 1,
                                                .first_extra = 1,
                                                .in = &h->operands[2 * d],
                                                .out = &h->operands[2 * d + 1],
                                                .u.copy = { &h->box, 1, -1 } },
                                      .item = MO_PLAN_NONE,
                                      .timed_as = MO_PLAN_NONE,
                                      .device = d };
        add_step(h, d, MO_PLAN_STEP_COMPUTE, i, 3 * i);
        if (bytes > 0)
            add_transfer(h, i, bytes);
    }
    for (int t = 0; t < h->plan.n_transfers; t++)
        add_step(h, h->transfers[t].from, MO_PLAN_STEP_AWAIT, t, 3 * HOPS + t);
}

static mo_status no_inputs(void *context, int64_t request,
                           mo_tensor_dense *inputs, mo_error *err)
{
    (void) context, (void) request, (void) inputs, (void) err;
    return MO_OK;
}

/* Processor time of this process. */
static int64_t process_ns(void)
{
    struct timespec t = { 0 };

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t) t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Processor time of so many requests. */
static mo_status measure_stream(const hop_plan *h,
                                const mo_backend_unit_options *units,
                                int in_flight, int64_t n, int64_t *ns,
                                mo_error *err)
{
    static const int rank_of[DEVICES] = { 0 };
    const mo_backend *backends[DEVICES] = { &mo_backend_cpu, &mo_backend_cpu };
    const mo_transport_world_options world_options = { 0 };
    mo_run_plan_options run = { .transport = &mo_transport_local,
                                .backends = backends,
                                .units = units,
                                .rank_of = rank_of,
                                .runs = 1 };
    const mo_pipeline_options options = { .run = &run,
                                          .n_slots = in_flight,
                                          .n_requests = n,
                                          .source = no_inputs,
                                          .sink = mo_pipeline_discard_outputs };
    mo_pipeline_result result = { 0 };
    mo_status status = mo_transport_local.open(&world_options, &run.world, err);
    int64_t begun_ns = process_ns();

    if (status != MO_OK)
        return status;
    status = mo_pipeline_run(&h->plan, &options, &result, err);
    *ns = process_ns() - begun_ns;
    mo_pipeline_result_clear(&result);
    mo_transport_local.close(run.world);
    return status;
}

/* Processor time of a request: the median of several streams, less the start,
 * which is that of a stream of few requests. */
static mo_status measure_request(const mo_backend_unit_options *units,
                                 int in_flight, int64_t bytes,
                                 double *request_ns, mo_error *err)
{
    hop_plan *h = calloc(1, sizeof *h);
    int64_t ns[REPEATS] = { 0 }, few_ns = 0;
    mo_status status = h ? MO_OK : mo_fail_memory(err);

    if (h)
        fill_plan(h, bytes);
    if (status == MO_OK)
        status = measure_stream(h, units, in_flight, in_flight, &few_ns, err);
    for (int i = 0; i < REPEATS && status == MO_OK; i++)
        status = measure_stream(h, units, in_flight, in_flight + REQUESTS,
                                &ns[i], err);
    qsort(ns, REPEATS, sizeof *ns, mo_compare_i64);
    *request_ns = (double) (ns[REPEATS / 2] - few_ns) / REQUESTS;
    free(h);
    return status;
}

mo_status mo_measure_overhead_run(const mo_backend_unit_options *units,
                                  int in_flight, mo_measure_overhead *measured,
                                  mo_error *err)
{
    double alone_ns, small_ns, large_ns, byte_ns;
    mo_status status = measure_request(units, in_flight, 0, &alone_ns, err);

    if (status == MO_OK)
        status = measure_request(units, in_flight, SMALL, &small_ns, err);
    if (status == MO_OK)
        status = measure_request(units, in_flight, LARGE, &large_ns, err);
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
