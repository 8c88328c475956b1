/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_class.h - classes of equal segments as subproblems: one sub-instance
 * for each, with upper and lower bounds by boundary, i.e. by the devices of
 * its entry op u and its exit op v.
 *
 * Times are from the end of u to the end of v; from 0 where there is no u, and
 * to the end of the last op where there is no v. The devices at a boundary are
 * called states and have numbers of their own: with many devices only some of
 * them are states.
 */
#ifndef MO_SOLVERS_SEARCH_DECOMP_SEGMENT_CLASS_H
#define MO_SOLVERS_SEARCH_DECOMP_SEGMENT_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "cost/instance/sub_instance.h"
#include "schedule/proof/proof.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"
#include "solvers/search/decomp/segmentation.h"

typedef struct mo_decomp_states {
    int n;
    int *device;   /* by state */
    int *state_of; /* by device: its state, -1: none */
    bool all;      /* every device is a state */
} mo_decomp_states;

/* Under memory limits the shortest schedule need not be the best choice:
 * variants differ in the bytes that stay resident on each device. */
enum {
    MO_DECOMP_EXTRA_VARIANTS = 48,
    MO_DECOMP_MANY_VARIANTS = 160, /* where there are few boundaries */
    MO_DECOMP_FEW_BOUNDARIES = 1000
};

typedef struct mo_decomp_variant {
    mo_schedule *schedule; /* owned; NULL: none yet */
    int64_t *bytes;        /* by device: resident */
    int maker;             /* of the schedule; 0: none that counts */
} mo_decomp_variant;

/* A state for each end of the segment, with what is known about it. */
typedef struct mo_decomp_boundary {
    mo_schedule *best; /* owned, of the class's sub-instance; NULL: none yet */
    /* By device: the shortest schedule with most bytes there; best is among
     * them.  Behind them n_variants - devices others, none dominated when
     * it was added, of least priced time.  NULL: not kept. */
    mo_decomp_variant *variants;
    int64_t own_ns;         /* lower bound proven for the class as a whole */
    mo_proof_reason reason; /* of it */
    int level;              /* effort level of the primal jobs so far */
    int priced_level;       /* the same of priced annealing */
    bool exact_pays; /* exact search has improved a bound or a schedule */
} mo_decomp_boundary;

typedef struct mo_decomp_class {
    mo_sub_instance *part; /* of the first such segment, owned; NULL: no op
                              between u and v, and all times are exact */
    int n;                 /* ops including u and v */
    int u, v;              /* in the sub-instance; MO_FREE: none */
    /* By boundary, a * states + b; a, or b, is 0 where there is no such end.
     * INT64_MAX: no schedule known, or proven infeasible. Without a part the
     * two are one array. */
    int64_t *upper_ns, *lower_ns;
    mo_decomp_boundary *boundaries; /* NULL without a part */
} mo_decomp_class;

typedef struct mo_decomp_classes {
    const mo_instance *x;
    mo_regime regime;
    const mo_decomp_segments *segments;
    const mo_decomp_states *states;
    bool keep_variants;
    int n_variants;   /* by boundary, at most 255 */
    double *price_ns; /* by device: multiplier of its bytes, 0 at first */
    int maker;        /* of variants that are added from now on; 0 at first */
    int n;
    mo_decomp_class *classes;
    mo_arena *arena;
} mo_decomp_classes;

/* Allocates *classes, without any schedule and with lower bounds 0 (INT64_MAX
 * where a boundary is impossible); the caller frees it with
 * mo_decomp_classes_free(), which accepts NULL. segments and states must
 * outlive it. */
mo_status mo_decomp_classes_new(const mo_decomp_segments *segments,
                                const mo_decomp_states *states,
                                const mo_regime *regime, bool keep_variants,
                                mo_decomp_classes **classes, mo_error *err);
void mo_decomp_classes_free(mo_decomp_classes *classes);

/* Fills x with a copy of the class's sub-instance with u and v pinned to
 * the devices of the boundary. Everything but x->pin is shared; the caller
 * frees x->pin, also when *possible is false: pins or groups forbid the
 * boundary. */
mo_status mo_decomp_class_pin_boundary(const mo_decomp_classes *classes,
                                       const mo_decomp_class *cls, int boundary,
                                       mo_instance *x, bool *possible,
                                       mo_error *err);

/* Takes over a schedule of the sub-instance, also after a failure. Keeps it if
 * it is shorter than the best one at the boundary, or as a variant if
 * keep_variants is set; else frees it. If schedule is NULL, nothing changes. */
mo_status mo_decomp_class_update_upper(const mo_decomp_classes *classes,
                                       mo_decomp_class *cls, int boundary,
                                       mo_schedule *schedule, mo_error *err);

/* Returns the variant of a boundary with the least priced time, which becomes
 * *cost_ns; -1: none.  Of a class with a part. */
int mo_decomp_class_cheapest_variant(const mo_decomp_classes *classes,
                                     const mo_decomp_class *cls, int boundary,
                                     const double *price_ns, double *cost_ns);

/* Returns the priced bytes: multiplier times bytes, summed over devices. */
double mo_decomp_priced_bytes_ns(const mo_decomp_classes *classes,
                                 const double *price_ns, const int64_t *bytes);

/* Returns the time of the transfers from u to v with no op between them: the
 * sum if they share a resource, otherwise the longest. Whether they share one
 * is the result of mo_decomp_direct_transfers_serialize(). */
int64_t mo_decomp_direct_transfer_ns(const mo_instance *x,
                                     const mo_regime *regime, int u, int from,
                                     int to);
bool mo_decomp_direct_transfers_serialize(const mo_instance *x,
                                          const mo_regime *regime, int from,
                                          int to);

#endif
