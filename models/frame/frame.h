/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.h - what is known of an instance before a model of it is written: a
 * horizon, who may run where and when, and what follows from it.
 *
 * Everything here holds for every schedule that is not longer than the horizon,
 * so a model that uses it loses no optimum.
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
    bool closure; /* the paper's (1a) over all successors, not direct ones */
    double slack; /* as below, or 0: nobody will add rows */
    const mo_proven_bounds *strength; /* what was proven before, or NULL */

    mo_schedule *start;  /* the heuristic's, or NULL; fits the symmetry below */
    int64_t upper_ns;    /* its makespan, or what stands in for it; with slack,
                            so many times that */
    int64_t horizon_ns;  /* upper_ns and a little room for rounding */
    int64_t unit_ns;     /* models/sink/scale.h */
    int64_t step_ns;     /* times of x are multiples of it */
    mo_dag_reach *reach; /* between ops */

    /* By op and device, i * K + k: may i run on k (pin, group, memory, time);
     * its earliest start there; the least time from its end there to the end of
     * everything.  Where it may not run the times mean nothing. */
    bool *allowed;
    int64_t *head_ns, *tail_ns;

    /* By op, over the devices it may run on: earliest start and latest end. */
    int64_t *est_ns, *lct_ns;

    int *cuts, n_cuts; /* clean cuts, in order */

    /* From the end of cut c on device a to the start of the next cut on b, at
     * least: segment_ns[(c * K + a) * K + b].  NULL when there is none, or when
     * they are too large to look at. */
    int64_t *segment_ns;

    /* Devices equal in everything: twin[k] is the next smaller device equal to
     * k, or MO_FREE. */
    int *twin;
} mo_frame;

/* closure as above.  x must outlive the frame.  Where the unit is so long that
 * not every nanosecond can be written, the frame and all models of it are of an
 * instance whose times were rounded: what rows add up then agrees to the last
 * digit, where sums rounded one by one would contradict each other by about as
 * much as a solver tolerates. */
mo_status mo_frame_make(const mo_instance *x, const mo_regime *regime,
                        bool closure, mo_frame **frame, mo_error *err);

/* The same for a model that somebody will add rows to: schedules stay that take
 * up to slack (1 or more) times as long as the heuristic's, and so do those
 * that are alike but for the names of equal devices. */
mo_status mo_frame_make_open(const mo_instance *x, const mo_regime *regime,
                             bool closure, double slack, mo_frame **frame,
                             mo_error *err);

/*
 * The same with what was proven before, and with a start that is known: a
 * schedule of x for the regime, or NULL; it is the new frame's whatever the
 * result.  A start that the models' bound on live memory refuses is of no use,
 * and another takes its place.  The strength must outlive the frame.
 */
mo_status mo_frame_make_with_bounds(const mo_instance *x,
                                    const mo_regime *regime, double slack,
                                    const mo_proven_bounds *strength,
                                    mo_schedule *start, mo_frame **frame,
                                    mo_error *err);

/* Another frame of the same, for a model that has only some of the devices: its
 * start, a schedule of other->given or NULL, is the new frame's whatever the
 * result; upper_ns is how long that takes, or what stands in for it. */
mo_status mo_frame_make_from(const mo_frame *other, mo_schedule *start,
                             int64_t upper_ns, mo_frame **frame, mo_error *err);
void mo_frame_free(mo_frame *frame);

static inline bool mo_frame_allowed(const mo_frame *f, int op, int device)
{
    return f->allowed[(int64_t) op * f->x->n_devices + device];
}

/* What the strength says of a pair of its chain, and of the whole; of the
 * instance as it was rounded, and so a little less.  0: nothing. */
int64_t mo_frame_proven_pair_ns(const mo_frame *f, size_t pair, int a, int b);
int64_t mo_frame_proven_ns(const mo_frame *f);

/* Neither reaches the other. */
static inline bool mo_frame_incomparable(const mo_frame *f, int a, int b)
{
    return mo_dag_reach_incomparable(f->reach, a, b);
}

#endif
