/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root_bound.h - the bound of the root relaxation, by a solver that need not be
 * trusted.
 *
 * The relaxation is built from the instance (mo_root_relaxation_make); a
 * solver's library suggests dual values, in a child process; the bound is
 * computed from them and the rows in exact arithmetic
 * (models/relax/integer_lp.h).  Whatever the solver returns, the bound holds; a
 * wrong answer makes it weak.  Where memory decides the placement it is far
 * stronger than schedule/bound/lower_bound.h.
 */
#ifndef MO_SOLVERS_ROOT_BOUND_H
#define MO_SOLVERS_ROOT_BOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "models/frame/proven_bounds.h"
#include "models/relax/integer_lp.h"
#include "schedule/regime.h"

/*
 * A linear relaxation of the placement problem, with all times in whole
 * nanoseconds and all sizes in bytes.
 *
 * It is built from the instance, not from a model file: the compact formulation
 * (models/compact/compact.c) in a unit of one nanosecond, where no time is
 * rounded, with integrality left out.  Disjunctive (big-M) rows are left out,
 * too: they are most of the model and add next to nothing to the relaxation.
 * Memory rows are exact here:
 *
 *     sum_i m_i x_ik <= capacity of k
 *
 * with m_i the bytes of op i that stay on its device during the whole run: its
 * memory, or its weights where memory is live, which every schedule needs.
 *
 * Every schedule of the instance with a makespan of at most upper_ns is, after
 * renaming interchangeable devices, a point of it whose objective is that
 * makespan: starts are in the time windows that the horizon implies.  So with
 * upper_ns the makespan of a known schedule a lower bound of the relaxation is
 * one of the instance.
 *
 * Fills *lp, which is zeros and is cleared by the caller whatever the result.
 * proven: bounds that become rows, or NULL.  Returns MO_E_LIMIT where it would
 * have more than max_terms coefficients or the times are too long.
 */
mo_status mo_root_relaxation_make(const mo_instance *x, const mo_regime *regime,
                                  const mo_proven_bounds *proven,
                                  int64_t upper_ns, size_t max_terms,
                                  mo_integer_lp *lp, mo_error *err);

/* The default limit: some seconds of HiGHS, 200 MB. */
enum { MO_ROOT_BOUND_MAX_TERMS = 2000000 };

typedef struct mo_root_bound_options {
    const char *solver; /* its name; NULL: the first that has dual values */
    const char *path;   /* of that solver; NULL: searched for */
    double time_s;      /* of a solver; 0: no limit */
    size_t max_terms;   /* coefficients; 0: the default */
    const mo_proven_bounds *proven; /* become rows; NULL: none */
} mo_root_bound_options;

typedef struct mo_root_bound {
    bool found;
    int64_t bound_ns;    /* no schedule is shorter */
    const char *solver;  /* title of the source of the dual values; static */
    double objective_ns; /* as the solver reports it; not relied on */
    size_t n_rows, n_columns, n_terms;
    char why[MO_ERROR_TEXT_SIZE]; /* the reason where none was found */
} mo_root_bound;

/*
 * Computes the bound.  upper_ns is the makespan of a known schedule of x for
 * the regime; a bound above it, which would be a defect here, is not returned.
 * That there is no solver, that it fails or that the relaxation is too large is
 * no error: then bound->found is false.  Fails with MO_E_MEMORY, with
 * MO_E_USAGE where options->solver has no dual values, and where a path or
 * variable of the user names no solver.  Several threads may call it.
 */
mo_status mo_root_bound_compute(const mo_instance *x, const mo_regime *regime,
                                int64_t upper_ns,
                                const mo_root_bound_options *options,
                                mo_root_bound *bound, mo_error *err);

#endif
