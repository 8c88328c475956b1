/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strength.h - what somebody has proven of an instance, handed to a model of
 * it, which says it in rows: a solver then need not find it out again.
 *
 * The ops of a chain come one after the other.  Between two of them, u and v,
 * lie the ops that are behind u and before v; with u on device a and v on b
 * these need some time at least, whatever the rest of the graph does.
 */
#ifndef MO_MODELS_FRAME_PROVEN_BOUNDS_H
#define MO_MODELS_FRAME_PROVEN_BOUNDS_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"

/* least_ns[a * K + b]: from the end of u on a to the start of v on b the ops
 * between them, with no flows but their own, take this time or longer, in every
 * schedule of any length.  MO_MAX_TOTAL_NS: u and v are never there together.
 * Without u only a = 0 counts, without v only b = 0. */
typedef struct mo_proven_bounds_pair {
    int u, v; /* MO_FREE: the beginning, the end of all */
    int64_t *least_ns;
} mo_proven_bounds_pair;

typedef struct mo_proven_bounds {
    int n_devices;
    int64_t lower_ns; /* no schedule is shorter; 0: nothing is known */
    mo_proven_bounds_pair *pairs;
    size_t n, room;
} mo_proven_bounds;

/* One without pairs, for K devices. */
mo_status mo_proven_bounds_new(int n_devices, mo_proven_bounds **strength,
                               mo_error *err);
void mo_proven_bounds_free(mo_proven_bounds *strength); /* NULL is allowed */

/* Another pair, which begins where the one before it ends, or behind that.  The
 * times, K * K of them, are copied; what is below 0 says nothing. */
mo_status mo_proven_bounds_add(mo_proven_bounds *strength, int u, int v,
                               const int64_t *least_ns, mo_error *err);

#endif
