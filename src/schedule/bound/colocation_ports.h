/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colocation_ports.h - intervals of the colocation bound where transfers
 * exclude each other at ports: what is on the device of an end of the interval
 * adds up there, and what is not passes its ports (minimum cuts).
 */
#ifndef MO_SCHEDULE_BOUND_COLOCATION_PORTS_H
#define MO_SCHEDULE_BOUND_COLOCATION_PORTS_H

#include <stdint.h>

#include "base/error.h"
#include "schedule/bound/colocation_band.h"

/* Raises the lengths *same_ns and *apart_ns of the interval between two ops
 * whose ops are members of the test of the band.  Does nothing for other
 * congestion and for many ops.  Fails only when memory cannot be allocated. */
mo_status mo_coloc_ports_raise(mo_coloc_band *band, int64_t *same_ns,
                               int64_t *apart_ns, mo_error *err);

#endif
