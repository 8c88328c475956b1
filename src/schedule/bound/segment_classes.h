/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_classes.h - classes of equal segments by content (hash-consing).
 *
 * Stacked layers repeat the same segment in structure, times and memory: a
 * schedule or a table of bounds of one is valid for all.
 */
#ifndef MO_SCHEDULE_BOUND_SEGMENT_CLASSES_H
#define MO_SCHEDULE_BOUND_SEGMENT_CLASSES_H

#include "base/error.h"
#include "schedule/allowed_devices.h"
#include "schedule/bound/op_chain.h"

/* What segments of a class have in common. */
typedef enum mo_segment_content {
    /* Lower bounds from the end of u to the start of v: the allowed devices,
     * but no times, of u and v.  Groups count by their numbers: segments with
     * different ones never match. */
    MO_SEGMENT_BOUNDS,
    /* Schedules from the end of u to the end of v: pins instead of allowed
     * devices, all of memory, and groups by the order of their first ops. */
    MO_SEGMENT_SCHEDULES
} mo_segment_content;

typedef struct mo_segment_classifier mo_segment_classifier;

/* The caller frees *classifier with mo_segment_classifier_free(), which accepts
 * NULL. */
mo_status mo_segment_classifier_new(mo_segment_content content,
                                    mo_segment_classifier **classifier,
                                    mo_error *err);
void mo_segment_classifier_free(mo_segment_classifier *classifier);

/* Sets *cls to the class of a segment: that of an earlier one with the same
 * content, else the next number from 0 on.  Segments may be of several
 * instances with the same devices.  domains->allowed may be NULL for
 * schedules. */
mo_status mo_segment_classifier_add(mo_segment_classifier *classifier,
                                    const mo_allowed_devices *domains,
                                    const mo_bound_segment *segment, int *cls,
                                    mo_error *err);

/* Classes of the segments of a chain. */
typedef struct mo_bound_segment_classes {
    int n;      /* number of classes */
    int *of;    /* by segment of the chain: its class */
    int *first; /* by class: its first segment */
} mo_bound_segment_classes;

/* Finds the classes for bounds, numbered by their first segments.  The caller
 * frees *classes with mo_bound_segment_classes_free(), which accepts NULL. */
mo_status mo_bound_segment_classes_find(const mo_allowed_devices *domains,
                                        const mo_bound_chain *chain,
                                        mo_bound_segment_classes **classes,
                                        mo_error *err);
void mo_bound_segment_classes_free(mo_bound_segment_classes *classes);

#endif
