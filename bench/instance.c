/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/instance - benchmark of instance construction: 5 thousand, 50 thousand
 * and a million ops on the paper's four devices, without measured times.
 *
 * CPU time. Exits with 1 when the time per op doubles from the smallest to
 * another, or when an instance takes more than 320 bytes per op.
 */
#include <config.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cost/instance.h"
#include "ingest/zoo.h"

#define MAX_RATIO        2.0
#define MAX_BYTES_PER_OP 320.0

/* Layers of 32 heads have 395 ops. Small ones are repeated because of the
 * resolution of the clock. */
static const struct {
    int layers, runs;
} sizes[] = { { 13, 100 }, { 128, 10 }, { 2532, 2 } };

enum { N_SIZES = sizeof sizes / sizeof *sizes };

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

/* Seconds and bytes per op of one network. */
static mo_status measure(const mo_cluster *cluster, int layers, int runs,
                         double *seconds, double *bytes, mo_error *err)
{
    mo_zoo_config config = { "bench", layers, 1024, 32, 128, 1, "f32" };
    mo_instance_options options = { 0 };
    mo_graph *g = NULL;
    mo_status status = mo_zoo_build(&config, &g, err);
    double begin = seconds_now();

    for (int i = 0; i < runs && status == MO_OK; i++) {
        mo_instance *x;

        status = mo_instance_make(g, cluster, &options, &x, err);
        if (status == MO_OK) {
            *bytes = (double) mo_arena_bytes(x->arena) / x->n;
            mo_instance_free(x);
        }
    }
    if (status == MO_OK) {
        *seconds = (seconds_now() - begin) / runs / g->n_ops;
        printf("%7d ops: %.4f s, %.3f us and %.0f bytes per op\n", g->n_ops,
               *seconds * g->n_ops, 1e6 * *seconds, *bytes);
    }
    mo_graph_free(g);
    return status;
}

static mo_status bench(bool *failed, mo_error *err)
{
    mo_cluster *cluster = NULL;
    char *where = NULL;
    double seconds[N_SIZES], bytes = 0;
    mo_status status =
        mo_cluster_choose("inter-server", NULL, &cluster, &where, err);

    for (int i = 0; i < N_SIZES && status == MO_OK; i++) {
        status = measure(cluster, sizes[i].layers, sizes[i].runs, &seconds[i],
                         &bytes, err);
        *failed |= bytes > MAX_BYTES_PER_OP;
    }
    for (int i = 1; i < N_SIZES && status == MO_OK; i++) {
        double ratio = seconds[i] / seconds[0];

        printf("time per op against the smallest: %.2f%s\n", ratio,
               ratio > MAX_RATIO ? "  TOO MUCH" : "");
        *failed |= ratio > MAX_RATIO;
    }
    mo_cluster_free(cluster);
    free(where);
    return status;
}

int main(void)
{
    mo_error err = { 0 };
    bool failed = false;

    if (bench(&failed, &err) != MO_OK) {
        fprintf(stderr, "bench/instance: %s\n", err.text);
        return EXIT_FAILURE;
    }
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
