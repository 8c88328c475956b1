/*
 * fork_timed.h - proofs that a fork takes longer than some time, by prices on
 * stretches of time of devices and ports.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_BRANCH_AND_PRICE_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_BRANCH_AND_PRICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "solvers/search/bound/forkjoin/fork_join.h"
#include "solvers/search/decomp/solution_hint.h"

typedef struct mo_timed_options {
    int effort; /* 1: about a second for a hundred ops; doubles the work */
    const mo_stop *stop;
    /* NULL, or: filled, where there is no proof, with a placement that the
     * prices suggest, a device and a start for each op of the fork's segment in
     * its order; *suggested says whether it was. */
    int *device;
    int64_t *start_ns;
    bool *suggested;
} mo_timed_options;

/* True: with u on a and v on b (as in fork_fast.h), v cannot start within
 * time_ns, not even just then.  False says nothing. */
mo_status mo_fork_timed(const mo_fork *fork, const mo_regime *regime, int a,
                        int b, int64_t time_ns, const mo_timed_options *options,
                        bool *refuted, mo_error *err);

/* The same, bit by bit. */
typedef struct mo_timed_question mo_timed_question;

/* fork must outlive it. */
mo_status mo_timed_question_new(const mo_fork *fork, const mo_regime *regime,
                                int a, int b, int64_t time_ns, int effort,
                                mo_timed_question **question, mo_error *err);
void mo_timed_question_free(mo_timed_question *question);

/* Goes on for some more than so many steps to better prices; *done: it is
 * answered.  However it is divided, the answer is the same.  The options'
 * effort does not count. */
mo_status mo_timed_question_go(mo_timed_question *question, int64_t steps,
                               const mo_timed_options *options, bool *done,
                               bool *refuted, mo_error *err);

/* After one look at prices: what they suggest for all to be done within
 * time_ns, with the shared tensor coming to those devices that receive it
 * (NULL: to any) and read on each of them.  Parts of branches become whole ones
 * by point, from 0 to 1: others, other counts of them.  hint has room for all
 * ops of the fork's segment. */
mo_status mo_fork_suggest(const mo_fork *fork, const mo_regime *regime, int a,
                          int b, int64_t time_ns, const bool *receives,
                          double point, const mo_stop *stop, mo_hint *hint,
                          bool *suggested, mo_error *err);

#endif
