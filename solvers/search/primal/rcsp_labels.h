/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rcsp_labels.h - labelling algorithm of the resource-constrained shortest
 * path (beam search).
 */
#ifndef MO_SOLVERS_SEARCH_PRIMAL_RCSP_LABELS_H
#define MO_SOLVERS_SEARCH_PRIMAL_RCSP_LABELS_H

#include <stdint.h>

#include "base/error.h"
#include "solvers/search/decomp/boundary_path.h"
#include "solvers/search/decomp/segment_class.h"

/* Returns the bytes by device of a variant of a class at a boundary and sets
 * *time_ns; NULL: there is none.  A class without a part has variant 0 only,
 * whose bytes, those of its v, are stored in own. */
const int64_t *mo_primal_rcsp_variant(const mo_decomp_classes *classes,
                                      int number, int boundary, int variant,
                                      int64_t *own, int64_t *time_ns);

/* Replaces path, variants (by segment) and *least_ns by the shortest path of
 * the labels within capacity_bytes if it takes less than *least_ns: of several
 * runs, with multiples of the prices, on at most so many threads.  The result
 * does not depend on threads. */
mo_status mo_primal_rcsp_label(const mo_decomp_classes *classes,
                               const int64_t *capacity_bytes,
                               const double *price_ns, int threads,
                               mo_decomp_path *path, unsigned char *variants,
                               int64_t *least_ns, mo_error *err);

#endif
