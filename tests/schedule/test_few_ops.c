/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of schedule/bound/few_ops.h and memory_charges.h: on random problems
 * the least equals that of all placements, and charges share what groups
 * have. */
#include "schedule/bound/few_ops.h"

#include <stdlib.h>

#include "base/minmax.h"
#include "schedule/bound/memory_charges.h"
#include "tests/support/graphs.h"
#include "tests/support/problem.h"
#include "tests/support/random_problem.h"
#include "tests/support/suite.h"

enum { MAX_DEVICES = 4, MAX_NUMBERS = MO_BOUND_FEW_OPS * MAX_DEVICES };

/* The first ops of a problem as a segment with random thresholds and prices. */
typedef struct few_case {
    bool allowed[MAX_NUMBERS];
    int ops[MO_BOUND_FEW_OPS];
    int64_t threshold_ns[MAX_NUMBERS], price_ns[MAX_NUMBERS];
    mo_allowed_devices domains;
    mo_few_ops few;
} few_case;

static void make_case(few_case *c, const mo_instance *x, unsigned seed)
{
    test_random random = { seed * UINT64_C(0x9e3779b97f4a7c15) + 1 };

    ck_assert(x->n <= MO_BOUND_FEW_OPS && x->n_devices <= MAX_DEVICES);
    *c = (few_case){ .domains = { x, { 0 }, NULL } };
    c->domains.allowed = c->allowed;
    for (int i = 0; i < x->n; i++)
        c->ops[i] = i;
    for (int i = 0; i < x->n * x->n_devices; i++) {
        c->threshold_ns[i] = random_below(&random, 8) == 0
                                 ? INT64_MAX
                                 : random_below(&random, 20000);
        c->price_ns[i] = random_below(&random, 20000);
    }
    c->few = (mo_few_ops){ &c->domains,     c->ops,      x->n,
                           c->threshold_ns, c->price_ns, 5000 };
}

/* Time and price of a placement; -1: not allowed. */
static int64_t value_of(const few_case *c, const int *device)
{
    const mo_instance *x = c->domains.x;
    int64_t load_ns[MAX_DEVICES] = { 0 }, time_ns = c->few.least_ns, sum = 0;

    for (int i = 0; i < x->n; i++) {
        int64_t at_ns = c->threshold_ns[i * x->n_devices + device[i]];

        for (int j = 0; j < i; j++)
            if (x->group[i] != MO_FREE && x->group[i] == x->group[j] &&
                device[i] != device[j])
                return -1;
        if (at_ns == INT64_MAX)
            return -1;
        load_ns[device[i]] += mo_instance_p_ns(x, i, device[i]);
        time_ns = mo_max_i64(time_ns, mo_max_i64(at_ns, load_ns[device[i]]));
        sum += c->price_ns[i * x->n_devices + device[i]];
    }
    return time_ns + sum;
}

static int64_t enumerate(const few_case *c)
{
    const mo_instance *x = c->domains.x;
    int64_t least = -1;
    int n_placements = 1;

    for (int i = 0; i < x->n; i++)
        n_placements *= x->n_devices;
    for (int number = 0; number < n_placements; number++) {
        int device[MO_BOUND_FEW_OPS], rest = number;
        int64_t value;

        for (int i = 0; i < x->n; i++, rest /= x->n_devices)
            device[i] = rest % x->n_devices;
        value = value_of(c, device);
        if (value >= 0 && (least < 0 || value < least))
            least = value;
    }
    return least;
}

START_TEST(least_of_all_placements)
{
    random_problem r;
    problem p = { 0 };
    few_case c;
    int device[MO_BOUND_FEW_OPS];
    int64_t least;

    random_problem_make(&r, (unsigned) _i);
    problem_make(&p, r.graph, r.cluster, NULL);
    make_case(&c, p.x, (unsigned) _i);
    least = mo_few_ops_least(&c.few, device);
    ck_assert_int_eq(least, enumerate(&c));
    if (least >= 0)
        ck_assert_int_eq(value_of(&c, device), least);
    random_problem_clear(&r);
    problem_clear(&p);
}
END_TEST

/* Some ops are left out at random. */
START_TEST(charges_share_the_bytes_of_groups)
{
    const mo_regime regime = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                               MO_MEMORY_STATIC };
    random_problem r;
    problem p = { 0 };
    bool out[MO_BOUND_FEW_OPS];
    mo_allowed_devices domains;
    int64_t *charges;

    random_problem_make(&r, (unsigned) _i);
    problem_make(&p, r.graph, r.cluster, NULL);
    domains = (mo_allowed_devices){ p.x, regime, NULL };
    for (int i = 0; i < p.x->n; i++)
        out[i] = (_i >> i) % 3 == 0;
    MUST(mo_memory_charges_make(&domains, out, &charges, &err));
    for (int k = 0; k < p.x->n_devices; k++)
        for (int i = 0; i < p.x->n; i++) {
            int64_t charged = 0, bytes = 0;

            for (int j = 0; j < p.x->n; j++)
                if (j == i || (p.x->group[i] != MO_FREE &&
                               p.x->group[i] == p.x->group[j])) {
                    int64_t here = charges[j * p.x->n_devices + k];

                    ck_assert_int_ge(here, 0);
                    charged += here;
                    bytes += p.x->memory_bytes[j];
                }
            ck_assert_int_le(charged, bytes);
            if (p.x->group[i] == MO_FREE)
                ck_assert_int_eq(charged, bytes);
            else /* less what is rounded down */
                ck_assert_int_ge(charged, bytes - p.x->n);
        }
    free(charges);
    random_problem_clear(&r);
    problem_clear(&p);
}
END_TEST

SUITE(few_ops)
{
    SOME(least_of_all_placements, 400, 40);
    SOME(charges_share_the_bytes_of_groups, 400, 40);
}
