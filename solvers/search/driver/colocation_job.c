/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/colocation_job.h"

#include <stdlib.h>

#include "base/array.h"
#include "schedule/bound/colocation_bound.h"

enum { MAX_OPS = 1000 }; /* more leave too few nodes for each interval */

#define LEAST_GAP 0.01

/* Nodes by round; 0: none. */
static const double nodes[] = { 8000000, 0, 24000000, 0, 0, 24000000 };

enum { N_ROUNDS = sizeof nodes / sizeof *nodes };

bool mo_search_colocation_job_plan(const mo_search_state *s, int round,
                                   mo_search_colocation_job *job)
{
    double upper_ns = (double) mo_search_upper_ns(s);

    if (round >= N_ROUNDS || nodes[round] <= 0 || !s->memory_matters ||
        s->x->n > MAX_OPS || !s->best ||
        (double) s->lower_ns >= (1 - LEAST_GAP) * upper_ns)
        return false;
    job->nodes = nodes[round];
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

void mo_search_colocation_job_run(const mo_search_state *s, const mo_stop *stop,
                                  mo_search_colocation_job *job)
{
    const mo_coloc_effort effort = { MO_COLOC_WORK, job->nodes };
    mo_allowed_devices domains = { .x = s->x, .regime = s->regime };
    size_t n_devices = (size_t) s->x->n_devices, size;
    mo_coloc_pair_bound *known =
        calloc((size_t) s->segments->n + 1, sizeof *known);
    int64_t *table = calloc(n_devices * n_devices + 1, sizeof *table);

    if (mo_size_mul((size_t) s->x->n + 1, n_devices, &size))
        domains.allowed = calloc(size, sizeof *domains.allowed);
    job->status = domains.allowed && known && table
                      ? mo_allowed_devices_find(&domains, &job->err)
                      : mo_fail_memory(&job->err);
    if (job->status == MO_OK)
        job->status = mo_bound_colocation(
            &domains, known, find_known(s, &domains, table, known), &effort,
            stop, &job->lower_ns, &job->err);
    free(domains.allowed);
    free(known);
    free(table);
}
