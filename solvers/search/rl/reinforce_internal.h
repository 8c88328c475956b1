/*
 * school_parts.h - what the files of school.h share.
 */
#ifndef MO_SOLVERS_SEARCH_RL_REINFORCE_INTERNAL_H
#define MO_SOLVERS_SEARCH_RL_REINFORCE_INTERNAL_H

#include "base/out.h"
#include "solvers/search/rl/nn/adam.h"
#include "solvers/search/rl/return_baseline.h"
#include "solvers/search/rl/reinforce.h"

/* Episodes of a batch. */
enum { MO_SCHOOL_BATCH = 8 };

/* What a thread has of its own. */
typedef struct mo_seat {
    mo_tape *drawing; /* without derivatives */
    mo_tape *learning;
    mo_score *score;
} mo_seat;

typedef struct mo_episode {
    int *choices, *device;
    int *rank;      /* the best's */
    double *scores; /* n_parts + 1 */
    double *returns, *advantage;
    mo_real *gradient;
    mo_drawn drawn;
    mo_status status;
} mo_episode;

/* What was found since it began anew. */
typedef struct mo_life {
    int *best; /* by unit */
    mo_scored best_is;
    int64_t bettered; /* in which batch */
} mo_life;

typedef struct mo_school_run {
    const mo_task *task;
    const mo_units *units;
    const mo_pupil *pupil;
    mo_seat *seats;
    int n_seats;
    mo_episode episodes[MO_SCHOOL_BATCH];
    mo_returns returns;
    mo_real *gradient;
    mo_adam adam;
    int64_t batch; /* its number */
    double entropy;
    bool trains;

    mo_life life;
    int n_lives;
    mo_real *first_weights; /* before any policy was read */
    mo_real *best_weights;  /* at the end of the one that found the best; while
                               that is the present one, they are the pupil's */
    bool best_is_past;

    int *begin, *best; /* by unit */
    int *best_rank;    /* by op */
    mo_scored begin_is, best_is;
    mo_out *curve;
    int64_t begun_ns;
} mo_school_run;

static inline size_t mo_school_unit_bytes(const mo_school_run *s)
{
    return (size_t) s->units->n * sizeof(int);
}

static inline size_t mo_school_weight_bytes(const mo_school_run *s)
{
    return s->pupil->weights->n_values * sizeof(mo_real);
}

/* ---- school_open.c */

/* Begins with the task, the units and the pupil, and zeros; close it whatever
 * comes of it. */
mo_status mo_school_open(mo_school_run *s, mo_error *err);
void mo_school_close(mo_school_run *s);

/* ---- school_batch.c */

/* A batch of episodes. */
void mo_school_draw(mo_school_run *s);
/* A step by what they came to. */
mo_status mo_school_learn(mo_school_run *s, mo_error *err);

#endif
