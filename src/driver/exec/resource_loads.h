/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource_loads.h - predicted load of each resource by one request: the time
 * for which the ops and transfers of a plan occupy it. Their maximum is the
 * period, the least time between two requests in the steady state.
 */
#ifndef MO_DRIVER_EXEC_RESOURCE_LOADS_H
#define MO_DRIVER_EXEC_RESOURCE_LOADS_H

#include "base/error.h"
#include "driver/prepare.h"
#include "exec/plan/ir/plan.h"
#include "report/throughput.h"
#include "schedule/regime.h"

/* shares: of the requests that run each phase of the plan; NULL: all are alike.
 * Lists the devices, in their order, then what transfers exclude each other on
 * by the regime: ports, channels, links or nothing; without those of no load.
 * The caller frees *resources; texts belong to the cluster. */
mo_status mo_exec_resource_loads(const mo_exec_plan *plan,
                                 const mo_problem *problem,
                                 const double *shares, mo_congestion congestion,
                                 mo_report_throughput_resource **resources,
                                 int *n, mo_error *err);

#endif
