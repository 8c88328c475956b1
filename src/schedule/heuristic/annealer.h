/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annealer.h - the loop of simulated annealing (Kirkpatrick et al., 1983) and
 * threshold accepting (Dueck and Scheuer, 1990) over moves that its users
 * define.
 *
 * The annealer owns the schedule of temperatures, the acceptance of worse
 * states, the count of steps and the stop; moves, their evaluation and the best
 * state are the user's.  A step is a move, or less than one where a move does
 * the work of several.
 */
#ifndef MO_SCHEDULE_HEURISTIC_ANNEALER_H
#define MO_SCHEDULE_HEURISTIC_ANNEALER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/random.h"
#include "base/stop.h"

/* Which change of the cost is accepted at temperature T. */
typedef enum mo_annealer_rule {
    MO_ANNEALER_THRESHOLD, /* up to T */
    MO_ANNEALER_TOLERANCE, /* up to a random number of mean T, whole: with
                              probability exp(-change / T) */
    MO_ANNEALER_METROPOLIS /* the same probability, of any cost */
} mo_annealer_rule;

/* T = cold + (hot - cold) left^power, where left is the part of the steps to
 * come; power 0: hot (cold / hot)^(1 - left). */
typedef struct mo_annealer_cooling {
    double hot, cold;
    int power;
    int levels;    /* left is a multiple of 1 / levels; 0: of no number */
    bool is_whole; /* temperatures are rounded down: the same on any machine */
    int64_t every; /* steps with one temperature, and between checks of stop;
                      0: those of a level */
} mo_annealer_cooling;

/* The first members are the user's; random and stop are borrowed. */
typedef struct mo_annealer {
    mo_annealer_rule rule;
    mo_annealer_cooling cooling;
    double unit;       /* of the temperature, in that of the cost */
    int64_t steps;     /* limit */
    int step_work;     /* of a step, in units of mo_stop_spend() */
    mo_random *random; /* shared with the moves */
    const mo_stop *stop;

    int64_t done;       /* steps; begins with 0, or what was done before */
    int64_t work;       /* steps of the current move: 1 unless it is set */
    double temperature; /* in units of the cost */
} mo_annealer;

/* Functions of the moves, with the user's context. */
typedef struct mo_annealer_moves {
    /* Makes a random move and sets *accepted, initially false, by the functions
     * below.  An error ends the run. */
    mo_status (*propose)(void *search, mo_annealer *a, bool *accepted,
                         mo_error *err);
    /* Takes the move back, if there was any.  NULL: nothing to do. */
    void (*reject)(void *search);
    /* Commits the move, and saves its state where that is the best so far. */
    mo_status (*accept)(void *search, mo_error *err);
    /* Called with every new temperature; returns false to end the run.  NULL:
     * nothing to do. */
    bool (*check)(void *search, const mo_annealer *a);
} mo_annealer_moves;

/* Runs until all steps are done, stop or a check ends it.  Fails only with the
 * functions of the moves. */
mo_status mo_annealer_run(mo_annealer *a, const mo_annealer_moves *moves,
                          void *search, mo_error *err);

/* Draws how much the cost may grow, for evaluations that end early; of rule
 * MO_ANNEALER_TOLERANCE. */
static inline int64_t mo_annealer_tolerance(mo_annealer *a)
{
    return mo_random_exponential(a->random, (int64_t) a->temperature);
}

/* Returns whether a move is accepted that changes the cost so much. */
static inline bool mo_annealer_accepts(mo_annealer *a, double change)
{
    switch (a->rule) {
    case MO_ANNEALER_THRESHOLD:
        return change <= a->temperature;
    case MO_ANNEALER_TOLERANCE:
        return change <= (double) mo_annealer_tolerance(a);
    case MO_ANNEALER_METROPOLIS:
        break;
    }
    return change <= 0 ||
           mo_random_unit(a->random) < exp(-change / a->temperature);
}

#endif
