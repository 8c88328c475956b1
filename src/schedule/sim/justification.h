/* SPDX-License-Identifier: Apache-2.0 */
/*
 * justification.h - justification (forward-backward improvement; Valls,
 * Ballestin and Quintanilla, 2005): a backward list schedule gives the
 * priorities of the next forward one.
 *
 * List scheduling tends to leave its gaps at the end.  Scheduled backward by
 * the ends of a schedule, and forward again by the resulting starts, it often
 * becomes shorter.
 */
#ifndef MO_SCHEDULE_SIM_JUSTIFICATION_H
#define MO_SCHEDULE_SIM_JUSTIFICATION_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"

typedef struct mo_justification mo_justification;

/* x must outlive it.  The caller frees *justification with
 * mo_justification_free(), which accepts NULL. */
mo_status mo_justification_new(const mo_instance *x, const mo_regime *regime,
                               mo_justification **justification, mo_error *err);
void mo_justification_free(mo_justification *justification);

/* From devices by op and ends by node (schedule/sim/incremental_sim.h) fills
 * the buffers key by op and send_key by flow; flows that are not sent get the
 * keys of their readers. */
void mo_justification_keys(mo_justification *justification, const int *device,
                           const int64_t *end_ns, int64_t *key,
                           int64_t *send_key);

#endif
