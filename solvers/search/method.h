/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method.h - registry of the placement methods that search without a MILP
 * model of the whole: one table, one file for each method.
 */
#ifndef MO_SOLVERS_SEARCH_METHOD_H
#define MO_SOLVERS_SEARCH_METHOD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "cost/instance.h"
#include "models/frame/proven_bounds.h"
#include "models/patterns/pattern_set.h"
#include "schedule/proof/proof.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"
#include "solvers/plugins/solver.h"

/* Progress of an anytime method: its best makespan (INT64_MAX: none yet) and
 * its best lower bound. */
typedef struct mo_method_progress {
    int64_t makespan_ns, lower_ns;
    double seconds;   /* since the method began */
    const char *what; /* current step, borrowed */
} mo_method_progress;

/* The placement that is in use, to begin with. */
typedef struct mo_method_start {
    const int *device; /* by op; MO_FREE: on none, or on one that is gone */
    const mo_schedule *schedule; /* of that placement, for its order; or NULL */
    const double *byte_ns; /* by pair of devices [a * K + b]: what a byte of
                              weights that moves costs per request; NULL: 0 */
} mo_method_start;

typedef struct mo_method_task {
    const struct mo_method *method; /* that is run; NULL where it is built in
                                       and needs not know itself */
    const mo_instance *x;
    mo_regime regime;
    mo_objective objective; /* methods without a search for it ignore it */
    int in_flight; /* of the period: most requests in flight; 0: no limit */
    uint64_t seed;
    int threads; /* 0: all cores */
    double gap;  /* relative gap to stop at, e.g. 0.01 */
    int rounds;  /* of improvement; 0: until time, work or gap is reached or no
                    job is left; negative: none */
    int64_t max_work; /* counted work (base/stop.h) after which no round begins;
                         0: no limit */
    const mo_stop *stop;
    const mo_solver *assist; /* for subproblems, or NULL; with found */
    const mo_solver_install *found;
    /* NULL, or called on each improvement, never from two threads at once. */
    void (*on_progress)(void *context, const mo_method_progress *progress);
    void *context;
    bool certify;                 /* a certificate is wanted */
    const mo_method_start *start; /* NULL: none; methods may ignore it */
    double stress; /* of a method for the worst case: the factor */
    /* NULL, or without pairs: receives the bounds proven between ops. */
    mo_proven_bounds *proven;
    /* NULL, or empty: receives the schedules of segments. */
    mo_pattern_set *patterns;
    /* Of methods that learn; NULL: none. */
    const char *policy; /* file of weights: read first if it exists, written at
                           the end */
    const char *curve;  /* file for the learning curve */
    bool no_learning;   /* only sample from the policy as it is */
} mo_method_task;

typedef struct mo_method_result {
    mo_schedule *schedule; /* left-shifted, owned; NULL: none found, see why */
    bool fits; /* within memory; a method that ignores memory sets false and
                  keeps the schedule */
    int64_t lower_ns;    /* proven lower bound; 0: none */
    mo_proof *proof;     /* certificate of proof->bound_ns, which may be less;
                            owned; NULL: none */
    int rounds;          /* of improvement, done */
    int64_t simulations; /* the same of a method that learns */
    bool infeasible;     /* proven: no placement fits into memory */
    bool stopped;        /* by task->stop before the end of the search */
    char why[MO_ERROR_TEXT_SIZE];
} mo_method_result;

typedef struct mo_method {
    const char *name;   /* e.g. "m-etf" */
    const char *help;   /* one line: what it does */
    const char *source; /* its publication */
    bool all;           /* part of "all" */
    bool learns;        /* takes a policy and writes a learning curve */
    mo_status (*place)(const mo_method_task *task, mo_method_result *placed,
                       mo_error *err);
} mo_method;

extern const mo_method mo_method_moirai, mo_method_single, mo_method_m_topo,
    mo_method_m_etf, mo_method_m_sct, mo_method_getf, mo_method_heft,
    mo_method_peft, mo_method_cpop, mo_method_pesto, mo_method_hare,
    mo_method_placeto, mo_method_hrl, mo_method_dp_contiguous;

extern const mo_method
    *const mo_method_table[]; /* the default first; ends with NULL */

/* Adds a method behind all others, which lives as long as the process; a name
 * that is taken, or too many of them, are MO_E_USAGE. From any thread. */
mo_status mo_method_add(const mo_method *method, mo_error *err);

/* Return method i, those that were added behind the table, NULL behind the
 * last; and the one of that name, NULL: unknown. */
const mo_method *mo_method_at(int i);
const mo_method *mo_method_find(const char *name);

/* Frees what the result owns and zeroes it. */
void mo_method_result_clear(mo_method_result *placed);

#endif
