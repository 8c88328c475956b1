/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/refutation_job.h"

#include <stdlib.h>

#include "base/minmax.h"
#include "solvers/search/bound/colgen/priced_refutation.h"
#include "solvers/search/driver/priced_bound_internal.h"

/*
 * At fixed prices the bound is the length of a shortest path over the entries
 * of segments.  The entries on it are raised, one after the other, until none
 * can be.  Prices half way between the best ones of the load bounds and those
 * of the variants found: the maximum of the dual moves from the former towards
 * the latter as entries are raised.
 */

enum {
    FIRST_ROUND = 2,   /* prices of variants are good by then */
    MAX_BRANCHES = 12, /* with more, refutation takes long and gains little */
    ROUND_CALLS = 8,   /* searches in a round: two seconds or so ... */
    MAX_CALLS = 130,   /* ... and in all */
    FIRST_STEP = 64,   /* of an entry: a 64th; half of it after a failure ... */
    LEAST_STEP = 300   /* ... down to this part */
};

#define LEAST_GAP 0.03

void mo_search_refutation_job_clear(mo_search_refutation_job *job)
{
    free(job->price_ns);
    free(job->known);
    free(job->step_ns);
    free(job->path);
    *job = (mo_search_refutation_job){ 0 };
}

static bool has_few_branches(const mo_search_priced_bound *p)
{
    for (int c = 0; c < p->n_classes; c++)
        if (p->forks[c] && p->forks[c]->classes[0].count > MAX_BRANCHES)
            return false;
    return p->has_forks;
}

bool mo_search_refutation_job_plan(const mo_search_state *s, int round,
                                   const mo_search_refutation_job *job)
{
    return s->priced && s->priced->has_prices && round >= FIRST_ROUND &&
           !job->is_done && job->n_calls < MAX_CALLS && s->best &&
           (double) s->lower_ns <
               (1 - LEAST_GAP) * (double) mo_search_upper_ns(s) &&
           has_few_branches(s->priced);
}

static mo_status begin(const mo_search_priced_bound *p,
                       mo_search_refutation_job *job, mo_error *err)
{
    size_t n_devices = (size_t) p->s->x->n_devices;
    size_t n = (size_t) p->n_classes * n_devices * n_devices;

    job->price_ns = calloc(n_devices, sizeof *job->price_ns);
    job->known = calloc(n, sizeof *job->known);
    job->step_ns = calloc(n, sizeof *job->step_ns);
    job->path = calloc((size_t) p->chain.n, sizeof *job->path);
    if (!job->price_ns || !job->known || !job->step_ns || !job->path)
        return mo_fail_memory(err);
    mo_priced_chain_best_prices(p->chain_prices, job->price_ns);
    for (size_t k = 0; k < n_devices; k++)
        job->price_ns[k] = (job->price_ns[k] + p->s->classes->price_ns[k]) / 2;
    return MO_OK;
}

static int entry_at(const mo_search_priced_bound *p, int cls, int boundary)
{
    return cls * p->s->x->n_devices * p->s->x->n_devices + boundary;
}

/* Computes the bound; returns the segment on the path whose entry is tried
 * next, that of the longest step; -1: none. */
static int find_segment(mo_search_priced_bound *p,
                        mo_search_refutation_job *job)
{
    int64_t bound_ns =
        mo_priced_chain_evaluate(p->chain_prices, job->price_ns, NULL);
    int64_t longest_ns = 0;
    int best = -1;

    if (bound_ns == INT64_MAX || p->refined != MO_OK)
        return -1;
    job->lower_ns = mo_max_i64(job->lower_ns, bound_ns);
    mo_priced_chain_path(p->chain_prices, job->path);
    for (int i = 0; i < p->chain.n; i++) {
        int at = entry_at(p, p->cls[i], job->path[i]);

        if (!p->forks[p->cls[i]])
            continue;
        if (job->step_ns[at] == 0)
            job->step_ns[at] = job->known[at] / FIRST_STEP;
        if (job->step_ns[at] > longest_ns &&
            job->step_ns[at] > job->known[at] / LEAST_STEP) {
            longest_ns = job->step_ns[at];
            best = i;
        }
    }
    return best;
}

static void try_entry(mo_search_priced_bound *p, const mo_stop *stop,
                      int segment, mo_search_refutation_job *job)
{
    const mo_bound_segment *g = &p->chain.segments[segment];
    int cls = p->cls[segment], boundary = job->path[segment];
    int n = p->s->x->n_devices, at = entry_at(p, cls, boundary);
    const mo_cg_priced_task task = {
        .fork = p->forks[cls],
        .regime = &p->s->regime,
        .a = g->u == MO_FREE ? MO_FREE : boundary / n,
        .b = g->v == MO_FREE ? MO_FREE : boundary % n,
        .price_ns = p->op_price_ns,
        .least_ns = p->table[cls][boundary],
        .stop = stop
    };
    bool refuted = false;

    job->status = mo_cg_priced_refute(&task, job->known[at] + job->step_ns[at],
                                      &refuted, &job->n_calls, &job->err);
    if (refuted)
        job->known[at] += job->step_ns[at];
    else
        job->step_ns[at] = job->step_ns[at] / 2 + 1;
}

void mo_search_refutation_job_run(const mo_search_state *s, const mo_stop *stop,
                                  mo_search_refutation_job *job)
{
    mo_search_priced_bound *p = s->priced;
    int most = job->n_calls + ROUND_CALLS, segment;

    if (!job->price_ns)
        job->status = begin(p, job, &job->err);
    if (job->status != MO_OK)
        return;
    p->known = job->known;
    segment = find_segment(p, job);
    while (segment >= 0 && job->n_calls < most && job->status == MO_OK &&
           !mo_stop_reached(stop)) {
        try_entry(p, stop, segment, job);
        segment = find_segment(p, job);
    }
    p->known = NULL;
    job->is_done = segment < 0;
    if (job->status == MO_OK && p->refined != MO_OK) {
        job->status = p->refined;
        job->err = p->err;
    }
}
