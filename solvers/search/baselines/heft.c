/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HEFT: H. Topcuoglu, S. Hariri, M.-Y. Wu: Performance-effective and low-
 * complexity task scheduling for heterogeneous computing (IEEE TPDS 13(3),
 * 2002).
 *
 * List scheduling by falling upward rank (the longest path to a sink with mean
 * times), each op on the device with the earliest finish time, into the first
 * gap that is long enough.
 *
 * Decided here: in the publication transfers never wait for each other; here
 * they take the first gaps of the resources that the task's congestion makes
 * them share, so that the schedule is valid as it is. HEFT ignores memory.
 */
#include "schedule/heuristic/heft.h"

#include "solvers/search/baselines/baseline.h"

static mo_status place_heft(const mo_method_task *task,
                            mo_method_result *placed, mo_error *err)
{
    const mo_regime regime = mo_baseline_regime_without_memory(task);
    mo_schedule *schedule = NULL;
    mo_status status = mo_heft(task->x, &regime, NULL, &schedule, err);

    return status == MO_OK
               ? mo_baseline_set_schedule(task, schedule, placed, err)
               : status;
}

const mo_method mo_method_heft = {
    .name = "heft",
    .help = "by upward rank to where each op ends first, into gaps",
    .source = "Topcuoglu, Hariri, Wu 2002",
    .all = true,
    .place = place_heft,
};
