/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enumerate.h - schedules of a segment of a few ops for all placements that use
 * at most one device beside those of its ends: variants that annealing would
 * find one by one.
 */
#ifndef MO_SOLVERS_SEARCH_PRIMAL_ENUMERATE_H
#define MO_SOLVERS_SEARCH_PRIMAL_ENUMERATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/stop.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"

/* Returns whether there are few enough placements of the ops other than u and v
 * (MO_FREE: none): it takes milliseconds. */
bool mo_primal_enumerate_pays(const mo_instance *x, int u, int v);

/* The devices of u and v, and the end of the enumeration (NULL: no limit). */
typedef struct mo_primal_enumerate_ends {
    int a, b;
    const mo_stop *stop;
} mo_primal_enumerate_ends;

/* Appends list schedules by placement to the *n schedules (*room of them
 * allocated): the ops without a pin on a, b or one other device.  u and v of x
 * are pinned to a and b.  The caller frees the schedules and the array, also
 * after an error. */
mo_status mo_primal_enumerate(const mo_instance *x, const mo_regime *regime,
                              const mo_primal_enumerate_ends *ends,
                              mo_schedule ***schedules, size_t *n, size_t *room,
                              mo_error *err);

#endif
