/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/colocation_job.h"

#include <stdlib.h>

#include "base/array.h"
#include "schedule/bound/colocation_bound.h"

enum { MAX_OPS = 1000 }; /* more leave too few nodes for each interval */

#define LEAST_GAP 0.01

/* Nodes by round, of which most intervals need few; 0: none. */
static const double nodes[] = { 20000000, 0, 40000000 };

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

void mo_search_colocation_job_run(const mo_search_state *s, const mo_stop *stop,
                                  mo_search_colocation_job *job)
{
    const mo_coloc_effort effort = { MO_COLOC_WORK, job->nodes };
    mo_allowed_devices domains = { .x = s->x, .regime = s->regime };
    size_t size;

    if (mo_size_mul((size_t) s->x->n + 1, (size_t) s->x->n_devices, &size))
        domains.allowed = calloc(size, sizeof *domains.allowed);
    job->status = domains.allowed ? mo_allowed_devices_find(&domains, &job->err)
                                  : mo_fail_memory(&job->err);
    if (job->status == MO_OK)
        job->status = mo_bound_colocation(&domains, NULL, 0, &effort, stop,
                                          &job->lower_ns, &job->err);
    free(domains.allowed);
}
