/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/plan/verify/verify.h: deadlocks are found, and no corruption
 * crashes the verifier. */
#include "exec/plan/verify/verify.h"

#include <limits.h>

#include "exec/plan/ir/value_table.h"
#include "tests/support/graphs.h"
#include "tests/exec/support/random_plan.h"
#include "tests/support/suite.h"
#include "tests/exec/plan/corrupted_plan.h"

/* Each of n devices sends its input to the next; each awaits its receive
 * before it sends. */
enum { MAX_RING = 7 };

typedef struct ring {
    mo_exec_plan plan;
    mo_plan_device devices[MAX_RING];
    mo_plan_step steps[MAX_RING][4];
    mo_plan_value values[2 * MAX_RING];
    mo_plan_transfer transfers[MAX_RING];
    mo_plan_input input;
    int fed[MAX_RING];
    char ids[MAX_RING][2], names[MAX_RING][2];
} ring;

static void make_device(ring *r, int d, int n, bool stuck)
{
    const mo_tensor_desc desc = { MO_ELEM_F32, { .rank = 0 } };
    int before = (d + n - 1) % n;
    mo_plan_step *s = r->steps[d];

    r->ids[d][0] = (char) ('A' + d);
    r->names[d][0] = (char) ('a' + d);
    r->devices[d] = (mo_plan_device){
        .id = r->ids[d], .steps = s, .n_steps = 4, .arena_bytes = 128
    };
    r->values[d] = mo_plan_value_init(r->names[d], &desc, d);
    r->values[d].input = 0;
    r->values[d].offset = 0;
    r->values[n + d] = mo_plan_value_init(r->names[before], &desc, d);
    r->values[n + d].transfer = before;
    r->values[n + d].offset = 64;
    r->transfers[d] = (mo_plan_transfer){ .from_value = d,
                                          .to_value = n + (d + 1) % n,
                                          .from = d,
                                          .to = (d + 1) % n,
                                          .bytes = 4 };
    r->fed[d] = d;
    s[0] = (mo_plan_step){ MO_PLAN_STEP_RECEIVE, before, before };
    s[1] = (mo_plan_step){ stuck ? MO_PLAN_STEP_AWAIT : MO_PLAN_STEP_SEND,
                           stuck ? before : d, d };
    s[2] = (mo_plan_step){ stuck ? MO_PLAN_STEP_SEND : MO_PLAN_STEP_AWAIT,
                           stuck ? d : before, n + 2 * d };
    s[3] = (mo_plan_step){ MO_PLAN_STEP_AWAIT, d, n + 2 * d + 1 };
    if (!stuck && before > d) { /* the order of its two posts */
        mo_plan_step kept = s[0];

        s[0] = s[1];
        s[1] = kept;
    }
}

static void make_ring(ring *r, int n, bool stuck)
{
    memset(r, 0, sizeof *r);
    for (int d = 0; d < n; d++)
        make_device(r, d, n, stuck);
    r->input = (mo_plan_input){ .name = "x", .values = r->fed, .n_values = n };
    r->plan = (mo_exec_plan){ .n_devices = n,
                              .n_values = 2 * n,
                              .n_transfers = n,
                              .n_inputs = 1,
                              .devices = r->devices,
                              .values = r->values,
                              .transfers = r->transfers,
                              .inputs = &r->input };
}

START_TEST(devices_that_wait_for_each_other_are_named)
{
    ring r;
    mo_error err = { 0 };

    make_ring(&r, 2, true);
    ck_assert_int_eq(mo_verify_plan(&r.plan, &err), MO_E_INPUT);
    ck_assert_str_eq(err.text, "plan: cannot finish: A waits at step 1 for 'b' "
                               "from B, B waits at step 1 for 'a' from A");
}
END_TEST

START_TEST(a_ring_of_any_length_is_stuck_or_not)
{
    int n = 2 + _i;
    mo_error err = { 0 };
    ring r;

    make_ring(&r, n, false);
    ck_assert_msg(mo_verify_plan(&r.plan, &err) == MO_OK, "%d: %s", n,
                  err.text);
    make_ring(&r, n, true);
    ck_assert_int_eq(mo_verify_plan(&r.plan, &err), MO_E_INPUT);
    ck_assert_msg(strstr(err.text, "cannot finish") != NULL, "%s", err.text);
}
END_TEST

/* Numbers of all kinds in all members: refused or not, but never a crash. */
START_TEST(no_damage_crashes_the_verifier)
{
    random_plan r;
    test_random random = { (uint64_t) _i };
    mo_exec_plan *plan;

    random_plan_make(&r, (unsigned) _i, VICTIM_DEVICES);
    plan = r.plan;
    for (int i = 0; i < 20 && plan->n_calls > 0; i++) {
        static const int odd[] = { -1, 0, 1, 7, INT_MAX, INT_MIN };
        int number = odd[random_below(&random, COUNT(odd))];
        mo_plan_value *value =
            &plan->values[random_below(&random, plan->n_values)];
        mo_plan_device *device =
            &plan->devices[random_below(&random, VICTIM_DEVICES)];
        int *places[] = {
            &value->view_of,
            &value->input,
            &value->device,
            &value->transfer,
            &value->item,
            &plan->calls[0].item,
            &value->desc.shape.rank,
            device->n_steps > 0
                ? &device->steps[random_below(&random, device->n_steps)].what
                : &value->view_of,
            plan->n_transfers > 0 ? &plan->transfers[0].to_value
                                  : &value->input,
            &plan->calls[0].call.in[0],
        };
        int *place = places[random_below(&random, COUNT(places))];
        int kept = *place;

        *place = number;
        mo_verify_plan(plan, NULL);
        if (random_below(&random, 2))
            *place = kept;
    }
    random_plan_clear(&r);
}
END_TEST

SUITE(plan_verify)
{
    TEST(devices_that_wait_for_each_other_are_named);
    EACH(a_ring_of_any_length_is_stuck_or_not, MAX_RING - 1);
    SOME(no_damage_crashes_the_verifier, 300, 20);
}
