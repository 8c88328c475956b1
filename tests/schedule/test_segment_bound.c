/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of schedule/bound/segment_bound.h, with the load bound and the load
 * infeasibility test below it: the ops between u and v as one segment. */
#include "schedule/bound/segment_bound.h"

#include "schedule/bound/load_bound.h"
#include "tests/support/suite.h"
#include "tests/support/tiny_problem.h"

enum { MAX_OPS = 16, MAX_DEVICES = 4 };

static int find_op(const mo_instance *x, const char *name)
{
    for (int i = 0; i < x->n; i++)
        if (strcmp(x->op_names[i], name) == 0)
            return i;
    return MO_FREE;
}

/* u and v, which take no time, are pinned. */
static int64_t segment_ns(const mo_instance *x, const mo_regime *regime,
                          int64_t optimum_ns)
{
    bool allowed[MAX_OPS * MAX_DEVICES];
    int ops[MAX_OPS];
    int64_t table[MAX_DEVICES * MAX_DEVICES] = { 0 };
    mo_allowed_devices domains = { x, *regime, allowed };
    mo_bound_segment segment = { find_op(x, "u"), find_op(x, "v"), ops, 0 };
    mo_bound_segments *segments = NULL;
    int a = segment.u == MO_FREE ? 0 : x->pin[segment.u];
    int b = segment.v == MO_FREE ? 0 : x->pin[segment.v];

    (void) optimum_ns;
    ck_assert(x->n <= MAX_OPS && x->n_devices <= MAX_DEVICES);
    MUST(mo_allowed_devices_find(&domains, &err));
    for (int i = 0; i < x->n; i++)
        if (i != segment.u && i != segment.v)
            ops[segment.n++] = i;
    MUST(mo_bound_segments_new(&domains, &segments, &err));
    mo_bound_segments_table(segments, &segment, MO_MAX_TOTAL_NS, table);
    mo_bound_segments_free(segments);
    return table[a * x->n_devices + b];
}

static int64_t load_ns(const mo_instance *x, const mo_regime *regime,
                       int64_t optimum_ns)
{
    bool allowed[MAX_OPS * MAX_DEVICES];
    mo_allowed_devices domains = { x, *regime, allowed };
    int64_t scratch[MAX_DEVICES];

    (void) optimum_ns;
    MUST(mo_allowed_devices_find(&domains, &err));
    return mo_bound_load_ns(&domains, 0, x->n, scratch);
}

#define SUM_BOUNDS (1 << TINY_DEVICE | 1 << TINY_EQUAL)

static const tiny_bound bounds[] = {
    { "segment", segment_ns, NULL, SUM_BOUNDS },
    { "load", load_ns, NULL, SUM_BOUNDS },
    { "without the load", segment_ns, "bound_load", SUM_BOUNDS },
    { "without the load test", segment_ns, "infeasibility_test", SUM_BOUNDS },
    { "path and load", segment_ns, "segment_bisection", SUM_BOUNDS },
    { "path", segment_ns, "segment_bisection,bound_load", 0 },
};

START_TEST(no_bound_is_above_the_optimum)
{
    tiny_check(bounds, COUNT(bounds), (unsigned) _i);
}
END_TEST

SUITE(segment_bound)
{
    SOME(no_bound_is_above_the_optimum, at_length(2000, 100), 2);
}
