/*
 * timed_state.h - what is assumed while a question of timed_case.h is looked
 * at: when the shared tensor comes to a device, how many ops a device has; and
 * what follows for the time of every op.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_NODE_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_NODE_H

#include "solvers/search/bound/colgen/problem.h"

/* Does the shared tensor come to a device? */
typedef enum mo_timed_fate {
    MO_TIMED_OPEN,
    MO_TIMED_SURE, /* and somebody reads it there */
    MO_TIMED_NEVER
} mo_timed_fate;

enum { MO_TIMED_MAX_LIMITS = 16 };

/* Of all equals of a node in all branches, at most so many run on a device, or
 * on others than it. */
typedef struct mo_timed_limit {
    int node, device;
    bool elsewhere;
    int most;
} mo_timed_limit;

typedef struct mo_timed_state {
    mo_timed_fate *fate; /* by device */
    int64_t *lo, *hi;    /* by device: the first and the last tick at which it
                            can have come, if it does */
    int64_t *est, *lst;  /* by node and device: the first and the last start,
                            est > lst: it does not run there */
    int n_limits;
    mo_timed_limit limits[MO_TIMED_MAX_LIMITS];
} mo_timed_state;

/* Nothing assumed yet. */
mo_status mo_timed_state_new(const mo_timed_case *c, mo_timed_state **state,
                             mo_error *err);
mo_status mo_timed_state_copy(const mo_timed_case *c,
                              const mo_timed_state *state,
                              mo_timed_state **copy, mo_error *err);
void mo_timed_state_free(mo_timed_state *state);

/* Draws the conclusions; false: there is no schedule like that. */
bool mo_timed_state_narrow(const mo_timed_case *c, mo_timed_state *state);

static inline bool mo_timed_runs(const mo_timed_state *s, int at)
{
    return s->est[at] <= s->lst[at];
}

/* How long the shared tensor is under way to a device. */
static inline int64_t mo_timed_shared(const mo_timed_case *c, int device)
{
    return mo_timed_send(c, c->shared_row, c->a, device);
}

#endif
