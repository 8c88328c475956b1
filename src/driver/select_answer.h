/*
 * jury.h - who won a contest, and what may be said of the answer.
 *
 * Every answer is timed anew and held against the instance.  A solver whose
 * claim cannot be true, by a better answer, a bound or a schedule that are
 * known, is not believed.
 */
#ifndef MO_DRIVER_SELECT_ANSWER_H
#define MO_DRIVER_SELECT_ANSWER_H

#include "driver/portfolio.h"
#include "driver/review.h"
#include "driver/log.h"

typedef enum mo_jury_state {
    MO_JURY_NOT_YET, /* the instance has not been looked for */
    MO_JURY_READY,
    MO_JURY_IN_VAIN /* it was not found: answers stay unchecked */
} mo_jury_state;

typedef struct mo_jury {
    const mo_prepare *options;
    const char *graph, *beside; /* as in mo_review_instance */
    double tolerance, gap;      /* gap: what the solvers were asked for */
    const mo_talk *talk;
    mo_jury_state state;
    mo_review review; /* origin: of the model, where it tells */
    mo_error why;     /* IN_VAIN */
    bool has_upper, tried_upper;
    int64_t upper_ns; /* of a schedule that a heuristic knows */
} mo_jury;

/* What came of a contest. */
typedef struct mo_award {
    mo_entry *best;     /* NULL: no answer, or none that holds */
    mo_entry *broken;   /* an answer that does not hold, where no other does */
    const char *status; /* "optimal", "feasible", "infeasible", "limit" */
    int64_t bound_ns;   /* with an instance */
    const char *bound_by;
    char doubt[512]; /* what cannot be true; "": nothing */
} mo_award;

/* Judges the entry's answer; true when nobody needs to go on.  context is the
 * jury. */
bool mo_jury_hear(void *context, mo_entry *entry);
void mo_jury_award(mo_jury *jury, mo_contest *contest, mo_award *award);

/* The makespan of an answer: the judge's, or what is claimed where nobody could
 * judge. */
double mo_jury_makespan_us(const mo_jury *jury, const mo_entry *entry);

void mo_jury_clear(mo_jury *jury);

#endif
