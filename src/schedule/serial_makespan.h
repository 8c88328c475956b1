/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serial_makespan.h - makespan of the serial schedule: an upper bound on the
 * optimum of every instance that has a schedule.
 */
#ifndef MO_SCHEDULE_SERIAL_MAKESPAN_H
#define MO_SCHEDULE_SERIAL_MAKESPAN_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"

/* Sets *serial_ns to the sum of all ops, each on its slowest allowed device,
 * and of all possible transfers, each at its longest.  Returns MO_E_INPUT when
 * the sum exceeds INT64_MAX / 2: then times up to it could overflow. */
mo_status mo_serial_makespan(const mo_instance *x, const mo_regime *regime,
                             int64_t *serial_ns, mo_error *err);

#endif
