/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource.h - disjunctive resources of a transfer: ports, channels or links.
 *
 * Two transfers exclude each other when they hold a resource in common; the
 * congestion models differ only in the set of resources.
 */
#ifndef MO_SCHEDULE_RESOURCE_H
#define MO_SCHEDULE_RESOURCE_H

#include <stdbool.h>

#include "cost/instance.h"
#include "schedule/regime.h"

/* Returns the number of resources; they are numbered from 0. */
int mo_resource_count(const mo_instance *x, mo_congestion congestion);

/* Lists the resources that a transfer from device a to device b holds.
 * Returns their number; *ids points into the instance or into the caller's
 * buffer pair, and is not to be freed. */
int mo_resource_list(const mo_instance *x, mo_congestion congestion, int a,
                     int b, int pair[2], const int **ids);

/* Returns whether a transfer from a to b holds a resource that one from c to d
 * holds, too. */
bool mo_resource_is_shared(const mo_instance *x, mo_congestion congestion,
                           int a, int b, int c, int d);

#endif
