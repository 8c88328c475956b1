/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/plan/verify/verify.h: corrupted steps are refused. */
#include "exec/plan/ir/value_table.h"
#include "tests/support/suite.h"
#include "tests/exec/plan/corrupted_plan.h"

static bool drop(corrupted_plan *v, mo_plan_step_kind kind)
{
    int device, step;
    mo_plan_device *on;

    if (!corrupted_plan_find(v, kind, &device, &step))
        return false;
    on = &v->plan->devices[device];
    memmove(on->steps + step, on->steps + step + 1,
            (size_t) (on->n_steps - step - 1) * sizeof *on->steps);
    on->n_steps--;
    return true;
}

static bool drops_a_call(corrupted_plan *v)
{
    return drop(v, MO_PLAN_STEP_COMPUTE);
}

static bool drops_a_send(corrupted_plan *v)
{
    return drop(v, MO_PLAN_STEP_SEND);
}

static bool drops_a_receive(corrupted_plan *v)
{
    return drop(v, MO_PLAN_STEP_RECEIVE);
}

static bool drops_an_await(corrupted_plan *v)
{
    return drop(v, MO_PLAN_STEP_AWAIT);
}

/* Repeats a step, the second time in the place of another one. */
static bool repeat(corrupted_plan *v, mo_plan_step_kind kind)
{
    int device, step, other;
    mo_plan_device *on;

    if (!corrupted_plan_find(v, kind, &device, &step))
        return false;
    on = &v->plan->devices[device];
    other = corrupted_plan_below(v, on->n_steps);
    if (other == step)
        return false;
    on->steps[other].kind = on->steps[step].kind;
    on->steps[other].what = on->steps[step].what;
    return true;
}

static bool repeats_a_call(corrupted_plan *v)
{
    return repeat(v, MO_PLAN_STEP_COMPUTE);
}

static bool repeats_a_send(corrupted_plan *v)
{
    return repeat(v, MO_PLAN_STEP_SEND);
}

static bool repeats_an_await(corrupted_plan *v)
{
    return repeat(v, MO_PLAN_STEP_AWAIT);
}

/* The awaited value is read by the step behind the await. */
static bool awaits_too_late(corrupted_plan *v)
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

static bool awaits_before_the_beginning(corrupted_plan *v)
{
    mo_plan_step *begin = corrupted_plan_any(v, MO_PLAN_STEP_RECEIVE);
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
static bool computes_before_it_can(corrupted_plan *v)
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

static bool sends_before_it_can(corrupted_plan *v)
{
    int device, step;
    mo_plan_device *on;
    mo_plan_step kept;

    if (!corrupted_plan_find(v, MO_PLAN_STEP_SEND, &device, &step))
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

static bool names_a_wrong_step(corrupted_plan *v)
{
    mo_plan_step *it = corrupted_plan_any(v, MO_PLAN_STEP_COMPUTE);

    it->what = corrupted_plan_below(v, 2)
                   ? -1 - corrupted_plan_below(v, 5)
                   : v->plan->n_calls + corrupted_plan_below(v, 9);
    return true;
}

static bool has_a_step_of_no_kind(corrupted_plan *v)
{
    corrupted_plan_any(v, MO_PLAN_STEP_COMPUTE)->kind =
        (mo_plan_step_kind) (4 + corrupted_plan_below(v, 9));
    return true;
}

static bool counts_wrong(corrupted_plan *v)
{
    mo_exec_plan *plan = v->plan;

    switch (corrupted_plan_below(v, 6)) {
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
        plan->devices[corrupted_plan_below(v, VICTIM_DEVICES)].arena_bytes = -1;
        break;
    default:
        plan->outputs[0].value = plan->n_values;
        break;
    }
    return true;
}

static bool breaks_the_order(corrupted_plan *v)
{
    mo_plan_device *on =
        &v->plan->devices[corrupted_plan_below(v, VICTIM_DEVICES)];
    int step;

    if (on->n_steps < 2)
        return false;
    step = 1 + corrupted_plan_below(v, on->n_steps - 1);
    on->steps[step].order =
        on->steps[step - 1].order - corrupted_plan_below(v, 2);
    return true;
}

static bool begins_at_two_places(corrupted_plan *v)
{
    mo_plan_step *it = corrupted_plan_any(v, MO_PLAN_STEP_RECEIVE);

    if (!it)
        return false;
    it->order += corrupted_plan_below(v, 2) ? 1 : -1;
    return true;
}

static const plan_mutation of_steps[] = {
    MUTATION(drops_a_call),
    MUTATION(drops_a_send),
    MUTATION(drops_a_receive),
    MUTATION(drops_an_await),
    MUTATION(repeats_a_call),
    MUTATION(repeats_a_send),
    MUTATION(repeats_an_await),
    MUTATION(awaits_too_late),
    MUTATION(awaits_before_the_beginning),
    MUTATION(computes_before_it_can),
    MUTATION(sends_before_it_can),
    MUTATION(names_a_wrong_step),
    MUTATION(has_a_step_of_no_kind),
    MUTATION(counts_wrong),
    MUTATION(breaks_the_order),
    MUTATION(begins_at_two_places),
};

START_TEST(plans_with_broken_steps_are_refused)
{
    corrupted_plan_check(&of_steps[_i]);
}
END_TEST

SUITE(plan_verify_steps)
{
    EACH(plans_with_broken_steps_are_refused, COUNT(of_steps));
}
