/* SPDX-License-Identifier: Apache-2.0 */
/*
 * any_order.h - lower bound on placements of a chain that may return to a
 * device, for runtimes that do not need contiguous layers.
 *
 * Lagrangian relaxation of memory: each byte on device k has the price l_k, and
 *
 *     L(l) = min over placements of time + sum of l_k (bytes on k - capacity)
 *
 * is a shortest path for any l >= 0 and at most the least time.  The prices are
 * those of a subgradient method with Polyak's step.  A second one counts whole
 * layers in the place of bytes: sizes and capacities are divided by the size of
 * a layer and rounded down (Chvatal-Gomory cuts), since what is left of a
 * device is of no use to a layer.
 */
#ifndef MO_REPORT_RUNTIME_ANY_ORDER_H
#define MO_REPORT_RUNTIME_ANY_ORDER_H

#include <stdbool.h>

#include "base/error.h"
#include "report/runtime/chain.h"

/* Sets *bound_ns to a lower bound on the time of a request of all placements of
 * units on the devices allowed; upper_ns is the time of one of them.  Experts
 * are on the device of their layer. */
mo_status mo_chain_any_order_bound(const mo_chain *c, const bool *allowed,
                                   double upper_ns, double *bound_ns,
                                   mo_error *err);

#endif
