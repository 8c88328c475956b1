/* SPDX-License-Identifier: Apache-2.0 */
/*
 * getf_groups.h - GETF's groups of devices of similar speed, and the group of
 * an op.
 */
#ifndef MO_SOLVERS_SEARCH_BASELINES_GETF_GROUPS_H
#define MO_SOLVERS_SEARCH_BASELINES_GETF_GROUPS_H

#include "base/error.h"
#include "cost/instance.h"

typedef struct mo_baseline_getf_groups {
    int n;
    int *of_device;
    double *speed; /* by device, relative to the slowest */
    double *total; /* by group: sum of its devices' speeds */
} mo_baseline_getf_groups;

/*
 * The speed of a device is the total time of all ops on the slowest one,
 * divided by that on this one. With m devices and gamma = log m / log log m
 * (logarithms to base 2) group g has the speeds from gamma^g up to gamma^(g +
 * 1), and there are enough groups for speeds up to m; faster devices are in
 * the last. Up to two devices are one group. The caller calls
 * mo_baseline_getf_groups_clear().
 */
mo_status mo_baseline_getf_groups_make(const mo_instance *x,
                                       mo_baseline_getf_groups *groups,
                                       mo_error *err);
void mo_baseline_getf_groups_clear(mo_baseline_getf_groups *groups);

/* Returns the group of an op of which the LP relaxation puts mass[k] on device
 * k: of those from the last on that has half of the mass in it or behind it,
 * the one with the largest total speed, of equals the fastest. */
int mo_baseline_getf_group_of(const mo_baseline_getf_groups *groups,
                              const double *mass, int n_devices);

#endif
