/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-sanitizers no-valgrind */
/* Tests of solvers/search/exact/exact.h: a whole network, segment by segment
 * between its clean cuts. */
#include "solvers/search/exact/exact.h"

#include <stdio.h>

#include "cost/cluster.h"
#include "graph/cut.h"
#include "ingest/read.h"
#include "cost/instance/sub_instance.h"
#include "tests/search/exact/exact_case.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"

/* Returns the least time from the end of u to that of v, by their devices;
 * without u or v, only for the first row or column. */
static int64_t segment_ns(mo_sub_instance *part, int a, int b,
                          const mo_regime *regime)
{
    if (a != MO_FREE)
        part->x->pin[0] = a;
    if (b != MO_FREE)
        part->x->pin[part->x->n - 1] = b;
    return exact_optimum(part->x, regime);
}

enum { MAX_DEVICES = 8 };

/* Extends shortest paths to the devices of op first by the segment up to op
 * last. */
static void extend_paths(const mo_instance *x, const mo_regime *regime,
                         int first, int last, bool has_v, int64_t *path_ns)
{
    int K = x->n_devices, n = last - first + 1;
    int64_t next_ns[MAX_DEVICES];
    int *ops = calloc((size_t) n + 1, sizeof *ops);
    mo_sub_instance *part = NULL;

    for (int i = 0; i < n; i++)
        ops[i] = first + i;
    MUST(mo_sub_instance_make(x, ops, n, first > 0, &part, &err));
    for (int b = 0; b < K; b++) {
        next_ns[b] = INT64_MAX;
        for (int a = 0; a < K; a++) {
            int64_t ns = path_ns[a] + segment_ns(part, first > 0 ? a : MO_FREE,
                                                 has_v ? b : MO_FREE, regime);

            next_ns[b] = ns < next_ns[b] ? ns : next_ns[b];
        }
    }
    memcpy(path_ns, next_ns, (size_t) K * sizeof *path_ns);
    mo_sub_instance_free(part);
    free(ops);
}

static int64_t optimum_by_segments(const mo_instance *x,
                                   const mo_regime *regime)
{
    mo_dag dag = mo_instance_dag(x);
    int64_t path_ns[MAX_DEVICES] = { 0 }, least_ns = INT64_MAX;
    int *cuts = NULL, n_cuts = 0, first = 0;

    ck_assert_int_le(x->n_devices, MAX_DEVICES);
    MUST(mo_dag_clean_cuts(&dag, &cuts, &n_cuts, &err));
    for (int i = 0; i < n_cuts; first = cuts[i++])
        extend_paths(x, regime, first, cuts[i], true, path_ns);
    if (first < x->n - 1)
        extend_paths(x, regime, first, x->n - 1, false, path_ns);
    for (int k = 0; k < x->n_devices; k++)
        least_ns = path_ns[k] < least_ns ? path_ns[k] : least_ns;
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

SUITE(exact_segments)
{
    if (getenv("MOIRAI_DATA"))
        SOME(googlenet_of_the_authors_is_proven, COUNT(googlenet), 0);
    else
        puts("googlenet_of_the_authors_is_proven: skipped, the environment has "
             "no MOIRAI_DATA");
}
