/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/measure/utilization.h"

#include <math.h>
#include <stdlib.h>

/* Moments of a transfer in the run. */
typedef struct way {
    int64_t sent, received; /* when each end began */
    int64_t waited;         /* when the receiver had nothing else to do */
    int64_t there;          /* when it went on */
    int64_t asked;          /* when the sender wanted its memory back, */
    int64_t gone;           /* and when it had it */
} way;

/* When each lane of a device is free. */
typedef struct clocks {
    int64_t streams[MO_PLAN_MAX_STREAMS];
} clocks;

typedef struct walk {
    const mo_exec_plan *plan;
    const mo_run_result *result;
    way *ways;          /* by transfer, as measured */
    int64_t *begun;     /* by transfer, as walked: when both ends had begun */
    int64_t *ended;     /* by call, as walked */
    clocks *clocks;     /* by device, as walked */
    int *next;          /* by device: its next step */
    mo_run_step *calls; /* of the device at hand */
} walk;

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static double part(double amount, double whole)
{
    return whole > 0 ? amount / whole : NAN;
}

static void note_step(walk *w, int device, int i)
{
    const mo_plan_step *step = &w->plan->devices[device].steps[i];
    const mo_run_step *time = &w->result->steps[device][i];

    if (step->kind == MO_PLAN_STEP_SEND)
        w->ways[step->what].sent = time->begin_ns;
    if (step->kind == MO_PLAN_STEP_RECEIVE)
        w->ways[step->what].received = time->begin_ns;
    if (step->kind != MO_PLAN_STEP_AWAIT)
        return;
    if (w->plan->transfers[step->what].to == device) {
        w->ways[step->what].waited = time->begin_ns;
        w->ways[step->what].there = time->end_ns;
    } else {
        w->ways[step->what].asked = time->begin_ns;
        w->ways[step->what].gone = time->end_ns;
    }
}

static void note_ways(walk *w)
{
    for (int k = 0; k < w->plan->n_devices; k++)
        for (int i = 0; i < w->plan->devices[k].n_steps; i++)
            note_step(w, k, i);
}

/* Until one end went on, from when both had begun. */
static int64_t duration(const way *t, int64_t end)
{
    return larger(end - larger(t->sent, t->received), 0);
}

/* A sender may ask long after it was over. */
static int64_t duration_at(const walk *w, int transfer, int device)
{
    const way *t = &w->ways[transfer];
    bool sending = w->plan->transfers[transfer].from == device;

    return duration(t, sending && t->asked < t->there ? t->gone : t->there);
}

/* The device whose next step is the first of all; MO_PLAN_NONE at the end. */
static int next_device(const walk *w)
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

/* The walk is by plan.h, where each step holds up those behind it.  Devices
 * that are driven together are held up by less (run_joint_waits.c): so nothing
 * is walked through later than it was. */
static void do_call(walk *w, int device, int call, const mo_run_step *time)
{
    const mo_plan_call *it = &w->plan->calls[call];
    int64_t *clock = &w->clocks[device].streams[it->stream];

    for (int i = 0; i < it->n_depends_on; i++)
        *clock = larger(*clock, w->ended[it->depends_on[i]]);
    *clock = smaller(*clock, time->begin_ns) + time->end_ns - time->begin_ns;
    w->ended[call] = *clock;
}

static int64_t latest(const clocks *c)
{
    int64_t last = 0;

    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        last = larger(last, c->streams[i]);
    return last;
}

/* Begins when all calls before it are done; those behind it come after. */
static void do_transfer(walk *w, int device, const mo_plan_step *step,
                        const mo_run_step *time)
{
    int64_t clock = latest(&w->clocks[device]);

    if (step->kind == MO_PLAN_STEP_AWAIT)
        clock = larger(clock, w->begun[step->what] +
                                  duration_at(w, step->what, device));
    else
        w->begun[step->what] =
            larger(w->begun[step->what], smaller(clock, time->begin_ns));
    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        w->clocks[device].streams[i] = clock;
}

static void do_step(walk *w, int device)
{
    int i = w->next[device]++;
    const mo_plan_step *step = &w->plan->devices[device].steps[i];
    const mo_run_step *time = &w->result->steps[device][i];

    if (step->kind == MO_PLAN_STEP_COMPUTE)
        do_call(w, device, step->what, time);
    else
        do_transfer(w, device, step, time);
}

static double path_ratio(walk *w)
{
    int64_t longest = 0;

    for (int k = next_device(w); k != MO_PLAN_NONE; k = next_device(w)) {
        do_step(w, k);
        longest = larger(longest, latest(&w->clocks[k]));
    }
    return part((double) longest, (double) w->result->median_ns);
}

/* By themselves calls may be slower than side by side. */
static double chain_ratio(const mo_run_result *result)
{
    int64_t chain_ns = smaller(result->chain_ns, result->median_ns);

    return part((double) chain_ns, (double) result->median_ns);
}

/* From when the first of them begins until all are over.  Steps need not begin
 * in their order: a receive begins when its sender does, maybe long after calls
 * that come behind it. */
static int64_t window_of(const mo_run_step *steps, int n)
{
    int64_t begin = INT64_MAX, end = INT64_MIN;

    for (int i = 0; i < n; i++) {
        begin = smaller(begin, steps[i].begin_ns);
        end = larger(end, steps[i].end_ns);
    }
    return n > 0 ? end - begin : 0;
}

static int compare_steps(const void *a, const void *b)
{
    const mo_run_step *x = a, *y = b;

    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static int list_calls(const walk *w, int device)
{
    const mo_plan_device *on = &w->plan->devices[device];
    int n = 0;

    for (int i = 0; i < on->n_steps; i++)
        if (on->steps[i].kind == MO_PLAN_STEP_COMPUTE)
            w->calls[n++] = w->result->steps[device][i];
    qsort(w->calls, (size_t) n, sizeof *w->calls, compare_steps);
    return n;
}

/* While a call ran; several side by side count once. */
static int64_t time_of_calls(const walk *w, int device)
{
    int n = list_calls(w, device);
    int64_t sum = 0, until = INT64_MIN;

    for (int i = 0; i < n; i++) {
        int64_t begin = larger(w->calls[i].begin_ns, until);

        sum += larger(w->calls[i].end_ns - begin, 0);
        until = larger(until, w->calls[i].end_ns);
    }
    return sum;
}

static double kernel_ratio(const walk *w)
{
    double calls = 0, window = 0;

    for (int k = 0; k < w->plan->n_devices; k++) {
        calls += (double) time_of_calls(w, k);
        window += (double) window_of(w->result->steps[k],
                                     w->plan->devices[k].n_steps);
    }
    return part(calls, window);
}

static double hidden_ratio(const walk *w)
{
    double all = 0, waited = 0;

    for (int t = 0; t < w->plan->n_transfers; t++) {
        const way *at = &w->ways[t];
        int64_t idle = larger(at->there - at->waited, 0);
        int64_t took = duration(at, at->there);

        all += (double) took;
        waited += (double) smaller(idle, took);
    }
    return part(all - waited, all);
}

static size_t most_steps(const mo_exec_plan *plan)
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
    walk w = { plan,
               result,
               calloc(transfers, sizeof *w.ways),
               calloc(transfers, sizeof *w.begun),
               calloc((size_t) plan->n_calls + 1, sizeof *w.ended),
               calloc(devices, sizeof *w.clocks),
               calloc(devices, sizeof *w.next),
               calloc(most_steps(plan) + 1, sizeof *w.calls) };
    bool done = w.ways && w.begun && w.ended && w.clocks && w.next && w.calls;

    *ratios = (mo_measure_utilization){ NAN, NAN, NAN };
    if (done && has_steps(plan, result)) {
        note_ways(&w);
        ratios->path =
            result->chain_ns > 0 ? chain_ratio(result) : path_ratio(&w);
        ratios->kernel = kernel_ratio(&w);
        ratios->hidden = hidden_ratio(&w);
    }
    free(w.ways);
    free(w.begun);
    free(w.ended);
    free(w.clocks);
    free(w.next);
    free(w.calls);
    return done ? MO_OK : mo_fail_memory(err);
}
