/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priced_chain.h - Lagrangian relaxation of the capacity constraints (1d) over
 * the segments of a chain (Fisher, 1981).
 *
 * For prices q >= 0 of a byte on each device,
 *
 *     makespan >= min over placements of
 *                 chain bound + sum_k q_k (bytes on k - capacity of k)
 *
 * and the right side is a shortest path over the devices of the chain's ops:
 * an op costs its time and the price of its bytes (memory_charges.h), a segment
 * a lower bound on time and price together over the placements of its ops.  An
 * op in no segment costs the least price.  The largest such bound is found by a
 * bundle method (bundle_method.h).
 *
 * Prices are multiples of 2^-32 ns; the price of an op is rounded down to
 * nanoseconds and that of the capacities up, all in integers, so that every
 * value is a bound whatever the prices are.
 */
#ifndef MO_SCHEDULE_BOUND_PRICED_CHAIN_H
#define MO_SCHEDULE_BOUND_PRICED_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "schedule/allowed_devices.h"
#include "schedule/bound/priced_entries.h"

/* Returns whether prices can raise a bound: some capacity is less than the
 * resident bytes of all ops. */
bool mo_priced_chain_pays(const mo_allowed_devices *domains);

typedef struct mo_priced_chain mo_priced_chain;

/* Both inputs and all that they point to must outlive it; the values of tables
 * may grow between calls.  For at most 64 devices, and where prices pay.  The
 * caller frees *chain with mo_priced_chain_free(), which accepts NULL.  One
 * thread at a time. */
mo_status mo_priced_chain_new(const mo_allowed_devices *domains,
                              const mo_priced_chain_tables *tables,
                              mo_priced_chain **chain, mo_error *err);
void mo_priced_chain_free(mo_priced_chain *chain);

/* Returns the bound for prices in ns per byte, by device; negative ones count
 * as 0.  used_bytes, unless NULL: the bytes by device of the placement that
 * attains it.  INT64_MAX: no placement is possible. */
int64_t mo_priced_chain_evaluate(mo_priced_chain *chain, const double *prices,
                                 double *used_bytes);

/* Stores the boundary a * K + b of each segment on the shortest path of the
 * last evaluation. */
void mo_priced_chain_path(const mo_priced_chain *chain, int *boundary);

/* Evaluates at the best prices of mo_priced_chain_raise(), refining the entries
 * of all boundaries; returns the prices by op and device, owned by the chain
 * and valid until the next evaluation. */
const int64_t *mo_priced_chain_evaluate_best(mo_priced_chain *chain);

/* Stores the best prices of mo_priced_chain_raise() in ns per byte, by
 * device. */
void mo_priced_chain_best_prices(const mo_priced_chain *chain, double *prices);

/* Returns the entries of a class by boundary of the last evaluation; INT64_MAX:
 * not possible. */
const int64_t *mo_priced_chain_entries(const mo_priced_chain *chain, int cls);

/* Raises *bound_ns to the best bound found until stop (NULL: no limit), at
 * least that for all prices 0, with at most max_evaluations, 0: as many as pay.
 * Begins with the best prices of earlier calls.  Fails only when memory cannot
 * be allocated. */
mo_status mo_priced_chain_raise(mo_priced_chain *chain, int max_evaluations,
                                const mo_stop *stop, int64_t *bound_ns,
                                mo_error *err);

#endif
