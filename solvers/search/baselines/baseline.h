/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline.h - common parts of the published placement methods: list
 * scheduling, topological order, simulation of a placement.
 *
 * A method computes a placement and an order; the makespan is simulated under
 * the task's regime, whatever the publication assumes about transfers. HEFT,
 * PEFT and CPoP place and time at once (insertion-based list scheduling) and
 * keep the times.
 */
#ifndef MO_SOLVERS_SEARCH_BASELINES_BASELINE_H
#define MO_SOLVERS_SEARCH_BASELINES_BASELINE_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/heuristic/insertion.h"
#include "schedule/regime.h"
#include "solvers/search/method.h"

/* Topological order by Kahn's algorithm with a FIFO queue: order[p] is the op
 * at position p, place[op] its inverse. The caller allocates both, by op. */
mo_status mo_baseline_topo_order(const mo_instance *x, int *order, int *place,
                                 mo_error *err);

/* Takes over the schedule as the result, whether it fits memory or not, and
 * sets placed->fits. */
mo_status mo_baseline_set_schedule(const mo_method_task *task,
                                   mo_schedule *schedule,
                                   mo_method_result *placed, mo_error *err);

/* Simulates a device and a rank for each op; ranks are 0, ..., n - 1, and of
 * the ops ready on a device the least rank runs first. */
mo_status mo_baseline_simulate(const mo_method_task *task, int *device,
                               int *rank, mo_method_result *placed,
                               mo_error *err);

/* Sets *device for the next op; memory is ignored, so that there always is
 * one. */
typedef mo_status mo_baseline_choose_device(void *context, mo_insertion *grown,
                                            int op, int *device, mo_error *err);

/* List scheduling: of the ready ops (all inputs placed) the one with the
 * highest priority, of equals the first, goes to the device that choose()
 * sets, into the first gap. placed has no schedule after a stop. */
mo_status mo_baseline_list_schedule(const mo_method_task *task,
                                    const int64_t *priority,
                                    mo_baseline_choose_device *choose,
                                    void *context, mo_method_result *placed,
                                    mo_error *err);

/* Returns true once the task's stop is reached, checked every 1024 steps;
 * placed->why then gives how many of the ops were placed. */
bool mo_baseline_should_stop(const mo_method_task *task, int64_t steps, int n,
                             mo_method_result *placed);

/* Returns the task's regime for a method that ignores memory. */
mo_regime mo_baseline_regime_without_memory(const mo_method_task *task);

/* GETF's groups of devices of similar speed, and the group of an op. */
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

/* PEFT's optimistic cost table (Arabnejad and Barbosa, 2014): a lower bound on
 * the time after an op on a device if all others were placed freely without
 * resource conflicts, with mean transfer times.
 * Allocates *oct_ns, by op and device, op * K + device; the caller frees it. */
mo_status mo_baseline_oct_make(const mo_instance *x, const mo_regime *regime,
                               int64_t **oct_ns, mo_error *err);

/* Returns the mean of an op's row, rounded down. */
int64_t mo_baseline_oct_rank_ns(const mo_instance *x, const int64_t *oct_ns,
                                int op);

#endif
