/* Claims of exec/plan/verify.h: whatever is broken in a plan is found. */
#include "exec/plan/verify.h"

#include <limits.h>
#include <stdio.h>

#include "exec/plan/life.h"
#include "exec/plan/values.h"
#include "tests/graphs.h"
#include "tests/random_plan.h"
#include "tests/suite.h"

enum { DEVICES = 3 };

/* ---- ways to break a plan; false: this one has nothing to break so ---- */

typedef struct victim {
    mo_plan *plan;
    test_random random;
} victim;

static int below(victim *v, int bound)
{
    return random_below(&v->random, bound);
}

/* A random step of that kind; false when there is none. */
static bool find_step(victim *v, mo_step_kind kind, int *device, int *step)
{
    int seen = 0;

    for (int d = 0; d < v->plan->n_devices; d++)
        for (int s = 0; s < v->plan->devices[d].n_steps; s++)
            if (v->plan->devices[d].steps[s].kind == kind &&
                below(v, ++seen) == 0) {
                *device = d;
                *step = s;
            }
    return seen > 0;
}

static mo_plan_step *step_at(victim *v, int device, int step)
{
    return &v->plan->devices[device].steps[step];
}

static mo_plan_step *any_step(victim *v, mo_step_kind kind)
{
    int device, step;

    return find_step(v, kind, &device, &step) ? step_at(v, device, step) : NULL;
}

static bool drop(victim *v, mo_step_kind kind)
{
    int device, step;
    mo_plan_device *on;

    if (!find_step(v, kind, &device, &step))
        return false;
    on = &v->plan->devices[device];
    memmove(on->steps + step, on->steps + step + 1,
            (size_t) (on->n_steps - step - 1) * sizeof *on->steps);
    on->n_steps--;
    return true;
}

static bool drops_a_call(victim *v)
{
    return drop(v, MO_STEP_COMPUTE);
}

static bool drops_a_send(victim *v)
{
    return drop(v, MO_STEP_SEND);
}

static bool drops_a_receive(victim *v)
{
    return drop(v, MO_STEP_RECEIVE);
}

static bool drops_an_await(victim *v)
{
    return drop(v, MO_STEP_AWAIT);
}

/* Does a step twice, the second time in the place of another one. */
static bool repeat(victim *v, mo_step_kind kind)
{
    int device, step, other;
    mo_plan_device *on;

    if (!find_step(v, kind, &device, &step))
        return false;
    on = &v->plan->devices[device];
    other = below(v, on->n_steps);
    if (other == step)
        return false;
    on->steps[other].kind = on->steps[step].kind;
    on->steps[other].what = on->steps[step].what;
    return true;
}

static bool repeats_a_call(victim *v)
{
    return repeat(v, MO_STEP_COMPUTE);
}

static bool repeats_a_send(victim *v)
{
    return repeat(v, MO_STEP_SEND);
}

static bool repeats_an_await(victim *v)
{
    return repeat(v, MO_STEP_AWAIT);
}

/* The awaited value is read by the step behind the await. */
static bool awaits_too_late(victim *v)
{
    for (int d = 0; d < v->plan->n_devices; d++) {
        mo_plan_device *on = &v->plan->devices[d];

        for (int s = 0; s + 1 < on->n_steps; s++) {
            mo_plan_step await = on->steps[s], next = on->steps[s + 1];

            if (await.kind != MO_STEP_AWAIT || next.kind != MO_STEP_COMPUTE ||
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
    mo_plan_step *begin = any_step(v, MO_STEP_RECEIVE);
    mo_plan_step *await = begin;

    if (!begin)
        return false;
    while (await->kind != MO_STEP_AWAIT || await->what != begin->what)
        await++;
    begin->kind = MO_STEP_AWAIT;
    await->kind = MO_STEP_RECEIVE;
    return true;
}

/* Two calls one of which reads what the other makes change places. */
static bool computes_before_it_can(victim *v)
{
    for (int d = 0; d < v->plan->n_devices; d++) {
        mo_plan_device *on = &v->plan->devices[d];

        for (int a = 0; a < on->n_steps; a++)
            for (int b = a + 1; b < on->n_steps; b++) {
                const mo_call *x, *y;
                int kept = on->steps[a].what;

                if (on->steps[a].kind != MO_STEP_COMPUTE ||
                    on->steps[b].kind != MO_STEP_COMPUTE)
                    continue;
                x = &v->plan->calls[on->steps[a].what].call;
                y = &v->plan->calls[on->steps[b].what].call;
                if (x->out[0] != mo_value_root(v->plan->values, y->in[0]))
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

    if (!find_step(v, MO_STEP_SEND, &device, &step))
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
    mo_plan_step *it = any_step(v, MO_STEP_COMPUTE);

    it->what = below(v, 2) ? -1 - below(v, 5) : v->plan->n_calls + below(v, 9);
    return true;
}

static bool has_a_step_of_no_kind(victim *v)
{
    any_step(v, MO_STEP_COMPUTE)->kind = (mo_step_kind) (4 + below(v, 9));
    return true;
}

static bool counts_wrong(victim *v)
{
    mo_plan *plan = v->plan;

    switch (below(v, 6)) {
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
        plan->devices[below(v, DEVICES)].arena_bytes = -1;
        break;
    default:
        plan->outputs[0].value = plan->n_values;
        break;
    }
    return true;
}

static mo_call *any_call(victim *v)
{
    return &v->plan->calls[below(v, v->plan->n_calls)].call;
}

static bool reads_nothing_there_is(victim *v)
{
    any_call(v)->in[0] = below(v, 2) ? -1 : v->plan->n_values + below(v, 9);
    return true;
}

static bool reads_elsewhere(victim *v)
{
    int c = below(v, v->plan->n_calls), value = below(v, v->plan->n_values);

    v->plan->calls[c].call.in[0] = value;
    return v->plan->values[value].device != v->plan->calls[c].device;
}

static bool writes_nothing_there_is(victim *v)
{
    any_call(v)->out[0] = below(v, 2) ? INT_MIN : INT_MAX;
    return true;
}

/* Two calls make the same value, or one makes what it reads. */
static bool writes_twice(victim *v)
{
    int a = below(v, v->plan->n_calls), b = below(v, v->plan->n_calls);

    v->plan->calls[a].call.out[0] = v->plan->calls[b].call.out[0];
    return a != b;
}

static bool writes_what_it_reads(victim *v)
{
    mo_call *call = any_call(v);

    call->out[0] = call->in[0];
    return true;
}

static bool calls_for_no_item(victim *v)
{
    v->plan->calls[below(v, v->plan->n_calls)].item =
        below(v, 2) ? MO_PLAN_NONE : v->plan->n_items;
    return true;
}

static bool calls_elsewhere(victim *v)
{
    mo_plan_call *call = &v->plan->calls[below(v, v->plan->n_calls)];

    call->device = (call->device + 1) % DEVICES;
    return true;
}

static bool calls_a_view(victim *v)
{
    any_call(v)->kind = below(v, 2) ? MO_CALL_VIEW : MO_CALL_KINDS;
    return true;
}

static bool has_half_an_epilogue(victim *v)
{
    any_call(v)->first_extra += below(v, 2) ? 1 : -1;
    return true;
}

static mo_plan_transfer *any_transfer(victim *v)
{
    if (v->plan->n_transfers == 0)
        return NULL;
    return &v->plan->transfers[below(v, v->plan->n_transfers)];
}

static bool sends_other_bytes(victim *v)
{
    mo_plan_transfer *it = any_transfer(v);

    if (it)
        it->bytes += below(v, 2) ? 4 : -4;
    return it != NULL;
}

static bool sends_another_type(victim *v)
{
    mo_plan_transfer *it = any_transfer(v);

    if (it)
        v->plan->values[it->to_value].desc.elem = MO_I32;
    return it != NULL;
}

static bool sends_another_layout(victim *v)
{
    mo_plan_transfer *it = any_transfer(v);

    if (it)
        v->plan->values[it->to_value].channels_last = true;
    return it != NULL;
}

static bool sends_to_itself(victim *v)
{
    mo_plan_transfer *it = any_transfer(v);

    if (it)
        it->to = it->from;
    return it != NULL;
}

static bool sends_back(victim *v)
{
    mo_plan_transfer *it = any_transfer(v);
    int from = it ? it->from : 0;

    if (it) {
        it->from = it->to;
        it->to = from;
    }
    return it != NULL;
}

static bool sends_no_value(victim *v)
{
    mo_plan_transfer *it = any_transfer(v);

    if (it)
        it->from_value = v->plan->n_values;
    return it != NULL;
}

static bool brings_one_value_twice(victim *v)
{
    mo_plan_transfer *a = any_transfer(v), *b = any_transfer(v);

    if (a)
        a->to_value = b->to_value;
    return a != b;
}

/* A call's result is put where its operand is. */
static bool overwrites_an_operand(victim *v)
{
    mo_call *call = any_call(v);
    mo_plan_value *values = v->plan->values;
    int in = mo_value_root(values, call->in[0]), out = call->out[0];
    bool seen = false;

    for (int i = 0; i < v->plan->n_values; i++)
        seen = seen || values[i].view_of == out;
    values[out].offset = values[in].offset;
    return !seen && !values[in].constant;
}

/* A value whose place another one takes during its life. */
static bool overwrites_a_living_value(victim *v)
{
    mo_plan_value *values = v->plan->values;
    mo_life *lives = NULL;
    bool done = false;

    MUST(mo_lives_find(v->plan, &lives, &err));
    for (int a = 0; a < v->plan->n_values && !done; a++)
        for (int b = 0; b < v->plan->n_values && !done; b++)
            if (a != b && values[a].device == values[b].device &&
                mo_life_is_any(&lives[a]) && mo_life_is_any(&lives[b]) &&
                lives[a].begin <= lives[b].end &&
                lives[b].begin <= lives[a].end && below(v, 4) == 0) {
                values[a].offset = values[b].offset;
                done = true;
            }
    free(lives);
    return done;
}

/* The first byte of a value is the last of another one. */
static bool overlaps_by_a_byte(victim *v)
{
    mo_call *call = any_call(v);
    mo_plan_value *values = v->plan->values;
    int in = mo_value_root(values, call->in[0]), out = call->out[0];
    int64_t end = values[in].offset + mo_desc_bytes(&values[in].desc);

    if (values[in].constant)
        return false;
    for (int i = 0; i < v->plan->n_values; i++)
        if (values[i].view_of == out)
            return false;
    values[out].offset = end - 1;
    v->plan->devices[values[out].device].arena_bytes += 1 << 20;
    return true;
}

static bool lies_outside(victim *v)
{
    mo_plan_value *out = &v->plan->values[any_call(v)->out[0]];

    out->offset = below(v, 2) ? -64 : INT64_MAX - 63;
    return true;
}

static bool has_too_small_an_arena(victim *v)
{
    mo_plan_device *device = &v->plan->devices[below(v, DEVICES)];

    if (device->arena_bytes < 64)
        return false;
    device->arena_bytes -= 64;
    return true;
}

static int any_view(victim *v)
{
    int found = MO_PLAN_NONE, seen = 0;

    for (int i = 0; i < v->plan->n_values; i++)
        if (v->plan->values[i].view_of != MO_PLAN_NONE && below(v, ++seen) == 0)
            found = i;
    return found;
}

static bool views_itself(victim *v)
{
    int view = any_view(v);

    if (view != MO_PLAN_NONE)
        v->plan->values[view].view_of = view;
    return view != MO_PLAN_NONE;
}

static bool views_in_a_circle(victim *v)
{
    int view = any_view(v);

    if (view != MO_PLAN_NONE)
        v->plan->values[v->plan->values[view].view_of].view_of = view;
    return view != MO_PLAN_NONE;
}

static bool views_another_size(victim *v)
{
    int view = any_view(v);

    if (view != MO_PLAN_NONE)
        v->plan->values[view].desc.shape.dims[0]++;
    return view != MO_PLAN_NONE;
}

static bool has_a_value_nowhere(victim *v)
{
    mo_plan_value *value = &v->plan->values[below(v, v->plan->n_values)];

    value->device = below(v, 2) ? -1 : DEVICES;
    return true;
}

static bool has_no_shape(victim *v)
{
    mo_desc *desc = &v->plan->values[below(v, v->plan->n_values)].desc;

    switch (below(v, 4)) {
    case 0:
        desc->shape.rank = MO_MAX_RANK + 1;
        break;
    case 1:
        desc->shape.dims[0] = -1;
        break;
    case 2:
        desc->shape.dims[1] = INT64_MAX;
        break;
    default:
        desc->elem = MO_ELEMS;
        break;
    }
    return true;
}

static bool feeds_nobody(victim *v)
{
    v->plan->inputs[0].n_values = -1;
    return true;
}

static bool feeds_what_is_no_input(victim *v)
{
    if (v->plan->inputs[0].n_values == 0)
        return false;
    v->plan->inputs[0].values[0] = any_call(v)->out[0];
    return true;
}

static bool forgets_an_output(victim *v)
{
    /* What is not an output any more may not be made at all: the last call goes
     * with its step, and its result is what the network puts out. */
    mo_plan *plan = v->plan;
    int last = plan->n_calls - 1, device = plan->calls[last].device;
    mo_plan_device *on = &plan->devices[device];

    for (int s = 0; s < on->n_steps; s++)
        if (on->steps[s].kind == MO_STEP_COMPUTE && on->steps[s].what == last) {
            memmove(on->steps + s, on->steps + s + 1,
                    (size_t) (on->n_steps - s - 1) * sizeof *on->steps);
            on->n_steps--;
            break;
        }
    plan->outputs[0].value = plan->calls[last].call.out[0];
    plan->n_calls--;
    return true;
}

static bool breaks_the_order(victim *v)
{
    mo_plan_device *on = &v->plan->devices[below(v, DEVICES)];
    int step;

    if (on->n_steps < 2)
        return false;
    step = 1 + below(v, on->n_steps - 1);
    on->steps[step].order = on->steps[step - 1].order - below(v, 2);
    return true;
}

static bool begins_at_two_places(victim *v)
{
    mo_plan_step *it = any_step(v, MO_STEP_RECEIVE);

    if (!it)
        return false;
    it->order += below(v, 2) ? 1 : -1;
    return true;
}

static const struct {
    const char *what;
    bool (*breaks)(victim *v);
} ways[] = {
#define WAY(name)                                                              \
    {                                                                          \
#name, name                                                            \
    }
    WAY(drops_a_call),
    WAY(drops_a_send),
    WAY(drops_a_receive),
    WAY(drops_an_await),
    WAY(repeats_a_call),
    WAY(repeats_a_send),
    WAY(repeats_an_await),
    WAY(awaits_too_late),
    WAY(awaits_before_the_beginning),
    WAY(computes_before_it_can),
    WAY(sends_before_it_can),
    WAY(names_a_wrong_step),
    WAY(has_a_step_of_no_kind),
    WAY(counts_wrong),
    WAY(reads_nothing_there_is),
    WAY(reads_elsewhere),
    WAY(writes_nothing_there_is),
    WAY(writes_twice),
    WAY(writes_what_it_reads),
    WAY(calls_for_no_item),
    WAY(calls_elsewhere),
    WAY(calls_a_view),
    WAY(has_half_an_epilogue),
    WAY(sends_other_bytes),
    WAY(sends_another_type),
    WAY(sends_another_layout),
    WAY(sends_to_itself),
    WAY(sends_back),
    WAY(sends_no_value),
    WAY(brings_one_value_twice),
    WAY(overwrites_an_operand),
    WAY(overwrites_a_living_value),
    WAY(overlaps_by_a_byte),
    WAY(lies_outside),
    WAY(has_too_small_an_arena),
    WAY(views_itself),
    WAY(views_in_a_circle),
    WAY(views_another_size),
    WAY(has_a_value_nowhere),
    WAY(has_no_shape),
    WAY(feeds_nobody),
    WAY(feeds_what_is_no_input),
    WAY(forgets_an_output),
    WAY(breaks_the_order),
    WAY(begins_at_two_places),
#undef WAY
};

/* How many times each way is tried to be gone. */
enum { WANTED = 8, MAX_SEEDS = 200 };

START_TEST(broken_plans_are_refused)
{
    int wanted = is_watched() ? 1 : WANTED, n = 0;

    for (unsigned seed = 0; seed < MAX_SEEDS && n < wanted; seed++) {
        random_plan r;
        victim v;
        mo_error err = { 0 };

        random_plan_make(&r, seed, DEVICES);
        v = (victim){ r.plan, { seed } };
        if (r.plan->n_calls > 0 && ways[_i].breaks(&v)) {
            ck_assert_msg(mo_plan_verify(r.plan, &err) == MO_E_INPUT,
                          "seed %u: a plan that %s is not refused", seed,
                          ways[_i].what);
            ck_assert_msg(strlen(err.text) > 10, "%s", ways[_i].what);
            n++;
        }
        random_plan_clear(&r);
    }
    ck_assert_msg(n == wanted, "%s: broke only %d plans", ways[_i].what, n);
}
END_TEST

/* ---- steps that wait for each other ---- */

/* Each of n devices sends its input to the next; each awaits what it receives
 * before it sends. */
enum { MAX_RING = 7 };

typedef struct ring {
    mo_plan plan;
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
    const mo_desc desc = { MO_F32, { .rank = 0 } };
    int before = (d + n - 1) % n;
    mo_plan_step *s = r->steps[d];

    r->ids[d][0] = (char) ('A' + d);
    r->names[d][0] = (char) ('a' + d);
    r->devices[d] = (mo_plan_device){
        .id = r->ids[d], .steps = s, .n_steps = 4, .arena_bytes = 128
    };
    r->values[d] = mo_value_of(r->names[d], &desc, d);
    r->values[d].input = 0;
    r->values[d].offset = 0;
    r->values[n + d] = mo_value_of(r->names[before], &desc, d);
    r->values[n + d].transfer = before;
    r->values[n + d].offset = 64;
    r->transfers[d] = (mo_plan_transfer){ .from_value = d,
                                          .to_value = n + (d + 1) % n,
                                          .from = d,
                                          .to = (d + 1) % n,
                                          .bytes = 4 };
    r->fed[d] = d;
    s[0] = (mo_plan_step){ MO_STEP_RECEIVE, before, before };
    s[1] = (mo_plan_step){ stuck ? MO_STEP_AWAIT : MO_STEP_SEND,
                           stuck ? before : d, d };
    s[2] = (mo_plan_step){ stuck ? MO_STEP_SEND : MO_STEP_AWAIT,
                           stuck ? d : before, n + 2 * d };
    s[3] = (mo_plan_step){ MO_STEP_AWAIT, d, n + 2 * d + 1 };
    if (!stuck && before > d) { /* the order of its two beginnings */
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
    r->plan = (mo_plan){ .n_devices = n,
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
    ck_assert_int_eq(mo_plan_verify(&r.plan, &err), MO_E_INPUT);
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
    ck_assert_msg(mo_plan_verify(&r.plan, &err) == MO_OK, "%d: %s", n,
                  err.text);
    make_ring(&r, n, true);
    ck_assert_int_eq(mo_plan_verify(&r.plan, &err), MO_E_INPUT);
    ck_assert_msg(strstr(err.text, "cannot finish") != NULL, "%s", err.text);
}
END_TEST

/* Numbers of all kinds in all places: refused or not, but never a crash. */
START_TEST(no_damage_crashes_the_verifier)
{
    random_plan r;
    test_random random = { (uint64_t) _i };
    mo_plan *plan;

    random_plan_make(&r, (unsigned) _i, DEVICES);
    plan = r.plan;
    for (int i = 0; i < 20 && plan->n_calls > 0; i++) {
        static const int odd[] = { -1, 0, 1, 7, INT_MAX, INT_MIN };
        int number = odd[random_below(&random, COUNT(odd))];
        mo_plan_value *value =
            &plan->values[random_below(&random, plan->n_values)];
        mo_plan_device *device = &plan->devices[random_below(&random, DEVICES)];
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
        mo_plan_verify(plan, NULL);
        if (random_below(&random, 2))
            *place = kept;
    }
    random_plan_clear(&r);
}
END_TEST

SUITE(verify)
{
    EACH(broken_plans_are_refused, COUNT(ways));
    TEST(devices_that_wait_for_each_other_are_named);
    EACH(a_ring_of_any_length_is_stuck_or_not, MAX_RING - 1);
    SOME(no_damage_crashes_the_verifier, 300, 20);
}
