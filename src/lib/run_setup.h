/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_setup.h - a placement of the library as a job of execution: what
 * executors and generators have in common.
 */
#ifndef MO_LIB_RUN_SETUP_H
#define MO_LIB_RUN_SETUP_H

#include "driver/exec/device_units.h"
#include "driver/exec/exec_job.h"
#include "exec/runtime/pipeline/pipeline.h"
#include "lib/handles.h"

typedef struct mo_lib_run {
    moirai_placement *placement; /* retained */
    mo_arena *arena;             /* texts of the options */
    mo_exec_options options;
    mo_exec_job job; /* its review, except the phases, is borrowed from the
                        placement */
    mo_exec_units units;
} mo_lib_run;

/* Copies the options and makes the plan; generate: the number of tokens of a
 * workload, or 0: its phases are shapes of inputs. *run begins as zeros; the caller clears it, also after a
 * failure. */
mo_status mo_lib_run_open(const moirai_placement *placement,
                          const mo_exec_options *options, int64_t generate,
                          mo_lib_run *run, mo_error *err);
void mo_lib_run_clear(mo_lib_run *run);

/* Runs the plan as a pipeline in this process, until it ends; options: all but
 * run. */
mo_status mo_lib_run_pipeline(const mo_lib_run *run,
                              mo_pipeline_options options, mo_error *err);

#endif
