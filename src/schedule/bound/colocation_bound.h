/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colocation_bound.h - lower bound by colocation: a destructive bound over all
 * intervals between two ops, where ops are either on one device, which limits
 * their memory and adds up their times, or separated by a transfer.
 *
 * It needs neither clean cuts nor dual values.  Where many equal devices
 * share what fits on none of them, prices of memory spread every path over all
 * devices at no cost; here a path that is longer than a device holds is cut,
 * and so are branches that would wait for each other on one device.
 */
#ifndef MO_SCHEDULE_BOUND_COLOCATION_BOUND_H
#define MO_SCHEDULE_BOUND_COLOCATION_BOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "schedule/allowed_devices.h"

/* A lower bound that is known of two ops, u before v: from the end of u to the
 * start of v, on the same device or on two; MO_MAX_TOTAL_NS: never. */
typedef struct mo_coloc_pair_bound {
    int u, v;
    int64_t same_ns, apart_ns;
} mo_coloc_pair_bound;

/* Returns the minimum of a table of the times from the end of u to the start of
 * v, by the devices of both, a * K + b: over equal devices (same_ns) and over
 * different ones (apart_ns). */
mo_coloc_pair_bound mo_coloc_pair_bound_of(const mo_allowed_devices *domains,
                                           int u, int v, const int64_t *table);

typedef struct mo_coloc_effort {
    double work;  /* of the tests: about a second at MO_COLOC_WORK */
    double nodes; /* of searches, at most, a million a second; 0: none */
} mo_coloc_effort;

#define MO_COLOC_WORK 400000000.0

/* Of a node, in units of mo_stop_spend(). */
enum { MO_COLOC_NODE_WORK = 400 };

/* A bound whose critical intervals can be searched further; used by one thread
 * at a time. */
typedef struct mo_coloc_bound mo_coloc_bound;

/* Bounds the intervals, with half of effort->nodes at most, until the stop is
 * reached (NULL: never); mo_coloc_bound_refine() continues.  domains must
 * outlive *bound, which the caller frees with mo_coloc_bound_free(), which
 * accepts NULL.  The rest is as for mo_bound_colocation(). */
mo_status mo_coloc_bound_new(const mo_allowed_devices *domains,
                             const mo_coloc_pair_bound *known, size_t n,
                             const mo_coloc_effort *effort, const mo_stop *stop,
                             mo_coloc_bound **bound, mo_error *err);
void mo_coloc_bound_free(mo_coloc_bound *bound);

/* Searches critical intervals with so many nodes, until the stop is reached or
 * the bound is closed; known as before, with what has been learnt since. */
mo_status mo_coloc_bound_refine(mo_coloc_bound *bound,
                                const mo_coloc_pair_bound *known, size_t n,
                                double nodes, const mo_stop *stop,
                                mo_error *err);

/* Returns the lower bound on the makespan; 0: none. */
int64_t mo_coloc_bound_ns(const mo_coloc_bound *bound);

/* Returns whether more nodes would not raise it further. */
bool mo_coloc_bound_is_closed(const mo_coloc_bound *bound);

/* Sets *bound_ns to a lower bound on the makespan.  known, n of them in order
 * of u and v, may be NULL.  Intervals over more ops than the work allows are
 * left out.  Once stop is reached (NULL: never), what has been proven is
 * returned.  Where no schedule exists the value has no meaning.  Several
 * threads may call it. */
mo_status mo_bound_colocation(const mo_allowed_devices *domains,
                              const mo_coloc_pair_bound *known, size_t n,
                              const mo_coloc_effort *effort,
                              const mo_stop *stop, int64_t *bound_ns,
                              mo_error *err);

#endif
