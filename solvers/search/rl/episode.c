/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/rl/episode.h"

#include <math.h>
#include <stdlib.h>

mo_status mo_rl_episode_init(mo_rl_episode *e, const mo_rl_policy *policy,
                             int n_units, int n_ops, mo_error *err)
{
    size_t parts = (size_t) policy->n_parts + 1;

    e->choices = calloc((size_t) policy->n_choices + 1, sizeof *e->choices);
    e->device = calloc((size_t) n_units + 1, sizeof *e->device);
    e->rank = calloc((size_t) n_ops + 1, sizeof *e->rank);
    e->scores = calloc(parts, sizeof *e->scores);
    e->returns = calloc(parts, sizeof *e->returns);
    e->advantage = calloc(parts, sizeof *e->advantage);
    e->gradient = calloc(policy->weights->n_values + 1, sizeof *e->gradient);
    return e->choices && e->device && e->rank && e->scores && e->returns &&
                   e->advantage && e->gradient
               ? MO_OK
               : mo_fail_memory(err);
}

void mo_rl_episode_clear(mo_rl_episode *e)
{
    free(e->choices);
    free(e->device);
    free(e->rank);
    free(e->scores);
    free(e->returns);
    free(e->advantage);
    free(e->gradient);
}

static void update_baseline(const mo_rl_episode *batch,
                            mo_rl_return_baseline *returns)
{
    for (int j = 0; j < MO_RL_BATCH_SIZE; j++)
        mo_rl_return_baseline_add(returns, batch[j].kind, batch[j].returns);
}

void mo_rl_find_advantages(mo_rl_episode *batch, mo_rl_return_baseline *returns,
                           int n_parts)
{
    bool first = returns->n[0] == 0;

    /* The return from each part on. */
    for (int j = 0; j < MO_RL_BATCH_SIZE; j++)
        for (int c = 0; c < n_parts; c++)
            batch[j].returns[c] = batch[j].scores[c] - batch[j].scores[n_parts];
    if (first)
        update_baseline(batch, returns);
    for (int c = 0; c < n_parts; c++) {
        double square = 1e-12;

        for (int j = 0; j < MO_RL_BATCH_SIZE; j++) {
            const mo_rl_episode *e = &batch[j];

            e->advantage[c] = e->returns[c] -
                              mo_rl_return_baseline_value(returns, e->kind, c);
            square += e->advantage[c] * e->advantage[c] / MO_RL_BATCH_SIZE;
        }
        for (int j = 0; j < MO_RL_BATCH_SIZE; j++)
            batch[j].advantage[c] /= sqrt(square);
    }
    if (!first)
        update_baseline(batch, returns);
}
