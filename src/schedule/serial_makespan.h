/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serial.h - one thing after the other: what no schedule need exceed.
 */
#ifndef MO_SCHEDULE_SERIAL_MAKESPAN_H
#define MO_SCHEDULE_SERIAL_MAKESPAN_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"

/* The sum of all ops, each where it takes longest of where it may be, and of
 * all transfers there could be, each at its longest.  MO_E_INPUT when times
 * that are no longer than that could not be added up. */
mo_status mo_serial_makespan(const mo_instance *x, const mo_regime *regime,
                             int64_t *serial_ns, mo_error *err);

#endif
