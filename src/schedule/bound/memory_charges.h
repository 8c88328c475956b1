/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_charges.h - resident bytes by op and device, as prices of memory
 * charge them: those of a colocation group are shared among its ops.
 *
 * The ops of a group share a device, so the price of its bytes may be divided
 * among them in any way, by device.  In a workload (graph/phases.h) the copy in
 * the first phase has all bytes: with the price on that copy alone, a
 * relaxation without groups places the other ones for nothing.  An op's share
 * of the price on a device is its share of the time that the group saves there
 * compared with the marginal device, so that all ops agree on the device at
 * which the price outweighs that time (Lagrangian decomposition: Guignard and
 * Kim, 1987).
 */
#ifndef MO_SCHEDULE_BOUND_MEMORY_CHARGES_H
#define MO_SCHEDULE_BOUND_MEMORY_CHARGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "schedule/allowed_devices.h"

/* Makes *charges, bytes >= 0 by mo_allowed_devices_index, of which a group's
 * ops together have at most its bytes, on each device.  Ops that are left out
 * have none where others of their group take time.  The caller frees *charges. */
mo_status mo_memory_charges_make(const mo_allowed_devices *domains,
                                 const bool *is_left_out, int64_t **charges,
                                 mo_error *err);

#endif
