/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regime.h - the scheduling regime: congestion, transfer and memory model.
 *
 * The paper leaves open what congestion means and sends a tensor once for
 * every reader; runtimes differ.  Models, simulator, validator and executor
 * all take a regime and apply the same one.
 */
#ifndef MO_SCHEDULE_REGIME_H
#define MO_SCHEDULE_REGIME_H

#include "base/error.h"

/* Which transfers exclude each other: the resources of unit capacity. */
typedef enum mo_congestion {
    MO_CONGESTION_PORT,    /* transfers that leave, or enter, one device */
    MO_CONGESTION_CHANNEL, /* transfers between the same two devices, one way */
    MO_CONGESTION_LINK,    /* transfers whose routes share a physical link */
    MO_CONGESTION_NONE
} mo_congestion;

typedef enum mo_tensors {
    MO_TENSORS_PER_EDGE, /* every reader receives a copy of its own */
    MO_TENSORS_ONCE /* a device receives a tensor once, for all its readers */
} mo_tensors;

typedef enum mo_memory {
    MO_MEMORY_STATIC, /* sum of memory_bytes over the ops of a device */
    MO_MEMORY_LIVE,   /* weights always, the rest during its lifetime */
    MO_MEMORY_NONE    /* no limit */
} mo_memory;

/* What a placement is to minimise: the makespan of one request, or the time
 * between two finished requests with many in flight (schedule/period). */
typedef enum mo_objective {
    MO_OBJECTIVE_LATENCY,
    MO_OBJECTIVE_PERIOD
} mo_objective;

typedef struct mo_regime {
    mo_congestion congestion;
    mo_tensors tensors;
    mo_memory memory;
} mo_regime;

/* Names by enum value.  The _CHOICES texts hold the same names in the form
 * that an option table expects. */
extern const char *const mo_congestion_names[];
extern const char *const mo_tensors_names[];
extern const char *const mo_memory_names[];
extern const char *const mo_objective_names[];
#define MO_CONGESTION_CHOICES "port|channel|link|none"
#define MO_TENSORS_CHOICES    "per-edge|once"
#define MO_MEMORY_CHOICES     "static|live|none"
#define MO_OBJECTIVE_CHOICES  "latency|period"

/* Returns the value of a name.  The name must be one of those above; any other
 * fails an assertion. */
mo_congestion mo_congestion_of(const char *name);
mo_tensors mo_tensors_of(const char *name);
mo_memory mo_memory_of(const char *name);
mo_objective mo_objective_of(const char *name);

#endif
