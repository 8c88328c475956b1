/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_sim.h - what schedule/sim/sim.h promises, by looking at everything at
 * every moment.
 */
#ifndef MO_TESTS_SCHEDULE_REFERENCE_SIM_H
#define MO_TESTS_SCHEDULE_REFERENCE_SIM_H

#include "schedule/sim/sim.h"

/* The schedule of the plan with the times of the rules, not shifted; the test
 * fails when there is none. */
mo_schedule *slow_sim(const mo_instance *x, const mo_regime *regime,
                      const mo_sim_plan *plan);

#endif
