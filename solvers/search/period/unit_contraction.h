/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_contraction.h - units that are on one device in every placement of at
 * most a given period: a transfer between them would take longer.
 *
 * What is transferred is an item: a tensor for all its readers on a device, or
 * with a transfer per edge a flow.
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_UNIT_CONTRACTION_H
#define MO_SOLVERS_SEARCH_PERIOD_UNIT_CONTRACTION_H

#include <stdint.h>

#include "base/error.h"
#include "solvers/search/period/load_state.h"

/* Returns the number of items; 0 where nothing is transferred. */
int mo_period_item_count(const mo_period_problem *problem);

/* Returns the time of an item from a to b, different devices, that resources
 * are held. */
int64_t mo_period_item_ns(const mo_period_problem *problem, int item, int a,
                          int b);

/* Sets the flows of an item: [*first, *end). */
void mo_period_item_flows(const mo_period_problem *problem, int item,
                          int *first, int *end);

/* of_unit, by unit, has the number of another unit on the same device or its
 * own, and is set to numbers from 0 of what is together at that period or less,
 * in the order of the first members.  Returns how many there are. */
int mo_period_contract_units(const mo_period_problem *problem,
                             int64_t period_ns, int *of_unit);

#endif
