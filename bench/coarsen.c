/*
 * bench/coarsen - cleaning and fusing a million ops: as networks of 5 thousand,
 * of 50 thousand, and as one.
 *
 * All results are kept to the end, so that no size has the better of caches and
 * of memory that is there already.  Time is the processor's.  Exits with 1 when
 * the time per op grows by more than half from the smallest to another, when a
 * network of 50,560 ops takes a second, or when the process ever held 1 KiB per
 * op.
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

enum { N_SIZES = sizeof sizes / sizeof *sizes, TIMED = 1, MAX_NETWORKS = 194 };

typedef struct network {
    mo_graph *fine, *coarse;
    mo_map *map;
} network;

/* One size: its networks, and what became of them. */
typedef struct batch {
    network networks[MAX_NETWORKS];
    int count;
    double n_ops, n_coarse, seconds, slowest;
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

static mo_status coarsen(batch *b, const mo_rules *rules, mo_error *err)
{
    mo_coarsen_options options = { .clean = MO_CLEAN_ALL, .rules = rules };
    mo_coarsen_report report;
    mo_status status = MO_OK;

    for (int i = 0; i < b->count && status == MO_OK; i++) {
        network *n = &b->networks[i];
        double begin = seconds_now(), took;

        status =
            mo_coarsen(n->fine, &options, &n->coarse, &n->map, &report, err);
        if (status != MO_OK)
            break;
        took = seconds_now() - begin;
        b->seconds += took;
        b->slowest = took > b->slowest ? took : b->slowest;
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
        mo_map_free(b->networks[i].map);
    }
}

static void tell(const batch *b)
{
    printf("%3d of %7.0f ops, of which %6.0f stay: %.3f s each, %.3f us per "
           "op, at most %.0f bytes per op\n",
           b->count, b->n_ops / b->count, b->n_coarse / b->count,
           b->seconds / b->count, 1e6 * b->seconds / b->n_ops,
           peak_bytes() / b->n_ops);
}

static mo_status bench(bool *failed, mo_error *err)
{
    static batch b;
    double per_op[N_SIZES];
    mo_rules *rules = NULL;
    mo_status status = mo_rules_load("default", &rules, err);

    for (int i = 0; i < N_SIZES && status == MO_OK; i++) {
        status = build(&b, sizes[i].layers, sizes[i].networks, err);
        if (status == MO_OK)
            status = coarsen(&b, rules, err);
        if (status == MO_OK) {
            tell(&b);
            per_op[i] = b.seconds / b.n_ops;
            *failed |= i == TIMED && b.slowest > MAX_SECONDS;
            *failed |= peak_bytes() / b.n_ops > MAX_BYTES_PER_OP;
        }
        clear(&b);
    }
    for (int i = 1; i < N_SIZES && status == MO_OK; i++) {
        double ratio = per_op[i] / per_op[0];

        printf("time per op against the smallest: %.2f%s\n", ratio,
               ratio > MAX_RATIO ? "  TOO MUCH" : "");
        *failed |= ratio > MAX_RATIO;
    }
    mo_rules_free(rules);
    return status;
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
