/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/plan/verify/verify.h: corrupted steps are refused. */
#include "exec/plan/ir/value_table.h"
#include "tests/support/suite.h"
#include "tests/exec/plan/corrupted_plan.h"

static bool drop(victim *v, mo_plan_step_kind kind)
{
    int device, step;
    mo_plan_device *on;

    if (!victim_find(v, kind, &device, &step))
        return false;
    on = &v->plan->devices[device];
    memmove(on->steps + step, on->steps + step + 1,
            (size_t) (on->n_steps - step - 1) * sizeof *on->steps);
    on->n_steps--;
    return true;
}

static bool drops_a_call(victim *v)
{
    return drop(v, MO_PLAN_STEP_COMPUTE);
}

static bool drops_a_send(victim *v)
{
    return drop(v, MO_PLAN_STEP_SEND);
}

static bool drops_a_receive(victim *v)
{
    return drop(v, MO_PLAN_STEP_RECEIVE);
}

static bool drops_an_await(victim *v)
{
    return drop(v, MO_PLAN_STEP_AWAIT);
}

/* Repeats a step, the second time in the place of another one. */
static bool repeat(victim *v, mo_plan_step_kind kind)
{
    int device, step, other;
    mo_plan_device *on;

    if (!victim_find(v, kind, &device, &step))
        return false;
    on = &v->plan->devices[device];
    other = victim_below(v, on->n_steps);
    if (other == step)
        return false;
    on->steps[other].kind = on->steps[step].kind;
    on->steps[other].what = on->steps[step].what;
    return true;
}

static bool repeats_a_call(victim *v)
{
    return repeat(v, MO_PLAN_STEP_COMPUTE);
}

static bool repeats_a_send(victim *v)
{
    return repeat(v, MO_PLAN_STEP_SEND);
}

static bool repeats_an_await(victim *v)
{
    return repeat(v, MO_PLAN_STEP_AWAIT);
}

/* The awaited value is read by the step behind the await. */
static bool awaits_too_late(victim *v)
{
    for (int d = 0; d < v->plan->n_devices; d++) {
        mo_plan_device *on = &v->plan->devices[d];

        for (int s = 0; s + 1 < on->n_steps; s++) {
            mo_plan_step await = on->steps[s], next = on->steps[s + 1];

            if (await.kind != MO_PLAN_STEP_AWAIT ||
                next.kind != MO_PLAN_STEP_COMPUTE ||
                v->plan->transfers[await.what].to != d)
                continue;
            on->steps[s] = (mo_plan_step){ next.kind, next.what, await.order };
            on->steps[s + 1] =
                (mo_plan_step){ await.kind, await.what, next.order };
            return true;
        }
    }
    return false;
}

static bool awaits_before_the_beginning(victim *v)
{
    mo_plan_step *begin = victim_any(v, MO_PLAN_STEP_RECEIVE);
    mo_plan_step *await = begin;

    if (!begin)
        return false;
    while (await->kind != MO_PLAN_STEP_AWAIT || await->what != begin->what)
        await++;
    begin->kind = MO_PLAN_STEP_AWAIT;
    await->kind = MO_PLAN_STEP_RECEIVE;
    return true;
}

/* A producer and its reader change places. */
static bool computes_before_it_can(victim *v)
{
    for (int d = 0; d < v->plan->n_devices; d++) {
        mo_plan_device *on = &v->plan->devices[d];

        for (int a = 0; a < on->n_steps; a++)
            for (int b = a + 1; b < on->n_steps; b++) {
                const mo_call *x, *y;
                int kept = on->steps[a].what;

                if (on->steps[a].kind != MO_PLAN_STEP_COMPUTE ||
                    on->steps[b].kind != MO_PLAN_STEP_COMPUTE)
                    continue;
                x = &v->plan->calls[on->steps[a].what].call;
                y = &v->plan->calls[on->steps[b].what].call;
                if (x->out[0] != mo_plan_value_root(v->plan->values, y->in[0]))
                    continue;
                on->steps[a].what = on->steps[b].what;
                on->steps[b].what = kept;
                return true;
            }
    }
    return false;
}

static bool sends_before_it_can(victim *v)
{
    int device, step;
    mo_plan_device *on;
    mo_plan_step kept;

    if (!victim_find(v, MO_PLAN_STEP_SEND, &device, &step))
        return false;
    on = &v->plan->devices[device];
    kept = on->steps[step];
    if (v->plan->values[v->plan->transfers[kept.what].from_value].input !=
        MO_PLAN_NONE)
        return false;
    memmove(on->steps + 1, on->steps, (size_t) step * sizeof *on->steps);
    on->steps[0] = kept;
    return true;
}

static bool names_a_wrong_step(victim *v)
{
    mo_plan_step *it = victim_any(v, MO_PLAN_STEP_COMPUTE);

    it->what = victim_below(v, 2) ? -1 - victim_below(v, 5)
                                  : v->plan->n_calls + victim_below(v, 9);
    return true;
}

static bool has_a_step_of_no_kind(victim *v)
{
    victim_any(v, MO_PLAN_STEP_COMPUTE)->kind =
        (mo_plan_step_kind) (4 + victim_below(v, 9));
    return true;
}

static bool counts_wrong(victim *v)
{
    mo_exec_plan *plan = v->plan;

    switch (victim_below(v, 6)) {
    case 0:
        plan->n_values = -1;
        break;
    case 1:
        plan->n_devices = 0;
        break;
    case 2:
        plan->devices[0].n_steps = -3;
        break;
    case 3:
        plan->calls = NULL;
        break;
    case 4:
        plan->devices[victim_below(v, VICTIM_DEVICES)].arena_bytes = -1;
        break;
    default:
        plan->outputs[0].value = plan->n_values;
        break;
    }
    return true;
}

static bool breaks_the_order(victim *v)
{
    mo_plan_device *on = &v->plan->devices[victim_below(v, VICTIM_DEVICES)];
    int step;

    if (on->n_steps < 2)
        return false;
    step = 1 + victim_below(v, on->n_steps - 1);
    on->steps[step].order = on->steps[step - 1].order - victim_below(v, 2);
    return true;
}

static bool begins_at_two_places(victim *v)
{
    mo_plan_step *it = victim_any(v, MO_PLAN_STEP_RECEIVE);

    if (!it)
        return false;
    it->order += victim_below(v, 2) ? 1 : -1;
    return true;
}

static const plan_breach of_steps[] = {
    BREACH(drops_a_call),
    BREACH(drops_a_send),
    BREACH(drops_a_receive),
    BREACH(drops_an_await),
    BREACH(repeats_a_call),
    BREACH(repeats_a_send),
    BREACH(repeats_an_await),
    BREACH(awaits_too_late),
    BREACH(awaits_before_the_beginning),
    BREACH(computes_before_it_can),
    BREACH(sends_before_it_can),
    BREACH(names_a_wrong_step),
    BREACH(has_a_step_of_no_kind),
    BREACH(counts_wrong),
    BREACH(breaks_the_order),
    BREACH(begins_at_two_places),
};

START_TEST(plans_with_broken_steps_are_refused)
{
    victim_check(&of_steps[_i]);
}
END_TEST

SUITE(verify_steps)
{
    EACH(plans_with_broken_steps_are_refused, COUNT(of_steps));
}
