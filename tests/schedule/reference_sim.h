/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference_sim.h - reference implementation of schedule/sim/sim.h: scans
 * everything at every moment.
 */
#ifndef MO_TESTS_SCHEDULE_REFERENCE_SIM_H
#define MO_TESTS_SCHEDULE_REFERENCE_SIM_H

#include "schedule/sim/sim.h"

/* Returns the schedule of the plan with the times of the rules, not shifted,
 * which the caller frees; the test fails when there is none. */
mo_schedule *slow_sim(const mo_instance *x, const mo_regime *regime,
                      const mo_sim_plan *plan);

#endif
