/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.h - a path through the segments that keeps within memory.
 *
 * Pieces meet in memory, too: what one takes of a device is gone for all
 * others.  Prices on bytes tell which of a boundary's variants are worth it;
 * labels along the segments, with what each has taken so far, mix them.
 */
#ifndef MO_SOLVERS_SEARCH_PRIMAL_RCSP_H
#define MO_SOLVERS_SEARCH_PRIMAL_RCSP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "solvers/search/decomp/segment_class.h"
#include "solvers/search/decomp/boundary_path.h"

/* The shortest that was found with at most so many bytes on each device: in
 * path, with a variant for each segment (the caller's array).  Not finding any
 * proves nothing. */
mo_status mo_primal_rcsp_solve(const mo_decomp_classes *classes,
                               const int64_t *capacity_bytes,
                               mo_decomp_path *path, unsigned char *variants,
                               bool *found, mo_error *err);

#endif
