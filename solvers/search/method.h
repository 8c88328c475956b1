/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method.h - the ways to place an instance without a MILP solver: one table,
 * one file for each.
 */
#ifndef MO_SOLVERS_SEARCH_METHOD_H
#define MO_SOLVERS_SEARCH_METHOD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "cost/instance.h"
#include "models/frame/proven_bounds.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"
#include "solvers/plugins/solver.h"

/* News of a method that improves what it has: the best makespan (INT64_MAX:
 * none yet) and the best bound so far. */
typedef struct mo_method_progress {
    int64_t makespan_ns, lower_ns;
    double seconds;   /* since the method began */
    const char *what; /* what it is doing: "annealing block 3 of 7" */
} mo_method_progress;

typedef struct mo_method_task {
    const mo_instance *x;
    mo_regime regime;
    uint64_t seed;
    int threads; /* 0: all cores */
    double gap;  /* enough when this close, as 0.01 */
    int rounds;  /* of improving; 0: until time, gap or ideas run out */
    const mo_stop *stop;
    const mo_solver *assist; /* a solver for segments, or NULL; with found */
    const mo_solver_install *found;
    void (*tell)(void *context,
                 const mo_method_progress *news); /* or NULL; from one
                                          thread at a time */
    void *context;
    /* NULL, or one without pairs: to be given what is proven between ops. */
    mo_proven_bounds *strength;
    /* Of methods that learn; NULL: none. */
    const char *policy; /* a file: read first if it is there, written at the
                           end */
    const char *curve;  /* a file for how well it did in the course of time */
    bool no_learning;   /* only draw from the policy as it is */
} mo_method_task;

typedef struct mo_method_result {
    mo_schedule *schedule; /* left-shifted; NULL: found none, why is below */
    bool fits;             /* memory; methods that do not look at it say false
                              where it overflows, and the schedule stands */
    int64_t lower_ns;      /* what it has proven; 0: nothing */
    int rounds;            /* of improving, done */
    int64_t simulations;   /* of a method that learns, the same */
    char why[160];
} mo_method_result;

typedef struct mo_method {
    const char *name;   /* "m-etf" */
    const char *help;   /* a line: what it does */
    const char *source; /* who published it */
    bool all;           /* part of "all" */
    bool learns;        /* takes a policy, and tells how it learned */
    mo_status (*place)(const mo_method_task *task, mo_method_result *placed,
                       mo_error *err);
} mo_method;

extern const mo_method mo_method_moirai, mo_method_single, mo_method_m_topo,
    mo_method_m_etf, mo_method_m_sct, mo_method_getf, mo_method_heft,
    mo_method_peft, mo_method_cpop, mo_method_pesto, mo_method_hare,
    mo_method_placeto, mo_method_hrl;

extern const mo_method
    *const mo_method_table[]; /* ends with NULL; default first */

const mo_method *mo_method_find(const char *name); /* NULL: none */

void mo_method_result_clear(mo_method_result *placed);

#endif
