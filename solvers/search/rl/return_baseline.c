/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/rl/return_baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 10 };

static size_t cell_count(const mo_rl_return_baseline *r)
{
    return MO_RL_EPISODE_KINDS * (size_t) r->n_parts;
}

static size_t cell_of(const mo_rl_return_baseline *r, int kind, int part)
{
    return (size_t) kind * (size_t) r->n_parts + (size_t) part;
}

mo_status mo_rl_return_baseline_init(mo_rl_return_baseline *returns,
                                     mo_error *err)
{
    returns->last =
        calloc(cell_count(returns) * WINDOW + 1, sizeof *returns->last);
    returns->mean = calloc(cell_count(returns) + 1, sizeof *returns->mean);
    return returns->last && returns->mean ? MO_OK : mo_fail_memory(err);
}

void mo_rl_return_baseline_clear(mo_rl_return_baseline *returns)
{
    free(returns->last);
    free(returns->mean);
    returns->last = returns->mean = NULL;
}

void mo_rl_return_baseline_reset(mo_rl_return_baseline *returns)
{
    memset(returns->mean, 0, cell_count(returns) * sizeof *returns->mean);
    memset(returns->n, 0, sizeof returns->n);
}

/* A plain mean until its weight falls to 1 - baseline_decay. */
void mo_rl_return_baseline_add(mo_rl_return_baseline *returns, int kind,
                               const double *is)
{
    int64_t n = returns->n[kind]++;
    double weight = fmax(1 - returns->baseline_decay, 1 / ((double) n + 1));

    for (int c = 0; c < returns->n_parts; c++) {
        size_t cell = cell_of(returns, kind, c);

        returns->last[cell * WINDOW + (size_t) (n % WINDOW)] = is[c];
        returns->mean[cell] += weight * (is[c] - returns->mean[cell]);
    }
}

double mo_rl_return_baseline_value(const mo_rl_return_baseline *returns,
                                   int kind, int part)
{
    size_t cell = cell_of(returns, kind, part);
    int64_t all = returns->n[kind];
    int n = all < WINDOW ? (int) all : WINDOW;
    double sum = 0;

    if (returns->baseline_decay > 0)
        return returns->mean[cell];
    for (int i = 0; i < n; i++)
        sum += returns->last[cell * WINDOW + (size_t) i];
    return n > 0 ? sum / n : 0;
}
