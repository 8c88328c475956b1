/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several runs of path_anneal.h, in waves.
 */
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/parallel_for.h"
#include "base/random.h"
#include "solvers/search/primal/path_anneal.h"

enum {
    MAX_MOVES = 400000,  /* of a run */
    SEGMENT_MOVES = 6000 /* the same, by segment */
};

/* Of several runs: the last temperature, the first one and the penalty of each.
 * None is best everywhere.  Those of a wave run at once, from the best path of
 * the wave before. */
#define RUNS_COLD 0.0005
enum { WAVES = 2, WAVE_RUNS = 4 };
static const struct {
    double hot, penalty;
} anneal_runs[WAVES][WAVE_RUNS] = {
    { { 0.1, 3 }, { 0.03, 2 }, { 0.1, 6 }, { 0.03, 1.2 } },
    { { 0.01, 1.5 }, { 0.03, 1.5 }, { 0.01, 3 }, { 0.03, 3 } },
};

/* One of the runs at once. */
typedef struct anneal_run {
    const mo_decomp_classes *classes;
    mo_primal_path_anneal_options options;
    mo_decomp_path path; /* owns state, the rest is shared and not used */
    unsigned char *variants;
    int64_t least_ns;
    mo_status status;
    mo_error err;
} anneal_run;

static void run_annealing(void *context, int run, int thread)
{
    anneal_run *r = (anneal_run *) context + run;

    (void) thread;
    r->status = mo_primal_path_anneal(r->classes, &r->options, &r->path,
                                      r->variants, &r->least_ns, &r->err);
}

/* Copies the states of cuts and the variants. */
static void copy_path(int n, const mo_decomp_path *path,
                      const unsigned char *variants, mo_decomp_path *to,
                      unsigned char *to_variants)
{
    memcpy(to->state, path->state, (size_t) (n - 1) * sizeof *to->state);
    memcpy(to_variants, variants, (size_t) n);
}

static mo_status run_wave(anneal_run *runs, int wave, uint64_t seed,
                          int threads, mo_decomp_path *path,
                          unsigned char *variants, int64_t *least_ns,
                          mo_error *err)
{
    int n = runs[0].classes->segments->n;

    for (int i = 0; i < WAVE_RUNS; i++) {
        runs[i].options.seed =
            mo_random_seed(seed, (uint64_t) (wave * WAVE_RUNS + i));
        runs[i].options.hot = anneal_runs[wave][i].hot;
        runs[i].options.penalty = anneal_runs[wave][i].penalty;
        runs[i].least_ns = *least_ns;
        copy_path(n, path, variants, &runs[i].path, runs[i].variants);
    }
    mo_parallel_for(threads, WAVE_RUNS, run_annealing, runs);
    for (int i = 0; i < WAVE_RUNS; i++) {
        if (runs[i].status != MO_OK) {
            if (err)
                *err = runs[i].err;
            return runs[i].status;
        }
        if (runs[i].least_ns < *least_ns) {
            *least_ns = runs[i].least_ns;
            copy_path(n, &runs[i].path, runs[i].variants, path, variants);
        }
    }
    return MO_OK;
}

mo_status mo_primal_path_anneal_runs(const mo_decomp_classes *classes,
                                     const int64_t *capacity_bytes,
                                     const double *price_ns, uint64_t seed,
                                     int threads, mo_decomp_path *path,
                                     unsigned char *variants, int64_t *least_ns,
                                     mo_error *err)
{
    size_t n = (size_t) classes->segments->n;
    anneal_run runs[WAVE_RUNS];
    mo_status status = MO_OK;

    for (int i = 0; i < WAVE_RUNS; i++) {
        runs[i] = (anneal_run){
            .classes = classes,
            .options = { .capacity_bytes = capacity_bytes,
                         .price_ns = price_ns,
                         .moves = mo_min_i64(
                             MAX_MOVES, (int64_t) SEGMENT_MOVES * (int64_t) n),
                         .cold = RUNS_COLD },
            .path = *path
        };
        runs[i].path.state = calloc(n, sizeof *runs[i].path.state);
        runs[i].variants = calloc(n, sizeof *runs[i].variants);
        if (!runs[i].path.state || !runs[i].variants)
            status = mo_fail_memory(err);
    }
    for (int wave = 0; wave < WAVES && status == MO_OK; wave++)
        status =
            run_wave(runs, wave, seed, threads, path, variants, least_ns, err);
    for (int i = 0; i < WAVE_RUNS; i++) {
        free(runs[i].path.state);
        free(runs[i].variants);
    }
    return status;
}
