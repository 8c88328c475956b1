/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/period/placement_pool.h"

#include <stdlib.h>
#include <string.h>

mo_status mo_period_pool_init(mo_period_pool *pool, int n_ops, mo_error *err)
{
    *pool = (mo_period_pool){ .n_ops = n_ops };
    for (int i = 0; i < MO_PERIOD_POOL_SIZE; i++) {
        mo_period_placement *at = &pool->placements[i];

        at->device = calloc((size_t) n_ops + 1, sizeof *at->device);
        if (!at->device)
            return mo_fail_memory(err);
    }
    return MO_OK;
}

void mo_period_pool_clear(mo_period_pool *pool)
{
    for (int i = 0; i < MO_PERIOD_POOL_SIZE; i++)
        free(pool->placements[i].device);
}

static bool is_better(int64_t ns, int64_t excess, const mo_period_placement *c)
{
    return excess != c->excess_bytes ? excess < c->excess_bytes
                                     : ns < c->period_ns;
}

bool mo_period_pool_is_best(const mo_period_pool *pool, int64_t period_ns,
                            int64_t excess_bytes)
{
    return pool->n == 0 ||
           is_better(period_ns, excess_bytes, &pool->placements[0]);
}

void mo_period_pool_keep(mo_period_pool *pool, const int *device,
                         int64_t period_ns, int64_t excess_bytes)
{
    mo_period_placement *all = pool->placements, last;
    int at = 0;

    while (at < pool->n && !is_better(period_ns, excess_bytes, &all[at])) {
        if (all[at].period_ns == period_ns &&
            all[at].excess_bytes == excess_bytes)
            return;
        at++;
    }
    if (at == MO_PERIOD_POOL_SIZE)
        return;
    if (pool->n < MO_PERIOD_POOL_SIZE)
        pool->n++;
    last = all[pool->n - 1];
    memmove(&all[at + 1], &all[at], (size_t) (pool->n - 1 - at) * sizeof *all);
    all[at] = (mo_period_placement){ last.device, period_ns, excess_bytes };
    memcpy(all[at].device, device, (size_t) pool->n_ops * sizeof *device);
}
