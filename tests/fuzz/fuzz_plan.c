/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differential fuzzer of the plan verifier: a plan with any alteration is
 * refused with its cause, or accepted; with altered order, memory or streams
 * an accepted plan computes the same outputs.
 */
#include "exec/plan/verify/verify.h"
#include "tests/fuzz/fuzz_network.h"
#include "tests/support/suite.h"

enum { MAX_EDITS = 4 };

/* Copies of the parts of a plan that are altered. */
typedef struct saved_plan {
    mo_plan_device *devices;
    mo_plan_step *steps[RANDOM_PLAN_DEVICES];
    mo_plan_value *values;
    mo_plan_call *calls;
    mo_plan_transfer *transfers;
} saved_plan;

static void *copy(const void *from, int n, size_t size)
{
    void *made = malloc((size_t) n * size + 1);

    ck_assert_ptr_nonnull(made);
    if (n > 0)
        memcpy(made, from, (size_t) n * size);
    return made;
}

static void put_back(void *to, void *saved, int n, size_t size)
{
    if (n > 0)
        memcpy(to, saved, (size_t) n * size);
    free(saved);
}

static void save_plan(const mo_exec_plan *plan, saved_plan *s)
{
    s->devices = copy(plan->devices, plan->n_devices, sizeof *s->devices);
    for (int d = 0; d < plan->n_devices; d++)
        s->steps[d] = copy(plan->devices[d].steps, plan->devices[d].n_steps,
                           sizeof *s->steps[d]);
    s->values = copy(plan->values, plan->n_values, sizeof *s->values);
    s->calls = copy(plan->calls, plan->n_calls, sizeof *s->calls);
    s->transfers =
        copy(plan->transfers, plan->n_transfers, sizeof *s->transfers);
}

static void restore_plan(mo_exec_plan *plan, saved_plan *s)
{
    put_back(plan->devices, s->devices, plan->n_devices, sizeof *s->devices);
    for (int d = 0; d < plan->n_devices; d++)
        put_back(plan->devices[d].steps, s->steps[d], plan->devices[d].n_steps,
                 sizeof *s->steps[d]);
    put_back(plan->values, s->values, plan->n_values, sizeof *s->values);
    put_back(plan->calls, s->calls, plan->n_calls, sizeof *s->calls);
    put_back(plan->transfers, s->transfers, plan->n_transfers,
             sizeof *s->transfers);
}

/* Order, memory, streams: same results. */

static void swap_steps(fuzz_input *in, mo_exec_plan *plan)
{
    mo_plan_device *on = &plan->devices[fuzz_below(in, plan->n_devices)];
    int a, b;
    mo_plan_step kept;

    if (on->n_steps == 0)
        return;
    a = fuzz_below(in, on->n_steps);
    b = fuzz_byte(in) & 1 ? fuzz_below(in, on->n_steps) : (a + 1) % on->n_steps;
    kept = on->steps[a];
    on->steps[a] = on->steps[b];
    on->steps[b] = kept;
    /* The positions in the total order stay, or move along. */
    if (fuzz_bool(in)) {
        on->steps[b].order = on->steps[a].order;
        on->steps[a].order = kept.order;
    }
}

static void move_value(fuzz_input *in, mo_exec_plan *plan)
{
    mo_plan_value *value;

    if (plan->n_values == 0)
        return;
    value = &plan->values[fuzz_below(in, plan->n_values)];
    if (value->offset != MO_PLAN_NONE)
        value->offset = fuzz_byte(in) & 1
                            ? 64 * (int64_t) fuzz_below(in, 4096)
                            : value->offset + (int8_t) fuzz_byte(in);
}

static void move_stream(fuzz_input *in, mo_exec_plan *plan)
{
    if (plan->n_calls > 0)
        plan->calls[fuzz_below(in, plan->n_calls)].stream =
            (int8_t) fuzz_byte(in) % (MO_PLAN_MAX_STREAMS + 1);
}

/* Meaning: refused, or another plan. */

static void alter_step(fuzz_input *in, mo_exec_plan *plan)
{
    mo_plan_device *on = &plan->devices[fuzz_below(in, plan->n_devices)];
    mo_plan_step *step;

    if (on->n_steps == 0)
        return;
    step = &on->steps[fuzz_below(in, on->n_steps)];
    if (fuzz_bool(in))
        step->kind = (mo_plan_step_kind) fuzz_below(in, 5);
    else if (fuzz_bool(in))
        step->what = (int8_t) fuzz_byte(in);
    else
        on->n_steps--;
}

static void alter_value(fuzz_input *in, mo_exec_plan *plan)
{
    mo_plan_value *value;
    int number = (int8_t) fuzz_byte(in);

    if (plan->n_values == 0)
        return;
    value = &plan->values[fuzz_below(in, plan->n_values)];
    switch (fuzz_below(in, 6)) {
    case 0:
        value->view_of = number;
        break;
    case 1:
        value->device = number;
        break;
    case 2:
        value->transfer = number;
        break;
    case 3:
        value->input = number;
        break;
    case 4:
        value->item = number;
        break;
    default:
        value->offset = fuzz_int64(in);
    }
}

static void alter_transfer(fuzz_input *in, mo_exec_plan *plan)
{
    mo_plan_transfer *t;
    int number = (int8_t) fuzz_byte(in);

    if (plan->n_transfers == 0)
        return;
    t = &plan->transfers[fuzz_below(in, plan->n_transfers)];
    switch (fuzz_below(in, 5)) {
    case 0:
        t->from_value = number;
        break;
    case 1:
        t->to_value = number;
        break;
    case 2:
        t->from = number;
        break;
    case 3:
        t->to = number;
        break;
    default:
        t->bytes = fuzz_int64(in);
    }
}

/* Returns whether the meaning of the plan is unchanged. */
static bool alter_plan(fuzz_input *in, mo_exec_plan *plan)
{
    static void (*const edits[])(fuzz_input *, mo_exec_plan *) = {
        swap_steps, move_value,  move_stream,
        alter_step, alter_value, alter_transfer
    };
    bool same = true;

    for (int i = 0; i < MAX_EDITS && fuzz_left(in) > 0; i++) {
        int kind = fuzz_below(in, COUNT(edits));

        edits[kind](in, plan);
        same = same && kind < 3;
    }
    return same;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input in = fuzz_input_of(data, size);
    fuzz_network *network = fuzz_network_draw(&in);
    mo_exec_plan *plan = network->made.plan;
    saved_plan saved;
    mo_error err = { 0 };
    mo_status status;
    bool same;

    save_plan(plan, &saved);
    same = alter_plan(&in, plan);
    status = mo_verify_plan(plan, &err);
    ck_assert(status == MO_OK || strlen(err.text) > 10);
    if (status == MO_OK && same && fuzz_left(&in) == 0)
        fuzz_network_check(network, plan);
    restore_plan(plan, &saved);
    return 0;
}
