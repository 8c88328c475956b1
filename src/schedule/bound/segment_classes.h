/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_classes.h - classes of equal segments of a chain (hash-consing).
 *
 * Stacked layers repeat the same segment in structure, times and memory: a
 * table of one is that of all.
 */
#ifndef MO_SCHEDULE_BOUND_SEGMENT_CLASSES_H
#define MO_SCHEDULE_BOUND_SEGMENT_CLASSES_H

#include "base/error.h"
#include "schedule/allowed_devices.h"
#include "schedule/bound/op_chain.h"

typedef struct mo_bound_segment_classes {
    int n;      /* number of classes */
    int *of;    /* by segment of the chain: its class */
    int *first; /* by class: its first segment */
} mo_bound_segment_classes;

/* Finds the classes, numbered by their first segments.  The caller frees
 * *classes with mo_bound_segment_classes_free(), which accepts NULL. */
mo_status mo_bound_segment_classes_find(const mo_allowed_devices *domains,
                                        const mo_bound_chain *chain,
                                        mo_bound_segment_classes **classes,
                                        mo_error *err);
void mo_bound_segment_classes_free(mo_bound_segment_classes *classes);

#endif
