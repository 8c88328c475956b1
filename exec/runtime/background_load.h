/* SPDX-License-Identifier: Apache-2.0 */
/*
 * background_load.h - background load: keeps a device busy while others are
 * measured.
 */
#ifndef MO_EXEC_RUNTIME_BACKGROUND_LOAD_H
#define MO_EXEC_RUNTIME_BACKGROUND_LOAD_H

#include "base/error.h"
#include "base/stop.h"
#include "exec/plan/ir/plan.h"
#include "exec/runtime/run.h"

/* Called once, from the thread that runs the load, when it has started. */
typedef void mo_run_background_started(void *context);

/*
 * Runs a plan of one device with separate memory again and again, as one
 * program, until `enough` stops it. Of options only the first backend and unit
 * and the inputs are used. Blocks the calling thread.
 */
mo_status mo_run_background_load(const mo_exec_plan *plan,
                                 const mo_run_plan_options *options,
                                 const mo_stop *enough,
                                 mo_run_background_started *begun,
                                 void *context, mo_error *err);

#endif
