/*
 * timed_good.h - what there is only so much of, so that it can have a price.
 *
 * There is one of each good, and of all branches and arrivals together no more
 * than that may be used.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_MASTER_ROW_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_MASTER_ROW_H

#include "solvers/search/bound/colgen/column_pool.h"

typedef enum mo_timed_kind {
    /* Cells first, ..., last - 1 of a resource: used by what holds it then. */
    MO_TIMED_STRETCH,
    /* The shared tensor comes to a device before a tick, or nobody reads it
     * there before: used by it if it comes then or later or never, and by the
     * equals of a reading node, in equal parts, that start before. */
    MO_TIMED_GATE,
    /* Of all equals of a node only so many run on a device, or elsewhere. */
    MO_TIMED_COUNT
} mo_timed_kind;

typedef struct mo_timed_good {
    mo_timed_kind kind;
    int resource, first, last; /* of a stretch */
    int node, device;          /* of the others */
    int64_t tick;              /* of a gate */
    bool elsewhere;            /* of a count */
    int most;                  /* of a count, at least 1 */
} mo_timed_good;

mo_timed_good mo_timed_good_stretch(int resource, int first, int last);
mo_timed_good mo_timed_good_gate(int node, int device, int64_t tick);
mo_timed_good mo_timed_good_count(const mo_timed_limit *limit);

bool mo_timed_good_equal(const mo_timed_good *a, const mo_timed_good *b);

/* What a pattern uses of it; if it is of a class, when all branches of it go
 * that way. */
double mo_timed_good_part(const mo_timed_case *c, const mo_timed_good *good,
                          const mo_timed_pattern *pattern);

/* The part that running a node on a device uses of a count. */
double mo_timed_good_count_part(const mo_timed_good *good, int device);

/* How many equals a node has in all branches. */
static inline int mo_timed_equals(const mo_timed_case *c, int node)
{
    const mo_timed_node *of = &c->tree->nodes[node];

    return c->fork->classes[of->class].count * of->total;
}

#endif
