/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of schedule/bound/segment_bound.h and of what it is made of: the ops
 * between u and v as one segment; the load bound, heads and tails, and the load
 * infeasibility test of all ops. */
#include "schedule/bound/segment_bound.h"

#include "base/minmax.h"
#include "schedule/bound/head_tail.h"
#include "schedule/bound/infeasibility_test.h"
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

/* Heads, or backward tails, of all ops: they are in topological order. */
static mo_head_tail find_times(const mo_allowed_devices *domains, bool backward,
                               int64_t *time_ns)
{
    static int64_t arrival_ns[MAX_DEVICES];
    mo_head_tail pass = { .domains = domains,
                          .backward = backward,
                          .time_ns = time_ns,
                          .arrival_ns = arrival_ns };
    int n = domains->x->n;

    memset(time_ns, 0, sizeof *time_ns * MAX_OPS * MAX_DEVICES);
    for (int i = 0; i < n; i++)
        mo_head_tail_propagate(&pass, backward ? n - 1 - i : i);
    return pass;
}

/* Some op has no device with less than that before, in and after it. */
static int64_t path_ns(const mo_instance *x, const mo_regime *regime,
                       int64_t optimum_ns)
{
    bool allowed[MAX_OPS * MAX_DEVICES];
    int64_t head_ns[MAX_OPS * MAX_DEVICES], tail_ns[MAX_OPS * MAX_DEVICES];
    mo_allowed_devices domains = { x, *regime, allowed };
    int64_t longest_ns = 0;
    mo_head_tail heads;

    (void) optimum_ns;
    MUST(mo_allowed_devices_find(&domains, &err));
    heads = find_times(&domains, false, head_ns);
    find_times(&domains, true, tail_ns);
    for (int i = 0; i < x->n; i++) {
        int64_t least_ns = MO_MAX_TOTAL_NS;

        for (int k = 0; k < x->n_devices; k++)
            if (mo_allowed_devices_has(&domains, i, k))
                least_ns = mo_min_i64(
                    least_ns,
                    mo_head_tail_with_p(&heads, i, k) +
                        tail_ns[mo_allowed_devices_index(&domains, i, k)]);
        longest_ns = mo_max_i64(longest_ns, least_ns);
    }
    return longest_ns;
}

static int64_t refuted_ns(const mo_instance *x, const mo_regime *regime,
                          int64_t optimum_ns)
{
    bool allowed[MAX_OPS * MAX_DEVICES];
    int ops[MAX_OPS];
    int64_t head_ns[MAX_OPS * MAX_DEVICES], tail_ns[MAX_OPS * MAX_DEVICES];
    mo_allowed_devices domains = { x, *regime, allowed };
    const mo_infeas_test_case all = { ops, x->n, head_ns, tail_ns };
    mo_infeas_test *test = NULL;
    int64_t bound_ns;

    MUST(mo_allowed_devices_find(&domains, &err));
    find_times(&domains, false, head_ns);
    find_times(&domains, true, tail_ns);
    for (int i = 0; i < x->n; i++)
        ops[i] = i;
    MUST(mo_infeas_test_new(&domains, x->n, &test, &err));
    mo_infeas_test_set_case(test, &all);
    bound_ns = mo_infeas_test_proves(test, optimum_ns) ? optimum_ns + 1
               : mo_infeas_test_proves(test, optimum_ns - optimum_ns / 1000 - 1)
                   ? optimum_ns
                   : 0;
    mo_infeas_test_free(test);
    return bound_ns;
}

#define SUM_BOUNDS (1 << TINY_DEVICE | 1 << TINY_EQUAL)

static const tiny_bound bounds[] = {
    { "segment", segment_ns, NULL, SUM_BOUNDS },
    { "load", load_ns, NULL, SUM_BOUNDS },
    { "without the load", segment_ns, "bound_load", SUM_BOUNDS },
    { "without the load test", segment_ns, "infeasibility_test", SUM_BOUNDS },
    { "path and load", segment_ns, "segment_bisection", SUM_BOUNDS },
    { "path", segment_ns, "segment_bisection,bound_load", 0 },
    { "heads and tails", path_ns, NULL, 1 << TINY_CHAIN },
    { "infeasibility test", refuted_ns, NULL, 1 << TINY_CHAIN | SUM_BOUNDS },
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
