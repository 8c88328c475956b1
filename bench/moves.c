/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/moves [GRAPH CLUSTER]... - benchmark of the simulator: full and
 * incremental evaluations (small changes as in annealing) per second.
 *
 * CPU time on one core, with ports and tensors sent once; a transformer layer
 * with 16 heads on the built-in cluster, then the given graphs.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ingest/read.h"
#include "ingest/zoo.h"
#include "schedule/heuristic/heft.h"
#include "schedule/sim/sim.h"
#include "solvers/search/primal/anneal.h"

enum { OPS_A_BENCH = 10000000, MOVES = 200000 };

static const mo_regime regime = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                                  MO_MEMORY_NONE };

static double seconds_used(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static mo_status bench_runs(const mo_instance *x, const mo_schedule *s,
                            mo_error *err)
{
    int *rank = malloc(((size_t) x->n + 1) * sizeof *rank);
    mo_sim_plan plan = { .device = s->device, .rank = rank };
    int n_runs = OPS_A_BENCH / (x->n + 1) + 1;
    mo_sim *sim = NULL;
    mo_status status =
        rank ? mo_sim_new(x, &regime, &sim, err) : mo_fail_memory(err);
    double begin = seconds_used(), took;

    for (int i = 0; i < x->n && rank; i++)
        rank[i] = i;
    for (int i = 0; i < n_runs && status == MO_OK; i++)
        mo_sim_run(sim, &plan, INT64_MAX);
    took = seconds_used() - begin;
    if (status == MO_OK)
        printf("%9.0f runs a second, %.1f ns an op\n", n_runs / took,
               1e9 * took / n_runs / x->n);
    mo_sim_free(sim);
    free(rank);
    return status;
}

static mo_status bench_moves(const mo_instance *x, const mo_schedule *s,
                             mo_error *err)
{
    mo_primal_anneal_options options = { .seed = 1, .moves = MOVES };
    mo_primal_anneal_result annealed = { 0 };
    double begin = seconds_used(), took;
    mo_status status =
        mo_primal_anneal(x, &regime, s, &options, &annealed, err);

    took = seconds_used() - begin;
    if (status == MO_OK)
        printf("%9.0f moves a second, from %.1f to %.1f us\n",
               (double) annealed.moves / took, (double) s->makespan_ns / 1e3,
               (double) annealed.schedule->makespan_ns / 1e3);
    mo_schedule_free(annealed.schedule);
    return status;
}

static mo_status bench_graph(const char *name, const mo_graph *g,
                             const char *cluster_name, mo_error *err)
{
    mo_instance_options options = { .any_size = true };
    mo_cluster *cluster = NULL;
    mo_instance *x = NULL;
    mo_schedule *s = NULL;
    char *where = NULL;
    mo_status status =
        mo_cluster_choose(cluster_name, NULL, &cluster, &where, err);

    if (status == MO_OK)
        status = mo_instance_make(g, cluster, &options, &x, err);
    if (status == MO_OK)
        status = mo_heft(x, &regime, NULL, &s, err);
    if (status == MO_OK) {
        printf("%s: %d ops, %d flows, %d devices\n", name, x->n, x->n_flows,
               x->n_devices);
        status = bench_runs(x, s, err);
    }
    if (status == MO_OK)
        status = bench_moves(x, s, err);
    mo_schedule_free(s);
    mo_instance_free(x);
    mo_cluster_free(cluster);
    free(where);
    return status;
}

static mo_status bench_layer(mo_error *err)
{
    mo_zoo_config config = { "layer", 1, 1024, 16, 512, 1, "f32" };
    mo_graph *g = NULL;
    mo_status status = mo_zoo_build(&config, &g, err);

    if (status == MO_OK)
        status = bench_graph("a layer", g, "inter-server", err);
    mo_graph_free(g);
    return status;
}

static mo_status bench_file(const char *path, const char *cluster,
                            mo_error *err)
{
    mo_graph *g = NULL;
    mo_status status = mo_read_graph(path, NULL, &g, NULL, err);

    if (status == MO_OK)
        status = bench_graph(path, g, cluster, err);
    mo_graph_free(g);
    return status;
}

int main(int argc, char **argv)
{
    mo_error err = { 0 };
    char text[2048];
    mo_status status = bench_layer(&err);

    for (int i = 1; i + 1 < argc && status == MO_OK; i += 2)
        status = bench_file(argv[i], argv[i + 1], &err);
    if (status != MO_OK) {
        fprintf(stderr, "bench/moves: %s\n",
                mo_error_format(&err, text, sizeof text));
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
