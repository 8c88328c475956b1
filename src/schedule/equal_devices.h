/* SPDX-License-Identifier: Apache-2.0 */
/*
 * equal_devices.h - classes of interchangeable devices: those that can be
 * swapped in any placement without changing a time or a capacity (symmetry of
 * the instance).
 */
#ifndef MO_SCHEDULE_EQUAL_DEVICES_H
#define MO_SCHEDULE_EQUAL_DEVICES_H

#include <stdbool.h>

#include "schedule/allowed_devices.h"

/* Sets first[k], for all devices k, to the first device of its class and
 * returns the number of classes.  Devices of one class are allowed for the same
 * ops and have equal processing times and capacities; with transfers also
 * equal transfer times with each other and with every third device.  Routes
 * over physical links are not compared. */
int mo_equal_devices_find(const mo_allowed_devices *domains, bool transfers,
                          int *first);

#endif
