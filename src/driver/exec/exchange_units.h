/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_agree.h - ranks tell each other what their devices run on.
 *
 * A plan for a GPU is not the same as one for processors, and only the rank
 * that has a device knows whether there is a GPU for it.  All need one plan.
 */
#ifndef MO_DRIVER_EXEC_EXCHANGE_UNITS_H
#define MO_DRIVER_EXEC_EXCHANGE_UNITS_H

#include "base/error.h"
#include "driver/exec/device_units.h"
#include "exec/transport/transport.h"

/* All ranks call it, when their own units are made and before the plan is; the
 * units of others are then as these say. */
mo_status mo_exec_exchange_units(const mo_transport *transport,
                                 mo_transport_world *world,
                                 const mo_exec_config *wants,
                                 mo_exec_units *units, mo_error *err);

#endif
