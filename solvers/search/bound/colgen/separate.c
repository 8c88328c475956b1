/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/separate.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

mo_status mo_cg_usage_new(const mo_cg_problem *c, mo_cg_usage **crowd,
                          mo_error *err)
{
    mo_cg_usage *made = calloc(1, sizeof *made);
    size_t size;

    if (made && mo_size_mul((size_t) c->n_resources, (size_t) c->cells, &size))
        made->load = calloc(size, sizeof *made->load);
    if (!made || !made->load) {
        free(made);
        return mo_fail_memory(err);
    }
    made->c = c;
    *crowd = made;
    return MO_OK;
}

void mo_cg_usage_free(mo_cg_usage *crowd)
{
    if (!crowd)
        return;
    free(crowd->load);
    free(crowd);
}

static void add_job(mo_cg_usage *crowd, const mo_cg_job *job, double times)
{
    const mo_cg_problem *c = crowd->c;
    double *load = crowd->load + (size_t) job->resource * (size_t) c->cells;
    int64_t end = job->start + job->length;

    for (int64_t g = job->start / c->cell; g < c->cells && g * c->cell < end;
         g++) {
        int64_t from = g * c->cell, to = from + c->cell;

        from = from > job->start ? from : job->start;
        to = to < end ? to : end;
        load[g] +=
            times * job->weight * (double) (to - from) / (double) c->cell;
    }
}

void mo_cg_usage_load(mo_cg_usage *crowd, const mo_cg_column_pool *pool)
{
    const mo_cg_problem *c = crowd->c;

    memset(crowd->load, 0,
           (size_t) c->n_resources * (size_t) c->cells * sizeof *crowd->load);
    for (size_t i = 0; i < pool->n; i++) {
        const mo_cg_column *p = pool->patterns[i];
        int count = p->class == MO_FREE ? 1 : c->fork->classes[p->class].count;

        for (int j = 0; j < p->n_jobs && p->weight > 0; j++)
            add_job(crowd, &p->jobs[j], p->weight * count);
    }
}

double mo_cg_separate_capacity(mo_cg_usage *crowd, int resource,
                               mo_cg_row *worst)
{
    int cells = crowd->c->cells, first = 0;
    double *load = crowd->load + (size_t) resource * (size_t) cells;
    double sum = 0, most = 0;

    *worst = mo_cg_row_capacity(resource, 0, 0);
    for (int g = 0; g < cells; g++) {
        sum += load[g] - 1;
        if (sum < 0) {
            sum = 0;
            first = g + 1;
        }
        if (sum > most) {
            most = sum;
            worst->first = first;
            worst->last = g + 1;
        }
    }
    for (int g = worst->first; g < worst->last; g++)
        load[g] = 1;
    return most;
}

/* How much of a gate is used.  Ways with a weight stand last. */
static double use_of(const mo_cg_problem *c, const mo_cg_column_pool *pool,
                     const mo_cg_row *gate)
{
    double sum = 0;

    for (size_t i = pool->n; i-- > 0 && pool->patterns[i]->weight > 0;)
        sum += pool->patterns[i]->weight *
               mo_cg_row_coefficient(c, gate, pool->patterns[i]);
    return sum;
}

double mo_cg_separate_release(const mo_cg_problem *c,
                              const mo_cg_column_pool *pool, int node,
                              int device, int64_t offset, mo_cg_row *worst)
{
    int class = c->tree->nodes[node].class, at = node - c->tree->root[class];
    double most = 0;

    for (size_t i = pool->n; i-- > 0 && pool->patterns[i]->weight > 0;) {
        const mo_cg_column *p = pool->patterns[i];
        mo_cg_row gate;
        double excess;
        int cell;

        if (p->class != class || p->device[at] != device)
            continue;
        cell = mo_cg_cell_of_tick(c, offset, p->start[at]);
        gate = mo_cg_row_release(node, device,
                                 mo_cg_cell_start(c, offset, cell + 1));
        excess = use_of(c, pool, &gate) - 1;
        if (excess > most) {
            most = excess;
            *worst = gate;
        }
    }
    return most;
}
