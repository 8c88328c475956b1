/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "solvers/search/bound/load/load_bound_internal.h"

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
        int at = mo_load_op_device(f, first + i, pattern->device[i]);

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
