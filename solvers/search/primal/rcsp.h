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

/* Sets *found, and if it is true path and variants (a buffer of the caller, by
 * segment): the shortest path found within capacity_bytes, by device.
 * Heuristic: *found false proves nothing.  price_ns, by device, are
 * multipliers in ns per byte to begin with, and the best ones afterwards.  The
 * result does not depend on the number of threads. */
mo_status mo_primal_rcsp_solve(const mo_decomp_classes *classes,
                               const int64_t *capacity_bytes, uint64_t seed,
                               int threads, double *price_ns,
                               mo_decomp_path *path, unsigned char *variants,
                               bool *found, mo_error *err);

#endif
