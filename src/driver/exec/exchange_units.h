/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_units.h - exchange of the kinds of devices between ranks.
 *
 * A plan for a GPU differs from one for processors, and only the rank of a
 * device knows whether it has a GPU. All ranks need the same plan.
 */
#ifndef MO_DRIVER_EXEC_EXCHANGE_UNITS_H
#define MO_DRIVER_EXEC_EXCHANGE_UNITS_H

#include "base/error.h"
#include "driver/exec/device_units.h"
#include "exec/transport/transport.h"

/* Decoder of how the threads of another rank fit its processors: sums over all
 * ranks do not overflow (transport/rendezvous/decode.h). */
mo_status mo_exec_decode_fit(const mo_exec_fit *sent, mo_exec_fit *fit,
                             mo_error *err);

/* Collective: all ranks call it after their own units are made and before the
 * plan is. Sets the units of the other ranks. */
mo_status mo_exec_exchange_units(const mo_transport *transport,
                                 mo_transport_world *world,
                                 const mo_exec_config *wants,
                                 mo_exec_units *units, mo_error *err);

#endif
