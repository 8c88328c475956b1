/* SPDX-License-Identifier: Apache-2.0 */
/*
 * return_baseline.h - the baseline of REINFORCE: expected returns.
 *
 * Kept by kind of episode and by part of it, as a good starting placement
 * leaves less to gain.
 */
#ifndef MO_SOLVERS_SEARCH_RL_RETURN_BASELINE_H
#define MO_SOLVERS_SEARCH_RL_RETURN_BASELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum { MO_RL_EPISODE_KINDS = 2 };

typedef struct mo_rl_return_baseline {
    int n_parts;
    double baseline_decay; /* decay of an exponential moving average; 0: the
                     mean of the last ten */
    double *last;          /* ten each */
    double *mean;          /* the moving average */
    int64_t n[MO_RL_EPISODE_KINDS];
} mo_rl_return_baseline;

/* n_parts and baseline_decay are set by the caller, which frees it with
 * mo_rl_return_baseline_clear(), also after a failure. */
mo_status mo_rl_return_baseline_init(mo_rl_return_baseline *returns,
                                     mo_error *err);
void mo_rl_return_baseline_clear(mo_rl_return_baseline *returns);

/* Removes all returns. */
void mo_rl_return_baseline_reset(mo_rl_return_baseline *returns);

/* is: by part. */
void mo_rl_return_baseline_add(mo_rl_return_baseline *returns, int kind,
                               const double *is);

double mo_rl_return_baseline_value(const mo_rl_return_baseline *returns,
                                   int kind, int part);

#endif
