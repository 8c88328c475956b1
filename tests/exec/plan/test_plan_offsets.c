/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/plan/schedule/offsets.h and
 * exec/plan/schedule/memory_plan.c. */
#include "exec/plan/schedule/offsets.h"

#include <stdio.h>

#include "exec/plan/ir/plan.h"
#include "exec/plan/ir/value_table.h"
#include "tests/support/graphs.h"
#include "tests/exec/support/random_plan.h"
#include "tests/support/suite.h"

enum { MAX_BLOCKS = 60, MAX_STEP = 40 };

static int random_blocks(mo_plan_buffer *blocks, unsigned seed)
{
    test_random random = { seed };
    int n = random_below(&random, MAX_BLOCKS + 1);

    for (int i = 0; i < n; i++) {
        int begin = random_below(&random, MAX_STEP) - 1;

        blocks[i] = (mo_plan_buffer){ .owner = i, .begin = begin };
        blocks[i].end = begin + random_below(&random, 1 + (int) seed % 20);
        blocks[i].bytes = random_below(&random, 2) * random_below(&random, 900);
    }
    return n;
}

static int64_t rounded(int64_t bytes)
{
    return (bytes + MO_PLAN_BUFFER_ALIGN - 1) / MO_PLAN_BUFFER_ALIGN *
           MO_PLAN_BUFFER_ALIGN;
}

static bool meet(const mo_plan_buffer *a, const mo_plan_buffer *b)
{
    return a->begin <= b->end && b->begin <= a->end &&
           a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

START_TEST(blocks_that_live_together_share_no_byte)
{
    mo_plan_buffer blocks[MAX_BLOCKS];
    int n = random_blocks(blocks, (unsigned) _i);
    mo_plan_arena_size packed;

    MUST(mo_plan_assign_offsets(blocks, n, &packed, &err));
    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(blocks[i].offset % MO_PLAN_BUFFER_ALIGN, 0);
        ck_assert_int_ge(blocks[i].offset, 0);
        ck_assert_int_le(blocks[i].offset + blocks[i].bytes, packed.bytes);
        for (int j = 0; j < i; j++)
            ck_assert_msg(!meet(&blocks[i], &blocks[j]), "seed %d: %d and %d",
                          _i, i, j);
    }
}
END_TEST

START_TEST(the_bound_is_what_lives_at_one_time)
{
    mo_plan_buffer blocks[MAX_BLOCKS];
    int n = random_blocks(blocks, (unsigned) _i);
    int64_t most = 0;
    mo_plan_arena_size packed;

    for (int step = -1; step <= 2 * MAX_STEP; step++) {
        int64_t sum = 0;

        for (int i = 0; i < n; i++)
            if (blocks[i].begin <= step && step <= blocks[i].end)
                sum += rounded(blocks[i].bytes);
        if (sum > most)
            most = sum;
    }
    MUST(mo_plan_assign_offsets(blocks, n, &packed, &err));
    ck_assert_msg(packed.bound_bytes == most, "seed %d", _i);
    ck_assert_msg(packed.bytes >= most, "seed %d", _i);
    ck_assert_msg((double) packed.bytes <= 1.5 * (double) most, "seed %d: %g",
                  _i, (double) packed.bytes / (double) most);
}
END_TEST

START_TEST(offsets_do_not_depend_on_the_order_of_blocks)
{
    mo_plan_buffer blocks[MAX_BLOCKS], turned[MAX_BLOCKS];
    int n = random_blocks(blocks, (unsigned) _i);
    mo_plan_arena_size a, b;

    for (int i = 0; i < n; i++)
        turned[i] = blocks[n - 1 - i];
    MUST(mo_plan_assign_offsets(blocks, n, &a, &err));
    MUST(mo_plan_assign_offsets(turned, n, &b, &err));
    ck_assert_int_eq(a.bytes, b.bytes);
    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(blocks[i].owner, turned[i].owner);
        ck_assert_int_eq(blocks[i].offset, turned[i].offset);
    }
}
END_TEST

START_TEST(more_bytes_than_there_are_is_an_error)
{
    mo_plan_buffer blocks[] = { { .owner = 0, .bytes = INT64_MAX - 10 },
                                { .owner = 1, .bytes = 100 } };
    mo_plan_arena_size packed;
    mo_error err = { 0 };

    ck_assert_int_eq(
        mo_plan_assign_offsets(blocks, COUNT(blocks), &packed, &err),
        MO_E_LIMIT);
}
END_TEST

/* So many that a quadratic algorithm would be noticed, all of them
 * overlapping. */
START_TEST(many_blocks_are_packed_fast)
{
    enum { MANY = 60000 };
    mo_plan_buffer *blocks = calloc(MANY, sizeof *blocks);
    test_random random = { 7 };
    mo_plan_arena_size packed;

    ck_assert_ptr_nonnull(blocks);
    for (int i = 0; i < MANY; i++)
        blocks[i] =
            (mo_plan_buffer){ .owner = i,
                              .begin = _i ? 0 : i,
                              .end = _i ? 1 : i + random_below(&random, 50),
                              .bytes = random_below(&random, 1 << 20) };
    MUST(mo_plan_assign_offsets(blocks, MANY, &packed, &err));
    ck_assert_double_le((double) packed.bytes,
                        1.2 * (double) packed.bound_bytes);
    free(blocks);
}
END_TEST

typedef struct bytes {
    const mo_exec_plan *plan;
    int device;
    int *owner; /* by byte of the arena */
} bytes;

static void write_value(bytes *b, int v)
{
    const mo_plan_value *value = &b->plan->values[v];

    for (int64_t i = 0; i < mo_tensor_desc_bytes(&value->desc); i++)
        b->owner[value->offset + i] = v;
}

static void read_value(const bytes *b, int v, int seed)
{
    int root = mo_plan_value_root(b->plan->values, v);
    const mo_plan_value *value = &b->plan->values[root];

    if (value->constant)
        return;
    for (int64_t i = 0; i < mo_tensor_desc_bytes(&value->desc); i++)
        ck_assert_msg(b->owner[value->offset + i] == root,
                      "seed %d: '%s' is overwritten", seed, value->name);
}

static void do_step(bytes *b, const mo_plan_step *step, int seed)
{
    const mo_plan_transfer *transfer = &b->plan->transfers[step->what];

    if (step->kind == MO_PLAN_STEP_COMPUTE) {
        const mo_call *call = &b->plan->calls[step->what].call;

        for (int i = 0; i < call->n_out; i++)
            write_value(b, call->out[i]);
        for (int i = 0; i < call->n_in; i++)
            read_value(b, call->in[i], seed);
        for (int i = 0; i < call->n_out; i++)
            read_value(b, call->out[i], seed);
    } else if (transfer->from == b->device) {
        read_value(b, transfer->from_value, seed);
    } else if (step->kind == MO_PLAN_STEP_RECEIVE) {
        write_value(b, transfer->to_value);
    } else {
        read_value(b, transfer->to_value, seed);
    }
}

static void run_device(const mo_exec_plan *plan, int device, int seed)
{
    const mo_plan_device *on = &plan->devices[device];
    bytes b = { plan, device,
                calloc((size_t) on->arena_bytes + 1, sizeof *b.owner) };

    ck_assert_ptr_nonnull(b.owner);
    for (int v = 0; v < plan->n_values; v++)
        if (plan->values[v].device == device &&
            plan->values[v].input != MO_PLAN_NONE)
            write_value(&b, v);
    for (int s = 0; s < on->n_steps; s++)
        do_step(&b, &on->steps[s], seed);
    for (int i = 0; i < plan->n_outputs; i++)
        if (plan->values[plan->outputs[i].value].device == device)
            read_value(&b, plan->outputs[i].value, seed);
    free(b.owner);
}

START_TEST(no_byte_that_is_read_was_overwritten)
{
    random_plan r;

    random_plan_make(&r, (unsigned) _i, 1 + _i % RANDOM_PLAN_DEVICES);
    for (int d = 0; d < r.plan->n_devices; d++)
        run_device(r.plan, d, _i);
    random_plan_clear(&r);
}
END_TEST

START_TEST(a_device_that_is_too_small_is_named)
{
    random_plan r;
    mo_plan_device *device;
    mo_error why = { 0 };
    int64_t workspace[2] = { 0, 5 };

    random_plan_make(&r, 12, 2);
    device = &r.plan->devices[1];
    MUST(mo_plan_check_capacity(r.plan, NULL, &err));
    device->arena_bytes = 100;
    device->weight_bytes = 20;
    device->capacity_bytes = 120;
    MUST(mo_plan_check_capacity(r.plan, NULL, &err));
    ck_assert_int_eq(mo_plan_check_capacity(r.plan, workspace, &why),
                     MO_E_INPUT);
    ck_assert_str_eq(why.text,
                     "device 'B' is too small by 5 bytes: it needs 100 for "
                     "values, 20 for weights and 5 to work in, and has 120; "
                     "place less there, or give it more memory");
    random_plan_clear(&r);
}
END_TEST

SUITE(plan_offsets)
{
    SOME(blocks_that_live_together_share_no_byte, 500, 20);
    SOME(the_bound_is_what_lives_at_one_time, 500, 20);
    SOME(offsets_do_not_depend_on_the_order_of_blocks, 100, 5);
    TEST(more_bytes_than_there_are_is_an_error);
    SOME(many_blocks_are_packed_fast, 2, 0);
    SOME(no_byte_that_is_read_was_overwritten, 300, 12);
    TEST(a_device_that_is_too_small_is_named);
}
