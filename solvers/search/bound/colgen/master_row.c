/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/master_row.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

mo_cg_row mo_cg_row_capacity(int resource, int first, int last)
{
    return (mo_cg_row){ .kind = MO_CG_CAPACITY,
                        .resource = resource,
                        .first = first,
                        .last = last };
}

mo_cg_row mo_cg_row_budget(void)
{
    return (mo_cg_row){ .kind = MO_CG_BUDGET };
}

mo_cg_row mo_cg_row_sum(const mo_cg_problem *c, int resource, int first)
{
    return (mo_cg_row){ .kind = MO_CG_SUM,
                        .resource = resource,
                        .first = first,
                        .last = c->cells };
}

bool mo_cg_row_equal(const mo_cg_row *a, const mo_cg_row *b)
{
    return a->kind == b->kind && a->resource == b->resource &&
           a->first == b->first && a->last == b->last && a->node == b->node &&
           a->device == b->device && a->tick == b->tick;
}

/* The ticks of a resource between two cells that a column uses. */
static double used_ticks(const mo_cg_problem *c, const mo_cg_row *row,
                         const mo_cg_column *p)
{
    int64_t begin = row->first * c->cell, end = row->last * c->cell;
    double sum = 0;

    for (int i = 0; i < p->n_jobs; i++) {
        const mo_cg_job *job = &p->jobs[i];
        int64_t from = job->start > begin ? job->start : begin;
        int64_t to = job->start + job->length;

        to = to < end ? to : end;
        if (job->resource == row->resource && from < to)
            sum += (double) job->weight * (double) (to - from);
    }
    if (p->class != MO_FREE)
        sum *= c->fork->classes[p->class].count;
    return sum;
}

static double release_coefficient(const mo_cg_problem *c, const mo_cg_row *row,
                                  const mo_cg_column *p)
{
    int at;

    if (p->class == MO_FREE)
        return p->to == row->device && p->start[0] >= row->tick;
    if (p->class != c->tree->nodes[row->node].class)
        return 0;
    at = row->node - c->tree->root[p->class];
    return p->device[at] == row->device && p->start[at] < row->tick;
}

static double budget_coefficient(const mo_cg_problem *c, const mo_cg_column *p)
{
    double sum = 0;

    for (int i = p->class == MO_FREE ? c->n_nodes : c->tree->root[p->class];
         i < c->n_nodes && c->tree->nodes[i].class == p->class; i++)
        sum += mo_cg_multiplicity(c, i) *
               c->budget_part[mo_cg_index(
                   c, i, p->device[i - c->tree->root[p->class]])];
    return sum;
}

double mo_cg_row_coefficient(const mo_cg_problem *c, const mo_cg_row *row,
                             const mo_cg_column *p)
{
    switch (row->kind) {
    case MO_CG_CAPACITY:
        return used_ticks(c, row, p) /
               ((double) (row->last - row->first) * (double) c->cell);
    case MO_CG_RELEASE:
        return release_coefficient(c, row, p);
    case MO_CG_BUDGET:
        return budget_coefficient(c, p);
    case MO_CG_SUM:
        return (used_ticks(c, row, p) / c->cells +
                budget_coefficient(c, p) * c->budget_ns) /
               mo_cg_row_sum_ns(c, row->first);
    }
    return 0;
}

mo_status mo_cg_usage_new(const mo_cg_problem *c, mo_cg_usage **usage,
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
    *usage = made;
    return MO_OK;
}

void mo_cg_usage_free(mo_cg_usage *usage)
{
    if (!usage)
        return;
    free(usage->load);
    free(usage);
}

void mo_cg_usage_load(mo_cg_usage *usage, const mo_cg_column_pool *pool)
{
    const mo_cg_problem *c = usage->c;

    memset(usage->load, 0,
           (size_t) c->n_resources * (size_t) c->cells * sizeof *usage->load);
    usage->price_ns = 0;
    for (size_t i = 0; i < pool->n; i++) {
        const mo_cg_column *p = pool->columns[i];
        int count = p->class == MO_FREE ? 1 : c->fork->classes[p->class].count;

        if (c->budget_part && p->weight > 0)
            usage->price_ns +=
                p->weight * budget_coefficient(c, p) * c->budget_ns;
        for (int j = 0; j < p->n_jobs && p->weight > 0; j++) {
            const mo_cg_job *job = &p->jobs[j];
            double times = p->weight * count;
            double *load =
                usage->load + (size_t) job->resource * (size_t) c->cells;
            int64_t end = job->start + job->length;

            for (int64_t g = job->start / c->cell;
                 g < c->cells && g * c->cell < end; g++) {
                int64_t from = g * c->cell, to = from + c->cell;

                from = from > job->start ? from : job->start;
                to = to < end ? to : end;
                load[g] += times * job->weight * (double) (to - from) /
                           (double) c->cell;
            }
        }
    }
}

double mo_cg_separate_sum(const mo_cg_usage *usage, int resource,
                          mo_cg_row *worst)
{
    const mo_cg_problem *c = usage->c;
    const double *load = usage->load + (size_t) resource * (size_t) c->cells;
    double cell_ns = (double) c->cell / c->cells, most = 0;
    double sum = (usage->price_ns - c->sum_ns) / cell_ns;

    *worst = mo_cg_row_sum(c, resource, 0);
    for (int g = c->cells - 1; g >= 0; g--) {
        sum += load[g];
        if (g <= c->last_sum_cell && sum + g > most) {
            most = sum + g;
            worst->first = g;
        }
    }
    return most;
}

double mo_cg_separate_capacity(mo_cg_usage *usage, int resource,
                               mo_cg_row *worst)
{
    int cells = usage->c->cells, first = 0;
    double *load = usage->load + (size_t) resource * (size_t) cells;
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

double mo_cg_separate_release(const mo_cg_problem *c,
                              const mo_cg_column_pool *pool, int node,
                              int device, int64_t offset, mo_cg_row *worst)
{
    int class = c->tree->nodes[node].class, at = node - c->tree->root[class];
    double most = 0;

    for (size_t i = pool->n; i-- > 0 && pool->columns[i]->weight > 0;) {
        const mo_cg_column *p = pool->columns[i];
        mo_cg_row row;
        double excess;
        int cell;

        if (p->class != class || p->device[at] != device)
            continue;
        cell = mo_cg_cell_of_tick(c, offset, p->start[at]);
        row = (mo_cg_row){ .kind = MO_CG_RELEASE,
                           .node = node,
                           .device = device,
                           .tick = mo_cg_cell_start(c, offset, cell + 1) };

        /* The usage of a release row. Columns of positive weight are last in
         * the pool. */
        double sum = 0;

        for (size_t j = pool->n; j-- > 0 && pool->columns[j]->weight > 0;)
            sum += pool->columns[j]->weight *
                   mo_cg_row_coefficient(c, &row, pool->columns[j]);
        excess = sum - 1;
        if (excess > most) {
            most = excess;
            *worst = row;
        }
    }
    return most;
}
