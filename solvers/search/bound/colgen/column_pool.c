/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/column_pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static void free_column(mo_cg_column *p)
{
    if (!p)
        return;
    free(p->device);
    free(p->start);
    free(p->jobs);
    free(p);
}

void mo_cg_column_pool_clear(mo_cg_column_pool *pool)
{
    for (size_t i = 0; i < pool->n; i++)
        free_column(pool->columns[i]);
    free(pool->columns);
    pool->columns = NULL;
    pool->n = pool->capacity = 0;
}

/* Returns the number of starts. */
static int count_nodes(const mo_cg_problem *c, const mo_cg_column *p)
{
    int class = p->class, end;

    if (class == MO_FREE)
        return 1;
    end =
        class + 1 < c->fork->n_classes ? c->tree->root[class + 1] : c->n_nodes;
    return end - c->tree->root[class];
}

static mo_cg_column *copy_column(const mo_cg_column *p, size_t n)
{
    mo_cg_column *copy = calloc(1, sizeof *copy);
    size_t n_jobs = (size_t) p->n_jobs;

    if (!copy)
        return NULL;
    copy->device = calloc(n + 1, sizeof *copy->device);
    copy->start = calloc(n + 1, sizeof *copy->start);
    copy->jobs = calloc(n_jobs + 1, sizeof *copy->jobs);
    if (!copy->device || !copy->start || !copy->jobs) {
        free_column(copy);
        return NULL;
    }
    copy->class = p->class;
    copy->to = p->to;
    copy->n_jobs = p->n_jobs;
    memcpy(copy->device, p->device, n * sizeof *p->device);
    memcpy(copy->start, p->start, n * sizeof *p->start);
    memcpy(copy->jobs, p->jobs, n_jobs * sizeof *p->jobs);
    return copy;
}

mo_status mo_cg_column_pool_add(mo_cg_column_pool *pool,
                                const mo_cg_column *column, mo_cg_column **copy,
                                mo_error *err)
{
    mo_status status =
        MO_ARRAY_GROW(pool->columns, pool->n, pool->capacity, err);

    if (status != MO_OK)
        return status;
    *copy = copy_column(column, (size_t) count_nodes(pool->c, column));
    if (!*copy)
        return mo_fail_memory(err);
    pool->columns[pool->n++] = *copy;
    return MO_OK;
}

static bool has_resource(const mo_cg_problem *c, int pair, int resource)
{
    for (int i = c->pair_start[pair]; i < c->pair_start[pair + 1]; i++)
        if (c->pair_resource[i] == resource)
            return true;
    return false;
}

bool mo_cg_column_is_feasible(const mo_cg_column_pool *pool,
                              const mo_cg_column *p, const mo_cg_node *s)
{
    const mo_cg_problem *c = pool->c;

    if (p->class == MO_FREE) {
        int64_t tick = p->start[0];

        if (tick > c->horizon)
            return s->arrival[p->to] == MO_CG_ARRIVAL_UNDECIDED;
        return s->arrival[p->to] != MO_CG_ARRIVAL_FORBIDDEN &&
               tick >= s->arrival_min[p->to] && tick <= s->arrival_max[p->to];
    }
    for (int i = 0, n = count_nodes(c, p); i < n; i++) {
        int at = mo_cg_index(c, c->tree->root[p->class] + i, p->device[i]);

        if (p->start[i] < s->est[at] || p->start[i] > s->lst[at])
            return false;
    }
    for (int i = 0; i < p->n_jobs; i++) {
        /* Whether a job overlaps the time in which the broadcast tensor must
         * be in transfer (its compulsory part) on the same resource. */
        const mo_cg_job *job = &p->jobs[i];

        for (int k = 0; k < c->n_devices; k++)
            if (s->arrival[k] == MO_CG_ARRIVAL_REQUIRED &&
                job->start < s->arrival_min[k] &&
                job->start + job->length >
                    s->arrival_max[k] - mo_cg_broadcast_ticks(c, k) &&
                has_resource(c, mo_cg_pair(c, c->u_device, k), job->resource))
                return false;
    }
    return true;
}

void mo_cg_column_pool_trim(mo_cg_column_pool *pool, size_t most)
{
    mo_cg_column **sorted = calloc(pool->n + 1, sizeof *sorted);
    size_t surplus = pool->n > most ? pool->n - most : 0;

    if (sorted) {
        size_t n = 0;

        for (int used = 0; used < 2; used++)
            for (size_t i = 0; i < pool->n; i++)
                if ((pool->columns[i]->weight > 0) == used)
                    sorted[n++] = pool->columns[i];
        memcpy(pool->columns, sorted, pool->n * sizeof(mo_cg_column *));
    }
    free(sorted);
    for (size_t i = 0; i < surplus; i++)
        free_column(pool->columns[i]);
    pool->n -= surplus;
    memmove(pool->columns, pool->columns + surplus,
            pool->n * sizeof(mo_cg_column *));
}
