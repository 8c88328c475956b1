/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The colocation bound of the full instance (schedule/bound/colocation_bound.h)
 * as a job of the search: it uses the tables proven so far and is kept from
 * round to round.
 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "schedule/bound/colocation_bound.h"
#include "solvers/search/driver/job.h"

enum {
    MAX_OPS = 1000,       /* more leave too few nodes for each interval */
    LEAST_NODES = 200000, /* of a round: fewer prove nothing */
    MAX_IDLE = 24         /* rounds in a row that gain nothing: then it ends */
};

#define TEST_SHARE 0.2 /* of the first round: tests before the search */

typedef struct colocation_job {
    mo_search_state *search;
    mo_allowed_devices domains; /* owns allowed; NULL: not begun */
    mo_coloc_bound *bound;      /* NULL: not begun */
    double nodes;               /* of the round */
    int64_t work, all_nodes;    /* of the tests; nodes of all rounds */
    int64_t lower_ns;           /* result of all rounds so far; 0: none */
    int n_idle;                 /* rounds in a row without a higher one */
} colocation_job;

/* Fills the table of a segment from the end of u to the start of v, by their
 * devices: lower bounds of its class. */
static void fill_table(const mo_search_state *s, int segment, int64_t *table)
{
    const mo_decomp_class *cls =
        &s->classes->classes[s->segments->cls[segment]];
    int v = mo_decomp_segment_exit(s->segments, segment);

    for (int a = 0; a < s->states.n; a++)
        for (int b = 0; b < s->states.n; b++) {
            int to = s->states.device[b];
            int64_t lower_ns = cls->lower_ns[a * s->states.n + b];

            table[s->states.device[a] * s->x->n_devices + to] =
                lower_ns >= MO_MAX_TOTAL_NS
                    ? MO_MAX_TOTAL_NS
                    : lower_ns - mo_instance_p_ns(s->x, v, to);
        }
}

/* Fills known with the segments between two cuts; returns their number. */
static size_t find_known(const mo_search_state *s,
                         const mo_allowed_devices *domains, int64_t *table,
                         mo_coloc_pair_bound *known)
{
    size_t n = 0;

    for (int i = 1; i < s->segments->n - 1 && s->states.all; i++) {
        fill_table(s, i, table);
        known[n++] = mo_coloc_pair_bound_of(
            domains, mo_decomp_segment_entry(s->segments, i),
            mo_decomp_segment_exit(s->segments, i), table);
    }
    return n;
}

static mo_status find_domains(const mo_search_state *s, colocation_job *job,
                              mo_error *err)
{
    size_t size;

    job->domains = (mo_allowed_devices){ .x = s->x, .regime = s->regime };
    if (mo_size_mul((size_t) s->x->n + 1, (size_t) s->x->n_devices, &size))
        job->domains.allowed = calloc(size, sizeof *job->domains.allowed);
    if (!job->domains.allowed)
        return mo_fail_memory(err);
    return mo_allowed_devices_find(&job->domains, err);
}

static mo_status open_job(mo_search_state *s, void **self, mo_error *err)
{
    colocation_job *job;

    if (!s->memory_matters || s->x->n > MAX_OPS)
        return MO_OK;
    job = calloc(1, sizeof *job);
    if (!job)
        return mo_fail_memory(err);
    job->search = s;
    *self = job;
    return MO_OK;
}

static void close_job(void *self)
{
    colocation_job *job = self;

    mo_coloc_bound_free(job->bound);
    free(job->domains.allowed);
    free(job);
}

static mo_status plan_job(void *self, const mo_search_grant *grant, int *n,
                          mo_error *err)
{
    colocation_job *job = self;

    (void) err;
    job->nodes = (double) grant->work / MO_COLOC_NODE_WORK;
    *n = job->search->best && job->nodes >= LEAST_NODES &&
         job->n_idle < MAX_IDLE &&
         !(job->bound && mo_coloc_bound_is_closed(job->bound));
    return MO_OK;
}

static mo_status run_job(void *self, int item, const mo_stop *stop,
                         mo_error *err)
{
    colocation_job *job = self;
    const mo_search_state *s = job->search;
    const mo_coloc_effort effort = {
        fmin(MO_COLOC_WORK, TEST_SHARE * MO_COLOC_NODE_WORK * job->nodes),
        job->nodes
    };
    size_t n_devices = (size_t) s->x->n_devices, n = 0;
    mo_coloc_pair_bound *known =
        calloc((size_t) s->segments->n + 1, sizeof *known);
    int64_t *table = calloc(n_devices * n_devices + 1, sizeof *table);
    mo_status status = known && table ? MO_OK : mo_fail_memory(err);

    (void) item;
    if (status == MO_OK && !job->domains.allowed)
        status = find_domains(s, job, err);
    if (status == MO_OK)
        n = find_known(s, &job->domains, table, known);
    if (!job->bound)
        job->work = (int64_t) effort.work;
    job->all_nodes += (int64_t) job->nodes;
    if (status == MO_OK && !job->bound)
        status = mo_coloc_bound_new(&job->domains, known, n, &effort, stop,
                                    &job->bound, err);
    if (status == MO_OK)
        status =
            mo_coloc_bound_refine(job->bound, known, n, job->nodes, stop, err);
    if (status == MO_OK) {
        job->n_idle =
            mo_coloc_bound_ns(job->bound) > job->lower_ns ? 0 : job->n_idle + 1;
        job->lower_ns = mo_coloc_bound_ns(job->bound);
    }
    /* All nodes are spent, some of them on tests. */
    mo_stop_spend(stop, (int64_t) (MO_COLOC_NODE_WORK * job->nodes) -
                            atomic_load(stop->work));
    free(known);
    free(table);
    return status;
}

static mo_status merge_job(void *self, const mo_stop *stop, mo_error *err)
{
    colocation_job *job = self;

    (void) stop;
    (void) err;
    if (job->lower_ns > job->search->colocation_ns) {
        job->search->colocation_ns = job->lower_ns;
        job->search->colocation_effort[0] = job->work;
        job->search->colocation_effort[1] = job->all_nodes;
    }
    mo_search_raise_lower(job->search, job->lower_ns, "colocation");
    return MO_OK;
}

const mo_search_job mo_search_job_colocation = {
    .name = "colocation bound",
    .ablation = MO_ABLATION_job_colocation,
    .weight = 1,
    .open = open_job,
    .close = close_job,
    .plan = plan_job,
    .run = run_job,
    .merge = merge_job,
};
