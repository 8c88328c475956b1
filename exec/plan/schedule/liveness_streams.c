/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "exec/plan/schedule/liveness.h"
#include "exec/plan/ir/value_table.h"

/*
 * Where calls run side by side, a value's bytes are free only for those that
 * come after all of its readers for certain:
 *
 *     lane 0    a   c   d        u is made by a, read by b.  c and d may run
 *     lane 1      b       e      before b is done, e does not: u lives until d.
 *
 * To find that, each step of a program is given the last step of each lane that
 * is done when it is, itself included.  Then a table tells by lane and step t
 * the last step that may run before t is done.
 */
typedef struct stretch {
    const mo_exec_plan *plan;
    const mo_plan_device *on;
    int first, end; /* the steps of a program */
    int *step_of;   /* by call, where it was seen */
    int *seen;      /* by step of the program, by lane; first - 1: nothing */
    int *before;    /* by lane, by step of the program and one more */
} stretch;

static int *seen_at(const stretch *s, int step)
{
    return s->seen + (size_t) (step - s->first) * MO_PLAN_MAX_STREAMS;
}

static const mo_plan_call *call_at(const stretch *s, int step)
{
    return &s->plan->calls[s->on->steps[step].what];
}

static void see(int *seen, const int *other)
{
    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        if (other[i] > seen[i])
            seen[i] = other[i];
}

static void find_seen(stretch *s)
{
    int last[MO_PLAN_MAX_STREAMS];

    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        last[i] = s->first - 1;
    for (int step = s->first; step < s->end; step++) {
        const mo_plan_call *call = call_at(s, step);
        int *seen = seen_at(s, step);

        for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
            seen[i] = s->first - 1;
        if (last[call->stream] >= s->first)
            see(seen, seen_at(s, last[call->stream]));
        for (int i = 0; i < call->n_depends_on; i++)
            if (s->step_of[call->depends_on[i]] >= s->first)
                see(seen, seen_at(s, s->step_of[call->depends_on[i]]));
        seen[call->stream] = step;
        last[call->stream] = step;
        s->step_of[s->on->steps[step].what] = step;
    }
}

static int *before_at(const stretch *s, int stream, int step)
{
    size_t row = (size_t) (s->end - s->first) + 1;

    return s->before + (size_t) stream * row + (size_t) (step - s->first);
}

/* First the last step that has seen just so much, then the last that has not
 * seen more. */
static void find_before(stretch *s)
{
    for (int stream = 0; stream < MO_PLAN_MAX_STREAMS; stream++) {
        for (int step = s->first; step <= s->end; step++)
            *before_at(s, stream, step) = s->first - 1;
        for (int step = s->first; step < s->end; step++)
            *before_at(s, stream, seen_at(s, step)[stream] + 1) = step;
        for (int step = s->first + 1; step <= s->end; step++)
            if (*before_at(s, stream, step) < *before_at(s, stream, step - 1))
                *before_at(s, stream, step) = *before_at(s, stream, step - 1);
    }
}

static void prolong(const stretch *s, mo_plan_live_range *lives, int value,
                    int step, int stream)
{
    int root = mo_plan_value_root(s->plan->values, value);
    int end = *before_at(s, stream, step);

    if (mo_plan_live_range_is_nonempty(&lives[root]) && lives[root].end < end)
        lives[root].end = end;
}

static void stretch_program(stretch *s, mo_plan_live_range *lives)
{
    find_seen(s);
    find_before(s);
    for (int step = s->first; step < s->end; step++) {
        const mo_plan_call *it = call_at(s, step);

        for (int i = 0; i < it->call.n_in; i++)
            prolong(s, lives, it->call.in[i], step, it->stream);
        for (int i = 0; i < it->call.n_out; i++)
            prolong(s, lives, it->call.out[i], step, it->stream);
    }
}

static void stretch_device(stretch *s, mo_plan_live_range *lives)
{
    for (int i = 0; i < s->on->n_steps; i++) {
        s->first = i;
        while (i < s->on->n_steps &&
               s->on->steps[i].kind == MO_PLAN_STEP_COMPUTE)
            i++;
        s->end = i;
        if (s->end > s->first)
            stretch_program(s, lives);
    }
}

mo_status mo_plan_liveness_across_streams(const mo_exec_plan *plan,
                                          mo_plan_live_range *lives,
                                          mo_error *err)
{
    size_t n = (size_t) plan->n_calls + 2;
    stretch s = {
        .plan = plan,
        .step_of = calloc(n, sizeof *s.step_of),
        .seen = calloc(n * MO_PLAN_MAX_STREAMS, sizeof *s.seen),
        .before = calloc(n * MO_PLAN_MAX_STREAMS, sizeof *s.before),
    };
    mo_status status =
        s.step_of && s.seen && s.before ? MO_OK : mo_fail_memory(err);

    for (int d = 0; d < plan->n_devices && status == MO_OK; d++) {
        s.on = &plan->devices[d];
        if (s.on->n_streams > 1)
            stretch_device(&s, lives);
    }
    free(s.before);
    free(s.seen);
    free(s.step_of);
    return status;
}
