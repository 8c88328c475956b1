/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/runtime/joint/dependencies.c: in a joint program every call
 * begins as soon as its hazards allow, and no sooner. Times are those of
 * separate_memory.h, the same in every run. */
#include <stdlib.h>

#include "exec/plan/ir/value_table.h"
#include "tests/exec/support/separate_memory.h"
#include "tests/exec/runtime/joint_case.h"
#include "tests/exec/support/pinned_plan.h"
#include "tests/support/suite.h"

/* The definition: dependencies of each pair by itself. */

/* A call or a transfer. */
typedef struct thing {
    mo_plan_step step; /* a compute or a send */
    int device;
    int number;  /* of the step there */
    int stretch; /* of a call: steps of other kinds before it on its device */
    int64_t took_ns, begin_ns, end_ns;
} thing;

typedef struct program {
    const mo_exec_plan *plan;
    thing *things; /* in the total order */
    int n;
    int64_t chain_ns;
    const thing *last; /* the last to begin; NULL: all begin at once */
} program;

static int compare(const void *a, const void *b)
{
    const thing *x = a, *y = b;

    return (x->step.order > y->step.order) - (x->step.order < y->step.order);
}

static void list_things(program *p, const mo_run_result *result, int d)
{
    const mo_plan_device *on = &p->plan->devices[d];
    int n_sent = 0, stretch = 0;

    for (int i = 0; i < on->n_steps; i++) {
        thing it = {
            .step = on->steps[i], .device = d, .number = i, .stretch = stretch
        };

        if (it.step.kind == MO_PLAN_STEP_COMPUTE)
            it.took_ns = result->call_ns[it.step.what];
        else
            stretch++;
        if (it.step.kind == MO_PLAN_STEP_SEND)
            it.took_ns =
                SEPARATE_FIRST_NS + (int64_t) SEPARATE_CALL_NS * n_sent++;
        if (it.step.kind == MO_PLAN_STEP_COMPUTE ||
            it.step.kind == MO_PLAN_STEP_SEND)
            p->things[p->n++] = it;
    }
}

static bool is_call(const thing *it)
{
    return it->step.kind == MO_PLAN_STEP_COMPUTE;
}

/* The value that owns the bytes. */
static const mo_plan_value *whole_of(const mo_exec_plan *plan, int value)
{
    const mo_plan_value *it =
        &plan->values[mo_plan_value_root(plan->values, value)];

    return it->part ? whole_of(plan, it->part->of) : it;
}

static bool share_bytes(const mo_exec_plan *plan, int a, int b)
{
    const mo_plan_value *x = whole_of(plan, a), *y = whole_of(plan, b);

    return x->device == y->device && x->offset != MO_PLAN_NONE &&
           y->offset != MO_PLAN_NONE &&
           x->offset < y->offset + mo_tensor_desc_bytes(&y->desc) &&
           y->offset < x->offset + mo_tensor_desc_bytes(&x->desc);
}

/* Values that a call or transfer reads or writes. */
typedef struct operands {
    const int *values;
    int n;
} operands;

static operands read_by(const mo_exec_plan *plan, const thing *it)
{
    const mo_call *call = &plan->calls[it->step.what].call;

    return is_call(it)
               ? (operands){ call->in, call->n_in }
               : (operands){ &plan->transfers[it->step.what].from_value, 1 };
}

static operands written_by(const mo_exec_plan *plan, const thing *it)
{
    const mo_call *call = &plan->calls[it->step.what].call;

    return is_call(it)
               ? (operands){ call->out, call->n_out }
               : (operands){ &plan->transfers[it->step.what].to_value, 1 };
}

static bool meet(const mo_exec_plan *plan, operands a, operands b)
{
    for (int i = 0; i < a.n; i++)
        for (int k = 0; k < b.n; k++)
            if (share_bytes(plan, a.values[i], b.values[k]))
                return true;
    return false;
}

static bool share_port(const mo_exec_plan *plan, const thing *a, const thing *b)
{
    const mo_plan_transfer *x = &plan->transfers[a->step.what];
    const mo_plan_transfer *y = &plan->transfers[b->step.what];

    return x->from == y->from || x->to == y->to;
}

/* Calls of one device, the first of them planned before the second. */
static bool is_behind(const mo_exec_plan *plan, const thing *a, const thing *b)
{
    const mo_plan_call *x = &plan->calls[a->step.what];
    const mo_plan_call *y = &plan->calls[b->step.what];

    for (int i = 0; i < y->n_depends_on; i++)
        if (y->depends_on[i] == a->step.what)
            return true;
    return x->stream == y->stream || a->stretch != b->stretch;
}

static bool waits_for(const mo_exec_plan *plan, const thing *a, const thing *b)
{
    if (is_call(a) && is_call(b))
        return a->device == b->device && is_behind(plan, a, b);
    if (!is_call(a) && !is_call(b) && share_port(plan, a, b))
        return true;
    return meet(plan, written_by(plan, a), read_by(plan, b)) ||
           meet(plan, written_by(plan, a), written_by(plan, b)) ||
           meet(plan, read_by(plan, a), written_by(plan, b));
}

static program program_of(const mo_exec_plan *plan, const mo_run_result *result)
{
    size_t room = (size_t) plan->n_calls + (size_t) plan->n_transfers + 1;
    program p = { .plan = plan, .things = calloc(room, sizeof *p.things) };

    ck_assert_ptr_nonnull(p.things);
    for (int d = 0; d < plan->n_devices; d++)
        list_things(&p, result, d);
    qsort(p.things, (size_t) p.n, sizeof *p.things, compare);
    for (int b = 0; b < p.n; b++) {
        thing *it = &p.things[b];

        for (int a = 0; a < b; a++)
            if (p.things[a].end_ns > it->begin_ns &&
                waits_for(plan, &p.things[a], it))
                it->begin_ns = p.things[a].end_ns;
        it->end_ns = it->begin_ns + it->took_ns;
        if (it->end_ns > p.chain_ns)
            p.chain_ns = it->end_ns;
        if (it->begin_ns > (p.last ? p.last->begin_ns : 0))
            p.last = it;
    }
    return p;
}

static double begun_ns(const mo_run_result *result, const thing *it)
{
    return (double) result->steps[it->device][it->number].begin_ns;
}

/* Steps are scaled down where the run was faster than its calls in isolation:
 * by a factor that follows from the first and the last of them. */
static void check_moment(const program *p, const mo_run_result *result,
                         int64_t want_ns, int64_t got_ns, int seed)
{
    enum { ROUNDING_NS = 3 };
    double first = begun_ns(result, p->things);
    double span = begun_ns(result, p->last) - first;
    double share = (double) want_ns / (double) p->last->begin_ns;
    double late = (double) got_ns - (first + share * span);

    ck_assert_msg(late < ROUNDING_NS && late > -ROUNDING_NS,
                  "seed %d: what should be at %lld is %g too late", seed,
                  (long long) want_ns, late);
}

/* From the end of all calls before it to the end of the transfer. */
static void check_await(const program *p, const mo_run_result *result, int d,
                        int i, int seed)
{
    const mo_plan_step *await = &p->plan->devices[d].steps[i];
    int64_t begin = 0, there = 0;

    for (int k = 0; k < p->n; k++) {
        const thing *it = &p->things[k];

        if (it->step.order > await->order)
            break;
        if (is_call(it) && it->device == d && it->end_ns > begin)
            begin = it->end_ns;
        if (!is_call(it) && it->step.what == await->what)
            there = it->end_ns;
    }
    check_moment(p, result, begin, result->steps[d][i].begin_ns, seed);
    check_moment(p, result, there > begin ? there : begin,
                 result->steps[d][i].end_ns, seed);
}

static void check_steps(const program *p, const mo_run_result *result, int seed)
{
    for (int i = 0; i < p->n; i++) {
        const thing *it = &p->things[i];

        check_moment(p, result, it->begin_ns,
                     result->steps[it->device][it->number].begin_ns, seed);
    }
    for (int d = 0; d < p->plan->n_devices; d++)
        for (int i = 0; i < p->plan->devices[d].n_steps; i++)
            if (p->plan->devices[d].steps[i].kind == MO_PLAN_STEP_AWAIT)
                check_await(p, result, d, i, seed);
}

static void go(joint_case *c, unsigned seed, int n_devices)
{
    joint_case_make(c, seed, n_devices);
    joint_case_place(c, &separate_backend, (1u << n_devices) - 1);
    plan_runner_go(&c->runner);
}

START_TEST(all_begin_as_soon_as_they_may)
{
    joint_case c;
    program p;

    go(&c, (unsigned) _i, 2 + _i % 3);
    p = program_of(c.made.plan, &c.runner.result);
    ck_assert_msg(c.runner.result.chain_ns == p.chain_ns,
                  "seed %d: the chain is of %lld ns, not of %lld", _i,
                  (long long) c.runner.result.chain_ns, (long long) p.chain_ns);
    if (p.last)
        check_steps(&p, &c.runner.result, _i);
    free(p.things);
    joint_case_clear(&c);
}
END_TEST

/* By hand: A sends the result of a to B. */

typedef struct sender {
    random_plan made;
    plan_runner runner;
} sender;

#define SENDS                                                                  \
    "x op=Parameter; a op=Tanh; b op=Abs pin=B; c op=Sigmoid; "                \
    "s op=Result pin=B; x>a; a>b; b>s; x>c; "

enum { A, B };

/* A's steps are of these kinds: no buffers are kept without memory to spare. */
static void make_sender(sender *s, const char *text,
                        const mo_plan_step_kind *kinds, int n)
{
    const mo_plan_device *on;

    pinned_plan_make(&s->made, text, 1);
    on = &s->made.plan->devices[A];
    ck_assert_int_eq(on->n_steps, n);
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(on->steps[i].kind, kinds[i]);
}

/* Returns the length of the critical path. */
static int64_t run_sender(sender *s)
{
    for (int d = 0; d < 2; d++)
        s->made.plan->devices[d].capacity_bytes = INT64_MAX;
    plan_runner_begin(&s->runner, s->made.plan, 1);
    for (int d = 0; d < 2; d++) {
        s->runner.backends[d] = &separate_backend;
        s->runner.units[d] =
            (mo_backend_unit_options){ .threads = 1, .gpu = d, .cache = "" };
    }
    plan_runner_go(&s->runner);
    return s->runner.result.chain_ns;
}

static void end_sender(sender *s)
{
    plan_runner_end(&s->runner);
    random_plan_clear(&s->made);
}

static const mo_plan_step_kind early[] = {
    MO_PLAN_STEP_COMPUTE, MO_PLAN_STEP_SEND, MO_PLAN_STEP_AWAIT,
    MO_PLAN_STEP_COMPUTE, MO_PLAN_STEP_COMPUTE
};
static const mo_plan_step_kind late[] = { MO_PLAN_STEP_COMPUTE,
                                          MO_PLAN_STEP_COMPUTE,
                                          MO_PLAN_STEP_SEND,
                                          MO_PLAN_STEP_AWAIT };

/* The result of a is read once more, so that c cannot reuse its bytes. */
START_TEST(who_sends_goes_on)
{
    sender s;
    int64_t chain_ns;

    make_sender(&s,
                SENDS "d op=Add; r op=Result; a>d dst_port=0; "
                      "c>d dst_port=1; d>r",
                early, 5);
    chain_ns = run_sender(&s);
    ck_assert_int_eq(chain_ns, s.runner.result.busy_ns[A]);
    end_sender(&s);
}
END_TEST

/* The results of the first call of A, and of the last. */
static mo_plan_value *made_first(const sender *s)
{
    return &s->made.plan->values[s->made.plan->calls[0].call.out[0]];
}

static mo_plan_value *made_last(const sender *s)
{
    return &s->made.plan->values[s->made.plan->calls[2].call.out[0]];
}

START_TEST(who_overwrites_what_is_sent_waits)
{
    sender s;
    int64_t chain_ns;

    make_sender(&s, SENDS "r op=Result; c>r", early, 4);
    made_last(&s)->offset = made_first(&s)->offset;
    chain_ns = run_sender(&s);
    ck_assert_int_eq(chain_ns, s.runner.result.busy_ns[A] + SEPARATE_FIRST_NS);
    end_sender(&s);
}
END_TEST

/* Bytes of a part are spread over the whole, beyond its offset and size. */
START_TEST(who_writes_a_part_overwrites_the_whole)
{
    sender s;
    mo_plan_slice part = { 0 };
    mo_plan_device *on;
    int64_t chain_ns;

    make_sender(&s, SENDS "r op=Result; c>r", early, 4);
    on = &s.made.plan->devices[A];
    part.of = s.made.plan->calls[0].call.out[0];
    made_last(&s)->part = &part;
    made_last(&s)->offset = (on->arena_bytes + 63) / 64 * 64;
    on->arena_bytes =
        made_last(&s)->offset + mo_tensor_desc_bytes(&made_last(&s)->desc);
    chain_ns = run_sender(&s);
    ck_assert_int_eq(chain_ns, s.runner.result.busy_ns[A] + SEPARATE_FIRST_NS);
    end_sender(&s);
}
END_TEST

/* c, in between, only reads the result of a. */
START_TEST(what_is_sent_does_not_wait_for_who_reads_it)
{
    sender s;
    int64_t chain_ns;

    make_sender(&s,
                "x op=Parameter; a op=Tanh; c op=Sigmoid; b op=Abs pin=B; "
                "r op=Result; s op=Result pin=B; "
                "x>a; a>b; b>s; a>c; c>r",
                late, 4);
    chain_ns = run_sender(&s);
    ck_assert_int_eq(chain_ns, s.runner.result.call_ns[0] + SEPARATE_FIRST_NS +
                                   s.runner.result.busy_ns[B]);
    end_sender(&s);
}
END_TEST

SUITE(joint_dependencies)
{
    SOME(all_begin_as_soon_as_they_may, 200, 20);
    TEST(who_sends_goes_on);
    TEST(who_overwrites_what_is_sent_waits);
    TEST(who_writes_a_part_overwrites_the_whole);
    TEST(what_is_sent_does_not_wait_for_who_reads_it);
}
