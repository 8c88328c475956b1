/* SPDX-License-Identifier: Apache-2.0 */
/*
 * back.h - a schedule made from the end: what is needed last is placed last,
 * and that tells in which order to begin.
 *
 * List scheduling tends to leave its gaps at the end.  Done backward by the
 * times of a schedule, and forward again by what that gives (justification,
 * Valls et al., 2005), it often becomes shorter.
 */
#ifndef MO_SCHEDULE_SIM_JUSTIFICATION_H
#define MO_SCHEDULE_SIM_JUSTIFICATION_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"

typedef struct mo_justification mo_justification;

/* x must outlive it. */
mo_status mo_justification_new(const mo_instance *x, const mo_regime *regime,
                               mo_justification **back, mo_error *err);
void mo_justification_free(mo_justification *back);

/* From devices by op and ends by node (schedule/sim/incremental_sim.h) fills
 * the keys by op and by flow; of flows that are not sent, as of their readers.
 */
void mo_justification_keys(mo_justification *back, const int *device,
                           const int64_t *end_ns, int64_t *key,
                           int64_t *send_key);

#endif
