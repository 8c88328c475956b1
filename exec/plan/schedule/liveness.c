/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/plan/schedule/liveness.h"

#include <limits.h>
#include <stdlib.h>

#include "exec/plan/ir/value_table.h"

static const mo_plan_live_range no_life = { INT_MAX,
                                            MO_PLAN_LIVE_FROM_INPUT - 1 };

bool mo_plan_live_range_is_nonempty(const mo_plan_live_range *life)
{
    return life->begin <= life->end;
}

/* Extends the live range of a value to a step. */
static void extend_range(const mo_exec_plan *plan, mo_plan_live_range *lives,
                         int value, int step)
{
    int root = mo_plan_value_root(plan->values, value);
    mo_plan_live_range *life = &lives[root];

    if (plan->values[root].constant || plan->values[root].state)
        return;
    if (step < life->begin)
        life->begin = step;
    if (step > life->end)
        life->end = step;
}

static void extend_by_step(const mo_exec_plan *plan, mo_plan_live_range *lives,
                           int device, int number)
{
    const mo_plan_step *step = &plan->devices[device].steps[number];
    const mo_plan_transfer *transfer;

    if (step->kind == MO_PLAN_STEP_COMPUTE) {
        const mo_call *call = &plan->calls[step->what].call;

        for (int i = 0; i < call->n_in; i++)
            extend_range(plan, lives, call->in[i], number);
        for (int i = 0; i < call->n_out; i++)
            extend_range(plan, lives, call->out[i], number);
        return;
    }
    transfer = &plan->transfers[step->what];
    extend_range(plan, lives,
                 transfer->from == device ? transfer->from_value
                                          : transfer->to_value,
                 number);
}

mo_status mo_plan_liveness(const mo_exec_plan *plan, mo_plan_live_range **lives,
                           mo_error *err)
{
    mo_plan_live_range *made =
        malloc(((size_t) plan->n_values + 1) * sizeof *made);

    if (!made)
        return mo_fail_memory(err);
    for (int v = 0; v < plan->n_values; v++)
        made[v] = no_life;
    for (int d = 0; d < plan->n_devices; d++)
        for (int s = 0; s < plan->devices[d].n_steps; s++)
            extend_by_step(plan, made, d, s);
    for (int v = 0; v < plan->n_values; v++)
        if (plan->values[v].input != MO_PLAN_NONE)
            extend_range(plan, made, v, MO_PLAN_LIVE_FROM_INPUT);
    for (int i = 0; i < plan->n_outputs; i++) {
        int v = plan->outputs[i].value;

        extend_range(plan, made, v,
                     plan->devices[plan->values[v].device].n_steps);
    }
    /* The live range of a whole covers those of its parts. */
    for (int v = 0; v < plan->n_values; v++) {
        const mo_plan_slice *part = plan->values[v].part;

        if (!part || !mo_plan_live_range_is_nonempty(&made[v]))
            continue;
        extend_range(plan, made, part->of, made[v].begin);
        extend_range(plan, made, part->of, made[v].end);
        made[v] = no_life;
    }
    *lives = made;
    return MO_OK;
}

/*
 * Liveness across streams: with concurrent calls a value's bytes are free only
 * for calls that all of its readers happen before (happens-before, Lamport
 * 1978):
 *
 *     stream 0  a   c   d        u is made by a, read by b.  c and d may run
 *     stream 1    b       e      before b is done, e does not: u lives until d.
 *
 * Each step of a program gets a vector clock (Fidge 1988, Mattern 1989): the
 * last step of each stream that is complete when it is, itself included. Then
 * a table gives by stream and step t the last step that may run before t is
 * complete.
 */
typedef struct stream_clocks {
    const mo_exec_plan *plan;
    const mo_plan_device *on;
    int first, end; /* the steps of a program */
    int *step_of;   /* by call, where it was seen */
    int *seen;   /* vector clocks by step of the program, by stream; first - 1:
                    nothing */
    int *before; /* by stream, by step of the program and one more */
} stream_clocks;

static int *clock_at(const stream_clocks *s, int step)
{
    return s->seen + (size_t) (step - s->first) * MO_PLAN_MAX_STREAMS;
}

static const mo_plan_call *call_at(const stream_clocks *s, int step)
{
    return &s->plan->calls[s->on->steps[step].what];
}

static void merge_clock(int *seen, const int *other)
{
    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        if (other[i] > seen[i])
            seen[i] = other[i];
}

static void compute_clocks(stream_clocks *s)
{
    int last[MO_PLAN_MAX_STREAMS];

    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        last[i] = s->first - 1;
    for (int step = s->first; step < s->end; step++) {
        const mo_plan_call *call = call_at(s, step);
        int *seen = clock_at(s, step);

        for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
            seen[i] = s->first - 1;
        if (last[call->stream] >= s->first)
            merge_clock(seen, clock_at(s, last[call->stream]));
        for (int i = 0; i < call->n_depends_on; i++)
            if (s->step_of[call->depends_on[i]] >= s->first)
                merge_clock(seen, clock_at(s, s->step_of[call->depends_on[i]]));
        seen[call->stream] = step;
        last[call->stream] = step;
        s->step_of[s->on->steps[step].what] = step;
    }
}

static int *last_before(const stream_clocks *s, int stream, int step)
{
    size_t row = (size_t) (s->end - s->first) + 1;

    return s->before + (size_t) stream * row + (size_t) (step - s->first);
}

static void extend_end(const stream_clocks *s, mo_plan_live_range *lives,
                       int value, int step, int stream)
{
    int root = mo_plan_value_root(s->plan->values, value);
    int end = *last_before(s, stream, step);

    if (mo_plan_live_range_is_nonempty(&lives[root]) && lives[root].end < end)
        lives[root].end = end;
}

static void extend_in_program(stream_clocks *s, mo_plan_live_range *lives)
{
    compute_clocks(s);

    /* First the last step with just this clock, then the last with a clock not
     * beyond it. */
    for (int stream = 0; stream < MO_PLAN_MAX_STREAMS; stream++) {
        for (int step = s->first; step <= s->end; step++)
            *last_before(s, stream, step) = s->first - 1;
        for (int step = s->first; step < s->end; step++)
            *last_before(s, stream, clock_at(s, step)[stream] + 1) = step;
        for (int step = s->first + 1; step <= s->end; step++)
            if (*last_before(s, stream, step) <
                *last_before(s, stream, step - 1))
                *last_before(s, stream, step) =
                    *last_before(s, stream, step - 1);
    }
    for (int step = s->first; step < s->end; step++) {
        const mo_plan_call *it = call_at(s, step);

        for (int i = 0; i < it->call.n_in; i++)
            extend_end(s, lives, it->call.in[i], step, it->stream);
        for (int i = 0; i < it->call.n_out; i++)
            extend_end(s, lives, it->call.out[i], step, it->stream);
    }
}

mo_status mo_plan_liveness_across_streams(const mo_exec_plan *plan,
                                          mo_plan_live_range *lives,
                                          mo_error *err)
{
    size_t n = (size_t) plan->n_calls + 2;
    stream_clocks s = {
        .plan = plan,
        .step_of = calloc(n, sizeof *s.step_of),
        .seen = calloc(n * MO_PLAN_MAX_STREAMS, sizeof *s.seen),
        .before = calloc(n * MO_PLAN_MAX_STREAMS, sizeof *s.before),
    };
    mo_status status =
        s.step_of && s.seen && s.before ? MO_OK : mo_fail_memory(err);

    for (int d = 0; d < plan->n_devices && status == MO_OK; d++) {
        s.on = &plan->devices[d];
        if (s.on->n_streams > 1) {
            for (int i = 0; i < s.on->n_steps; i++) {
                s.first = i;
                while (i < s.on->n_steps &&
                       s.on->steps[i].kind == MO_PLAN_STEP_COMPUTE)
                    i++;
                s.end = i;
                if (s.end > s.first)
                    extend_in_program(&s, lives);
            }
        }
    }
    free(s.before);
    free(s.seen);
    free(s.step_of);
    return status;
}
