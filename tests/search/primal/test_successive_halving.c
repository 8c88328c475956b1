/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of primal/successive_halving.h, and of mo_cg_relaxation_round(),
 * which provides its starts. */
#include "solvers/search/primal/successive_halving.h"

#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "base/random.h"
#include "schedule/heuristic/heft.h"
#include "solvers/search/exact/exact.h"
#include "solvers/search/bound/colgen/branch_and_price.h"
#include "tests/search/bound/fork_join_case.h"
#include "tests/support/suite.h"
#include "tests/support/text.h"
#include "tests/support/reference_validate.h"

enum { N_DEVICES = 4, MAX_OPS = 64, MOVES = 300, BRANCH = 3 };

static const char cluster[] =
    "A; B; C; D; A-B gbps=8; B-C gbps=8; C-D gbps=4; D-A gbps=8";

static mo_regime regime_for(int seed)
{
    return (mo_regime){ (mo_congestion) (seed % 4), (mo_tensors) (seed / 4 % 2),
                        MO_MEMORY_NONE };
}

/* Equal branches of three ops between u and v, which are pinned; the first two
 * read u's tensor. */
static void make_fork(fork_join_case *f, int branches, int seed)
{
    mo_random r = { (uint64_t) seed };
    mo_regime regime = regime_for(seed);
    int p[BRANCH][N_DEVICES], bytes[BRANCH];
    char *graph;
    mo_out *out;

    for (int j = 0; j < BRANCH; j++) {
        bytes[j] = 500 * mo_random_below(&r, 8);
        for (int k = 0; k < N_DEVICES; k++)
            p[j][k] = 1 + mo_random_below(&r, 9);
    }
    MUST(mo_out_memory(&out, &err));
    mo_out_printf(out, "* t.A=0 t.B=0 t.C=0 t.D=0; u pin=%c; v pin=%c",
                  'A' + mo_random_below(&r, N_DEVICES),
                  'A' + mo_random_below(&r, N_DEVICES));
    for (int i = 0; i < branches; i++) {
        for (int j = 0; j < BRANCH; j++)
            mo_out_printf(out, "; b%d_%d t.A=%d t.B=%d t.C=%d t.D=%d", i, j,
                          p[j][0], p[j][1], p[j][2], p[j][3]);
        mo_out_printf(out,
                      "; u>b%d_0 bytes=4000 tensor=y; u>b%d_1 bytes=4000 "
                      "tensor=y; b%d_0>b%d_2 bytes=%d; b%d_1>b%d_2 bytes=%d;"
                      " b%d_2>v bytes=%d",
                      i, i, i, i, bytes[0], i, i, bytes[1], i, bytes[2]);
    }
    graph = text_end(out);
    fork_join_case_make(f, graph, cluster, &regime);
    free(graph);
}

static int pair_of(const fork_join_case *f)
{
    const int *pin = f->problem.x->pin;

    return pin[f->segment.u] * N_DEVICES + pin[f->segment.v];
}

static int64_t optimum_of(const fork_join_case *f)
{
    mo_exact_options options = { .below_ns = INT64_MAX };
    mo_exact_result result = { 0 };

    MUST(mo_exact_solve(f->problem.x, &f->places.regime, &options, &result,
                        &err));
    ck_assert(result.finished);
    mo_schedule_free(result.best);
    return result.lower_ns;
}

/* With the caller's moves, patience and stay. */
static mo_schedule *halve_by(const fork_join_case *f, const mo_schedule *start,
                             int64_t moves, mo_primal_halving_options options)
{
    mo_primal_anneal_options each = { .seed = 3, .moves = moves };
    mo_schedule *best = NULL;

    options.fork = f->fork;
    options.boundary = pair_of(f);
    options.from_ns = start->makespan_ns / 2;
    options.to_ns = start->makespan_ns;
    options.anneal = &each;
    MUST(mo_primal_successive_halving(f->problem.x, &f->places.regime, start,
                                      &options, &best, &err));
    ck_assert(best);
    return best;
}

static mo_schedule *halve_from(const fork_join_case *f,
                               const mo_schedule *start)
{
    return halve_by(f, start, MOVES,
                    (mo_primal_halving_options){ .patience = 0 });
}

static mo_schedule *heft_of(const fork_join_case *f)
{
    mo_schedule *s = NULL;

    MUST(mo_heft(f->problem.x, &f->places.regime, NULL, &s, &err));
    ck_assert(s);
    return s;
}

START_TEST(small_ones_end_at_their_optimum)
{
    int optimal = 0, n = how_many(at_length(40, 20), 4);

    for (int seed = 0; seed < n; seed++) {
        fork_join_case f;
        mo_schedule *start, *best;
        int64_t least_ns;

        make_fork(&f, 2, seed);
        least_ns = optimum_of(&f);
        start = heft_of(&f);
        best = halve_from(&f, start);
        ck_assert_msg(best->makespan_ns >= least_ns, "seed %d", seed);
        optimal += best->makespan_ns == least_ns;
        mo_schedule_free(best);
        mo_schedule_free(start);
        fork_join_case_clear(&f);
    }
    ck_assert_msg(optimal >= n * 9 / 10, "only %d of %d", optimal, n);
}
END_TEST

START_TEST(what_comes_is_valid_and_no_longer_than_the_start)
{
    fork_join_case f;
    mo_schedule *start, *best, *again;

    make_fork(&f, 12, _i);
    start = heft_of(&f);
    best = halve_from(&f, start);
    again = halve_from(&f, start);
    check_valid(f.problem.x, best);
    ck_assert_int_le(best->makespan_ns, start->makespan_ns);
    ck_assert_mem_eq(best->start_ns, again->start_ns,
                     (size_t) best->n * sizeof *best->start_ns);
    ck_assert_mem_eq(best->device, again->device,
                     (size_t) best->n * sizeof *best->device);
    mo_schedule_free(again);
    mo_schedule_free(best);
    mo_schedule_free(start);
    fork_join_case_clear(&f);
}
END_TEST

/* The rungs are the same; the runs after them only shorten the schedule. */
START_TEST(patience_gains)
{
    int shorter = 0, n = how_many(at_length(24, in_ci(12, 6)), 4);

    for (int seed = 0; seed < n; seed++) {
        fork_join_case f;
        mo_schedule *start, *soon, *late;

        make_fork(&f, 12, seed);
        start = heft_of(&f);
        soon = halve_by(&f, start, 10,
                        (mo_primal_halving_options){ .patience = 0 });
        late = halve_by(&f, start, 10,
                        (mo_primal_halving_options){ .patience = 3 });
        check_valid(f.problem.x, late);
        ck_assert_msg(late->makespan_ns <= soon->makespan_ns, "seed %d", seed);
        shorter += late->makespan_ns < soon->makespan_ns;
        mo_schedule_free(late);
        mo_schedule_free(soon);
        mo_schedule_free(start);
        fork_join_case_clear(&f);
    }
    ck_assert_int_gt(shorter, n / 4);
}
END_TEST

/* Returns a bit for each device but u's own with a reader of u. */
static int readers_of_u(const fork_join_case *f, const mo_schedule *s)
{
    const mo_instance *x = f->problem.x;
    int u = f->segment.u, set = 0;

    for (int q = x->out_start[u]; q < x->out_start[u + 1]; q++)
        set |= 1 << s->device[x->flows[q].to];
    return set & ~(1 << s->device[u]);
}

/* Places all ops that may be there on the device of u. */
static mo_schedule *all_with_u(const fork_join_case *f)
{
    const mo_instance *x = f->problem.x;
    int placement[MAX_OPS];
    mo_schedule *s = NULL;

    ck_assert_int_le(x->n, MAX_OPS);
    for (int i = 0; i < x->n; i++)
        placement[i] = x->pin[i] == MO_FREE ? x->pin[f->segment.u] : x->pin[i];
    MUST(mo_heft(x, &f->places.regime, placement, &s, &err));
    ck_assert(s);
    return s;
}

/* Without moves, so that only a start can be shorter. */
START_TEST(stay_keeps_the_receivers)
{
    int shorter = 0, other = 0, n = how_many(at_length(24, in_ci(12, 6)), 4);

    for (int i = 0; i < n; i++) {
        fork_join_case f;
        mo_schedule *start, *best, *free_best;

        make_fork(&f, 12,
                  4 + i % 3 + 8 * i); /* tensors once, with congestion */
        start = all_with_u(&f);
        best =
            halve_by(&f, start, 0, (mo_primal_halving_options){ .stay = true });
        free_best = halve_by(&f, start, 0,
                             (mo_primal_halving_options){ .stay = false });
        ck_assert_msg(!readers_of_u(&f, best), "seed %d", i);
        shorter += best->makespan_ns < start->makespan_ns;
        other += readers_of_u(&f, free_best) != 0;
        mo_schedule_free(free_best);
        mo_schedule_free(best);
        mo_schedule_free(start);
        fork_join_case_clear(&f);
    }
    ck_assert_int_gt(shorter, 0);
    ck_assert_int_gt(other, 0);
}
END_TEST

/* Returns devices and starts of a fork-join's ops in a schedule; u ends at
 * 0. */
static mo_decomp_solution_hint hint_of(const fork_join_case *f,
                                       const mo_schedule *s)
{
    size_t n = (size_t) f->segment.n;
    mo_decomp_solution_hint hint = { calloc(n, sizeof *hint.device),
                                     calloc(n, sizeof *hint.start_ns) };

    ck_assert(hint.device && hint.start_ns);
    for (int i = 0; i < f->segment.n; i++) {
        hint.device[i] = s->device[f->segment.ops[i]];
        hint.start_ns[i] = s->start_ns[f->segment.ops[i]];
    }
    return hint;
}

/* Without moves: the hint is the only start beside the given one. */
static int64_t halved_by_hint(const fork_join_case *f, const mo_schedule *model)
{
    mo_decomp_solution_hint hint = hint_of(f, model);
    mo_primal_anneal_options each = { .seed = 3, .moves = 0 };
    mo_primal_halving_options options = { .fork = f->fork,
                                          .boundary = pair_of(f),
                                          .from_ns = 0,
                                          .to_ns = 0,
                                          .hint = &hint,
                                          .anneal = &each };
    mo_schedule *start = heft_of(f), *best = NULL;
    int64_t makespan_ns;

    MUST(mo_primal_successive_halving(f->problem.x, &f->places.regime, start,
                                      &options, &best, &err));
    makespan_ns = best->makespan_ns;
    mo_schedule_free(best);
    mo_schedule_free(start);
    free(hint.device);
    free(hint.start_ns);
    return makespan_ns;
}

/* List schedules in the order of an optimum are nearly always as short. */
START_TEST(a_hint_is_a_start)
{
    int optimal = 0, better = 0, n = how_many(at_length(40, 20), 4);

    for (int seed = 0; seed < n; seed++) {
        mo_exact_options options = { .below_ns = INT64_MAX };
        mo_exact_result result = { 0 };
        mo_schedule *start;
        int64_t raced_ns;
        fork_join_case f;

        make_fork(&f, 2, seed);
        MUST(mo_exact_solve(f.problem.x, &f.places.regime, &options, &result,
                            &err));
        start = heft_of(&f);
        raced_ns = halved_by_hint(&f, result.best);
        optimal += raced_ns == result.best->makespan_ns;
        better += raced_ns < start->makespan_ns;
        mo_schedule_free(start);
        mo_schedule_free(result.best);
        fork_join_case_clear(&f);
    }
    ck_assert_msg(optimal >= n * 8 / 10, "only %d of %d", optimal, n);
    ck_assert_int_gt(better, 0);
}
END_TEST

/* Every set of devices but u's own. */
START_TEST(only_receivers_read_the_shared_tensor)
{
    fork_join_case f;
    int device[MAX_OPS], u, v;
    int64_t start_ns[MAX_OPS];
    mo_decomp_solution_hint hint = { device, start_ns };

    make_fork(&f, 12, 4 + _i % 3 + 8 * _i); /* tensors once, with congestion */
    u = pair_of(&f) / N_DEVICES;
    v = pair_of(&f) % N_DEVICES;
    for (int set = 0; set < 1 << N_DEVICES; set++) {
        mo_cg_relaxation *relaxation = NULL;
        bool receives[N_DEVICES], suggested = false;

        for (int k = 0; k < N_DEVICES; k++)
            receives[k] = set >> k & 1;
        MUST(mo_cg_relaxation_new(&(mo_forkjoin_case){ f.fork, u, v }, 300000,
                                  receives, NULL, NULL, &relaxation, &err));
        if (relaxation)
            MUST(mo_cg_relaxation_round(relaxation, _i / 16.0, &hint,
                                        &suggested, &err));
        mo_cg_relaxation_free(relaxation);
        for (int i = 0; i < f.segment.n && suggested; i++)
            if (i % BRANCH != BRANCH - 1)
                ck_assert_msg(device[i] == u || receives[device[i]],
                              "seed %d, set %d: op %d", _i, set, i);
    }
    fork_join_case_clear(&f);
}
END_TEST

START_TEST(too_short_a_time_has_no_relaxation)
{
    fork_join_case f;
    mo_cg_relaxation *relaxation = NULL;

    make_fork(&f, 12, _i);
    MUST(mo_cg_relaxation_new(&(mo_forkjoin_case){ f.fork,
                                                   pair_of(&f) / N_DEVICES,
                                                   pair_of(&f) % N_DEVICES },
                              1000, NULL, NULL, NULL, &relaxation, &err));
    ck_assert_ptr_null(relaxation);
    fork_join_case_clear(&f);
}
END_TEST

SUITE(successive_halving)
{
    TEST(small_ones_end_at_their_optimum);
    SOME(patience_gains, 1, 0);
    SOME(stay_keeps_the_receivers, 1, 0);
    TEST(a_hint_is_a_start);
    SOME(what_comes_is_valid_and_no_longer_than_the_start,
         at_length(24, in_ci(12, 6)), 3);
    SOME(only_receivers_read_the_shared_tensor, at_length(16, 8), 2);
    SOME(too_short_a_time_has_no_relaxation, 8, 2);
}
