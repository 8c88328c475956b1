/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steady_state.h - simulation of many requests in flight.
 *
 * One request arrives every period.  Every resource takes its tasks in the
 * order of the modulo schedule and starts each as soon as its inputs are there
 * and the resource is idle.  Nothing is taken from the schedule but that order:
 * a period that the resources cannot keep shows.
 */
#ifndef MO_SCHEDULE_PERIOD_STEADY_STATE_H
#define MO_SCHEDULE_PERIOD_STEADY_STATE_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/period/modulo_schedule.h"

/* Requests of the usual check; the second half is measured. */
enum { MO_STEADY_STATE_REQUESTS = 200 };

/* Simulates n requests, n at least 2, with as many behind them as are in
 * flight, and sets *period_ns to the mean time between the ends of two requests
 * in the second half of the n, rounded up. */
mo_status mo_steady_state_simulate(const mo_instance *x,
                                   const mo_modulo_schedule *schedule, int n,
                                   int64_t *period_ns, mo_error *err);

#endif
