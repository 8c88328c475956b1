/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu no-valgrind */
/* Tests of exec/backend/cuda/algo/tensorcore.h: every tile and split-k factor
 * computes what the CPU does; sizes need not be multiples of anything. */
#include <config.h>

#include <stdio.h>

#include "exec/backend/cuda/algo/tensorcore.h"
#include "tests/exec/cuda/cuda_algo_case.h"
#include "tests/exec/support/run_calls.h"
#include "tests/support/suite.h"

static const struct {
    mo_elem elem;
    mo_backend_precision precision;
} kinds[] = {
    { MO_ELEM_F32, MO_BACKEND_PRECISION_TF32 },
    { MO_ELEM_F16, MO_BACKEND_PRECISION_F32 },
    { MO_ELEM_F32, MO_BACKEND_PRECISION_F32 },
    { MO_ELEM_BF16, MO_BACKEND_PRECISION_F32 },
};

static int64_t between(mo_random *r, int least, int most)
{
    return least + mo_random_below(r, most - least + 1);
}

static bool chance(mo_random *r, int one_in)
{
    return mo_random_below(r, one_in) == 0;
}

/* A size that is a multiple of a vector copy, or not. */
static int64_t size(mo_random *r, int most)
{
    int64_t n = between(r, 1, most);

    return chance(r, 2) ? n : (n + 7) / 8 * 8;
}

static mo_call_matmul_operand side(bool turned, int64_t rows, int64_t columns,
                                   bool repeats)
{
    return (
        mo_call_matmul_operand){ .row = turned ? 1 : columns,
                                 .column = turned ? rows : 1,
                                 .batch = { repeats ? 0 : rows * columns } };
}

static void make_product(call_case *c, mo_random *r, mo_elem elem)
{
    mo_call_matmul *f = &c->call.u.matmul;
    int64_t batch = chance(r, 3) ? between(r, 2, 4) : 1;
    bool same = chance(r, 2), turned = chance(r, 6);
    int64_t m = size(r, 150), n = size(r, 150), k = size(r, 400);

    case_begin(c, MO_CALL_MATMUL);
    *f = (mo_call_matmul){ .m = m,
                           .n = n,
                           .k = k,
                           .n_batch = 1,
                           .extent = { batch },
                           .a = side(chance(r, 3), m, k, false),
                           .b = side(chance(r, 2), k, n, same),
                           .c = side(turned, m, n, false) };
    case_in(c, elem, shape_of(3, batch, m, k), 1);
    case_in(c, elem, shape_of(3, same ? 1 : batch, k, n), 2);
    case_out(c, elem, shape_of(3, batch, turned ? n : m, turned ? m : n));
    c->constant = chance(r, 2) ? 2 : 0;
    if (chance(r, 2))
        case_after(c, 2, false, 3);
}

static void make_sweep(mo_call_window *s, mo_random *r)
{
    s->spatial = chance(r, 4) ? 1 : 2;
    for (int d = 0; d < s->spatial; d++) {
        int64_t reach;

        s->kernel[d] = between(r, 1, 4);
        s->stride[d] = between(r, 1, 2);
        s->dilation[d] = between(r, 1, 2);
        s->pad_begin[d] = between(r, 0, 2);
        s->pad_end[d] = between(r, 0, 2);
        reach = (s->kernel[d] - 1) * s->dilation[d] + 1;
        s->in[d] = reach + between(r, 0, 9);
        s->out[d] = (s->in[d] + s->pad_begin[d] + s->pad_end[d] - reach) /
                        s->stride[d] +
                    1;
    }
}

static mo_shape image(int64_t batch, int64_t channels, const int64_t *space,
                      int spatial)
{
    mo_shape s = { .rank = 2 + spatial, .dims = { batch, channels } };

    for (int d = 0; d < spatial; d++)
        s.dims[2 + d] = space[d];
    return s;
}

static void make_conv(call_case *c, mo_random *r, mo_elem elem)
{
    mo_call_conv *f = &c->call.u.conv;
    int64_t groups = chance(r, 4) ? 2 : 1, most = groups > 1 ? 24 : 56;
    int64_t in = size(r, (int) most) + (groups > 1 ? 16 : 0);
    int64_t out = size(r, (int) most) + (groups > 1 ? 16 : 0);
    mo_call_window *s = &f->sweep;

    case_begin(c, MO_CALL_CONV);
    *f = (mo_call_conv){ .batch = between(r, 1, 2),
                         .in_channels = in * groups,
                         .out_channels = out * groups,
                         .groups = groups,
                         .channels_last = true };
    make_sweep(s, r);
    case_in(c, elem, image(f->batch, f->in_channels, s->in, s->spatial), 1);
    case_in(c, elem, image(f->out_channels, in, s->kernel, s->spatial), 2);
    case_out(c, elem, image(f->batch, f->out_channels, s->out, s->spatial));
    c->constant = 2;
    if (chance(r, 2))
        case_after(c, 1, true, 3);
}

static mo_backend_unit *open_unit(mo_backend_precision precision)
{
    mo_backend_unit *unit = tested_unit(&mo_backend_cuda, precision);

    /* Else only the cheapest configuration is made. */
    unit->options.autotune = true;
    return unit;
}

static void check_random(int number, bool conv)
{
    uint64_t seed = mo_random_seed(conv, (uint64_t) number);
    mo_random r = { seed };
    int kind = number % COUNT(kinds);
    call_case c;

    if (conv)
        make_conv(&c, &r, kinds[kind].elem);
    else
        make_product(&c, &r, kinds[kind].elem);
    printf("seed %llu\n", (unsigned long long) seed);
    if (open_unit(kinds[kind].precision)->arch >= 80)
        ck_assert_int_gt(check_algos(&c, kinds[kind].precision, "tensor"), 0);
    case_end(&c);
}

START_TEST(every_plan_of_a_product_agrees)
{
    check_random(_i, false);
}
END_TEST

START_TEST(every_plan_of_a_convolution_agrees)
{
    check_random(_i, true);
}
END_TEST

/* More blocks share a tile than a cluster has: the last one reduces. */
START_TEST(long_sums_have_many_parts)
{
    call_case c;

    case_begin(&c, MO_CALL_MATMUL);
    c.call.u.matmul = (mo_call_matmul){ .m = 5,
                                        .n = 12,
                                        .k = 3000,
                                        .a = { .row = 3000, .column = 1 },
                                        .b = { .row = 12, .column = 1 },
                                        .c = { .row = 12, .column = 1 } };
    case_in(&c, MO_ELEM_F32, shape_of(2, 5LL, 3000LL), 1);
    case_in(&c, MO_ELEM_F32, shape_of(2, 3000LL, 12LL), 2);
    case_out(&c, MO_ELEM_F32, shape_of(2, 5LL, 12LL));
    c.constant = 2;
    case_after(&c, 1, false, 3);
    open_unit(MO_BACKEND_PRECISION_TF32);
    ck_assert_int_gt(check_algos(&c, MO_BACKEND_PRECISION_TF32, "tensor"), 0);
    case_end(&c);
}
END_TEST

/* Configurations are sorted by cost, fit into the device, and differ. */
START_TEST(plans_are_in_order_and_differ)
{
    mo_backend_unit unit = { .arch = 90,
                             .sms = 132,
                             .max_shared_bytes = 227 << 10 };
    mo_cuda_tensorcore_problem p = { .elem = MO_ELEM_F32,
                                     .a_count = 4,
                                     .b_count = 4,
                                     .batches = 1,
                                     .arguments = {
                                         .m = 196, .n = 256, .k = 2304 } };
    mo_cuda_tensorcore_config plans[16];
    int n =
        mo_cuda_tensorcore_find_configs(&unit, true, &p, plans, COUNT(plans));

    ck_assert_int_gt(n, 4);
    for (int i = 0; i < n; i++) {
        ck_assert_uint_le(mo_cuda_tensorcore_shared_bytes(&p, &plans[i].tile),
                          unit.max_shared_bytes);
        ck_assert(i == 0 || plans[i - 1].cost <= plans[i].cost);
        for (int j = 0; j < i; j++)
            ck_assert(plans[i].tile.m != plans[j].tile.m ||
                      plans[i].tile.n != plans[j].tile.n ||
                      plans[i].tile.groups != plans[j].tile.groups ||
                      plans[i].parts != plans[j].parts);
    }
    /* Fewer tiles than SMs: split-k. */
    ck_assert_int_gt(plans[0].parts, 1);
}
END_TEST

SUITE(cuda_tensorcore)
{
    bool fast = cuda_is_fast();

    if (!cuda_is_there())
        exit(77);
    /* An initialised driver does not work in child processes. */
    setenv("CK_FORK", "no", 1);
    EACH(every_plan_of_a_product_agrees, fast ? 40 : 2);
    EACH(every_plan_of_a_convolution_agrees, fast ? 40 : 2);
    TEST(long_sums_have_many_parts);
    TEST(plans_are_in_order_and_differ);
}
