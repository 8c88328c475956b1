/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verifier: no data races between streams. A call begins when the call before
 * it in its stream, its dependencies, and the last step of another kind are
 * complete. This happens-before relation is computed as vector clocks: for each
 * stream, the last step that is complete. It must cover the producers of all
 * operands (RAW hazards), and where a value reuses the bytes of another, all
 * uses of that one (WAR hazards).
 */
#include <stdlib.h>

#include "exec/plan/schedule/liveness.h"
#include "exec/plan/ir/value_table.h"
#include "base/minmax.h"
#include "exec/plan/verify/verify_internal.h"

enum { NOTHING = -1 };

typedef struct race_check {
    const mo_exec_plan *plan;
    int device;
    int *step_of; /* by call: its step, once it was passed; else NOTHING */
    int *
        maker; /* by value: the step of the call that produces it, or NOTHING */
    int *
        done; /* by step, by stream: the last step that is complete before it */
    int *touched;   /* by value, by stream: the last call's step that uses it */
    int64_t *marks; /* where values begin and end in the arena, sorted */
    int n_marks;
    int *owner; /* by mark: the last value with these bytes, or NOTHING */
} race_check;

static const mo_plan_device *device_of(const race_check *c)
{
    return &c->plan->devices[c->device];
}

static int *clock_row(int *table, int i)
{
    return table + (size_t) i * MO_PLAN_MAX_STREAMS;
}

static const mo_plan_call *call_at(const race_check *c, int step)
{
    return &c->plan->calls[device_of(c)->steps[step].what];
}

static mo_status check_numbers(const race_check *c, int step, mo_error *err)
{
    const mo_plan_call *it = call_at(c, step);
    int n_streams = device_of(c)->n_streams > 1 ? device_of(c)->n_streams : 1;

    if (it->stream < 0 || it->stream >= n_streams)
        return mo_verify_fail(c->plan, c->device, step, err,
                              "has lane %d of %d", it->stream, n_streams);
    if (it->n_depends_on < 0 || (it->n_depends_on > 0 && !it->depends_on))
        return mo_verify_fail(c->plan, c->device, step, err,
                              "waits for a wrong number of calls");
    for (int i = 0; i < it->n_depends_on; i++) {
        int other = it->depends_on[i];

        if (other < 0 || other >= c->plan->n_calls ||
            c->plan->calls[other].device != c->device ||
            c->step_of[other] == NOTHING)
            return mo_verify_fail(c->plan, c->device, step, err,
                                  "waits for call %d, which is not before it",
                                  other);
    }
    return MO_OK;
}

/* Step `other` is complete, and so is all that happened before it. */
static void merge_clock(race_check *c, int step, int other)
{
    const int *before = clock_row(c->done, other);
    int *now = clock_row(c->done, step);
    int stream = call_at(c, other)->stream;

    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        now[i] = mo_max_int(before[i], now[i]);
    now[stream] = mo_max_int(other, now[stream]);
}

static bool happens_before(const race_check *c, int other, int step)
{
    return clock_row(c->done, step)[call_at(c, other)->stream] >= other;
}

static mo_status check_reads(const race_check *c, int step, mo_error *err)
{
    const mo_call *call = &call_at(c, step)->call;

    for (int i = 0; i < call->n_in; i++) {
        int v = mo_plan_value_root(c->plan->values, call->in[i]);

        if (c->maker[v] != NOTHING && !happens_before(c, c->maker[v], step))
            return mo_verify_fail(c->plan, c->device, step, err,
                                  "may run before '%.160s' is there, which it "
                                  "reads",
                                  mo_verify_name(c->plan->values[v].name));
    }
    return MO_OK;
}

static void record_call_uses(race_check *c, int step)
{
    const mo_plan_call *it = call_at(c, step);
    const mo_plan_value *values = c->plan->values;

    c->step_of[device_of(c)->steps[step].what] = step;
    for (int i = 0; i < it->call.n_in; i++)
        clock_row(c->touched,
                  mo_plan_value_root(values, it->call.in[i]))[it->stream] =
            step;
    for (int i = 0; i < it->call.n_out; i++) {
        int v = mo_plan_value_root(values, it->call.out[i]);

        clock_row(c->touched, v)[it->stream] = step;
        c->maker[v] = step;
    }
}

static mo_status check_calls(race_check *c, mo_error *err)
{
    int last[MO_PLAN_MAX_STREAMS], barrier = NOTHING;
    mo_status status = MO_OK;

    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        last[i] = NOTHING;
    for (int s = 0; s < device_of(c)->n_steps && status == MO_OK; s++) {
        if (device_of(c)->steps[s].kind != MO_PLAN_STEP_COMPUTE) {
            barrier = s;
            continue;
        }
        status = check_numbers(c, s, err);
        if (status != MO_OK)
            break;

        /* barrier: the last step of another kind; last: by stream, its last
         * step. */
        const mo_plan_call *it = call_at(c, s);

        for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
            clock_row(c->done, s)[i] = barrier;
        if (last[it->stream] > barrier)
            merge_clock(c, s, last[it->stream]);
        for (int i = 0; i < it->n_depends_on; i++)
            if (c->step_of[it->depends_on[i]] > barrier)
                merge_clock(c, s, c->step_of[it->depends_on[i]]);
        status = check_reads(c, s, err);
        record_call_uses(c, s);
        last[call_at(c, s)->stream] = s;
    }
    return status;
}

static int mark_at(const race_check *c, int64_t byte)
{
    const int64_t *found = bsearch(&byte, c->marks, (size_t) c->n_marks,
                                   sizeof byte, mo_compare_i64);

    return (int) (found - c->marks);
}

/* Value v begins with a call; others begin at a barrier. */
static mo_status check_owner(const race_check *c, int owner, int v,
                             mo_error *err)
{
    int begin = c->maker[v];

    for (int stream = 0; stream < MO_PLAN_MAX_STREAMS && begin != NOTHING;
         stream++) {
        int touched = clock_row(c->touched, owner)[stream];

        if (touched != NOTHING && !happens_before(c, touched, begin))
            return mo_verify_fail(
                c->plan, c->device, begin, err,
                "may write '%.100s' while '%.100s', whose bytes it takes, is "
                "still needed",
                mo_verify_name(c->plan->values[v].name),
                mo_verify_name(c->plan->values[owner].name));
    }
    return MO_OK;
}

/* A value and the step where it begins. */
typedef struct value_begin {
    int value, begin;
} value_begin;

static int compare_begins(const void *a, const void *b)
{
    const value_begin *x = a, *y = b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static int collect_begins(race_check *c, const mo_plan_live_range *lives,
                          value_begin *births)
{
    int n = 0, n_marks = 0;

    for (int v = 0; v < c->plan->n_values; v++) {
        const mo_plan_value *value = &c->plan->values[v];
        int64_t bytes = mo_tensor_desc_bytes(&value->desc);

        if (value->device != c->device ||
            !mo_plan_live_range_is_nonempty(&lives[v]) || bytes == 0)
            continue;
        births[n++] = (value_begin){ v, lives[v].begin };
        c->marks[n_marks++] = value->offset;
        c->marks[n_marks++] = value->offset + bytes;
    }
    qsort(births, (size_t) n, sizeof *births, compare_begins);
    qsort(c->marks, (size_t) n_marks, sizeof *c->marks, mo_compare_i64);
    c->n_marks = 0;
    for (int i = 0; i < n_marks; i++)
        if (i == 0 || c->marks[i] != c->marks[c->n_marks - 1])
            c->marks[c->n_marks++] = c->marks[i];
    return n;
}

static mo_status check_device(race_check *c, const mo_plan_live_range *lives,
                              value_begin *births, mo_error *err)
{
    const mo_plan_device *on = device_of(c);
    mo_status status;

    if (on->n_streams < 0 || on->n_streams > MO_PLAN_MAX_STREAMS)
        return mo_fail(err, MO_E_INPUT, "plan: device '%.80s' has %d lanes",
                       mo_verify_name(on->id), on->n_streams);
    c->done =
        calloc((size_t) on->n_steps * MO_PLAN_MAX_STREAMS + 1, sizeof *c->done);
    if (!c->done)
        return mo_fail_memory(err);
    for (int i = 0; i < c->plan->n_calls; i++)
        c->step_of[i] = NOTHING;
    for (int v = 0; v < c->plan->n_values; v++) {
        c->maker[v] = NOTHING;
        for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
            clock_row(c->touched, v)[i] = NOTHING;
    }
    status = check_calls(c, err);
    if (status == MO_OK && on->n_streams > 1) {
        int n = collect_begins(c, lives, births);
        status = MO_OK;

        for (int i = 0; i < c->n_marks; i++)
            c->owner[i] = NOTHING;
        for (int i = 0; i < n && status == MO_OK; i++) {
            const mo_plan_value *value = &c->plan->values[births[i].value];
            int high =
                mark_at(c, value->offset + mo_tensor_desc_bytes(&value->desc));
            int checked = NOTHING;

            /* Values in the order they begin: the last owners of its bytes must
             * be complete; these were checked against the owners before them.
             */
            for (int j = mark_at(c, value->offset); j < high && status == MO_OK;
                 j++) {
                if (c->owner[j] != NOTHING && c->owner[j] != checked) {
                    checked = c->owner[j];
                    status = check_owner(c, checked, births[i].value, err);
                }
                c->owner[j] = births[i].value;
            }
        }
    }
    free(c->done);
    return status;
}

mo_status mo_verify_streams(const mo_exec_plan *plan, mo_error *err)
{
    size_t n = (size_t) plan->n_values + 1;
    value_begin *births = calloc(n, sizeof *births);
    mo_plan_live_range *lives = NULL;
    race_check c = {
        .plan = plan,
        .step_of = calloc((size_t) plan->n_calls + 1, sizeof *c.step_of),
        .maker = calloc(n, sizeof *c.maker),
        .touched = calloc(n * MO_PLAN_MAX_STREAMS, sizeof *c.touched),
        .marks = calloc(2 * n, sizeof *c.marks),
        .owner = calloc(2 * n, sizeof *c.owner),
    };
    mo_status status = MO_OK;

    if (births && c.step_of && c.maker && c.touched && c.marks && c.owner)
        status = mo_plan_liveness(plan, &lives, err);
    else
        status = mo_fail_memory(err);
    for (; c.device < plan->n_devices && status == MO_OK; c.device++)
        status = check_device(&c, lives, births, err);
    free(lives);
    free(births);
    free(c.step_of);
    free(c.maker);
    free(c.touched);
    free(c.marks);
    free(c.owner);
    return status;
}
