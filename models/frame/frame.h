/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.h - presolve of an instance before a model is written: horizon, time
 * windows (heads and tails), allowed devices, symmetry, scaling.
 *
 * Everything here holds for every schedule that is not longer than the
 * horizon, so a model that uses it loses no optimum.
 */
#ifndef MO_MODELS_FRAME_FRAME_H
#define MO_MODELS_FRAME_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "graph/reach.h"
#include "models/frame/proven_bounds.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"

typedef struct mo_frame {
    const mo_instance *given;
    const mo_instance *x; /* as given, or the one below */
    mo_instance *rounded; /* with times that can be written, or NULL */
    mo_regime regime;
    bool closure;  /* the paper's (1a) over all successors, not direct ones */
    double slack;  /* as below, or 0: no rows will be added */
    int in_flight; /* of a period: most requests, set by the caller; 0: no
                      limit */
    const mo_proven_bounds
        *proven; /* bounds proven before, or NULL; borrowed */

    const struct mo_pattern_set *patterns; /* for formulations of patterns, set
                                              by the caller; or NULL */

    mo_schedule *start; /* the MIP start, or NULL; consistent with the symmetry
                           breaking below */
    int64_t upper_ns;   /* its makespan, or an upper bound in its place;
                           multiplied by slack, if any */
    int64_t horizon_ns; /* upper_ns and a little room for rounding */
    int64_t unit_ns;    /* models/sink/scale.h */
    int64_t fixed_unit_ns; /* the same where it was fixed, or 0 */
    int64_t step_ns;       /* times of x are multiples of it */
    mo_dag_reach *reach;   /* between ops */

    /* By op and device, i * K + k: may i run on k (pin, group, memory, time);
     * its earliest start there (head); the least time from its end there to
     * the end of the schedule (tail).  Where it may not run the times are
     * meaningless. */
    bool *allowed;
    int64_t *head_ns, *tail_ns;

    /* By op, over its allowed devices: earliest start and latest completion
     * time. */
    int64_t *est_ns, *lct_ns;

    int *cuts, n_cuts; /* clean cuts, in order */

    /* Lower bound on the time from the end of cut c on device a to the start
     * of the next cut on b: segment_ns[(c * K + a) * K + b].  NULL when there
     * is none, or when they are too large to compute. */
    int64_t *segment_ns;

    /* Symmetry breaking, by device: the next smaller interchangeable device,
     * or MO_FREE. */
    int *symmetric_to;
} mo_frame;

/* Makes a frame; closure as above.  x must outlive it; the caller frees *frame
 * with mo_frame_free(), which accepts NULL.  Where the unit is so long that
 * not every nanosecond can be written, the frame and all models of it are of
 * an instance whose times were rounded: the sums of rows then agree to the
 * last digit, where sums rounded one by one would contradict each other by
 * about as much as a solver tolerates. */
mo_status mo_frame_make(const mo_instance *x, const mo_regime *regime,
                        bool closure, mo_frame **frame, mo_error *err);

/* The same for a model to which rows will be added: schedules up to slack (1
 * or more) times as long as the heuristic's remain feasible, and so do those
 * that differ only by interchangeable devices. */
mo_status mo_frame_make_open(const mo_instance *x, const mo_regime *regime,
                             bool closure, double slack, mo_frame **frame,
                             mo_error *err);

/*
 * The same with bounds proven before, and with a known start: a schedule of x
 * for the regime, or NULL; the frame takes ownership of it, whatever the
 * result.  A start that the models' bound on live memory rejects is discarded
 * and replaced.  proven must outlive the frame.
 */
mo_status mo_frame_make_with_bounds(const mo_instance *x,
                                    const mo_regime *regime, double slack,
                                    const mo_proven_bounds *proven,
                                    mo_schedule *start, mo_frame **frame,
                                    mo_error *err);

/* The same for a schedule of known length instead of a start: every schedule of
 * at most upper_ns is in its windows.  The unit is a nanosecond, so no time is
 * rounded however long the horizon; numbers of a model may be too large for
 * solvers. */
mo_status mo_frame_make_exact(const mo_instance *x, const mo_regime *regime,
                              const mo_proven_bounds *proven, int64_t upper_ns,
                              mo_frame **frame, mo_error *err);

/* Another frame of the same instance, for a model that has only some of the
 * devices.  start, a schedule of other->given or NULL, is owned by the new
 * frame whatever the result; upper_ns is its makespan, or an upper bound in
 * its place. */
mo_status mo_frame_make_from(const mo_frame *other, mo_schedule *start,
                             int64_t upper_ns, mo_frame **frame, mo_error *err);
void mo_frame_free(mo_frame *frame);

/* Fixes the unit of the frame, and of frames made from it, to a power of ten of
 * nanoseconds.  Returns MO_E_USAGE when the unit is too long: times that the
 * frame has would not be written exactly. */
mo_status mo_frame_set_unit(mo_frame *frame, int64_t unit_ns, mo_error *err);

/* Returns whether op may run on the device. */
static inline bool mo_frame_allowed(const mo_frame *f, int op, int device)
{
    return f->allowed[(int64_t) op * f->x->n_devices + device];
}

/* Return the proven bounds of a pair of the chain, without prices and, where it
 * has some, with them, and of the whole, for the instance as it was rounded,
 * and so a little less.  0: nothing is known. */
int64_t mo_frame_proven_pair_ns(const mo_frame *f, size_t pair, int a, int b);
int64_t mo_frame_proven_priced_ns(const mo_frame *f, size_t pair, int a, int b);
int64_t mo_frame_proven_ns(const mo_frame *f);

/* Returns whether neither op reaches the other. */
static inline bool mo_frame_incomparable(const mo_frame *f, int a, int b)
{
    return mo_dag_reach_incomparable(f->reach, a, b);
}

#endif
