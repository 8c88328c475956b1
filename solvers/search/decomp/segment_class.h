/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class.h - segments that are alike, as one problem: an instance of its own,
 * and what is known of it by the devices at its two ends.
 *
 * Times are from the end of u to the end of v, each on its device; from the
 * beginning where there is no u, and to the end of the last op where there is
 * no v.  Devices at the ends are called states and numbered by themselves: with
 * very many devices only some of them are looked at there.
 */
#ifndef MO_SOLVERS_SEARCH_DECOMP_SEGMENT_CLASS_H
#define MO_SOLVERS_SEARCH_DECOMP_SEGMENT_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "cost/instance/sub_instance.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"
#include "solvers/search/decomp/segmentation.h"

typedef struct mo_decomp_states {
    int n;
    int *device;   /* by state */
    int *state_of; /* by device: its state, or -1 */
    bool all;      /* every device is one */
} mo_decomp_states;

/* Where memory is short, the shortest is not all that counts: schedules differ
 * in what they take of which device for good. */
typedef struct mo_decomp_variant {
    mo_schedule *schedule; /* NULL: none yet */
    int64_t *bytes;        /* by device */
} mo_decomp_variant;

/* One device for each end. */
typedef struct mo_decomp_boundary {
    mo_schedule *best;           /* of the class's instance; NULL: none yet */
    mo_decomp_variant *variants; /* NULL where memory does not matter, or by
                             device: the shortest of those that take most there;
                             the best is among them */
    int64_t own_ns;              /* proven of the boundary as a whole */
    int level;                   /* how much has been tried */
    bool exact_pays;             /* searching through has told something new */
} mo_decomp_boundary;

typedef struct mo_decomp_class {
    mo_sub_instance *part; /* of the first such segment; NULL where nothing lies
                      between u and v: then all times are exact at once */
    int n;                 /* ops, ends and all */
    int u, v;              /* in the part, or MO_FREE */
    /* By boundary, a * states + b; a, or b, is 0 where there is no such end.
     * INT64_MAX: none known, and cannot be.  Without a part both are one. */
    int64_t *upper_ns, *lower_ns;
    mo_decomp_boundary *boundaries; /* NULL without a part */
} mo_decomp_class;

typedef struct mo_decomp_classes {
    const mo_instance *x;
    mo_regime regime;
    const mo_decomp_segments *segments;
    const mo_decomp_states *states;
    bool keep_variants;
    int n;
    mo_decomp_class *classes;
    mo_arena *arena;
} mo_decomp_classes;

mo_status mo_decomp_classes_new(const mo_decomp_segments *segments,
                                const mo_decomp_states *states,
                                const mo_regime *regime, bool keep_variants,
                                mo_decomp_classes **classes, mo_error *err);
void mo_decomp_classes_free(mo_decomp_classes *classes);

/* A class's instance with its ends where the boundary says: a copy that shares
 * all but the pins, which the caller frees.  False: they cannot be there. */
mo_status mo_decomp_class_pin_boundary(const mo_decomp_classes *classes,
                                       const mo_decomp_class *cls, int boundary,
                                       mo_instance *x, bool *possible,
                                       mo_error *err);

/* Takes the schedule over where it is better than what there is, or frees it;
 * it may be NULL. */
mo_status mo_decomp_class_update_upper(const mo_decomp_classes *classes,
                                       mo_decomp_class *cls, int boundary,
                                       mo_schedule *schedule, mo_error *err);

/* How long what u sends to v takes from device to device, nothing lying between
 * them, in the order of its transfers; each of them begins when the one before
 * it has ended, or, where they are not in each other's way, at once. */
int64_t mo_decomp_direct_transfer_ns(const mo_instance *x,
                                     const mo_regime *regime, int u, int from,
                                     int to);
bool mo_decomp_direct_transfers_serialize(const mo_instance *x,
                                          const mo_regime *regime, int from,
                                          int to);

#endif
