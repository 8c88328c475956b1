/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regime.h - what a schedule must respect beyond the order of the graph.
 *
 * The paper leaves open what congestion means and sends a tensor once for every
 * reader; runtimes differ.  Models, simulator, judge and executor are all told
 * by one of these which world they are in.
 */
#ifndef MO_SCHEDULE_REGIME_H
#define MO_SCHEDULE_REGIME_H

#include "base/error.h"

/* Which transfers exclude each other. */
typedef enum mo_congestion {
    MO_CONGESTION_PORT,    /* those that leave, or enter, one device */
    MO_CONGESTION_CHANNEL, /* those between the same two devices, one way */
    MO_CONGESTION_LINK,    /* those whose routes share a physical link */
    MO_CONGESTION_NONE
} mo_congestion;

typedef enum mo_tensors {
    MO_TENSORS_PER_EDGE, /* every reader is sent its own copy */
    MO_TENSORS_ONCE      /* a device is sent a tensor once, for all readers */
} mo_tensors;

typedef enum mo_memory {
    MO_MEMORY_STATIC, /* what every op on a device asks for, added up */
    MO_MEMORY_LIVE,   /* weights always, the rest while it is alive */
    MO_MEMORY_NONE    /* no limit */
} mo_memory;

typedef struct mo_regime {
    mo_congestion congestion;
    mo_tensors tensors;
    mo_memory memory;
} mo_regime;

/* By the values above; "port|channel|link|none" and so on, as an option table
 * wants its choices. */
extern const char *const mo_congestion_names[];
extern const char *const mo_tensors_names[];
extern const char *const mo_memory_names[];
#define MO_CONGESTION_CHOICES "port|channel|link|none"
#define MO_TENSORS_CHOICES    "per-edge|once"
#define MO_MEMORY_CHOICES     "static|live|none"

/* The value of a name, one of those above. */
mo_congestion mo_congestion_of(const char *name);
mo_tensors mo_tensors_of(const char *name);
mo_memory mo_memory_of(const char *name);

#endif
