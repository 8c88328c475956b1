/* SPDX-License-Identifier: Apache-2.0 */
/*
 * told.h - what every policy is told the same way.
 */
#ifndef MO_SOLVERS_SEARCH_RL_FEATURES_H
#define MO_SOLVERS_SEARCH_RL_FEATURES_H

#include "base/error.h"
#include "schedule/placement_units.h"
#include "solvers/search/rl/nn/real.h"

/* How long a unit takes on average: what other times are compared with. */
double mo_rl_mean_unit_ns(const mo_instance *x,
                          const mo_placement_units *units);

/* Times and sizes differ by orders of magnitude: their logarithms do not. */
mo_rl_real mo_rl_log_scaled(double ns, double mean_ns);

/* All that a unit's ops take on a device. */
double mo_rl_unit_ns(const mo_instance *x, const mo_placement_units *units,
                     int unit, int device);

/* A placement by unit: everything on the device that is best alone, but for
 * what is pinned.  The caller frees it. */
mo_status mo_rl_single_device_placement(const mo_instance *x,
                                        const mo_placement_units *units,
                                        int **device, mo_error *err);

#endif
