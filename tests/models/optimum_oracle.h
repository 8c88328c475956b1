/* SPDX-License-Identifier: Apache-2.0 */
/*
 * optimum_oracle.h - test oracle: models of random problems are solved and
 * compared with exhaustive.h.
 *
 * MOIRAI_ORACLE_SEEDS sets the number of problems: 30 unless given, 60 with
 * MOIRAI_CI, 500 with MOIRAI_LONG.  MOIRAI_ORACLE_FIRST sets the first seed,
 * for longer runs than make check.
 */
#ifndef MO_TESTS_MODELS_OPTIMUM_ORACLE_H
#define MO_TESTS_MODELS_OPTIMUM_ORACLE_H

#include "models/formulation.h"
#include "tests/support/problem.h"
#include "tests/support/highs_solve.h"

/* A problem with its inputs. */
typedef struct oracle {
    unsigned seed;
    problem p;
    char *text;                     /* the problem in text form, for messages */
    bool closure;                   /* of its models; false unless set */
    int in_flight;                  /* likewise, of the period; 0: no limit */
    const mo_proven_bounds *proven; /* for them; NULL unless set */
    int n_wrong;
} oracle;

/* The seeds of one part of n_parts: next, next + step, ..., below end. */
typedef struct oracle_seeds {
    unsigned next, end, step;
} oracle_seeds;

oracle_seeds oracle_part(int part, int n_parts);

void oracle_make(oracle *o, unsigned seed);
void oracle_clear(oracle *o);

/* Writes the model of the problem into the file, LP or MPS by its ending, and
 * returns the time unit in nanoseconds. */
int64_t oracle_write(const oracle *o, const mo_formulation *formulation,
                     const mo_regime *regime, const char *path);

/* Solves the model, as LP and as MPS; an optimum other than the exhaustive one
 * is reported on stderr and counted. */
void oracle_check(oracle *o, const mo_formulation *formulation,
                  const mo_regime *regime);

/* Reports a defect of a model. */
void oracle_complain(oracle *o, const mo_formulation *formulation,
                     const mo_regime *regime, const char *format, ...)
    MO_PRINTF(4, 5);

#endif
