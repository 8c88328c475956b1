/* Claims of solvers/search/exact.h. */
#include "solvers/search/exact.h"

#include <stdio.h>
#include <time.h>

#include "cost/cluster.h"
#include "graph/cut.h"
#include "ingest/read.h"
#include "schedule/part.h"
#include "schedule/upper.h"
#include "schedule/validate.h"
#include "tests/crowd.h"
#include "tests/exhaustive.h"
#include "tests/exhaustive_live.h"
#include "tests/graphs.h"
#include "tests/problem.h"
#include "tests/random_problem.h"
#include "tests/suite.h"
#include "tests/text.h"
#include "tests/valid.h"

static const mo_regime plain = { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE,
                                 MO_MEMORY_NONE };
static const mo_regime edges_by_port = { MO_CONGESTION_PORT,
                                         MO_TENSORS_PER_EDGE,
                                         MO_MEMORY_STATIC };
static const mo_regime once_by_port = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                                        MO_MEMORY_NONE };
static const mo_regime live = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                                MO_MEMORY_LIVE };

static mo_exact_result solve(const mo_instance *x, const mo_regime *regime,
                             const mo_exact_options *options)
{
    mo_exact_result result = { 0 };
    mo_verdict *verdict = NULL;

    MUST(mo_exact(x, regime, options, &result, &err));
    if (result.best) {
        MUST(mo_validate(x, result.best, 1, &verdict, &err));
        ck_assert_msg(verdict->n == 0, "%s", verdict->violations[0].text);
        mo_verdict_free(verdict);
        ck_assert_int_lt(result.best->makespan_ns, options->below_ns);
        ck_assert_int_le(result.lower_ns, result.best->makespan_ns);
    }
    return result;
}

static mo_exact_result solve_below(const mo_instance *x,
                                   const mo_regime *regime, int64_t below_ns)
{
    return solve(x, regime, &(mo_exact_options){ .below_ns = below_ns });
}

/* The optimum, which must be proven; EXHAUSTIVE_NONE: there is no schedule. */
static int64_t optimum_of(const mo_instance *x, const mo_regime *regime)
{
    mo_exact_result r = solve_below(x, regime, INT64_MAX);
    int64_t ns = r.best ? r.best->makespan_ns : EXHAUSTIVE_NONE;

    ck_assert(r.finished);
    if (r.best)
        ck_assert_int_eq(r.lower_ns, ns);
    mo_schedule_free(r.best);
    return ns;
}

static const struct {
    const char *graph, *cluster;
    const mo_regime *regime;
    int64_t optimum_ns;
} known[] = {
    { "", "A; B; A-B gbps=8", &edges_by_port, 0 },
    { "a t.A=0 t.B=0", "A; B", &plain, 0 },
    { "a t.A=5 t.B=3", "A; B", &plain, 3000 },
    /* One after the other where they are, or side by side. */
    { "* t.A=4 t.B=4; a; b; c; d", "A; B", &plain, 8000 },
    { "* t.A=4 t.B=4; a pin=A; b pin=A; c colocate=g; d colocate=g", "A; B",
      &plain, 8000 },
    /* A waits although it could begin with c: only so b's output is sent in
     * time. */
    { "* t.A=9 t.B=9; a pin=B t.B=1; b pin=A t.A=2; c pin=A t.A=9;"
      "d pin=B t.B=9; a>b c.B.A=1 c.A.B=1; b>d c.A.B=1 c.B.A=1",
      "A; B", &plain, 14000 },
    /* Two readers there: sent twice, or once. */
    { "* t.A=1 t.B=1; a pin=A; b pin=B; c pin=B; a>b tensor=u bytes=5000;"
      "a>c tensor=u bytes=5000",
      "A; B; A-B gbps=8", &edges_by_port, 12000 },
    { "* t.A=1 t.B=1; a pin=A; b pin=B; c pin=B; a>b tensor=u bytes=5000;"
      "a>c tensor=u bytes=5000",
      "A; B; A-B gbps=8", &once_by_port, 8000 },
    /* Memory sends half of it to the slow one. */
    { "* t.A=1 t.B=9; * memory_bytes=5; a; b; c; d",
      "A memory_bytes=10; B memory_bytes=10", &edges_by_port, 18000 },
    { "a t.A=1 t.B=1 memory_bytes=5 pin=A; b t.A=1 t.B=1 memory_bytes=9 pin=A",
      "A memory_bytes=10; B memory_bytes=10", &edges_by_port, EXHAUSTIVE_NONE },
    /* Of two outputs only one has room: it has to be read before the next. */
    { "* t.A=1; a; b; c; d; a>c tensor=u bytes=6; b>d tensor=v bytes=6",
      "A memory_bytes=10", &live, 4000 },
    { "* t.A=1; a; b; c; a>c tensor=u bytes=6; b>c tensor=v bytes=6",
      "A memory_bytes=10", &live, EXHAUSTIVE_NONE },
};

START_TEST(small_problems_are_solved)
{
    problem p = { 0 };

    problem_make(&p, known[_i].graph, known[_i].cluster, NULL);
    ck_assert_int_eq(optimum_of(p.x, known[_i].regime), known[_i].optimum_ns);
    problem_clear(&p);
}
END_TEST

enum { SEEDS_AT_ONCE = 10, N_SEEDS = 1000, N_LIVE_SEEDS = 500 };

static void check_optimum(const mo_instance *x, int number, int64_t optimum_ns,
                          unsigned seed)
{
    mo_regime regime = regime_of(number);
    int64_t found_ns = optimum_of(x, &regime);

    ck_assert_msg(found_ns == optimum_ns, "seed %u, regime %d: %lld, not %lld",
                  seed, number, (long long) found_ns, (long long) optimum_ns);
}

/* Nothing is below the optimum, and it is itself below what is longer. */
static void check_below(const mo_instance *x, int number, int64_t optimum_ns,
                        unsigned seed)
{
    mo_regime regime = regime_of(number);
    mo_exact_result none = solve_below(x, &regime, optimum_ns);
    mo_exact_result one = solve_below(x, &regime, optimum_ns + 1);

    ck_assert_msg(none.finished && !none.best && none.lower_ns == optimum_ns,
                  "seed %u, regime %d: below the optimum", seed, number);
    ck_assert_msg(one.finished && one.best &&
                      one.best->makespan_ns == optimum_ns,
                  "seed %u, regime %d: just above the optimum", seed, number);
    mo_schedule_free(one.best);
}

static void check_seed(unsigned seed)
{
    random_problem r;
    problem p = { 0 };

    random_problem_make(&r, seed);
    problem_make(&p, r.graph, r.cluster, NULL);
    for (int number = 0; number < N_REGIMES; number++) {
        mo_regime regime = regime_of(number);
        int64_t optimum_ns;

        if (regime.memory == MO_MEMORY_LIVE)
            continue;
        optimum_ns = exhaustive_optimum(p.x, &regime);
        check_optimum(p.x, number, optimum_ns, seed);
        if (optimum_ns != EXHAUSTIVE_NONE &&
            (seed + (unsigned) number) % 4 == 0)
            check_below(p.x, number, optimum_ns, seed);
    }
    problem_clear(&p);
    random_problem_clear(&r);
}

START_TEST(it_is_the_optimum)
{
    for (int i = 0; i < SEEDS_AT_ONCE; i++)
        check_seed((unsigned) (_i * SEEDS_AT_ONCE + i));
}
END_TEST

/* Live memory is tried on fewer ops, with all congestions and tensors. */
static void check_live(unsigned seed)
{
    random_problem r;
    problem p = { 0 };

    random_problem_sized(&r, seed, 2, 4);
    problem_make(&p, r.graph, r.cluster, NULL);
    for (int number = 0; number < N_REGIMES; number++) {
        mo_regime regime = regime_of(number);

        if (regime.memory == MO_MEMORY_LIVE)
            check_optimum(p.x, number, exhaustive_live_optimum(p.x, &regime),
                          seed);
    }
    problem_clear(&p);
    random_problem_clear(&r);
}

START_TEST(it_is_the_optimum_with_live_memory)
{
    for (int i = 0; i < SEEDS_AT_ONCE; i++)
        check_live((unsigned) (_i * SEEDS_AT_ONCE + i));
}
END_TEST

/* More ops on two devices, all of whose times come from a few: some are close
 * together, and some so far apart that nobody may count up from one to the
 * other. */
static const char *const close_times[] = { "0", "1", "2", "3", "5" };
static const char *const far_times[] = { "0", "0.001", "0.002", "1",
                                         "10000000" };

enum { MAX_EDGES = 11 };

static char *random_text(unsigned seed, const char *const *times, int fewest)
{
    test_random random = { seed * UINT64_C(0x9e3779b97f4a7c15) };
    int n = fewest + random_below(&random, 3), n_edges = 0;
    mo_out *out = text_new();

    for (int i = 0; i < n; i++)
        mo_out_printf(out, "%c t.A=%s t.B=%s;", 'a' + i,
                      times[random_below(&random, 5)],
                      times[random_below(&random, 5)]);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            if (random_below(&random, 3) == 0 && n_edges++ < MAX_EDGES)
                mo_out_printf(out,
                              "%c>%c tensor=u%d bytes=1 c.A.B=%s c.B.A=%s;",
                              'a' + i, 'a' + j, random_below(&random, 2),
                              times[random_below(&random, 5)],
                              times[random_below(&random, 5)]);
    return text_end(out);
}

static void check_times(unsigned seed, const char *const *times, int fewest)
{
    problem p = { 0 };
    char *graph = random_text(seed, times, fewest);

    problem_make(&p, graph, "A; B", NULL);
    for (int number = 0; number < N_REGIMES; number++) {
        mo_regime regime = regime_of(number);

        if (regime.memory == MO_MEMORY_NONE)
            check_optimum(p.x, number, exhaustive_optimum(p.x, &regime), seed);
    }
    problem_clear(&p);
    free(graph);
}

START_TEST(it_is_the_optimum_of_more_ops)
{
    for (int i = 0; i < SEEDS_AT_ONCE; i++)
        check_times((unsigned) (_i * SEEDS_AT_ONCE + i), close_times, 7);
}
END_TEST

START_TEST(times_may_differ_by_much)
{
    for (int i = 0; i < SEEDS_AT_ONCE; i++)
        check_times((unsigned) (_i * SEEDS_AT_ONCE + i), far_times, 4);
}
END_TEST

/* A problem that can be told backwards: every op's readers become what it
 * reads, and what was sent from A to B goes from B to A. */
enum { MAX_DRAWN = 20 };

static void put_arrow(mo_out *out, test_random *random, int from, int to,
                      bool backwards)
{
    const char *there = close_times[random_below(random, 5)];
    const char *back = close_times[random_below(random, 5)];

    if (backwards)
        mo_out_printf(out, "n%d>n%d bytes=1 c.A.B=%s c.B.A=%s;", to, from, back,
                      there);
    else
        mo_out_printf(out, "n%d>n%d bytes=1 c.A.B=%s c.B.A=%s;", from, to,
                      there, back);
}

static char *told(unsigned seed, bool backwards)
{
    test_random random = { seed * UINT64_C(0x9e3779b97f4a7c15) + 1 };
    int n = 12 + random_below(&random, MAX_DRAWN - 12);
    mo_out *out = text_new();

    for (int i = 0; i < n; i++)
        mo_out_printf(out, "n%d t.A=%d t.B=%d;", i, random_below(&random, 9),
                      1 + random_below(&random, 9));
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            if (random_below(&random, n) < 2)
                put_arrow(out, &random, i, j, backwards);
    return text_end(out);
}

static void solve_told(unsigned seed, bool backwards, int64_t *optimum_ns)
{
    problem p = { 0 };
    char *graph = told(seed, backwards);

    problem_make(&p, graph, "A; B", NULL);
    for (int number = 0; number < N_REGIMES; number++) {
        mo_regime regime = regime_of(number);

        if (regime.tensors == MO_TENSORS_PER_EDGE &&
            regime.memory == MO_MEMORY_NONE)
            optimum_ns[number] = optimum_of(p.x, &regime);
    }
    problem_clear(&p);
    free(graph);
}

/* Heads become tails, first becomes last: all is found out another way. */
START_TEST(backwards_it_takes_as_long)
{
    int64_t forth_ns[N_REGIMES] = { 0 }, back_ns[N_REGIMES] = { 0 };

    for (int i = 0; i < SEEDS_AT_ONCE; i++) {
        unsigned seed = (unsigned) (_i * SEEDS_AT_ONCE + i);

        solve_told(seed, false, forth_ns);
        solve_told(seed, true, back_ns);
        for (int number = 0; number < N_REGIMES; number++)
            ck_assert_msg(forth_ns[number] == back_ns[number],
                          "seed %u, regime %d: %lld and %lld", seed, number,
                          (long long) forth_ns[number],
                          (long long) back_ns[number]);
    }
}
END_TEST

/* Branches between two ops, most of them the same: times, sizes and flows are
 * drawn once for all, and the last branch may be another. */
static void put_branch(mo_out *out, test_random random, int branch, int n)
{
    for (int i = 0; i < n; i++)
        mo_out_printf(out,
                      "b%d%d t.A=%s t.B=%s weight_bytes=%d workspace_bytes=%d;",
                      branch, i, close_times[random_below(&random, 5)],
                      close_times[random_below(&random, 5)],
                      random_below(&random, 3), random_below(&random, 3));
    for (int i = 0; i < n; i++) {
        int size = 1000 * (1 + random_below(&random, 3));
        bool reads_u = i == 0 || random_below(&random, 2);

        if (reads_u)
            mo_out_printf(out, "u>b%d%d tensor=y bytes=2000;", branch, i);
        if (i + 1 < n)
            mo_out_printf(out, "b%d%d>b%d%d bytes=%d;", branch, i, branch,
                          i + 1, size);
        if (i + 1 == n || random_below(&random, 4) == 0)
            mo_out_printf(out, "b%d%d>v bytes=%d;", branch, i, size);
    }
}

static char *twins_text(unsigned seed, int most)
{
    test_random random = { seed * UINT64_C(0xd1342543de82ef95) };
    int n = most < 6 ? 1 : 1 + random_below(&random, 2);
    int n_branches = 2 + random_below(&random, (most - 2) / n - 1);
    mo_out *out = text_new();

    mo_out_printf(out, "u t.A=1 t.B=2; v t.A=2 t.B=1;");
    for (int b = 0; b < n_branches; b++) {
        test_random same = random;

        if (b == n_branches - 1 && seed % 3 == 0)
            same.state++;
        put_branch(out, same, b, n);
    }
    return text_end(out);
}

static void check_twins(unsigned seed, int most, bool is_live)
{
    static const char *const clusters[] = {
        "A; B; A-B gbps=8",
        "A memory_bytes=9000; B memory_bytes=9000; A-B gbps=16",
        "A memory_bytes=5; B memory_bytes=6; A-B gbps=8",
    };
    problem p = { 0 };
    char *graph = twins_text(seed, most);

    problem_make(&p, graph, clusters[seed % 3], NULL);
    for (int number = 0; number < N_REGIMES; number++) {
        mo_regime regime = regime_of(number);

        if ((regime.memory == MO_MEMORY_LIVE) != is_live)
            continue;
        check_optimum(p.x, number,
                      is_live ? exhaustive_live_optimum(p.x, &regime)
                              : exhaustive_optimum(p.x, &regime),
                      seed);
    }
    problem_clear(&p);
    free(graph);
}

START_TEST(twins_do_not_cost_the_optimum)
{
    for (int i = 0; i < SEEDS_AT_ONCE; i++) {
        check_twins((unsigned) (_i * SEEDS_AT_ONCE + i), 7, false);
        check_twins((unsigned) (_i * SEEDS_AT_ONCE + i), 5, true);
    }
}
END_TEST

/* Whatever the effort, what comes out is valid, and no bound is above what
 * others find. */
START_TEST(with_little_effort_it_is_valid)
{
    problem p = { 0 };

    crowd_make(&p, (unsigned) _i);
    for (int number = _i % 5; number < N_REGIMES; number += 5) {
        mo_regime regime = regime_of(number);
        mo_schedule *upper = NULL;
        int64_t upper_ns;

        MUST(mo_upper_find(p.x, &regime, &upper, &upper_ns, &err));
        for (int64_t nodes = 1; nodes <= 1000; nodes *= 10) {
            mo_exact_options options = { .below_ns = INT64_MAX,
                                         .nodes = nodes };
            mo_exact_result r = solve(p.x, &regime, &options);

            ck_assert_int_le(r.nodes, nodes);
            ck_assert_msg(!upper || r.lower_ns <= upper_ns,
                          "seed %d, regime %d, %lld nodes: %lld > %lld", _i,
                          number, (long long) nodes, (long long) r.lower_ns,
                          (long long) upper_ns);
            ck_assert(!r.finished || !upper || r.best);
            mo_schedule_free(r.best);
        }
        mo_schedule_free(upper);
    }
    problem_clear(&p);
}
END_TEST

START_TEST(the_same_input_gives_the_same_answer)
{
    mo_exact_options options = { .below_ns = INT64_MAX, .nodes = 500 };
    problem p = { 0 };
    mo_exact_result one, other;

    crowd_make(&p, (unsigned) _i);
    one = solve(p.x, &once_by_port, &options);
    other = solve(p.x, &once_by_port, &options);
    ck_assert_int_eq(one.nodes, other.nodes);
    ck_assert_int_eq(one.lower_ns, other.lower_ns);
    ck_assert((one.best == NULL) == (other.best == NULL));
    for (int i = 0; i < p.x->n && one.best; i++) {
        ck_assert_int_eq(one.best->device[i], other.best->device[i]);
        ck_assert_int_eq(one.best->start_ns[i], other.best->start_ns[i]);
    }
    mo_schedule_free(one.best);
    mo_schedule_free(other.best);
    problem_clear(&p);
}
END_TEST

START_TEST(it_stops_when_told)
{
    mo_stop stop;
    mo_exact_options options = { .below_ns = INT64_MAX, .stop = &stop };
    problem p = { 0 };
    mo_exact_result r;

    mo_stop_after(&stop, 0);
    mo_stop_say(&stop);
    crowd_make(&p, 9);
    r = solve(p.x, &once_by_port, &options);
    ck_assert(!r.finished);
    ck_assert_int_le(r.nodes, 100);
    mo_schedule_free(r.best);
    problem_clear(&p);
}
END_TEST

/* Only the bound, then. */
/* A chain of ops with long edges, on a star of devices that all differ. */
static void make_wide(problem *p, int n_ops, int n_devices)
{
    mo_out *graph = text_new(), *cluster = text_new();
    char *graph_text, *cluster_text;

    mo_out_text(graph, "*>* bytes=100000");
    for (int i = 0; i < n_ops; i++) {
        mo_out_printf(graph, "; o%d", i);
        for (int k = 0; k < n_devices; k++)
            mo_out_printf(graph, " t.D%d=%d", k, 1 + (i * 7 + k * 11) % 50);
    }
    for (int i = 0; i < n_ops; i++)
        for (int j = i + 1; j < n_ops && j < i + 4; j++)
            mo_out_printf(graph, "; o%d>o%d", i, j);
    mo_out_text(cluster, "D0");
    for (int k = 1; k < n_devices; k++)
        mo_out_printf(cluster, "; D%d; D0-D%d gbps=%d", k, k, 10 + k);
    graph_text = text_end(graph);
    cluster_text = text_end(cluster);
    problem_make(p, graph_text, cluster_text, NULL);
    free(graph_text);
    free(cluster_text);
}

/* By the processor's clock, since others may keep it from working: following
 * all that is known takes 20 s here. */
START_TEST(it_stops_before_the_first_node_is_done)
{
    mo_stop stop;
    mo_exact_options options = { .below_ns = INT64_MAX, .stop = &stop };
    mo_exact_result r;
    problem p = { 0 };
    clock_t begin;

    make_wide(&p, 36, 64);
    mo_stop_after(&stop, 0.1);
    begin = clock();
    r = solve(p.x, &edges_by_port, &options);
    ck_assert_int_lt((clock() - begin) / CLOCKS_PER_SEC, 10);
    ck_assert(!r.finished);
    mo_schedule_free(r.best);
    problem_clear(&p);
}
END_TEST

START_TEST(what_is_too_large_is_left_alone)
{
    mo_out *out = text_new();
    problem p = { 0 };
    mo_exact_result r;
    char *graph;

    for (int i = 0; i < 4000; i++)
        mo_out_printf(out, "n%d t.A=1 t.B=1;", i);
    graph = text_end(out);
    problem_make(&p, graph, "A; B", NULL);
    r = solve_below(p.x, &once_by_port, INT64_MAX);
    ck_assert(!r.finished);
    ck_assert_int_eq(r.nodes, 0);
    ck_assert_int_gt(r.lower_ns, 0);
    mo_schedule_free(r.best);
    problem_clear(&p);
    free(graph);
}
END_TEST

/* The least time from the end of u to that of v, by their devices; where there
 * is no u or no v, only the first line or column. */
static int64_t segment_ns(mo_part *part, int a, int b, const mo_regime *regime)
{
    if (a != MO_FREE)
        part->x->pin[0] = a;
    if (b != MO_FREE)
        part->x->pin[part->x->n - 1] = b;
    return optimum_of(part->x, regime);
}

enum { MAX_DEVICES = 8 };

/* Lengthens the shortest ways to the devices of op first by the segment up to
 * op last. */
static void go_on(const mo_instance *x, const mo_regime *regime, int first,
                  int last, bool has_v, int64_t *way_ns)
{
    int K = x->n_devices, n = last - first + 1;
    int64_t next_ns[MAX_DEVICES];
    int *ops = calloc((size_t) n + 1, sizeof *ops);
    mo_part *part = NULL;

    for (int i = 0; i < n; i++)
        ops[i] = first + i;
    MUST(mo_part_make(x, ops, n, first > 0, &part, &err));
    for (int b = 0; b < K; b++) {
        next_ns[b] = INT64_MAX;
        for (int a = 0; a < K; a++) {
            int64_t ns = way_ns[a] + segment_ns(part, first > 0 ? a : MO_FREE,
                                                has_v ? b : MO_FREE, regime);

            next_ns[b] = ns < next_ns[b] ? ns : next_ns[b];
        }
    }
    memcpy(way_ns, next_ns, (size_t) K * sizeof *way_ns);
    mo_part_free(part);
    free(ops);
}

static int64_t optimum_by_segments(const mo_instance *x,
                                   const mo_regime *regime)
{
    mo_dag dag = mo_instance_dag(x);
    int64_t way_ns[MAX_DEVICES] = { 0 }, least_ns = INT64_MAX;
    int *cuts = NULL, n_cuts = 0, first = 0;

    ck_assert_int_le(x->n_devices, MAX_DEVICES);
    MUST(mo_cut_find(&dag, &cuts, &n_cuts, &err));
    for (int i = 0; i < n_cuts; first = cuts[i++])
        go_on(x, regime, first, cuts[i], true, way_ns);
    if (first < x->n - 1)
        go_on(x, regime, first, x->n - 1, false, way_ns);
    for (int k = 0; k < x->n_devices; k++)
        least_ns = way_ns[k] < least_ns ? way_ns[k] : least_ns;
    free(cuts);
    return least_ns;
}

static const struct {
    mo_regime regime;
    int64_t optimum_ns;
} googlenet[] = {
    { { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE, MO_MEMORY_NONE }, 1241320 },
    { { MO_CONGESTION_PORT, MO_TENSORS_ONCE, MO_MEMORY_NONE }, 1271110 },
    { { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE, MO_MEMORY_NONE }, 1278110 },
};

START_TEST(googlenet_of_the_authors_is_proven)
{
    const char *data = getenv("MOIRAI_DATA");
    mo_instance_options options = { .any_size = true };
    char path[4096], cluster_path[4096], *where = NULL;
    problem p = { 0 };

    snprintf(path, sizeof path, "%s/authors/GoogLeNet.graphml", data);
    snprintf(cluster_path, sizeof cluster_path,
             "%s/authors/GoogLeNet.cluster.xml", data);
    MUST(mo_read_graph(path, NULL, &p.g, NULL, &err));
    MUST(mo_cluster_choose(cluster_path, NULL, &p.cluster, &where, &err));
    free(where);
    MUST(mo_instance_make(p.g, p.cluster, &options, &p.x, &err));
    ck_assert_int_eq(optimum_by_segments(p.x, &googlenet[_i].regime),
                     googlenet[_i].optimum_ns);
    problem_clear(&p);
}
END_TEST

SUITE(exact)
{
    EACH(small_problems_are_solved, COUNT(known));
    SOME(it_is_the_optimum, N_SEEDS / SEEDS_AT_ONCE, 1);
    SOME(it_is_the_optimum_with_live_memory, N_LIVE_SEEDS / SEEDS_AT_ONCE, 1);
    SOME(it_is_the_optimum_of_more_ops, 20, 1);
    SOME(times_may_differ_by_much, 20, 1);
    SOME(backwards_it_takes_as_long, 20, 1);
    SOME(twins_do_not_cost_the_optimum, 5, 1);
    SOME(with_little_effort_it_is_valid, 6, 1);
    SOME(the_same_input_gives_the_same_answer, 5, 1);
    TEST(it_stops_when_told);
    TEST(it_stops_before_the_first_node_is_done);
    TEST(what_is_too_large_is_left_alone);
    if (getenv("MOIRAI_DATA"))
        SOME(googlenet_of_the_authors_is_proven, COUNT(googlenet), 0);
    else
        puts("googlenet_of_the_authors_is_proven: skipped, the environment has "
             "no MOIRAI_DATA");
}
