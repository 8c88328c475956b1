/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns of the load bound (patterns): their uses of resources, their
 * coefficients in the rows, and the pool that keeps them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "schedule/resource.h"
#include "solvers/search/bound/load/load_bound_internal.h"

static void visit_use(const mo_load_problem *f, int op, mo_load_use used,
                      mo_load_use_fn *visit, void *context)
{
    used.item.ns *= f->ops[op].count;
    if (used.item.ns > 0)
        visit(context, &used);
}

void mo_load_pattern_for_each_use(const mo_load_problem *f,
                                  const mo_load_pattern *pattern,
                                  mo_load_use_fn *visit, void *context)
{
    for (int o = f->group_start[pattern->group];
         o < f->group_start[pattern->group + 1]; o++) {
        int first = f->group_start[pattern->group], reader = f->ops[o].reader;
        int device = pattern->device[o - first], to = f->v_device;
        int stage = pattern->stage[o - first], end = f->order.n;

        if (reader != MO_FREE) {
            to = pattern->device[reader - first];
            end = pattern->stage[reader - first];
        }
        visit_use(f, o,
                  (mo_load_use){ -1, device, stage, end,
                                 mo_load_item_compute(f, o, device) },
                  visit, context);
        visit_use(f, o,
                  (mo_load_use){ f->u_device, device, 0, stage,
                                 mo_load_item_input(f, o, device) },
                  visit, context);
        if (f->ops[o].row >= 0 && to != device)
            visit_use(f, o,
                      (mo_load_use){ device, to, stage, end,
                                     mo_load_item_transfer(f, o, device, to) },
                      visit, context);
    }
}

typedef struct load_context {
    const mo_load_problem *f;
    const mo_load_rows *rows;
    const mo_load_row_index *index;
    int64_t *load_ns;
} load_context;

static void add_resource_load(const load_context *l, int resource,
                              const mo_load_use *used)
{
    for (int i = l->index->first[resource]; i >= 0; i = l->index->next[i]) {
        if (mo_load_row_covers(&l->rows->rows[i], used))
            l->load_ns[i] += used->item.ns;
    }
}

static void add_use_load(void *context, const mo_load_use *used)
{
    const load_context *l = context;
    int pair[2], n;
    const int *ids;

    if (used->from < 0) {
        add_resource_load(l, used->to, used);
        return;
    }
    n = mo_resource_list(l->f->x, l->f->congestion, used->from, used->to, pair,
                         &ids);
    for (int i = 0; i < n; i++)
        add_resource_load(l, l->f->n_devices + ids[i], used);
}

void mo_load_pattern_add_load(const mo_load_problem *f,
                              const mo_load_rows *rows,
                              const mo_load_row_index *index,
                              const mo_load_pattern *pattern, int64_t *load_ns)
{
    load_context l = { f, rows, index, load_ns };

    mo_load_pattern_for_each_use(f, pattern, add_use_load, &l);
    mo_load_limits_add_load(f, rows, pattern, load_ns);
}

static void free_pattern(mo_load_pattern *pattern)
{
    free(pattern->device);
    free(pattern->stage);
}

mo_status mo_load_pattern_pool_add(const mo_load_problem *f,
                                   mo_load_pattern_pool *pool,
                                   const mo_load_pattern *pattern,
                                   mo_error *err)
{
    int group = pattern->group;
    size_t n = (size_t) (f->group_start[group + 1] - f->group_start[group]);
    mo_load_pattern copy = { .group = group };
    mo_status status = MO_ARRAY_GROW(pool->patterns, pool->n, pool->room, err);

    if (status != MO_OK)
        return status;
    copy.device = malloc(n * sizeof *copy.device);
    copy.stage = malloc(n * sizeof *copy.stage);
    if (!copy.device || !copy.stage) {
        free_pattern(&copy);
        return mo_fail_memory(err);
    }
    memcpy(copy.device, pattern->device, n * sizeof *copy.device);
    memcpy(copy.stage, pattern->stage, n * sizeof *copy.stage);
    pool->patterns[pool->n++] = copy;
    return MO_OK;
}

void mo_load_pattern_pool_trim(mo_load_pattern_pool *pool, size_t most)
{
    size_t old = pool->n > most ? pool->n - most : 0;

    if (old == 0)
        return;
    for (size_t i = 0; i < old; i++)
        free_pattern(&pool->patterns[i]);
    pool->n -= old;
    memmove(pool->patterns, pool->patterns + old,
            pool->n * sizeof *pool->patterns);
}

bool mo_load_pattern_is_feasible(const mo_load_problem *f,
                                 mo_load_pattern *pattern)
{
    int first = f->group_start[pattern->group];
    int n = f->group_start[pattern->group + 1] - first;

    memset(pattern->stage, 0, (size_t) n * sizeof *pattern->stage);
    for (int i = 0; i < n; i++) {
        int reader = f->ops[first + i].reader - first;
        int *stage = &pattern->stage[i];
        int at = mo_load_index(f, first + i, pattern->device[i]);

        if (*stage < f->first_stage[at])
            *stage = f->first_stage[at];
        if (!mo_load_can_run(f, first + i, pattern->device[i]) ||
            *stage > f->last_stage[at])
            return false;
        if (f->ops[first + i].reader != MO_FREE &&
            pattern->stage[reader] < *stage)
            pattern->stage[reader] = *stage;
    }
    return true;
}

int64_t mo_load_pattern_price_ns(const mo_load_problem *f,
                                 const mo_load_pattern *pattern)
{
    int first = f->group_start[pattern->group];
    int64_t sum = 0;

    for (int o = first; o < f->group_start[pattern->group + 1]; o++)
        sum += f->ops[o].count *
               f->price_ns[mo_load_index(f, o, pattern->device[o - first])];
    return sum;
}

static void add_pattern_bytes(const mo_load_problem *f,
                              const mo_load_pattern *pattern, double weight,
                              double *used_bytes)
{
    int first = f->group_start[pattern->group];

    for (int o = first; o < f->group_start[pattern->group + 1]; o++)
        used_bytes[pattern->device[o - first]] += weight * f->ops[o].bytes;
}

void mo_load_solution_bytes(const mo_load_problem *f,
                            const mo_load_lp_solution *solution,
                            const mo_load_pattern *priced, double *used_bytes)
{
    memset(used_bytes, 0, (size_t) f->n_devices * sizeof *used_bytes);
    for (int g = 0; g < f->n_groups; g++) {
        int first = f->group_start[g];
        mo_load_pattern part = { g, priced->device + first,
                                 priced->stage + first };
        double sum = 0;

        for (size_t i = 0; i < solution->n; i++)
            if (solution->patterns[i].group == g && solution->weight[i] > 0)
                sum += solution->weight[i];
        for (size_t i = 0; sum > 0.5 && i < solution->n; i++)
            if (solution->patterns[i].group == g && solution->weight[i] > 0)
                add_pattern_bytes(f, &solution->patterns[i],
                                  solution->weight[i] / sum, used_bytes);
        if (sum <= 0.5)
            add_pattern_bytes(f, &part, 1, used_bytes);
    }
}
