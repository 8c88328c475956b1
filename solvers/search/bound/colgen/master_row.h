/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timed_good.h - what there is only so much of, so that it can have a price.
 *
 * There is one of each good, and of all branches and arrivals together no more
 * than that may be used.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_MASTER_ROW_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_MASTER_ROW_H

#include "solvers/search/bound/colgen/column_pool.h"

typedef enum mo_cg_row_kind {
    /* Cells first, ..., last - 1 of a resource: used by what holds it then. */
    MO_CG_CAPACITY,
    /* The shared tensor comes to a device before a tick, or nobody reads it
     * there before: used by it if it comes then or later or never, and by the
     * equals of a reading node, in equal parts, that start before. */
    MO_CG_RELEASE,
    /* Of all equals of a node only so many run on a device, or elsewhere. */
    MO_CG_CARDINALITY
} mo_cg_row_kind;

typedef struct mo_cg_row {
    mo_cg_row_kind kind;
    int resource, first, last; /* of a stretch */
    int node, device;          /* of the others */
    int64_t tick;              /* of a gate */
    bool elsewhere;            /* of a count */
    int most;                  /* of a count, at least 1 */
} mo_cg_row;

mo_cg_row mo_cg_row_capacity(int resource, int first, int last);
mo_cg_row mo_cg_row_release(int node, int device, int64_t tick);
mo_cg_row mo_cg_row_cardinality(const mo_cg_cardinality *limit);

bool mo_cg_row_equal(const mo_cg_row *a, const mo_cg_row *b);

/* What a pattern uses of it; if it is of a class, when all branches of it go
 * that way. */
double mo_cg_row_coefficient(const mo_cg_problem *c, const mo_cg_row *good,
                             const mo_cg_column *pattern);

/* The part that running a node on a device uses of a count. */
double mo_cg_row_cardinality_coefficient(const mo_cg_row *good, int device);

/* How many equals a node has in all branches. */
static inline int mo_cg_multiplicity(const mo_cg_problem *c, int node)
{
    const mo_cg_tree_node *of = &c->tree->nodes[node];

    return c->fork->classes[of->class].count * of->total;
}

#endif
