/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bound with prices of memory (priced_bound.h) as a job of the search:
 * anew whenever the tables of blocks have grown; else, where branches are
 * equal, by their cases once, then by refutation at fixed prices
 * (bound/colgen/branch_and_price.h), since load bounds of few equal branches
 * are furthest from integers.
 *
 * At fixed prices the bound is the length of a shortest path over the entries
 * of segments.  The entries on it are raised, one after the other, until none
 * can be.  Prices half way between the best ones of the load bounds and those
 * of the variants found: the maximum of the dual moves from the former towards
 * the latter as entries are raised.
 */
#include <stdlib.h>

#include "base/minmax.h"
#include "solvers/search/bound/colgen/branch_and_price.h"
#include "solvers/search/driver/job.h"
#include "solvers/search/driver/priced_bound_internal.h"

enum {
    FIRST_STEP = 64, /* of an entry: a 64th; half of it after a failure ... */
    LEAST_STEP = 300 /* ... down to this part */
};

/* A round of cases or of refutation: a few searches. */
#define LEAST_WORK INT64_C(500000000)

typedef enum phase { BY_PRICES, BY_CASES, BY_REFUTATION } phase;

typedef struct refutation {
    mo_search_priced_bound *p;
    phase phase;        /* in this round */
    int64_t grant;      /* of work, the same */
    bool had_cases;     /* in one before, to the end */
    int64_t cases_work; /* least grant for them */
    double *price_ns;   /* by device; NULL: not begun */
    int64_t *known;     /* by class and boundary: proven entries; 0: none yet */
    int64_t *step_ns;   /* the same: how much above it is tried next; 0: not
                           tried yet */
    int *path;          /* by segment: boundary */
    int n_calls;        /* searches so far */
    bool is_done;       /* no entry of the path can be raised */
    int64_t lower_ns;   /* result of all rounds so far; 0: none */
} refutation;

static mo_status open_job(mo_search_state *s, void **self, mo_error *err)
{
    refutation *job;

    if (!s->priced)
        return MO_OK;
    job = calloc(1, sizeof *job);
    if (!job)
        return mo_fail_memory(err);
    job->p = s->priced;
    job->cases_work = LEAST_WORK;
    *self = job;
    return MO_OK;
}

static void close_job(void *self)
{
    refutation *job = self;

    free(job->price_ns);
    free(job->known);
    free(job->step_ns);
    free(job->path);
    free(job);
}

static mo_status begin_refutation(const mo_search_priced_bound *p,
                                  refutation *job, mo_error *err)
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
static int find_segment(mo_search_priced_bound *p, refutation *job)
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

static mo_status try_entry(mo_search_priced_bound *p, const mo_stop *stop,
                           int segment, refutation *job, mo_error *err)
{
    int cls = p->cls[segment], boundary = job->path[segment];
    int n = p->s->x->n_devices, at = entry_at(p, cls, boundary);
    const mo_cg_priced_task task = {
        .at = mo_forkjoin_at(p->forks[cls], boundary / n, boundary % n),
        .price_ns = p->op_price_ns,
        .least_ns = p->table[cls][boundary],
        .stop = stop
    };
    bool refuted = false;
    mo_status status = mo_cg_priced_refute(
        &task, job->known[at] + job->step_ns[at], &refuted, &job->n_calls, err);

    if (refuted)
        job->known[at] += job->step_ns[at];
    else
        job->step_ns[at] = job->step_ns[at] / 2 + 1;
    return status;
}

static mo_status refute_entries(refutation *job, const mo_stop *stop,
                                mo_error *err)
{
    mo_search_priced_bound *p = job->p;
    mo_status status = MO_OK;
    int segment;

    if (!job->price_ns)
        status = begin_refutation(p, job, err);
    if (status != MO_OK)
        return status;
    p->stop = stop;
    p->known = job->known;
    segment = find_segment(p, job);
    while (segment >= 0 && status == MO_OK && !mo_stop_reached(stop) &&
           atomic_load(stop->work) < job->grant) {
        status = try_entry(p, stop, segment, job, err);
        segment = find_segment(p, job);
    }
    p->known = NULL;
    p->stop = NULL;
    job->is_done = segment < 0;
    if (status == MO_OK && p->refined != MO_OK) {
        status = p->refined;
        if (err)
            *err = p->err;
    }
    return status;
}

static mo_status plan_job(void *self, const mo_search_grant *grant, int *n,
                          mo_error *err)
{
    refutation *job = self;

    (void) err;
    job->grant = grant->work;
    if (mo_search_priced_bound_is_stale(job->p)) {
        job->phase = BY_PRICES;
        *n = 1;
        return MO_OK;
    }
    job->phase = job->had_cases ? BY_REFUTATION : BY_CASES;
    *n = job->p->has_prices && job->p->has_forks && job->p->s->best &&
         !job->is_done &&
         grant->work >= (job->had_cases ? LEAST_WORK : job->cases_work);
    return MO_OK;
}

static mo_status run_job(void *self, int item, const mo_stop *stop,
                         mo_error *err)
{
    refutation *job = self;
    int64_t bound_ns = 0;
    _Atomic int64_t work = 0;
    mo_stop limit;
    mo_status status = MO_OK;

    (void) item;
    if (mo_stop_reached(stop))
        return MO_OK;
    switch (job->phase) {
    case BY_PRICES:
        status = mo_search_priced_bound_compute(job->p, stop, &bound_ns, err);
        break;
    case BY_CASES:
        /* Where the grant does not suffice, they begin anew with twice of it.
         */
        limit = (mo_stop){ .deadline_ns = INT64_MAX,
                           .work = &work,
                           .max_work = job->grant,
                           .outer = stop };
        status =
            mo_search_priced_bound_run_cases(job->p, &limit, &bound_ns, err);
        job->had_cases = !mo_stop_reached(&limit);
        job->cases_work = 2 * job->grant;
        break;
    case BY_REFUTATION:
        status = refute_entries(job, stop, err);
        break;
    }
    job->lower_ns = mo_max_i64(job->lower_ns, bound_ns);
    return status;
}

static mo_status merge_job(void *self, const mo_stop *stop, mo_error *err)
{
    static const char *const what[] = { "prices of memory",
                                        "cases of equal branches",
                                        "refutation with prices of memory" };
    refutation *job = self;

    (void) stop;
    (void) err;
    mo_search_raise_lower(job->p->s, job->lower_ns, what[job->phase]);
    return MO_OK;
}

const mo_search_job mo_search_job_memory_prices = {
    .name = "bound with prices of memory",
    .ablation = MO_ABLATION_job_memory_prices,
    .weight = 1,
    .opens = true,
    .open = open_job,
    .close = close_job,
    .plan = plan_job,
    .run = run_job,
    .merge = merge_job,
};
