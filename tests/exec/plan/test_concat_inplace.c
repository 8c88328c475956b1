/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of exec/plan/passes/concat_inplace.c: parts are written into the
 * concatenated result, outputs are unchanged, and the verifier refuses
 * corrupted plans. */
#include "exec/plan/passes/nhwc_strides.h"

#include "exec/plan/verify/verify.h"
#include "tests/exec/support/plan_runner.h"
#include "tests/support/suite.h"

static const bool everywhere[RANDOM_PLAN_DEVICES] = { true, true, true, true };

static int n_parts(const mo_exec_plan *plan)
{
    int n = 0;

    for (int v = 0; v < plan->n_values; v++)
        n += plan->values[v].part != NULL;
    return n;
}

static int n_boxes(const mo_exec_plan *plan)
{
    int n = 0;

    for (int c = 0; c < plan->n_calls; c++)
        if (plan->calls[c].call.kind == MO_CALL_COPY)
            n += plan->calls[c].call.u.copy.n_boxes;
    return n;
}

/* The plan of a network, with the pass or without. */
static mo_exec_plan *plan_of(random_plan *r, const bool *concat_inplace)
{
    mo_exec_plan *plan = NULL;

    r->source.fuse = r->source.layout = true;
    r->source.concat_inplace = concat_inplace;
    MUST(mo_plan_build(&r->source, &plan, &err));
    return plan;
}

START_TEST(nested_plans_compute_the_same)
{
    unsigned seed = (unsigned) _i;
    random_plan r;
    mo_run_result flat = { 0 }, nested = { 0 };
    mo_exec_plan *without, *with;

    random_plan_of(&r, random_picture(seed), random_picture(seed), NULL, seed,
                   1 + _i % 3);
    without = plan_of(&r, NULL);
    with = plan_of(&r, everywhere);
    MUST(mo_verify_plan(with, &err));
    ck_assert_int_eq(n_parts(without), 0);
    ck_assert_int_eq(n_boxes(with), n_boxes(without) - n_parts(with));
    plan_runner_result(without, seed, &flat);
    plan_runner_result(with, seed, &nested);
    check_outputs_equal(&nested, &flat, _i);
    mo_run_result_clear(&nested);
    mo_run_result_clear(&flat);
    mo_plan_free(with);
    mo_plan_free(without);
    random_plan_clear(&r);
}
END_TEST

typedef struct corrupted_part {
    mo_exec_plan *plan;
    int value; /* the last one that is a part */
    mo_plan_slice part;
    mo_call *maker, *reader;
} corrupted_part;

static bool makes(const mo_call *call, int value)
{
    return call->n_out > 0 && call->out[0] == value;
}

/* False when there is no part. */
static bool find_part(mo_exec_plan *plan, corrupted_part *v)
{
    *v = (corrupted_part){ .plan = plan, .value = -1 };
    for (int i = 0; i < plan->n_values; i++)
        if (plan->values[i].part)
            v->value = i;
    if (v->value < 0)
        return false;
    v->part = *plan->values[v->value].part;
    plan->values[v->value].part = &v->part;
    for (int c = 0; c < plan->n_calls; c++) {
        if (makes(&plan->calls[c].call, v->value))
            v->maker = &plan->calls[c].call;
        if (makes(&plan->calls[c].call, v->part.of))
            v->reader = &plan->calls[c].call;
    }
    return true;
}

static mo_plan_value *value_of(corrupted_part *v)
{
    return &v->plan->values[v->value];
}

static void is_no_part_at_all(corrupted_part *v)
{
    value_of(v)->part = NULL;
}

static void lies_beside(corrupted_part *v)
{
    value_of(v)->offset += 4;
}

static void lies_in_nothing(corrupted_part *v)
{
    v->part.of = v->plan->n_values;
}

static void lies_in_itself(corrupted_part *v)
{
    v->part.of = v->value;
}

static void hangs_over(corrupted_part *v)
{
    v->part.at += v->plan->values[v->part.of].desc.shape.dims[1];
}

static void lies_plain(corrupted_part *v)
{
    value_of(v)->channels_last = false;
}

static void is_made_densely(corrupted_part *v)
{
    v->maker->u.conv.pitch = 0;
}

static void is_made_too_far_apart(corrupted_part *v)
{
    v->maker->u.conv.pitch++;
}

static void is_made_in_groups(corrupted_part *v)
{
    v->maker->u.conv.groups = 2;
}

static void is_made_by_another(corrupted_part *v)
{
    v->maker->kind = MO_CALL_POOL;
}

static void is_given_out(corrupted_part *v)
{
    v->plan->outputs[0].value = v->value;
}

static void is_read_by_another(corrupted_part *v)
{
    v->reader->kind = MO_CALL_SOFTMAX;
}

static void fills_with_a_part(corrupted_part *v)
{
    for (int i = 0; i < v->reader->n_in; i++)
        if (v->reader->in[i] == v->value)
            v->reader->u.copy.fill_in = i;
}

static void is_overwritten(corrupted_part *v)
{
    static mo_call_copy_box box;
    const mo_shape *shape = &value_of(v)->desc.shape;
    mo_point_access at = { 0 };
    int64_t stride = v->plan->values[v->part.of].desc.shape.dims[1];

    at.stride[1] = 1;
    for (int d = shape->rank - 1; d >= 0; d--)
        if (d != 1) {
            at.stride[d] = stride;
            stride *= shape->dims[d];
        }
    box = (mo_call_copy_box){ .from = MO_CALL_COPY_FILL,
                              .rank = shape->rank,
                              .out_offset = v->part.at };
    memcpy(box.extent, shape->dims, sizeof box.extent);
    memcpy(box.out_stride, at.stride, sizeof box.out_stride);
    v->reader->u.copy.boxes = &box;
    v->reader->u.copy.n_boxes = 1;
}

static void runs_beside_others(corrupted_part *v)
{
    v->plan->devices[value_of(v)->device].n_streams = 2;
}

static void is_a_constant_as_well(corrupted_part *v)
{
    static mo_tensor_dense constant;

    constant.desc = value_of(v)->desc;
    constant.data = &constant;
    value_of(v)->constant = &constant;
}

static const struct {
    const char *what;
    void (*breaks)(corrupted_part *v);
} ways[] = {
#define WAY(name)                                                              \
    {                                                                          \
#name, name                                                            \
    }
    WAY(is_no_part_at_all),  WAY(lies_beside),
    WAY(lies_in_nothing),    WAY(lies_in_itself),
    WAY(hangs_over),         WAY(lies_plain),
    WAY(is_made_densely),    WAY(is_made_too_far_apart),
    WAY(is_made_in_groups),  WAY(is_made_by_another),
    WAY(is_given_out),       WAY(is_read_by_another),
    WAY(fills_with_a_part),  WAY(is_overwritten),
    WAY(runs_beside_others), WAY(is_a_constant_as_well),
#undef WAY
};

enum { WANTED = 6, MAX_SEEDS = 300 };

START_TEST(broken_parts_are_refused)
{
    const int wanted = how_many(WANTED, 2);
    int n = 0;

    for (unsigned seed = 0; seed < MAX_SEEDS && n < wanted; seed++) {
        random_plan r;
        mo_exec_plan *plan;
        mo_error why = { 0 };
        corrupted_part v;

        random_plan_of(&r, random_picture(seed), random_picture(seed), NULL,
                       seed, 1);
        plan = plan_of(&r, everywhere);
        if (find_part(plan, &v)) {
            MUST(mo_verify_plan(plan, &err));
            ways[_i].breaks(&v);
            ck_assert_msg(mo_verify_plan(plan, &why) == MO_E_INPUT,
                          "seed %u: a part that %s is not refused", seed,
                          ways[_i].what);
            n++;
        }
        mo_plan_free(plan);
        random_plan_clear(&r);
    }
    ck_assert_msg(n == wanted, "only %d plans have parts", n);
}
END_TEST

SUITE(concat_inplace)
{
    SOME(nested_plans_compute_the_same, 200, 20);
    EACH(broken_parts_are_refused, COUNT(ways));
}
