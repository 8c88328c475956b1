/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource.h - what a transfer occupies while it is under way.
 *
 * Two transfers exclude each other when they hold a resource in common; which
 * resources there are is all that the congestions differ in.
 */
#ifndef MO_SCHEDULE_RESOURCE_H
#define MO_SCHEDULE_RESOURCE_H

#include "cost/instance.h"
#include "schedule/regime.h"

/* Resources are numbered from 0. */
int mo_resource_count(const mo_instance *x, mo_congestion congestion);

/* Those of a transfer from a to b: how many, and at *ids which, either in the
 * instance or in pair. */
int mo_resource_list(const mo_instance *x, mo_congestion congestion, int a,
                     int b, int pair[2], const int **ids);

#endif
