/* SPDX-License-Identifier: Apache-2.0 */
/*
 * returns.h - what episodes gained, and what the next ones are expected to.
 *
 * By kind of episode and by part of it, for from what is good already there is
 * less to gain.
 */
#ifndef MO_SOLVERS_SEARCH_RL_RETURN_BASELINE_H
#define MO_SOLVERS_SEARCH_RL_RETURN_BASELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum { MO_RL_EPISODE_KINDS = 2 };

typedef struct mo_rl_return_baseline {
    int n_parts;
    double fades; /* this much of what is expected remains with each return; 0:
                     it is the mean of the last ten */
    double *last; /* ten each */
    double *mean; /* that fades */
    int64_t n[MO_RL_EPISODE_KINDS];
} mo_rl_return_baseline;

/* n_parts and fades are set before. */
mo_status mo_rl_return_baseline_init(mo_rl_return_baseline *returns,
                                     mo_error *err);
void mo_rl_return_baseline_clear(mo_rl_return_baseline *returns);

/* As if there had been none. */
void mo_rl_return_baseline_reset(mo_rl_return_baseline *returns);

/* is: by part. */
void mo_rl_return_baseline_add(mo_rl_return_baseline *returns, int kind,
                               const double *is);

double mo_rl_return_baseline_value(const mo_rl_return_baseline *returns,
                                   int kind, int part);

#endif
