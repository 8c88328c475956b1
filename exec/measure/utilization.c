/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/measure/utilization.h"
#include "base/minmax.h"

#include <math.h>
#include <stdlib.h>

/* Timestamps of a transfer in the run. */
typedef struct transfer_times {
    int64_t sent, received; /* post of each end */
    int64_t waited;         /* begin of the receiver's await */
    int64_t there;          /* its end */
    int64_t sender_await;   /* begin of the sender's await, */
    int64_t sender_done;    /* and its end */
} transfer_times;

/* The times at which the streams of a device are free. */
typedef struct clocks {
    int64_t streams[MO_PLAN_MAX_STREAMS];
} clocks;

typedef struct simulation {
    const mo_exec_plan *plan;
    const mo_run_result *result;
    transfer_times *transfers; /* by transfer, measured */
    int64_t *begun;            /* by transfer, simulated: both ends posted */
    int64_t *ended;            /* by call, simulated */
    clocks *clocks;            /* by device, simulated */
    int *next;                 /* by device: its next step */
    mo_run_step *calls;        /* of the current device */
} simulation;

static double fraction(double amount, double whole)
{
    return whole > 0 ? amount / whole : NAN;
}

static void record_step(simulation *w, int device, int i)
{
    const mo_plan_step *step = &w->plan->devices[device].steps[i];
    const mo_run_step *time = &w->result->steps[device][i];

    if (step->kind == MO_PLAN_STEP_SEND)
        w->transfers[step->what].sent = time->begin_ns;
    if (step->kind == MO_PLAN_STEP_RECEIVE)
        w->transfers[step->what].received = time->begin_ns;
    if (step->kind != MO_PLAN_STEP_AWAIT)
        return;
    if (w->plan->transfers[step->what].to == device) {
        w->transfers[step->what].waited = time->begin_ns;
        w->transfers[step->what].there = time->end_ns;
    } else {
        w->transfers[step->what].sender_await = time->begin_ns;
        w->transfers[step->what].sender_done = time->end_ns;
    }
}

/* From the post of both ends until one end continues. */
static int64_t transfer_duration(const transfer_times *t, int64_t end)
{
    return mo_max_i64(end - mo_max_i64(t->sent, t->received), 0);
}

/* A sender may await long after the arrival. */
static int64_t end_duration(const simulation *w, int transfer, int device)
{
    const transfer_times *t = &w->transfers[transfer];
    bool sending = w->plan->transfers[transfer].from == device;

    return transfer_duration(
        t, sending && t->sender_await < t->there ? t->sender_done : t->there);
}

/* The device with the first next step in the total order; MO_PLAN_NONE at
 * the end. */
static int next_device(const simulation *w)
{
    int best = MO_PLAN_NONE, order = 0;

    for (int k = 0; k < w->plan->n_devices; k++) {
        const mo_plan_device *device = &w->plan->devices[k];

        if (w->next[k] == device->n_steps)
            continue;
        if (best == MO_PLAN_NONE || device->steps[w->next[k]].order < order) {
            best = k;
            order = device->steps[w->next[k]].order;
        }
    }
    return best;
}

/* The simulation follows plan.h, where each step blocks those behind it.
 * Devices driven together have fewer dependencies
 * (exec/runtime/joint/dependencies.c): so no step is simulated later than it
 * was measured. */
static void simulate_call(simulation *w, int device, int call,
                          const mo_run_step *time)
{
    const mo_plan_call *it = &w->plan->calls[call];
    int64_t *clock = &w->clocks[device].streams[it->stream];

    for (int i = 0; i < it->n_depends_on; i++)
        *clock = mo_max_i64(*clock, w->ended[it->depends_on[i]]);
    *clock = mo_min_i64(*clock, time->begin_ns) + time->end_ns - time->begin_ns;
    w->ended[call] = *clock;
}

static int64_t latest_stream(const clocks *c)
{
    int64_t last = 0;

    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        last = mo_max_i64(last, c->streams[i]);
    return last;
}

/* Begins when all calls before it are complete; those behind it come after. */
static void simulate_transfer(simulation *w, int device,
                              const mo_plan_step *step, const mo_run_step *time)
{
    int64_t clock = latest_stream(&w->clocks[device]);

    if (step->kind == MO_PLAN_STEP_AWAIT)
        clock = mo_max_i64(clock, w->begun[step->what] +
                                      end_duration(w, step->what, device));
    else
        w->begun[step->what] =
            mo_max_i64(w->begun[step->what], mo_min_i64(clock, time->begin_ns));
    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        w->clocks[device].streams[i] = clock;
}

static double path_ratio(simulation *w)
{
    int64_t longest = 0;

    for (int k = next_device(w); k != MO_PLAN_NONE; k = next_device(w)) {
        int i = w->next[k]++;
        const mo_plan_step *step = &w->plan->devices[k].steps[i];
        const mo_run_step *time = &w->result->steps[k][i];

        if (step->kind == MO_PLAN_STEP_COMPUTE)
            simulate_call(w, k, step->what, time);
        else
            simulate_transfer(w, k, step, time);
        longest = mo_max_i64(longest, latest_stream(&w->clocks[k]));
    }
    return fraction((double) longest, (double) w->result->median_ns);
}

/* Calls in isolation may be slower than concurrent ones. */
static double chain_ratio(const mo_run_result *result)
{
    int64_t chain_ns = mo_min_i64(result->chain_ns, result->median_ns);

    return fraction((double) chain_ns, (double) result->median_ns);
}

/* From the first begin to the last end. Steps need not begin in their order: a
 * receive begins with its send, maybe long after calls that come behind it. */
static int64_t window_ns(const mo_run_step *steps, int n)
{
    int64_t begin = INT64_MAX, end = INT64_MIN;

    for (int i = 0; i < n; i++) {
        begin = mo_min_i64(begin, steps[i].begin_ns);
        end = mo_max_i64(end, steps[i].end_ns);
    }
    return n > 0 ? end - begin : 0;
}

static int compare_steps(const void *a, const void *b)
{
    const mo_run_step *x = a, *y = b;

    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static int collect_calls(const simulation *w, int device)
{
    const mo_plan_device *on = &w->plan->devices[device];
    int n = 0;

    for (int i = 0; i < on->n_steps; i++)
        if (on->steps[i].kind == MO_PLAN_STEP_COMPUTE)
            w->calls[n++] = w->result->steps[device][i];
    qsort(w->calls, (size_t) n, sizeof *w->calls, compare_steps);
    return n;
}

/* The union of the intervals of all calls; concurrent ones count once. */
static int64_t call_union_ns(const simulation *w, int device)
{
    int n = collect_calls(w, device);
    int64_t sum = 0, until = INT64_MIN;

    for (int i = 0; i < n; i++) {
        int64_t begin = mo_max_i64(w->calls[i].begin_ns, until);

        sum += mo_max_i64(w->calls[i].end_ns - begin, 0);
        until = mo_max_i64(until, w->calls[i].end_ns);
    }
    return sum;
}

static double kernel_ratio(const simulation *w)
{
    double calls = 0, window = 0;

    for (int k = 0; k < w->plan->n_devices; k++) {
        calls += (double) call_union_ns(w, k);
        window += (double) window_ns(w->result->steps[k],
                                     w->plan->devices[k].n_steps);
    }
    return fraction(calls, window);
}

static double hidden_ratio(const simulation *w, int64_t *transfer_ns)
{
    double all = 0, waited = 0;

    for (int t = 0; t < w->plan->n_transfers; t++) {
        const transfer_times *at = &w->transfers[t];
        int64_t idle = mo_max_i64(at->there - at->waited, 0);
        int64_t took = transfer_duration(at, at->there);

        all += (double) took;
        waited += (double) mo_min_i64(idle, took);
    }
    *transfer_ns = (int64_t) all;
    return fraction(all - waited, all);
}

static size_t max_steps(const mo_exec_plan *plan)
{
    int most = 0;

    for (int k = 0; k < plan->n_devices; k++)
        if (plan->devices[k].n_steps > most)
            most = plan->devices[k].n_steps;
    return (size_t) most;
}

static bool has_steps(const mo_exec_plan *plan, const mo_run_result *result)
{
    for (int k = 0; k < plan->n_devices; k++)
        if (!result->steps ||
            (plan->devices[k].n_steps > 0 && !result->steps[k]))
            return false;
    return true;
}

mo_status mo_measure_utilization_of_run(const mo_exec_plan *plan,
                                        const mo_run_result *result,
                                        mo_measure_utilization *ratios,
                                        mo_error *err)
{
    size_t transfers = (size_t) plan->n_transfers + 1;
    size_t devices = (size_t) plan->n_devices + 1;
    simulation w = { plan,
                     result,
                     calloc(transfers, sizeof *w.transfers),
                     calloc(transfers, sizeof *w.begun),
                     calloc((size_t) plan->n_calls + 1, sizeof *w.ended),
                     calloc(devices, sizeof *w.clocks),
                     calloc(devices, sizeof *w.next),
                     calloc(max_steps(plan) + 1, sizeof *w.calls) };
    bool done =
        w.transfers && w.begun && w.ended && w.clocks && w.next && w.calls;

    *ratios = (mo_measure_utilization){ NAN, NAN, NAN, 0 };
    if (done && has_steps(plan, result)) {
        for (int k = 0; k < w.plan->n_devices; k++)
            for (int i = 0; i < w.plan->devices[k].n_steps; i++)
                record_step(&w, k, i);
        ratios->path =
            result->chain_ns > 0 ? chain_ratio(result) : path_ratio(&w);
        ratios->kernel = kernel_ratio(&w);
        ratios->hidden = hidden_ratio(&w, &ratios->transfer_ns);
    }
    free(w.transfers);
    free(w.begun);
    free(w.ended);
    free(w.clocks);
    free(w.next);
    free(w.calls);
    return done ? MO_OK : mo_fail_memory(err);
}
