/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/colocation_job.h"

#include <stdlib.h>

#include "base/array.h"
#include "schedule/bound/colocation_bound.h"

enum { MAX_OPS = 1000 }; /* more leave too few nodes for each interval */

#define LEAST_GAP 0.01

/* Nodes of a round: in every third while the gap is large, else in three; the
 * rounds between are left to the primal jobs. */
#define LARGE_GAP   0.05
#define FIRST_NODES 2e7
#define MOST_NODES  1e8
#define GROWTH      1.25 /* from round to round */

enum { EVERY_ROUNDS = 3, LAST_OF_SMALL_GAP = 5 };

static bool is_round(int round, bool is_large_gap)
{
    return round == 0 || (round % EVERY_ROUNDS == 2 &&
                          (is_large_gap || round <= LAST_OF_SMALL_GAP));
}

bool mo_search_colocation_job_plan(const mo_search_state *s, int round,
                                   mo_search_colocation_job *job)
{
    double upper_ns = (double) mo_search_upper_ns(s);
    double lower_ns = (double) s->lower_ns;

    if (!s->memory_matters || s->x->n > MAX_OPS || !s->best ||
        lower_ns >= (1 - LEAST_GAP) * upper_ns ||
        !is_round(round, lower_ns < (1 - LARGE_GAP) * upper_ns) ||
        (job->bound && mo_coloc_bound_is_closed(job->bound)))
        return false;
    job->nodes = FIRST_NODES;
    for (int i = 0; i < round && job->nodes < MOST_NODES; i++)
        job->nodes *= GROWTH;
    if (s->task->effort > 0)
        job->nodes *= s->task->effort;
    return true;
}

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

static mo_status find_domains(const mo_search_state *s,
                              mo_search_colocation_job *job, mo_error *err)
{
    size_t size;

    job->domains = (mo_allowed_devices){ .x = s->x, .regime = s->regime };
    if (mo_size_mul((size_t) s->x->n + 1, (size_t) s->x->n_devices, &size))
        job->domains.allowed = calloc(size, sizeof *job->domains.allowed);
    if (!job->domains.allowed)
        return mo_fail_memory(err);
    return mo_allowed_devices_find(&job->domains, err);
}

void mo_search_colocation_job_run(const mo_search_state *s, const mo_stop *stop,
                                  mo_search_colocation_job *job)
{
    const mo_coloc_effort effort = { MO_COLOC_WORK, job->nodes };
    size_t n_devices = (size_t) s->x->n_devices, n = 0;
    mo_coloc_pair_bound *known =
        calloc((size_t) s->segments->n + 1, sizeof *known);
    int64_t *table = calloc(n_devices * n_devices + 1, sizeof *table);

    job->status = known && table ? MO_OK : mo_fail_memory(&job->err);
    if (job->status == MO_OK && !job->domains.allowed)
        job->status = find_domains(s, job, &job->err);
    if (job->status == MO_OK)
        n = find_known(s, &job->domains, table, known);
    if (job->status == MO_OK && !job->bound)
        job->status = mo_coloc_bound_new(&job->domains, known, n, &effort, stop,
                                         &job->bound, &job->err);
    if (job->status == MO_OK)
        job->status = mo_coloc_bound_refine(job->bound, known, n, job->nodes,
                                            stop, &job->err);
    if (job->status == MO_OK)
        job->lower_ns = mo_coloc_bound_ns(job->bound);
    free(known);
    free(table);
}

void mo_search_colocation_job_clear(mo_search_colocation_job *job)
{
    mo_coloc_bound_free(job->bound);
    free(job->domains.allowed);
}
