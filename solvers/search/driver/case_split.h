/* SPDX-License-Identifier: Apache-2.0 */
/*
 * case_split.h - lower bound by case split on hub ops (ops with many readers):
 * one case for each device of such an op, refuted by time windows and interval
 * loads (bound/chain/).
 *
 * The chain bound ignores what runs beside the chain. Where many ops beside
 * the chain read one of its ops, the device of that op matters: on one device
 * its readers overload devices and ports, on another the chain's own blocks
 * take longer. Either bound alone is weak where the other is strong.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_CASE_SPLIT_H
#define MO_SOLVERS_SEARCH_DRIVER_CASE_SPLIT_H

#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "solvers/search/bound/chain/chain_bound.h"
#include "solvers/search/driver/state.h"

/* Of a hub of the search. */
enum { MO_SEARCH_CASE_LEAST_READERS = 4 };

typedef struct mo_search_case_split_options {
    int64_t most_ns;   /* bounds above it are not tried */
    int least_readers; /* of a hub, beside the chain */
    int64_t *steps;    /* step budget, decreased */
    const mo_stop *stop;
} mo_search_case_split_options;

/* Raises *lower_ns, the lower bound of a class (that has a part) at a
 * boundary; leaves it where nothing more is proven. */
mo_status
mo_search_case_split_bound(const mo_chain_blocks *blocks, int cls, int boundary,
                           const mo_search_case_split_options *options,
                           int64_t *lower_ns, mo_error *err);

#endif
