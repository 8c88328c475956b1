/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differential fuzzer of schedules: for any instance, regime and plan the
 * simulator's schedule satisfies the validator and the reference validator, and
 * is no shorter than the lower bound; of schedules with altered times, devices
 * and transfers both validators accept the same.
 */
#include <assert.h>

#include "schedule/bound/lower_bound.h"
#include "schedule/schedule.h"
#include "schedule/sim/sim.h"
#include "schedule/validate/validate.h"
#include "tests/fuzz/fuzz_instance.h"
#include "tests/support/reference_validate.h"

enum { MAX_EDITS = 6, MAX_ITEMS = FUZZ_OPS * FUZZ_OPS };

/* Fisher-Yates. */
static void draw_permutation(fuzz_input *in, int *rank, int n)
{
    for (int i = 0; i < n; i++) {
        int j = fuzz_below(in, i + 1);

        rank[i] = rank[j];
        rank[j] = i;
    }
}

typedef struct drawn_plan {
    int device[FUZZ_OPS], rank[FUZZ_OPS], send_rank[MAX_ITEMS];
    int64_t release_ns[FUZZ_OPS];
    mo_sim_plan plan;
} drawn_plan;

static void draw_plan(fuzz_input *in, const mo_instance *x, drawn_plan *d)
{
    int flags = fuzz_byte(in);

    d->plan = (mo_sim_plan){ .device = d->device, .rank = d->rank };
    for (int i = 0; i < x->n; i++)
        d->device[i] = x->pin[i] != MO_FREE && !(flags & 1)
                           ? x->pin[i]
                           : fuzz_below(in, x->n_devices);
    draw_permutation(in, d->rank, x->n);
    if (flags & 2) {
        draw_permutation(in, d->send_rank, x->n_flows);
        d->plan.send_rank = d->send_rank;
    }
    if (flags & 4) {
        for (int i = 0; i < x->n; i++)
            d->release_ns[i] = 500 * fuzz_byte(in);
        d->plan.release_ns = d->release_ns;
    }
}

/* Returns whether it is valid. */
static bool check_verdict(const mo_instance *x, const mo_schedule *s,
                          bool simulated)
{
    const char *broken = broken_rule(x, s);
    mo_verdict *verdict = NULL;
    mo_error err = { 0 };

    assert(mo_validate(x, s, 16, &verdict, &err) == MO_OK);
    assert((verdict->n == 0) == !broken);
    for (int i = 0; simulated && i < verdict->n; i++) {
        mo_violation_kind rule = verdict->violations[i].rule;

        assert(rule == MO_VIOLATION_PIN || rule == MO_VIOLATION_GROUP ||
               rule == MO_VIOLATION_MEMORY);
    }
    mo_verdict_free(verdict);
    return !broken;
}

static void check_peaks(const mo_instance *x, const mo_schedule *s)
{
    int64_t peak[FUZZ_DEVICES], defined[FUZZ_DEVICES];
    mo_error err = { 0 };

    assert(mo_schedule_peak_memory(x, s, peak, &err) == MO_OK);
    peak_by_definition(x, s, defined);
    for (int k = 0; k < x->n_devices; k++)
        assert(peak[k] == defined[k]);
}

/* One edit of what a schedule claims; items and devices stay in range. */
static void edit(fuzz_input *in, const mo_instance *x, mo_schedule *s)
{
    int kind = fuzz_below(in, 6), op = fuzz_below(in, x->n);
    int64_t shift_ns = 250 * (int64_t) (int8_t) fuzz_byte(in);
    mo_transfer *t = s->n_transfers > 0
                         ? &s->transfers[fuzz_below(in, s->n_transfers)]
                         : NULL;

    if (kind == 0)
        s->start_ns[op] += shift_ns;
    else if (kind == 1)
        s->device[op] = fuzz_below(in, x->n_devices);
    else if (kind == 2)
        s->makespan_ns += shift_ns;
    else if (kind == 3 && t)
        t->start_ns += shift_ns, t->end_ns += shift_ns;
    else if (kind == 4 && t)
        t->end_ns += shift_ns;
    else if (kind == 5 && t)
        t->to = fuzz_below(in, x->n_devices);
}

/* Any numbers at all: a verdict, and no more than that. */
static void check_wild(fuzz_input *in, const mo_instance *x, mo_schedule *s)
{
    mo_verdict *verdict = NULL;
    mo_error err = { 0 };
    int op = fuzz_below(in, x->n);

    s->start_ns[op] = fuzz_int64(in);
    s->device[op] = (int) fuzz_int64(in);
    s->makespan_ns = fuzz_int64(in);
    if (s->n_transfers > 0) {
        mo_transfer *t = &s->transfers[fuzz_below(in, s->n_transfers)];

        t->item = (int) fuzz_int64(in);
        t->from = (int8_t) fuzz_byte(in);
        t->to = (int8_t) fuzz_byte(in);
        t->start_ns = fuzz_int64(in);
        t->end_ns = fuzz_int64(in);
    }
    assert(mo_validate(x, s, 4, &verdict, &err) == MO_OK);
    mo_verdict_free(verdict);
}

static void check_schedule(fuzz_input *in, const mo_instance *x,
                           const mo_regime *regime, mo_schedule *s)
{
    mo_error err = { 0 };
    mo_lower_bound lower;

    check_peaks(x, s);
    if (check_verdict(x, s, true) && (fuzz_byte(in) & 7) == 1) {
        assert(mo_bound_lower(x, regime, &lower, &err) == MO_OK);
        assert(lower.bound_ns <= s->makespan_ns);
    }
    for (int i = 0; i < MAX_EDITS && fuzz_left(in) > 0; i++) {
        edit(in, x, s);
        check_verdict(x, s, false);
    }
    if (fuzz_left(in) > 8)
        check_wild(in, x, s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input in = fuzz_input_of(data, size);
    fuzz_instance made;
    mo_error err = { 0 };
    mo_sim *sim = NULL;
    mo_schedule *s = NULL;
    mo_regime regime;
    drawn_plan plan;
    int64_t makespan_ns;

    if (!fuzz_instance_make(&in, &made))
        return 0;
    regime = fuzz_regime(&in);
    draw_plan(&in, made.x, &plan);
    assert(mo_sim_new(made.x, &regime, &sim, &err) == MO_OK);
    makespan_ns = mo_sim_run(sim, &plan.plan, INT64_MAX);
    assert(mo_sim_run(sim, &plan.plan, makespan_ns) == INT64_MAX);
    assert(mo_sim_run(sim, &plan.plan, makespan_ns + 1) == makespan_ns);
    assert(mo_sim_schedule(sim, &plan.plan, &s, &err) == MO_OK);
    assert(s->makespan_ns <= makespan_ns);
    check_schedule(&in, made.x, &regime, s);
    mo_schedule_free(s);
    mo_sim_free(sim);
    fuzz_instance_clear(&made);
    return 0;
}
