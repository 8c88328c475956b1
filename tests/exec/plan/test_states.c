/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of states in plans: in place where nothing else reads the old value,
 * copied otherwise; phases share them; the verifier refuses corrupted plans. */
#include "exec/plan/build.h"

#include "exec/plan/verify/verify.h"
#include "ingest/read.h"
#include "tests/exec/support/plan_runner.h"
#include "tests/support/graphml_text.h"
#include "tests/support/suite.h"

#define KEYS                                                                   \
    KEY("o", "node", "op")                                                     \
    KEY("s", "node", "shape")                                                  \
    KEY("d", "node", "dtype")                                                  \
    KEY("a", "node", "attrs") KEY("t", "node", "state")                        \
        KEY("q", "edge", "dst_port")
#define OP(id, op, shape, more)                                                \
    NODE(id, DATA("o", op) DATA("s", shape) DATA("d", "f32") more)
#define TO(from, to, port) EDGE(from, to, DATA("q", port))

/* new is written into row at of the state, and more is done beside it. */
#define CACHE(more)                                                            \
    GRAPHML(KEYS,                                                              \
            OP("past", "Parameter", "4,2", DATA("t", "cache")) NODE(           \
                "at", DATA("o", "Parameter") DATA("s", "1") DATA("d", "i64"))  \
                OP("new", "Parameter", "1,2",                                  \
                   "") OP("set", "ScatterUpdate", "4,2",                       \
                          DATA("a", "{\"values\":\"3:0\"}"))                   \
                    OP("sum", "Exp", "4,2", "") OP("out", "Result", "4,2", "") \
                        OP("next", "Result", "4,2", DATA("t", "cache"))        \
                            TO("past", "set", "0") TO("at", "set", "1")        \
                                TO("new", "set", "2") TO("set", "sum", "0")    \
                                    TO("sum", "out", "0")                      \
                                        TO("set", "next", "0") more)

static const char in_place[] = CACHE("");
/* The old value is read by another op, too. */
static const char copied[] = CACHE(OP("old", "Exp", "4,2", "") OP(
    "out2", "Result", "4,2", "") TO("past", "old", "0") TO("old", "out2", "0"));

static mo_graph *parse(const char *text)
{
    mo_graph *graph = NULL;

    MUST(
        mo_read_memory("states", text, strlen(text), NULL, &graph, NULL, &err));
    return graph;
}

/* A plan that keeps its states; the caller clears r. */
static mo_exec_plan *plan_of(const char *text, random_plan *r)
{
    mo_exec_plan *plan = NULL;

    random_plan_of(r, parse(text), parse(text), NULL, 0, 1);
    r->source.keeps_state = true;
    MUST(mo_plan_build(&r->source, &plan, &err));
    return plan;
}

static int count_copies(const mo_exec_plan *plan)
{
    int n = 0;

    for (int c = 0; c < plan->n_calls; c++)
        n += plan->calls[c].call.kind == MO_CALL_COPY;
    return n;
}

static mo_plan_value *state_output(mo_exec_plan *plan)
{
    for (int i = 0; i < plan->n_outputs; i++)
        if (plan->outputs[i].state)
            return &plan->values[plan->outputs[i].value];
    ck_abort_msg("no output is a state");
}

static mo_plan_value *state_input(mo_exec_plan *plan)
{
    for (int i = 0; i < plan->n_inputs; i++)
        if (plan->inputs[i].state)
            return &plan->values[plan->inputs[i].values[0]];
    ck_abort_msg("no input is a state");
}

START_TEST(states_have_one_buffer)
{
    static const char *const texts[] = { in_place, copied };
    random_plan r;
    mo_exec_plan *plan = plan_of(texts[_i], &r);

    MUST(mo_verify_plan(plan, &err));
    ck_assert_int_eq(count_copies(plan), _i);
    ck_assert_str_eq(state_input(plan)->state, "cache");
    ck_assert_str_eq(state_output(plan)->state, "cache");
    ck_assert_int_eq(state_output(plan)->offset, state_input(plan)->offset);
    ck_assert_int_ge(plan->devices[0].state_bytes, 4 * 2 * 4);
    ck_assert_int_gt(plan->devices[0].arena_bytes,
                     plan->devices[0].state_bytes);
    mo_plan_free(plan);
    random_plan_clear(&r);
}
END_TEST

/* Without the option they are inputs and outputs. */
START_TEST(states_are_kept_on_request)
{
    random_plan r;

    random_plan_of(&r, parse(in_place), parse(in_place), NULL, 0, 1);
    for (int i = 0; i < r.plan->n_inputs; i++)
        ck_assert_ptr_null(r.plan->inputs[i].state);
    ck_assert_int_eq(r.plan->devices[0].state_bytes, 0);
    random_plan_clear(&r);
}
END_TEST

static void moves_the_new_value(mo_exec_plan *plan)
{
    state_output(plan)->offset += 4;
}

static void leaves_the_states(mo_exec_plan *plan)
{
    plan->devices[0].state_bytes = 0;
}

static void covers_all_values(mo_exec_plan *plan)
{
    plan->devices[0].state_bytes = plan->devices[0].arena_bytes;
}

static void renames_the_old_value(mo_exec_plan *plan)
{
    state_input(plan)->state = "other";
}

static void reads_what_is_overwritten(mo_exec_plan *plan)
{
    int old = (int) (state_input(plan) - plan->values);

    for (int c = 0; c < plan->n_calls; c++)
        if (plan->calls[c].call.kind == MO_CALL_POINT)
            plan->calls[c].call.in[0] = old;
}

static void writes_while_it_reads(mo_exec_plan *plan)
{
    for (int c = 0; c < plan->n_calls; c++)
        if (plan->calls[c].call.kind == MO_CALL_SCATTER)
            plan->calls[c].call.kind = MO_CALL_CUMSUM;
}

static void returns_the_old_value(mo_exec_plan *plan)
{
    int old = (int) (state_input(plan) - plan->values);

    for (int i = 0; i < plan->n_outputs; i++)
        if (plan->outputs[i].state)
            plan->outputs[i].value = old;
}

static void copies_without_waiting(mo_exec_plan *plan)
{
    plan->devices[0].n_streams = 2;
    for (int c = 0; c < plan->n_calls; c++)
        if (plan->calls[c].call.kind == MO_CALL_COPY) {
            ck_assert_int_gt(plan->calls[c].call.n_in, 1);
            plan->calls[c].call.n_in = plan->calls[c].call.first_extra = 1;
        }
}

static void (*const breaches[])(mo_exec_plan *) = {
    moves_the_new_value,   leaves_the_states,         covers_all_values,
    renames_the_old_value, reads_what_is_overwritten, writes_while_it_reads,
    returns_the_old_value, copies_without_waiting,
};

START_TEST(corrupted_states_are_refused)
{
    random_plan r;
    bool is_copied = breaches[_i] == copies_without_waiting;
    mo_exec_plan *plan = plan_of(is_copied ? copied : in_place, &r);
    mo_error err = { 0 };

    breaches[_i](plan);
    ck_assert_int_eq(mo_verify_plan(plan, &err), MO_E_INPUT);
    mo_plan_free(plan);
    random_plan_clear(&r);
}
END_TEST

START_TEST(phases_share_states)
{
    static const char *const names[] = { "first", "second" };
    random_plan r[2];
    mo_exec_plan *plans[] = { plan_of(in_place, &r[0]),
                              plan_of(copied, &r[1]) };
    mo_exec_plan *merged = NULL;
    const mo_plan_phase *second;
    int64_t most = plans[1]->devices[0].arena_bytes;

    MUST(mo_plan_merge_phases(plans, names, 2, &merged, &err));
    ck_assert_int_eq(merged->n_phases, 2);
    second = &merged->phases[1];
    ck_assert_str_eq(second->name, "second");
    ck_assert_int_eq(second->start.call, plans[0]->n_calls);
    ck_assert_int_eq(merged->n_calls, plans[0]->n_calls + plans[1]->n_calls);
    ck_assert_int_eq(merged->devices[0].n_steps,
                     plans[0]->devices[0].n_steps +
                         plans[1]->devices[0].n_steps);
    ck_assert_int_eq(merged->devices[0].arena_bytes, most);
    ck_assert_int_eq(MO_PLAN_PHASE_OF(merged, call, second->start.call - 1), 0);
    ck_assert_int_eq(MO_PLAN_PHASE_OF(merged, call, second->start.call), 1);
    for (int c = second->start.call; c < merged->n_calls; c++)
        for (int i = 0; i < merged->calls[c].call.n_in; i++)
            ck_assert_int_eq(
                MO_PLAN_PHASE_OF(merged, value, merged->calls[c].call.in[i]),
                1);
    mo_plan_free(merged);
    random_plan_clear(&r[1]);
    random_plan_clear(&r[0]);
}
END_TEST

START_TEST(phases_have_the_same_states)
{
    static const char *const names[] = { "first", "second" };
    random_plan r[2];
    mo_exec_plan *plans[] = { plan_of(in_place, &r[0]),
                              plan_of(in_place, &r[1]) };
    mo_exec_plan *merged = NULL;
    mo_error err = { 0 };

    state_input(plans[1])->state = state_output(plans[1])->state = "other";
    ck_assert_int_eq(mo_plan_merge_phases(plans, names, 2, &merged, &err),
                     MO_E_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "all phases need the same states"));
    ck_assert_ptr_null(merged);
    for (int i = 0; i < 2; i++) {
        mo_plan_free(plans[i]);
        random_plan_clear(&r[i]);
    }
}
END_TEST

SUITE(states)
{
    EACH(states_have_one_buffer, 2);
    TEST(states_are_kept_on_request);
    EACH(corrupted_states_are_refused, COUNT(breaches));
    TEST(phases_share_states);
    TEST(phases_have_the_same_states);
}
