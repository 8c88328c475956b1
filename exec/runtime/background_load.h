/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy.h - a device that works on and on, so that others are measured while
 * there is something beside them.
 */
#ifndef MO_EXEC_RUNTIME_BACKGROUND_LOAD_H
#define MO_EXEC_RUNTIME_BACKGROUND_LOAD_H

#include "base/error.h"
#include "base/stop.h"
#include "exec/plan/ir/plan.h"
#include "exec/runtime/run.h"

/* Called once, from the thread that works, when it has begun. */
typedef void mo_run_background_started(void *context);

/*
 * Runs a plan of one device whose memory is apart again and again, as one
 * program, until enough is said.  Of options the first backend and unit count,
 * and the inputs.
 */
mo_status mo_run_background_load(const mo_exec_plan *plan,
                                 const mo_run_plan_options *options,
                                 const mo_stop *enough,
                                 mo_run_background_started *begun,
                                 void *context, mo_error *err);

#endif
