/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rcsp.h - resource-constrained shortest path (Desrosiers et al., 1995): the
 * shortest path through the segments that is within the memory of every
 * device.
 *
 * Segments compete for memory. Lagrangian multipliers on bytes price the
 * variants of a boundary; labels along the segments, with the bytes used so
 * far, combine variants; the result is annealed.
 */
#ifndef MO_SOLVERS_SEARCH_PRIMAL_RCSP_H
#define MO_SOLVERS_SEARCH_PRIMAL_RCSP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "solvers/search/decomp/boundary_path.h"
#include "solvers/search/decomp/segment_class.h"

/* The problem.  capacity_bytes and price_ns are by device: INT64_MAX is no
 * limit; prices are multipliers in ns per byte.  Results do not depend on the
 * number of threads. */
typedef struct mo_primal_rcsp {
    const mo_decomp_classes *classes;
    const int64_t *capacity_bytes;
    double *price_ns;
    uint64_t seed;
    int threads;
} mo_primal_rcsp;

/* Sets *found, and if it is true path and variants (a buffer of the caller, by
 * segment): the shortest path found.  Heuristic: *found false proves nothing.
 * The search begins with the prices and leaves the best ones there. */
mo_status mo_primal_rcsp_solve(const mo_primal_rcsp *problem,
                               mo_decomp_path *path, unsigned char *variants,
                               bool *found, mo_error *err);

/* Returns about the work of a call, in units of mo_stop_spend(). */
int64_t mo_primal_rcsp_work(const mo_decomp_classes *classes);

/* Its steps; the rest is for rcsp.c and tests. */

/* Returns the bytes by device of a variant of a class at a boundary and sets
 * *time_ns; NULL: there is none.  A class without a part has variant 0 only,
 * whose bytes, those of its v, are stored in own. */
const int64_t *mo_primal_rcsp_variant(const mo_decomp_classes *classes,
                                      int number, int boundary, int variant,
                                      int64_t *own, int64_t *time_ns);

/* Labelling algorithm (beam search): replaces path, variants (by segment) and
 * *least_ns by the shortest path of the labels if it takes less than *least_ns:
 * of several runs, with multiples of the prices. */
mo_status mo_primal_rcsp_label(const mo_primal_rcsp *problem,
                               mo_decomp_path *path, unsigned char *variants,
                               int64_t *least_ns, mo_error *err);

/*
 * Simulated annealing of a path and of the variants on it.  A move changes the
 * variant of a segment, the state of a cut with the variants on both sides of
 * it, or those of a run of cuts.  Paths beyond a capacity are visited at a
 * penalty (a multiple of multiplier times excess bytes); two moves at once
 * exchange what devices hold.  A move takes a time that does not depend on the
 * number of ops.
 */
typedef struct mo_primal_path_anneal_options {
    uint64_t seed;
    int64_t moves;
    double penalty;   /* of a byte beyond a capacity, by its multiplier: > 1 */
    double hot, cold; /* temperatures, as parts of the mean time of a segment */
} mo_primal_path_anneal_options;

/* Begins with the states of path and the variants, by segment, which exist and
 * need not be within the capacities.  Replaces both, and *least_ns, by the
 * shortest path found within the capacities if it takes less than *least_ns;
 * else leaves all three. */
mo_status mo_primal_path_anneal(const mo_primal_rcsp *problem,
                                const mo_primal_path_anneal_options *options,
                                mo_decomp_path *path, unsigned char *variants,
                                int64_t *least_ns, mo_error *err);

/* The same by several runs with different temperatures and penalties, some at
 * once, others from the best path of these. */
mo_status mo_primal_path_anneal_runs(const mo_primal_rcsp *problem,
                                     mo_decomp_path *path,
                                     unsigned char *variants, int64_t *least_ns,
                                     mo_error *err);

#endif
