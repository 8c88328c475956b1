/*
 * timed_pool.h - ways to run a branch, and to send the shared tensor, that have
 * been the cheapest at some time.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_COLUMN_POOL_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_COLUMN_POOL_H

#include "solvers/search/bound/colgen/node.h"

/* Something that holds a resource; weight: so often in one branch. */
typedef struct mo_timed_job {
    int resource, weight;
    int64_t start, length;
} mo_timed_job;

typedef struct mo_timed_pattern {
    int class;      /* of the branch; MO_FREE: it is the shared tensor's */
    int to;         /* where that is sent */
    int *device;    /* by node, from the class's root on */
    int64_t *start; /* the same; of the shared tensor, one: when it has come,
                       beyond the horizon where it never does */
    mo_timed_job *jobs;
    int n_jobs;
    double weight; /* in the last solution it was part of */
} mo_timed_pattern;

typedef struct mo_timed_pool {
    const mo_timed_case *c;
    mo_timed_pattern **patterns; /* those that were of use last */
    size_t n, room;
} mo_timed_pool;

void mo_timed_pool_clear(mo_timed_pool *pool);

/* A copy, which is the pool's. */
mo_status mo_timed_pool_add(mo_timed_pool *pool,
                            const mo_timed_pattern *pattern,
                            mo_timed_pattern **copy, mo_error *err);

/* Whether a state allows it. */
bool mo_timed_pool_fits(const mo_timed_pool *pool,
                        const mo_timed_pattern *pattern,
                        const mo_timed_state *state);

/* Puts those with a weight last, and forgets the first when there are more than
 * most. */
void mo_timed_pool_sort(mo_timed_pool *pool, size_t most);

#endif
