/*
 * prove_parts.h - what the files of prove.h share: aims, which are proofs that
 * may be worth it, and how far paths are raised by them.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_BOUND_PLAN_INTERNAL_H
#define MO_SOLVERS_SEARCH_DRIVER_BOUND_PLAN_INTERNAL_H

#include "solvers/search/driver/bound_plan.h"

enum {
    MO_PROVE_EXACT_OPS = 22,   /* blocks of so few are searched through */
    MO_PROVE_MOST_EFFORT = 7,  /* then there is no more hope for a target */
    MO_PROVE_TIMED_EFFORT = 5, /* the first that tells much, of large blocks */
    MO_PROVE_MOST_TIMED_EFFORT = 7
};

/* By block and pair. */
typedef struct mo_aim {
    int64_t failed_ns; /* not proven with this effort; INT64_MAX: all others */
    int64_t uses;      /* while planning: on the path that is looked at */
    int effort;        /* from 1 on; 0: not even the fast way has been gone */
    int turn;          /* while planning: when it was raised first, from 1 on */
} mo_aim;

struct mo_prover {
    mo_search *search;
    mo_blocks *blocks;
    int n_pairs;
    mo_fork **forks;     /* by block, or NULL until one is asked for */
    mo_aim *aims;        /* by block and pair */
    int64_t **raised_ns; /* by block and pair: taken to be proven */
    int64_t **times_ns;  /* by kind and pair: what those come to */
    int *uses;           /* by kind and pair: on the path */
    int *pairs;          /* by segment of a kind */
    mo_proof going[MO_MOST_PROOFS]; /* under way, the first to begin first */
    int n_going;
};

static inline mo_aim *aim_of(const mo_prover *m, int block, int pair)
{
    return &m->aims[(size_t) block * (size_t) m->n_pairs + (size_t) pair];
}

/* Small blocks are searched through; others are looked at the fast way first.
 */
static inline bool is_small(const mo_prover *m, int block)
{
    return m->blocks->blocks[block].segment->n <= MO_PROVE_EXACT_OPS;
}

static inline int most_effort(const mo_prover *m, int block)
{
    return is_small(m, block) ? MO_PROVE_MOST_EFFORT
                              : MO_PROVE_MOST_TIMED_EFFORT;
}

/* Nothing is raised yet. */
void mo_prover_begin_plan(mo_prover *m);

/* Fills uses of the aims for the path found last. */
mo_status mo_prover_use_path(mo_prover *m, mo_error *err);

/* The most paths that are raised in one plan. */
int mo_prover_most_paths(const mo_prover *m);

/* Raises paths until the shortest is as long as the goal, or cannot be: fills
 * raised_ns, and turn of the aims that it needs for that. */
mo_status mo_prover_reach(mo_prover *m, int64_t goal_ns, mo_error *err);

#endif
