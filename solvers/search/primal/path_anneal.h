/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_anneal.h - simulated annealing of a path through the segments and of
 * the variants on it, within memory.
 *
 * A move changes the variant of a segment, the state of a cut with the variants
 * on both sides of it, or those of a run of cuts.  Paths beyond a capacity are
 * visited at a penalty (a multiple of multiplier times excess bytes); two moves
 * at once exchange what devices hold.  A move takes a time that does not depend
 * on the number of ops.
 */
#ifndef MO_SOLVERS_SEARCH_PRIMAL_PATH_ANNEAL_H
#define MO_SOLVERS_SEARCH_PRIMAL_PATH_ANNEAL_H

#include <stdint.h>

#include "base/error.h"
#include "solvers/search/decomp/boundary_path.h"
#include "solvers/search/decomp/segment_class.h"

typedef struct mo_primal_path_anneal_options {
    const int64_t *capacity_bytes; /* by device; INT64_MAX: no limit */
    const double *price_ns;        /* by device: multiplier in ns per byte */
    uint64_t seed;
    int64_t moves;
    double penalty;   /* of a byte beyond a capacity, by its multiplier: > 1 */
    double hot, cold; /* temperatures, as parts of the mean time of a segment */
} mo_primal_path_anneal_options;

/* Begins with the states of path and the variants, by segment, which exist and
 * need not be within the capacities.  Replaces both, and *least_ns, by the
 * shortest path found within the capacities if it takes less than *least_ns;
 * else leaves all three. */
mo_status mo_primal_path_anneal(const mo_decomp_classes *classes,
                                const mo_primal_path_anneal_options *options,
                                mo_decomp_path *path, unsigned char *variants,
                                int64_t *least_ns, mo_error *err);

/* The same by several runs with different temperatures and penalties, some at
 * once on at most so many threads, others from the best path of these.  The
 * result does not depend on threads. */
mo_status mo_primal_path_anneal_runs(const mo_decomp_classes *classes,
                                     const int64_t *capacity_bytes,
                                     const double *price_ns, uint64_t seed,
                                     int threads, mo_decomp_path *path,
                                     unsigned char *variants, int64_t *least_ns,
                                     mo_error *err);

#endif
