/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of solvers/search/bound/chain: blocks, time windows with cuts, and
 * interval loads, of the whole network as one segment class. */
#include "solvers/search/bound/chain/chain_bound.h"

#include "solvers/search/bound/chain/interval_load.h"
#include "solvers/search/bound/chain/time_windows.h"
#include "tests/support/suite.h"
#include "tests/support/tiny_problem.h"

enum { MAX_DEVICES = 4 };

typedef struct chain_case {
    int devices[MAX_DEVICES];
    mo_decomp_states states;
    mo_decomp_segments *segments;
    mo_decomp_classes *classes;
    mo_chain_blocks *blocks; /* NULL: switched off */
} chain_case;

static void open_case(chain_case *c, const mo_instance *x,
                      const mo_regime *regime)
{
    *c = (chain_case){ .states = { x->n_devices, NULL, NULL, true } };
    ck_assert_int_le(x->n_devices, MAX_DEVICES);
    for (int k = 0; k < x->n_devices; k++)
        c->devices[k] = k;
    c->states.device = c->states.state_of = c->devices;
    MUST(mo_decomp_segments_find(x, regime, false, &c->segments, &err));
    MUST(mo_decomp_classes_new(c->segments, &c->states, regime, false,
                               &c->classes, &err));
    ck_assert_int_eq(c->classes->n, 1);
    MUST(mo_chain_blocks_new(c->classes, 1, NULL, &c->blocks, &err));
}

static void close_case(chain_case *c)
{
    mo_chain_blocks_free(c->blocks);
    mo_decomp_classes_free(c->classes);
    mo_decomp_segments_free(c->segments);
}

static int64_t blocks_ns(const mo_instance *x, const mo_regime *regime,
                         int64_t optimum_ns)
{
    int64_t times_ns[MAX_DEVICES * MAX_DEVICES] = { 0 };
    chain_case c;

    (void) optimum_ns;
    open_case(&c, x, regime);
    MUST(mo_chain_blocks_min_times(c.blocks, 0, NULL, times_ns, &err));
    close_case(&c);
    return times_ns[0];
}

/* Whether the windows, then with them the loads, refute a time. */
static bool is_refuted(const chain_case *c, int64_t time_ns, bool with_loads)
{
    mo_chain_windows *windows = NULL;
    mo_chain_interval_load *loads = NULL;
    int64_t steps = 0;
    bool refuted;

    MUST(mo_chain_windows_new(c->blocks, 0, &windows, &err));
    refuted = !mo_chain_windows_propagate(windows, time_ns);
    if (!refuted && with_loads) {
        MUST(mo_chain_interval_load_new(windows, &loads, &err));
        MUST(mo_chain_interval_load_refute(loads, time_ns, 0, &steps, &refuted,
                                           &err));
    }
    mo_chain_interval_load_free(loads);
    mo_chain_windows_free(windows);
    return refuted;
}

static int64_t destructive_ns(const mo_instance *x, const mo_regime *regime,
                              int64_t optimum_ns, bool with_loads)
{
    chain_case c;
    int64_t bound_ns = 0;

    open_case(&c, x, regime);
    if (is_refuted(&c, optimum_ns, with_loads))
        bound_ns = optimum_ns + 1;
    else if (is_refuted(&c, optimum_ns - optimum_ns / 50 - 1, with_loads))
        bound_ns = optimum_ns;
    close_case(&c);
    return bound_ns;
}

static int64_t windows_ns(const mo_instance *x, const mo_regime *regime,
                          int64_t optimum_ns)
{
    return destructive_ns(x, regime, optimum_ns, false);
}

static int64_t loads_ns(const mo_instance *x, const mo_regime *regime,
                        int64_t optimum_ns)
{
    return destructive_ns(x, regime, optimum_ns, true);
}

#define SUM_BOUNDS (1 << TINY_DEVICE | 1 << TINY_EQUAL)

static const tiny_bound bounds[] = {
    { "blocks", blocks_ns, NULL, 1 << TINY_CHAIN },
    { "blocks without the load test", blocks_ns, "infeasibility_test", 0 },
    { "windows", windows_ns, NULL, 1 << TINY_CHAIN },
    { "windows without cuts", windows_ns, "cut_bound", 1 << TINY_CHAIN },
    { "windows of flows alone", windows_ns, "time_windows", 1 << TINY_CHAIN },
    { "loads", loads_ns, NULL, 1 << TINY_CHAIN | SUM_BOUNDS },
    { "loads in windows of flows", loads_ns, "time_windows", 1 << TINY_CHAIN },
};

START_TEST(no_bound_is_above_the_optimum)
{
    tiny_check(bounds, COUNT(bounds), (unsigned) _i);
}
END_TEST

START_TEST(there_are_no_blocks_when_they_are_switched_off)
{
    const mo_regime regime = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                               MO_MEMORY_STATIC };
    tiny_problem t;
    chain_case c;

    tiny_make(&t, TINY_CHAIN, 1);
    setenv("MOIRAI_ABLATE", "chain_blocks", 1);
    open_case(&c, t.problem.x, &regime);
    unsetenv("MOIRAI_ABLATE");
    ck_assert_ptr_null(c.blocks);
    close_case(&c);
    tiny_clear(&t);
}
END_TEST

SUITE(chain_bound)
{
    SOME(no_bound_is_above_the_optimum, at_length(1000, 30), 2);
    TEST(there_are_no_blocks_when_they_are_switched_off);
}
