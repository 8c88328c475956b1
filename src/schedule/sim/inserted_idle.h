/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits.h - who waits in a schedule though nothing is in its way.
 *
 * The simulator starts whatever can start.  A schedule may be better than that:
 * something long is held back for something short that is not ready yet.  Told
 * not to start before, it is held back in the simulator, too.
 */
#ifndef MO_SCHEDULE_SIM_INSERTED_IDLE_H
#define MO_SCHEDULE_SIM_INSERTED_IDLE_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/schedule.h"

typedef struct mo_inserted_idle mo_inserted_idle;

/* x must outlive it. */
mo_status mo_inserted_idle_new(const mo_instance *x, mo_inserted_idle **waits,
                               mo_error *err);
void mo_inserted_idle_free(mo_inserted_idle *waits);

/* Fills release_ns by op and hold_ns by flow with the starts of those that
 * wait so, and 0 for all others.  The schedule is left-shifted. */
void mo_inserted_idle_find(mo_inserted_idle *waits, const mo_schedule *schedule,
                           int64_t *release_ns, int64_t *hold_ns);

#endif
