/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_domains.h - the devices that the units of a period problem may have,
 * reduced on the way down a search tree.
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_UNIT_DOMAINS_H
#define MO_SOLVERS_SEARCH_PERIOD_UNIT_DOMAINS_H

#include <stdbool.h>
#include <stdint.h>

#include "solvers/search/period/load_state.h"

/* Returns whether the unit may be on device k. */
bool mo_period_unit_may_be(const mo_period_problem *problem, int unit, int k);

/* Leaves the unit that device alone. */
void mo_period_fix_unit(mo_period_problem *problem, int unit, int device);

/* Excludes devices from units that do not fit there beside the units that have
 * no other device, until nothing changes (constraint propagation).  Returns
 * false where a unit has no device left.  free_bytes is work space, by device.
 */
bool mo_period_exclude_by_memory(mo_period_problem *problem,
                                 int64_t *free_bytes);

#endif
