/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/coarsen - benchmark of graph clean-up and operator fusion: a million
 * ops, as networks of 5 thousand, of 50 thousand, and as one.
 *
 * All results of a size are kept until it is done, so that none profits from
 * warm caches or reused memory. CPU time, the best of several rounds. Exits
 * with 1 when the time per op grows by more than half from the smallest to
 * another, when a network of 50,560 ops takes a second, or when the process
 * ever held 1 KiB per op.
 */
#include <config.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "coarsen/coarsen.h"
#include "ingest/zoo.h"

#define MAX_RATIO        1.5
#define MAX_SECONDS      1.0
#define MAX_BYTES_PER_OP 1024.0

/* Layers of 32 heads have 395 ops. */
static const struct {
    int layers, networks;
} sizes[] = {
    { 13, 194 },
    { 128, 20 },
    { 2532, 1 },
};

enum {
    N_SIZES = sizeof sizes / sizeof *sizes,
    TIMED = 1, /* the size limited to MAX_SECONDS */
    MAX_NETWORKS = 194,
    ROUNDS = 3
};

typedef struct network {
    mo_graph *fine, *coarse;
    mo_coarsen_map *map;
} network;

/* One size: its networks and their results. */
typedef struct batch {
    network networks[MAX_NETWORKS];
    int count;
    double n_ops, n_coarse, seconds;
} batch;

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static double peak_bytes(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return 1024.0 * (double) usage.ru_maxrss;
}

static mo_status build(batch *b, int layers, int count, mo_error *err)
{
    mo_zoo_config config = { "bench", layers, 1024, 32, 128, 1, "f32" };
    mo_status status = MO_OK;

    *b = (batch){ .count = count };
    for (int i = 0; i < count && status == MO_OK; i++)
        status = mo_zoo_build(&config, &b->networks[i].fine, err);
    return status;
}

static mo_status coarsen(batch *b, const mo_fusion_rules *rules, mo_error *err)
{
    mo_coarsen_options options = { .clean = MO_CLEAN_ALL, .rules = rules };
    mo_coarsen_report report;
    mo_status status = MO_OK;

    for (int i = 0; i < b->count && status == MO_OK; i++) {
        network *n = &b->networks[i];
        double begin = seconds_now();

        status =
            mo_coarsen(n->fine, &options, &n->coarse, &n->map, &report, err);
        if (status != MO_OK)
            break;
        b->seconds += seconds_now() - begin;
        b->n_ops += n->fine->n_ops;
        b->n_coarse += n->coarse->n_ops;
    }
    return status;
}

static void clear(batch *b)
{
    for (int i = 0; i < b->count; i++) {
        mo_graph_free(b->networks[i].fine);
        mo_graph_free(b->networks[i].coarse);
        mo_coarsen_map_free(b->networks[i].map);
    }
}

/* Measurements of a size. */
typedef struct result {
    double us_per_op, seconds; /* of one network; the best round */
    double n_ops, n_coarse;    /* of one network */
} result;

static mo_status run_size(int i, const mo_fusion_rules *rules, result *r,
                          mo_error *err)
{
    static batch b;
    mo_status status = build(&b, sizes[i].layers, sizes[i].networks, err);

    if (status == MO_OK)
        status = coarsen(&b, rules, err);
    if (status == MO_OK) {
        double seconds = b.seconds / b.count;

        if (r->seconds == 0 || seconds < r->seconds)
            r->seconds = seconds;
        r->n_ops = b.n_ops / b.count;
        r->n_coarse = b.n_coarse / b.count;
        r->us_per_op = 1e6 * r->seconds / r->n_ops;
    }
    clear(&b);
    return status;
}

/* Prints each size; returns false if one is too slow. */
static bool print_sizes(const result *results)
{
    bool is_good = true;

    for (int i = 0; i < N_SIZES; i++) {
        const result *r = &results[i];
        double ratio = r->us_per_op / results[0].us_per_op;
        bool is_slow =
            ratio > MAX_RATIO || (i == TIMED && r->seconds > MAX_SECONDS);

        printf("%7.0f ops, of which %6.0f stay: %.3f s, %.3f us per op, %.2f "
               "of the smallest%s\n",
               r->n_ops, r->n_coarse, r->seconds, r->us_per_op, ratio,
               is_slow ? "  TOO MUCH" : "");
        is_good = is_good && !is_slow;
    }
    return is_good;
}

static mo_status bench(bool *failed, mo_error *err)
{
    result results[N_SIZES] = { { 0 } };
    mo_fusion_rules *rules = NULL;
    mo_status status = mo_fusion_rules_load("default", &rules, err);
    double bytes_per_op;

    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < N_SIZES && status == MO_OK; i++)
            status = run_size(i, rules, &results[i], err);
    mo_fusion_rules_free(rules);
    if (status != MO_OK)
        return status;
    bytes_per_op = peak_bytes() / results[N_SIZES - 1].n_ops;
    *failed = !print_sizes(results);
    printf("at most %.0f bytes per op were held at once%s\n", bytes_per_op,
           bytes_per_op > MAX_BYTES_PER_OP ? "  TOO MUCH" : "");
    *failed |= bytes_per_op > MAX_BYTES_PER_OP;
    return MO_OK;
}

int main(void)
{
    bool failed = false;
    mo_error err = { 0 };
    char text[2048];

    if (bench(&failed, &err) != MO_OK) {
        fprintf(stderr, "bench/coarsen: %s\n",
                mo_error_format(&err, text, sizeof text));
        return EXIT_FAILURE;
    }
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
