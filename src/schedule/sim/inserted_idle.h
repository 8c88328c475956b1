/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inserted_idle.h - inserted idle time: starts in a schedule that are later
 * than its resources require.
 *
 * The simulator makes non-delay schedules: it starts whatever can start.  A
 * schedule may be better than that: something long is delayed for something
 * short that is not ready yet.  A release time reproduces the delay in the
 * simulator.
 */
#ifndef MO_SCHEDULE_SIM_INSERTED_IDLE_H
#define MO_SCHEDULE_SIM_INSERTED_IDLE_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/schedule.h"

typedef struct mo_inserted_idle mo_inserted_idle;

/* x must outlive it.  The caller frees *idle with mo_inserted_idle_free(),
 * which accepts NULL. */
mo_status mo_inserted_idle_new(const mo_instance *x, mo_inserted_idle **idle,
                               mo_error *err);
void mo_inserted_idle_free(mo_inserted_idle *idle);

/* Fills release_ns, a buffer by op, and send_release_ns, by flow, with the
 * starts of delayed ops and transfers, and 0 for all others.  The schedule must
 * be left-shifted. */
void mo_inserted_idle_find(mo_inserted_idle *idle, const mo_schedule *schedule,
                           int64_t *release_ns, int64_t *send_release_ns);

#endif
