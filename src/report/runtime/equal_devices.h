/* SPDX-License-Identifier: Apache-2.0 */
/*
 * equal_devices.h - interchangeable devices of a chain.
 */
#ifndef MO_REPORT_RUNTIME_EQUAL_DEVICES_H
#define MO_REPORT_RUNTIME_EQUAL_DEVICES_H

#include "report/runtime/chain.h"

/* Whether a placement takes the same time, and fits, with a and b exchanged. */
bool mo_chain_equal_devices(const mo_chain *c, int a, int b);

#endif
