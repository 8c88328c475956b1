/* SPDX-License-Identifier: Apache-2.0 */
/*
 * primal_job.h - one primal job: an algorithm run on one class at one
 * boundary, for a shorter schedule, a higher lower bound, or both.
 *
 * A job reads the classes and writes nothing but itself: jobs of one round may
 * run on different threads at once.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_PRIMAL_JOB_H
#define MO_SOLVERS_SEARCH_DRIVER_PRIMAL_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "schedule/schedule.h"
#include "solvers/plugins/solver.h"
#include "solvers/search/bound/chain/chain_bound.h"
#include "solvers/search/bound/forkjoin/fork_join.h"
#include "solvers/search/decomp/segment_class.h"
#include "solvers/search/driver/state.h"
#include "solvers/search/primal/load_start.h"

typedef enum mo_search_primal_algo {
    MO_SEARCH_PRIMAL_LIST,   /* list scheduling (HEFT) */
    MO_SEARCH_PRIMAL_ANNEAL, /* simulated annealing, warm-started or from list
                                schedules */
    MO_SEARCH_PRIMAL_PRICED, /* simulated annealing with prices of memory, from
                                the cheapest variant or a start of the load
                                bound */
    MO_SEARCH_PRIMAL_PRICED_HALVING, /* successive halving with prices of
                                        memory */
    MO_SEARCH_PRIMAL_FILL,    /* simulated annealing within capacity_bytes,
                                 without prices, from the shortest variant
                                 that fits */
    MO_SEARCH_PRIMAL_HALVING, /* successive halving from rounded columns */
    MO_SEARCH_PRIMAL_SPINE,   /* block-coordinate descent along a chain, from
                                 scratch */
    MO_SEARCH_PRIMAL_POLISH,  /* annealing of the best at low temperature */
    MO_SEARCH_PRIMAL_EXACT,   /* lazy clause generation; proves a bound, too */
    MO_SEARCH_PRIMAL_MILP     /* MILP solver, limited by time; proves a bound,
                                 too */
} mo_search_primal_algo;

typedef struct mo_search_primal_job {
    int cls, boundary;
    mo_search_primal_algo how;
    int64_t effort; /* moves, moves for each op, or nodes */
    uint64_t seed;
    bool anew;               /* annealing starts from list schedules only */
    const mo_forkjoin *fork; /* equal branches, borrowed, or NULL */

    const mo_primal_load_start
        *start;              /* of MO_SEARCH_PRIMAL_PRICED, borrowed, or NULL */
    int64_t *capacity_bytes; /* of MO_SEARCH_PRIMAL_FILL: by device, owned */
    bool stopped; /* result: the time was over before or while it ran */

    /* Of MO_SEARCH_PRIMAL_MILP: */
    const mo_solver *solver;
    const mo_solver_install *found;
    double seconds;

    /* NULL, or a warm start: the ops of this segment of the class's chain as
     * in the hint, its ends on the devices of segment_boundary. All
     * borrowed. */
    const mo_decomp_solution_hint *hint;
    const mo_bound_segment *segment;
    int segment_boundary;
    int64_t from_ns, to_ns; /* range of target times for successive halving */
    bool stay;              /* as in successive_halving.h */
    int patience; /* of its last start, as there, or of annealing: runs in a row
                     without improvement until it ends */

    /* Results; mo_search_primal_job_merge() takes them over. */
    mo_schedule *schedule; /* owned, or NULL */
    mo_schedule **more;    /* others where variants are kept, owned */
    size_t n_more, more_room;
    int64_t lower_ns;       /* from u to the end of v; INT64_MAX: infeasible */
    mo_proof_reason reason; /* of it */
} mo_search_primal_job;

/* Returns whether MO_SEARCH_PRIMAL_PRICED enumerates placements of the class,
 * which has a part, instead of annealing: takes milliseconds. */
bool mo_search_primal_job_enumerates(const mo_decomp_classes *classes,
                                     const mo_decomp_class *cls);

/* Returns about the work of the job, in units of mo_stop_spend(). */
int64_t mo_search_primal_job_work(const mo_decomp_classes *classes,
                                  const mo_search_primal_job *it);

/* Runs the job on the calling thread and fills its results; stopped, it
 * returns what was found so far. */
mo_status mo_search_primal_job_run(const mo_decomp_classes *classes,
                                   mo_search_primal_job *it,
                                   const mo_stop *stop, mo_error *err);

/* Takes over the results of a job that has run, and clears them in the job.
 * Not thread-safe: call it in the order in which the jobs were planned. */
mo_status mo_search_primal_job_merge(mo_search_state *search,
                                     mo_search_primal_job *it, mo_error *err);

/* Merges n jobs, all of them also after a failure, and updates the bounds; what
 * found the schedules is reported as `what`. */
mo_status mo_search_primal_jobs_merge(mo_search_state *search,
                                      mo_search_primal_job *items, size_t n,
                                      const char *what, mo_error *err);

/* Frees the results of a job that is not merged. */
void mo_search_primal_job_clear(mo_search_primal_job *it);

#endif
