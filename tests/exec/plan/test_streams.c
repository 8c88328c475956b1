/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of exec/plan/schedule/streams.c, exec/plan/schedule/liveness.h and
 * exec/plan/verify/streams.c: concurrent calls are ordered by streams and
 * dependencies, and never share a byte. */
#include <stdio.h>

#include "exec/plan/schedule/liveness.h"
#include "exec/plan/ir/plan.h"
#include "exec/plan/ir/value_table.h"
#include "exec/plan/verify/verify.h"
#include "tests/support/graphs.h"
#include "tests/exec/support/random_plan.h"
#include "tests/support/suite.h"

enum { DEVICES = 3, LANES = 4 };

static const int max_streams[RANDOM_PLAN_DEVICES] = { LANES, LANES, LANES,
                                                      LANES };
static const int one_lane[RANDOM_PLAN_DEVICES] = { 1, 1, 1, 1 };

/* A random network, planned again with several streams. */
static void make(random_plan *r, unsigned seed, int n_devices,
                 const int *wanted)
{
    if (seed % 3 == 0)
        random_plan_of(r, random_picture(seed), random_picture(seed), NULL,
                       seed, n_devices);
    else
        random_plan_make(r, seed, n_devices);
    mo_plan_free(r->plan);
    r->plan = NULL;
    r->source.max_streams = wanted;
    r->source.fuse = seed % 2;
    MUST(mo_plan_build(&r->source, &r->plan, &err));
}

/* The definition: before[a * n + b]: step a happens before b. */

typedef struct order {
    const mo_exec_plan *plan;
    const mo_plan_device *on;
    int n;
    bool *before;
} order;

static const mo_plan_call *call_of(const order *o, int step)
{
    return o->on->steps[step].kind == MO_PLAN_STEP_COMPUTE
               ? &o->plan->calls[o->on->steps[step].what]
               : NULL;
}

static bool waits_for(const order *o, const mo_plan_call *call, int step)
{
    for (int i = 0; i < call->n_depends_on; i++)
        if (call->depends_on[i] == o->on->steps[step].what)
            return true;
    return false;
}

static bool is_direct(const order *o, int a, int b)
{
    const mo_plan_call *x = call_of(o, a), *y = call_of(o, b);

    return !x || !y || x->stream == y->stream || waits_for(o, y, a);
}

static order order_of(const mo_exec_plan *plan, int device)
{
    order o = { plan, &plan->devices[device], plan->devices[device].n_steps,
                NULL };

    o.before = calloc((size_t) o.n * (size_t) o.n + 1, sizeof *o.before);
    ck_assert_ptr_nonnull(o.before);
    for (int b = 0; b < o.n; b++)
        for (int a = b - 1; a >= 0; a--) {
            if (!o.before[a * o.n + b] && !is_direct(&o, a, b))
                continue;
            o.before[a * o.n + b] = true;
            for (int c = 0; c < a; c++)
                o.before[c * o.n + b] |= o.before[c * o.n + a];
        }
    return o;
}

static bool has_operand(const mo_exec_plan *plan, const int *operands, int n,
                        int v)
{
    for (int i = 0; i < n; i++)
        if (mo_plan_value_root(plan->values, operands[i]) == v)
            return true;
    return false;
}

static bool makes(const order *o, int step, int v)
{
    const mo_plan_call *c = call_of(o, step);

    return c && has_operand(o->plan, c->call.out, c->call.n_out, v);
}

static bool touches(const order *o, int step, int v)
{
    const mo_plan_call *c = call_of(o, step);

    return c && (makes(o, step, v) ||
                 has_operand(o->plan, c->call.in, c->call.n_in, v));
}

static bool share_bytes(const mo_exec_plan *plan, int a, int b)
{
    const mo_plan_value *x = &plan->values[a], *y = &plan->values[b];

    return x->offset < y->offset + mo_tensor_desc_bytes(&y->desc) &&
           y->offset < x->offset + mo_tensor_desc_bytes(&x->desc);
}

/* All uses of u happen before the producer of v. */
static bool is_over(const order *o, int u, int v)
{
    for (int m = 0; m < o->n; m++)
        for (int t = 0; t < o->n && makes(o, m, v); t++)
            if (touches(o, t, u) && !o->before[t * o->n + m])
                return false;
    return true;
}

static bool lies_on(const mo_exec_plan *plan, const mo_plan_live_range *lives,
                    int v, int device)
{
    return plan->values[v].device == device &&
           mo_plan_live_range_is_nonempty(&lives[v]) &&
           mo_tensor_desc_bytes(&plan->values[v].desc) > 0;
}

/* The names of two values that overwrite each other, or "". */
static void find_clash(const mo_exec_plan *plan, char text[256])
{
    mo_plan_live_range *lives = NULL;

    text[0] = '\0';
    MUST(mo_plan_liveness(plan, &lives, &err));
    for (int d = 0; d < plan->n_devices; d++) {
        order o = order_of(plan, d);

        for (int u = 0; u < plan->n_values; u++)
            for (int v = 0; v < plan->n_values; v++)
                if (u != v && lies_on(plan, lives, u, d) &&
                    lies_on(plan, lives, v, d) && share_bytes(plan, u, v) &&
                    lives[u].begin <= lives[v].begin &&
                    (lives[u].end >= lives[v].begin || !is_over(&o, u, v)))
                    snprintf(text, 256, "%s and %s", plan->values[u].name,
                             plan->values[v].name);
        free(o.before);
    }
    free(lives);
}

START_TEST(nothing_side_by_side_shares_a_byte)
{
    char clash[256];
    random_plan r;

    make(&r, (unsigned) _i, _i % DEVICES + 1, max_streams);
    find_clash(r.plan, clash);
    ck_assert_msg(!clash[0], "seed %d: %s", _i, clash);
    MUST(mo_verify_plan(r.plan, &err));
    random_plan_clear(&r);
}
END_TEST

START_TEST(what_is_read_is_there)
{
    random_plan r;

    make(&r, (unsigned) _i, _i % DEVICES + 1, max_streams);
    for (int d = 0; d < r.plan->n_devices; d++) {
        order o = order_of(r.plan, d);

        for (int v = 0; v < r.plan->n_values; v++)
            for (int m = 0; m < o.n; m++)
                for (int t = 0; t < o.n && makes(&o, m, v); t++)
                    ck_assert_msg(t == m || !touches(&o, t, v) ||
                                      o.before[m * o.n + t],
                                  "seed %d: %s", _i, r.plan->values[v].name);
        free(o.before);
    }
    random_plan_clear(&r);
}
END_TEST

/* No dependency follows from the others and the stream. */
START_TEST(no_wait_is_idle)
{
    random_plan r;

    make(&r, (unsigned) _i, 1, max_streams);
    for (int c = 0; c < r.plan->n_calls; c++) {
        mo_plan_call *call = &r.plan->calls[c];
        int depends_on[64], n = call->n_depends_on;

        ck_assert_int_le(n, LANES - 1);
        memcpy(depends_on, call->depends_on, (size_t) n * sizeof *depends_on);
        for (int i = 0; i < n; i++) {
            call->n_depends_on = n - 1;
            call->depends_on[i] = depends_on[n - 1];
            ck_assert_msg(mo_verify_plan(r.plan, NULL) != MO_OK,
                          "seed %d: call %d need not wait for %d", _i, c,
                          depends_on[i]);
            call->n_depends_on = n;
            call->depends_on[i] = depends_on[i];
        }
    }
    random_plan_clear(&r);
}
END_TEST

START_TEST(one_lane_is_as_before)
{
    random_plan a, b;

    random_plan_make(&a, (unsigned) _i, DEVICES);
    random_plan_make(&b, (unsigned) _i, DEVICES);
    mo_plan_free(b.plan);
    b.source.max_streams = one_lane;
    MUST(mo_plan_build(&b.source, &b.plan, &err));
    ck_assert_int_eq(a.plan->n_values, b.plan->n_values);
    for (int v = 0; v < a.plan->n_values; v++)
        ck_assert_int_eq(a.plan->values[v].offset, b.plan->values[v].offset);
    random_plan_clear(&a);
    random_plan_clear(&b);
}
END_TEST

/* The number of streams that calls of device 0 use. */
static int count_used(const mo_exec_plan *plan)
{
    bool used[MO_PLAN_MAX_STREAMS] = { false };
    int n = 0;

    for (int c = 0; c < plan->n_calls; c++)
        used[plan->calls[c].stream] = true;
    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        n += used[i];
    return n;
}

START_TEST(branches_run_side_by_side)
{
    int n_several = 0;

    for (unsigned seed = 0; seed < 30; seed++) {
        random_plan r;

        make(&r, seed, 1, max_streams);
        n_several += count_used(r.plan) > 1;
        random_plan_clear(&r);
    }
    ck_assert_int_gt(n_several, 10);
}
END_TEST

typedef bool breaks(mo_exec_plan *plan, test_random *random);

static mo_plan_call *any_waiting(mo_exec_plan *plan, test_random *random)
{
    mo_plan_call *found = NULL;
    int n = 0;

    for (int c = 0; c < plan->n_calls; c++)
        if (plan->calls[c].n_depends_on > 0 && random_below(random, ++n) == 0)
            found = &plan->calls[c];
    return found;
}

static bool drops_a_wait(mo_exec_plan *plan, test_random *random)
{
    mo_plan_call *call = any_waiting(plan, random);

    if (call)
        call->n_depends_on--;
    return call;
}

static bool waits_for_the_last(mo_exec_plan *plan, test_random *random)
{
    mo_plan_call *call = any_waiting(plan, random);

    if (call)
        call->depends_on[0] = plan->n_calls - 1;
    return call && call != &plan->calls[plan->n_calls - 1];
}

static bool waits_for_nobody(mo_exec_plan *plan, test_random *random)
{
    mo_plan_call *call = any_waiting(plan, random);

    if (call)
        call->depends_on[0] = random_below(random, 2) ? -1 : plan->n_calls;
    return call;
}

static bool has_a_lane_too_many(mo_exec_plan *plan, test_random *random)
{
    plan->calls[random_below(random, plan->n_calls)].stream =
        random_below(random, 2) ? -1 : LANES;
    return true;
}

static bool has_too_many_lanes(mo_exec_plan *plan, test_random *random)
{
    plan->devices[0].n_streams = random_below(random, 2) ? -1 : 9;
    return true;
}

static const struct {
    breaks *how;
    const char *said;
} broken[] = {
    { drops_a_wait, "may run before" },
    { waits_for_the_last, "which is not before it" },
    { waits_for_nobody, "which is not before it" },
    { has_a_lane_too_many, "has lane" },
    { has_too_many_lanes, "lanes" },
};

START_TEST(broken_lanes_are_refused)
{
    int n_broken = 0;

    for (unsigned seed = 0; seed < 60; seed++) {
        test_random random = { seed };
        mo_error err = { 0 };
        random_plan r;

        make(&r, seed, 1, max_streams);
        if (r.plan->n_calls > 0 && broken[_i].how(r.plan, &random)) {
            ck_assert_int_eq(mo_verify_plan(r.plan, &err), MO_E_INPUT);
            ck_assert_msg(strstr(err.text, broken[_i].said) != NULL,
                          "seed %u: %s", seed, err.text);
            n_broken++;
        }
        random_plan_clear(&r);
    }
    ck_assert_int_gt(n_broken, 10);
}
END_TEST

/* A value is moved onto another that is dead by the order of steps, but may
 * still be read concurrently with its producer. */
START_TEST(a_clash_of_lanes_is_refused)
{
    int n_clashes = 0;

    for (unsigned seed = 0; seed < 60; seed++) {
        mo_plan_live_range *lives = NULL;
        random_plan r;

        make(&r, seed, 1, max_streams);
        MUST(mo_plan_liveness(r.plan, &lives, &err));
        for (int u = 0; u < r.plan->n_values; u++)
            for (int v = 0; v < r.plan->n_values; v++) {
                mo_plan_value *value = &r.plan->values[v];
                int64_t kept = value->offset;
                char clash[256];

                if (u == v || lives[u].end >= lives[v].begin ||
                    !lies_on(r.plan, lives, u, 0) ||
                    !lies_on(r.plan, lives, v, 0))
                    continue;
                value->offset = r.plan->values[u].offset;
                find_clash(r.plan, clash);
                if (value->offset + mo_tensor_desc_bytes(&value->desc) <=
                        r.plan->devices[0].arena_bytes &&
                    n_clashes < 400) {
                    bool refused = mo_verify_plan(r.plan, NULL) != MO_OK;
                    bool viewed = false;

                    for (int w = 0; w < r.plan->n_values; w++)
                        viewed |= r.plan->values[w].view_of == v;
                    ck_assert_msg(viewed || refused == (clash[0] != '\0'),
                                  "seed %u: %s", seed, clash);
                    n_clashes += clash[0] != '\0';
                }
                value->offset = kept;
            }
        free(lives);
        random_plan_clear(&r);
    }
    ck_assert_int_gt(n_clashes, 50);
}
END_TEST

SUITE(streams)
{
    SOME(nothing_side_by_side_shares_a_byte, 120, 12);
    SOME(what_is_read_is_there, 120, 12);
    SOME(no_wait_is_idle, 60, 6);
    EACH(one_lane_is_as_before, 30);
    TEST(branches_run_side_by_side);
    EACH(broken_lanes_are_refused, COUNT(broken));
    TEST(a_clash_of_lanes_is_refused);
}
