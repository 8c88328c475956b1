/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/plan/schedule/step_order.c: a receiver awaits right before it
 * needs a value, its sender when it would keep too many buffers otherwise. */
#include <stdio.h>

#include "exec/plan/ir/plan.h"
#include "exec/plan/ir/value_table.h"
#include "exec/plan/verify/verify.h"
#include "tests/support/graphs.h"
#include "tests/exec/support/pinned_plan.h"
#include "tests/exec/support/random_plan.h"
#include "tests/support/suite.h"

enum { MOST_KEPT = 8, SHARE = 256 };

/* The definition, simulated in the total order. */

typedef struct event {
    mo_plan_step step;
    int device;
} event;

typedef struct walk {
    const mo_exec_plan *plan;
    event *events;
    int n_events;
    int *kept[RANDOM_PLAN_DEVICES]; /* by sender: in the order of receivers */
    int n_kept[RANDOM_PLAN_DEVICES];
    int n_needed; /* transfers that receivers have awaited */
    int n_awaited;
} walk;

static int compare(const void *a, const void *b)
{
    const event *x = a, *y = b;

    return (x->step.order > y->step.order) - (x->step.order < y->step.order);
}

static walk walk_of(const mo_exec_plan *plan)
{
    walk w = { .plan = plan };
    int n = 0;

    for (int d = 0; d < plan->n_devices; d++)
        n += plan->devices[d].n_steps;
    w.events = calloc((size_t) n + 1, sizeof *w.events);
    ck_assert_ptr_nonnull(w.events);
    for (int d = 0; d < plan->n_devices; d++) {
        w.kept[d] = calloc((size_t) plan->n_transfers + 1, sizeof(int));
        ck_assert_ptr_nonnull(w.kept[d]);
        for (int i = 0; i < plan->devices[d].n_steps; i++)
            w.events[w.n_events++] = (event){ plan->devices[d].steps[i], d };
    }
    qsort(w.events, (size_t) n, sizeof *w.events, compare);
    return w;
}

static void walk_clear(walk *w)
{
    for (int d = 0; d < w->plan->n_devices; d++)
        free(w->kept[d]);
    free(w->events);
}

static bool keeps_too_much(const walk *w, int d)
{
    int64_t bytes = 0;

    for (int i = 0; i < w->n_kept[d]; i++)
        bytes += w->plan->transfers[w->kept[d][i]].bytes;
    return w->n_kept[d] > MOST_KEPT || bytes > w->plan->devices[d].keep_bytes;
}

/* From the first to be awaited by its receiver, as late as possible. */
static bool may_await(const walk *w, int d, int t)
{
    bool all_needed = w->n_needed == w->plan->n_transfers;

    return w->n_kept[d] > 0 && w->kept[d][0] == t &&
           (all_needed || keeps_too_much(w, d));
}

static void await_sent(walk *w, int d)
{
    w->n_kept[d]--;
    memmove(w->kept[d], w->kept[d] + 1,
            (size_t) w->n_kept[d] * sizeof **w->kept);
    w->n_awaited++;
}

static void await(walk *w, const event *e, int seed)
{
    int t = e->step.what, from = w->plan->transfers[t].from;

    if (e->device == from) {
        ck_assert_msg(may_await(w, from, t), "seed %d: transfer %d", seed, t);
        await_sent(w, from);
        return;
    }
    w->kept[from][w->n_kept[from]++] = t;
    w->n_needed++;
}

/* Senders await before anything else happens. */
static void check(const mo_exec_plan *plan, int seed)
{
    walk w = walk_of(plan);

    for (int i = 0; i < w.n_events; i++) {
        const event *e = &w.events[i];
        bool receives = e->step.kind == MO_PLAN_STEP_AWAIT &&
                        plan->transfers[e->step.what].to == e->device;

        for (int d = 0; d < plan->n_devices; d++)
            if (e->step.kind != MO_PLAN_STEP_AWAIT || receives)
                ck_assert_msg(!keeps_too_much(&w, d), "seed %d: step %d", seed,
                              e->step.order);
        if (e->step.kind == MO_PLAN_STEP_AWAIT)
            await(&w, e, seed);
    }
    ck_assert_int_eq(w.n_needed, plan->n_transfers);
    ck_assert_int_eq(w.n_awaited, plan->n_transfers);
    walk_clear(&w);
}

/* No limit; so little that nothing is kept; a share for a few. */
static int64_t any_capacity(test_random *random)
{
    switch (random_below(random, 3)) {
    case 0:
        return INT64_MAX;
    case 1:
        return random_below(random, SHARE);
    default:
        return SHARE * (int64_t) random_below(random, 1000);
    }
}

START_TEST(senders_await_as_late_as_may_be)
{
    test_random random = { (uint64_t) _i };
    random_plan r;

    random_plan_make(&r, (unsigned) _i, 2 + _i % 3);
    mo_plan_free(r.plan);
    r.plan = NULL;
    for (int d = 0; d < r.problem.x->n_devices; d++)
        r.problem.x->capacity_bytes[d] = any_capacity(&random);
    MUST(mo_plan_build(&r.source, &r.plan, &err));
    check(r.plan, _i);
    MUST(mo_verify_plan(r.plan, &err));
    random_plan_clear(&r);
}
END_TEST

/* A chain that alternates between devices: every call reads what the other
 * device sent. */

enum { CHAIN = 41 };

#define X "x op=Parameter; "

static void write_chain(char *text, size_t size)
{
    int n = 0;

    for (int i = 0; i < CHAIN; i++)
        n += snprintf(text + n, size - (size_t) n, "c%02d op=Tanh pin=%c; ", i,
                      "AB"[i % 2]);
    n += snprintf(text + n, size - (size_t) n, "r op=Result; x>c00; ");
    for (int i = 1; i < CHAIN; i++)
        n += snprintf(text + n, size - (size_t) n, "c%02d>c%02d; ", i - 1, i);
    snprintf(text + n, size - (size_t) n, "c%02d>r", CHAIN - 1);
}

static void make_chain(random_plan *r, const char *x, int64_t capacity_bytes)
{
    char text[CHAIN * 64];
    int n = snprintf(text, sizeof text, "%s", x);

    write_chain(text + n, sizeof text - (size_t) n);
    pinned_plan_make(r, text, capacity_bytes);
    ck_assert_int_eq(r->plan->n_transfers, CHAIN - 1);
}

/* The position at which an end awaits the result of call c. */
static int order_of_await(const mo_exec_plan *plan, int c, int device)
{
    for (int i = 0; i < plan->devices[device].n_steps; i++) {
        const mo_plan_step *step = &plan->devices[device].steps[i];

        if (step->kind == MO_PLAN_STEP_AWAIT &&
            plan->transfers[step->what].from_value ==
                plan->calls[c].call.out[0])
            return step->order;
    }
    ck_abort_msg("device %d does not await what call %d made", device, c);
    return -1;
}

static int order_of_sender(const mo_exec_plan *plan, int c)
{
    return order_of_await(plan, c, c % 2);
}

static int order_of_receiver(const mo_exec_plan *plan, int c)
{
    return order_of_await(plan, c, 1 - c % 2);
}

/* A device's next transfer is two calls on. */
START_TEST(in_a_chain_eight_are_kept)
{
    random_plan r;
    int after = 2 * MOST_KEPT;

    make_chain(&r, X, 0);
    for (int c = 0; c + after < CHAIN - 1; c++)
        ck_assert_int_eq(order_of_sender(r.plan, c),
                         order_of_receiver(r.plan, c + after) + 1);
    for (int c = CHAIN - 1 - after; c < CHAIN - 1; c++)
        ck_assert_int_gt(order_of_sender(r.plan, c),
                         order_of_receiver(r.plan, CHAIN - 2));
    check(r.plan, 0);
    random_plan_clear(&r);
}
END_TEST

START_TEST(without_memory_to_spare_none_is_kept)
{
    random_plan r;

    make_chain(&r, X, 64 * SHARE - 1);
    for (int c = 0; c < CHAIN - 1; c++)
        ck_assert_int_eq(order_of_sender(r.plan, c),
                         order_of_receiver(r.plan, c) + 1);
    random_plan_clear(&r);
}
END_TEST

/* As many as fit: three of 64 bytes. */
START_TEST(memory_tells_how_many_are_kept)
{
    random_plan r;

    make_chain(&r, X, 3 * 64 * SHARE);
    for (int c = 0; c + 6 < CHAIN - 1; c++)
        ck_assert_int_eq(order_of_sender(r.plan, c),
                         order_of_receiver(r.plan, c + 6) + 1);
    random_plan_clear(&r);
}
END_TEST

/* Beside the chain, on A, a value that takes so much, all the time, that a
 * share of it is enough for two values of the chain. */
#define BESIDE                                                                 \
    "y op=Parameter shape=64,64; b op=Tanh shape=64,64; s op=Result; "         \
    "t op=Result; y>b; b>s; y>t; "

static int64_t need_of(const mo_plan_device *device)
{
    return device->arena_bytes + device->weight_bytes;
}

/* The bytes device A needs with that capacity. */
static int64_t needed_of(int64_t capacity_bytes, int64_t *keep_bytes)
{
    int64_t need_bytes;
    random_plan r;

    make_chain(&r, X BESIDE, capacity_bytes);
    check(r.plan, 0);
    MUST(mo_verify_plan(r.plan, &err));
    need_bytes = need_of(&r.plan->devices[0]);
    *keep_bytes = r.plan->devices[0].keep_bytes;
    random_plan_clear(&r);
    return need_bytes;
}

START_TEST(what_fits_comes_before_what_is_kept)
{
    int64_t keep, least = needed_of(1, &keep), more, most;

    ck_assert_int_eq(needed_of(least, &keep), least);
    ck_assert_int_eq(keep, 0);
    most = needed_of(2 * least, &keep);
    ck_assert_int_eq(keep, 2 * least / SHARE);
    ck_assert_int_gt(most, least);
    more = needed_of(most + most / 8, &keep);
    ck_assert_int_eq(keep, (most + most / 8) / SHARE);
    ck_assert_int_gt(more, least);
    ck_assert_int_le(more, most);
}
END_TEST

/* A sixteenth is reserved for workspaces. */
START_TEST(what_calls_need_comes_before_what_is_kept)
{
    int64_t keep, most = needed_of(INT64_C(1) << 30, &keep);

    ck_assert_int_gt(keep, 0);
    ck_assert_int_lt(needed_of(most, &keep), most);
    ck_assert_int_eq(keep, 0);
}
END_TEST

/* As if there were 16 GiB. */
START_TEST(without_a_limit_memory_counts)
{
    random_plan r;

    make_chain(&r, X, 0);
    for (int d = 0; d < r.plan->n_devices; d++)
        ck_assert_int_eq(r.plan->devices[d].keep_bytes,
                         (INT64_C(16) << 30) / SHARE);
    random_plan_clear(&r);
}
END_TEST

SUITE(plan_step_order)
{
    SOME(senders_await_as_late_as_may_be, 400, 20);
    TEST(in_a_chain_eight_are_kept);
    TEST(without_memory_to_spare_none_is_kept);
    TEST(memory_tells_how_many_are_kept);
    TEST(what_fits_comes_before_what_is_kept);
    TEST(what_calls_need_comes_before_what_is_kept);
    TEST(without_a_limit_memory_counts);
}
