/* SPDX-License-Identifier: Apache-2.0 */
/*
 * features.h - common parts of the learned policies: times of placement units,
 * scaled as input features, and the initial placement.
 */
#ifndef MO_SOLVERS_SEARCH_RL_FEATURES_H
#define MO_SOLVERS_SEARCH_RL_FEATURES_H

#include "base/error.h"
#include "schedule/placement_units.h"
#include "solvers/search/rl/nn/real.h"

/* Returns the mean time of a unit over units and devices, by which other times
 * are normalized; more than 0. */
double mo_rl_mean_unit_ns(const mo_instance *x,
                          const mo_placement_units *units);

/* Returns log(1 + ns / mean_ns), since times and sizes differ by orders of
 * magnitude. */
mo_rl_real mo_rl_log_scaled(double ns, double mean_ns);

/* Returns the time of all ops of a unit on a device. */
double mo_rl_unit_ns(const mo_instance *x, const mo_placement_units *units,
                     int unit, int device);

/* Places every unit on the best single device, except for pinned units. *device
 * is by unit; the caller frees it, also after a failure. */
mo_status mo_rl_single_device_placement(const mo_instance *x,
                                        const mo_placement_units *units,
                                        int **device, mo_error *err);

#endif
