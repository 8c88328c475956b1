/*
 * timed_branch.h - the cheapest way to run a branch from beginning to end, when
 * time has prices: devices and starts of all its ops, and its transfers.
 */
#ifndef MO_SEARCH_TIMED_BRANCH_H
#define MO_SEARCH_TIMED_BRANCH_H

#include "solvers/search/timed_price.h"
#include "solvers/search/timed_state.h"

typedef struct mo_timed_branch mo_timed_branch;

/* state: the first, with nothing assumed; c must outlive it. */
mo_status mo_timed_branch_new(const mo_timed_case *c,
                              const mo_timed_state *state,
                              mo_timed_branch **branch, mo_error *err);
void mo_timed_branch_free(mo_timed_branch *branch);

/* extra: by node and device, what running there costs beyond that.  Prices and
 * state are used until the next call. */
void mo_timed_branch_price(mo_timed_branch *branch,
                           const mo_timed_prices *prices,
                           const mo_timed_state *state, const double *extra);

/* The least price of a branch of a class with its root on a device; INFINITY:
 * there is no such branch.  Nothing that happens costs less. */
double mo_timed_branch_least(const mo_timed_branch *branch, int class,
                             int device);

/* Something that holds a resource; weight: so often in one branch. */
typedef struct mo_timed_job {
    int resource, weight;
    int64_t start, length;
} mo_timed_job;

/* One way to run a branch: by node, counted from the class's root. */
typedef struct mo_timed_way {
    int *device;
    int64_t *start;
    mo_timed_job *jobs; /* room for mo_timed_branch_jobs of them */
    int n_jobs;
} mo_timed_way;

int mo_timed_branch_jobs(const mo_timed_branch *branch);

/* The way that has the least price. */
void mo_timed_branch_way(mo_timed_branch *branch, int class, int device,
                         mo_timed_way *way);

#endif
