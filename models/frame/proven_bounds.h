/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proven_bounds.h - bounds proven by the search, handed to a model, which adds
 * them as cutting planes.
 *
 * The ops of a chain come one after the other.  Between two of them, u and v,
 * lie the ops that succeed u and precede v; with u on device a and v on b
 * these need some time at least, whatever the rest of the graph does.
 */
#ifndef MO_MODELS_FRAME_PROVEN_BOUNDS_H
#define MO_MODELS_FRAME_PROVEN_BOUNDS_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/proof/proof.h"

/* least_ns[a * K + b]: from the end of u on a to the start of v on b the ops
 * between them, with no flows but their own, take this time or longer, in
 * every schedule of any length.  MO_MAX_TOTAL_NS: u and v are never there
 * together. Without u only a = 0 counts, without v only b = 0. */
typedef struct mo_proven_bounds_pair {
    int u, v; /* MO_FREE: the start, the end of the schedule */
    int64_t *least_ns;

    /* The same with prices of memory: that time and the prices of the devices
     * of the n_ops ops between, price_ns[i * K + k], take priced_ns or more.
     * 0, NULL: there are none. */
    int n_ops;
    int *ops;
    int64_t *price_ns, *priced_ns;
} mo_proven_bounds_pair;

typedef struct mo_proven_bounds {
    int n_devices;
    int64_t lower_ns; /* no schedule is shorter; 0: nothing is known */
    mo_proof *proof;  /* certificate of it or of less, owned; NULL: none */
    mo_proven_bounds_pair *pairs;
    size_t n, room;
} mo_proven_bounds;

/* Makes one without pairs, for K devices; the caller frees *proven. */
mo_status mo_proven_bounds_new(int n_devices, mo_proven_bounds **proven,
                               mo_error *err);
void mo_proven_bounds_free(mo_proven_bounds *proven); /* accepts NULL */

/* Adds a pair, which begins where the one before it ends, or behind that.  The
 * times, K * K of them, are copied; a negative one counts as 0. */
mo_status mo_proven_bounds_add(mo_proven_bounds *proven, int u, int v,
                               const int64_t *least_ns, mo_error *err);

/* Adds prices to a pair, which has none; all arrays are copied.  price_ns is by
 * op and device, none negative; priced_ns as least_ns. */
mo_status mo_proven_bounds_add_prices(mo_proven_bounds *proven, size_t pair,
                                      int n_ops, const int *ops,
                                      const int64_t *price_ns,
                                      const int64_t *priced_ns, mo_error *err);

#endif
