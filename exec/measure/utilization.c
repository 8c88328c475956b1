/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/measure/run_analysis.h"
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

/* From the post of both ends until one end continues. */
static int64_t transfer_duration(const transfer_times *t, int64_t end)
{
    return mo_max_i64(end - mo_max_i64(t->sent, t->received), 0);
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

static int64_t latest_stream(const clocks *c)
{
    int64_t last = 0;

    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        last = mo_max_i64(last, c->streams[i]);
    return last;
}

/* The simulation follows plan.h, where each step blocks those behind it.
 * Devices driven together have fewer dependencies
 * (exec/runtime/joint/dependencies.c): so no step is simulated later than it
 * was measured. */
static double path_ratio(simulation *w)
{
    int64_t longest = 0;

    for (int k = next_device(w); k != MO_PLAN_NONE; k = next_device(w)) {
        int i = w->next[k]++;
        const mo_plan_step *step = &w->plan->devices[k].steps[i];
        const mo_run_step *time = &w->result->steps[k][i];
        int64_t *streams = w->clocks[k].streams, clock;

        if (step->kind == MO_PLAN_STEP_COMPUTE) {
            const mo_plan_call *it = &w->plan->calls[step->what];

            clock = streams[it->stream];
            for (int c = 0; c < it->n_depends_on; c++)
                clock = mo_max_i64(clock, w->ended[it->depends_on[c]]);
            clock = mo_min_i64(clock, time->begin_ns) + time->end_ns -
                    time->begin_ns;
            w->ended[step->what] = streams[it->stream] = clock;
        } else {
            const transfer_times *t = &w->transfers[step->what];
            bool sending = w->plan->transfers[step->what].from == k;
            int64_t *begun = &w->begun[step->what];

            /* Begins when all calls before it are complete; those behind it
             * come after. */
            clock = latest_stream(&w->clocks[k]);
            if (step->kind != MO_PLAN_STEP_AWAIT)
                *begun = mo_max_i64(*begun, mo_min_i64(clock, time->begin_ns));
            else /* A sender may await long after the arrival. */
                clock = mo_max_i64(
                    clock, *begun + transfer_duration(
                                        t, sending && t->sender_await < t->there
                                               ? t->sender_done
                                               : t->there));
            for (int s = 0; s < MO_PLAN_MAX_STREAMS; s++)
                streams[s] = clock;
        }
        longest = mo_max_i64(longest, latest_stream(&w->clocks[k]));
    }
    return fraction((double) longest, (double) w->result->median_ns);
}

static int compare_steps(const void *a, const void *b)
{
    const mo_run_step *x = a, *y = b;

    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* The union of the intervals of all calls, where concurrent ones count once,
 * over the time from the first begin to the last end. Steps need not begin in
 * their order: a receive begins with its send, maybe long after calls that come
 * behind it. */
static double kernel_ratio(const simulation *w)
{
    double calls = 0, window = 0;

    for (int k = 0; k < w->plan->n_devices; k++) {
        const mo_plan_device *on = &w->plan->devices[k];
        int64_t begin = INT64_MAX, end = INT64_MIN, until = INT64_MIN;
        int n = 0;

        for (int i = 0; i < on->n_steps; i++) {
            const mo_run_step *step = &w->result->steps[k][i];

            begin = mo_min_i64(begin, step->begin_ns);
            end = mo_max_i64(end, step->end_ns);
            if (on->steps[i].kind == MO_PLAN_STEP_COMPUTE)
                w->calls[n++] = *step;
        }
        window += on->n_steps > 0 ? (double) (end - begin) : 0;
        qsort(w->calls, (size_t) n, sizeof *w->calls, compare_steps);
        for (int i = 0; i < n; i++) {
            int64_t from = mo_max_i64(w->calls[i].begin_ns, until);

            calls += (double) mo_max_i64(w->calls[i].end_ns - from, 0);
            until = mo_max_i64(until, w->calls[i].end_ns);
        }
    }
    return fraction(calls, window);
}

/* Sets the measured times of transfers. */
static void record_transfers(simulation *w, int device)
{
    const mo_plan_device *on = &w->plan->devices[device];

    for (int i = 0; i < on->n_steps; i++) {
        const mo_plan_step *step = &on->steps[i];
        const mo_run_step *time = &w->result->steps[device][i];
        transfer_times *t;

        if (step->kind == MO_PLAN_STEP_COMPUTE)
            continue;
        t = &w->transfers[step->what];
        if (step->kind == MO_PLAN_STEP_SEND)
            t->sent = time->begin_ns;
        if (step->kind == MO_PLAN_STEP_RECEIVE)
            t->received = time->begin_ns;
        if (step->kind != MO_PLAN_STEP_AWAIT)
            continue;
        if (w->plan->transfers[step->what].to == device) {
            t->waited = time->begin_ns;
            t->there = time->end_ns;
        } else {
            t->sender_await = time->begin_ns;
            t->sender_done = time->end_ns;
        }
    }
}

mo_status mo_measure_utilization_of_run(const mo_exec_plan *plan,
                                        const mo_run_result *result,
                                        mo_measure_utilization *ratios,
                                        mo_error *err)
{
    size_t transfers = (size_t) plan->n_transfers + 1;
    size_t devices = (size_t) plan->n_devices + 1;
    bool done, has_steps = true;
    simulation w;
    int most = 0;

    for (int k = 0; k < plan->n_devices; k++) {
        most = mo_max_int(most, plan->devices[k].n_steps);
        has_steps &= result->steps &&
                     (plan->devices[k].n_steps == 0 || result->steps[k]);
    }
    w = (simulation){ plan,
                      result,
                      calloc(transfers, sizeof *w.transfers),
                      calloc(transfers, sizeof *w.begun),
                      calloc((size_t) plan->n_calls + 1, sizeof *w.ended),
                      calloc(devices, sizeof *w.clocks),
                      calloc(devices, sizeof *w.next),
                      calloc((size_t) most + 1, sizeof *w.calls) };
    done = w.transfers && w.begun && w.ended && w.clocks && w.next && w.calls;
    *ratios = (mo_measure_utilization){ NAN, NAN, NAN, 0, 0 };
    if (done && has_steps) {
        for (int k = 0; k < plan->n_devices; k++)
            record_transfers(&w, k);
        /* Calls in isolation may be slower than concurrent ones. */
        ratios->path = result->chain_ns > 0
                           ? fraction((double) mo_min_i64(result->chain_ns,
                                                          result->median_ns),
                                      (double) result->median_ns)
                           : path_ratio(&w);
        ratios->kernel = kernel_ratio(&w);

        int64_t *transfer_ns = &ratios->transfer_ns;
        double all = 0, waited = 0;

        for (int t = 0; t < w.plan->n_transfers; t++) {
            const transfer_times *at = &w.transfers[t];
            int64_t idle = mo_max_i64(at->there - at->waited, 0);
            int64_t took = transfer_duration(at, at->there);

            all += (double) took;
            waited += (double) mo_min_i64(idle, took);
        }
        *transfer_ns = (int64_t) all;
        ratios->exposed_ns = (int64_t) waited;
        ratios->hidden = fraction(all - waited, all);
    }
    free(w.transfers);
    free(w.begun);
    free(w.ended);
    free(w.clocks);
    free(w.next);
    free(w.calls);
    return done ? MO_OK : mo_fail_memory(err);
}
