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

enum { MO_RETURNS_KINDS = 2 };

typedef struct mo_returns {
    int n_parts;
    double fades; /* this much of what is expected remains with each return; 0:
                     it is the mean of the last ten */
    double *last; /* ten each */
    double *mean; /* that fades */
    int64_t n[MO_RETURNS_KINDS];
} mo_returns;

/* n_parts and fades are set before. */
mo_status mo_returns_init(mo_returns *returns, mo_error *err);
void mo_returns_clear(mo_returns *returns);

/* As if there had been none. */
void mo_returns_forget(mo_returns *returns);

/* is: by part. */
void mo_returns_add(mo_returns *returns, int kind, const double *is);

double mo_returns_expected(const mo_returns *returns, int kind, int part);

#endif
