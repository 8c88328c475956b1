/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_outputs.h - comparison of outputs with reference files or with a run
 * on one device.
 */
#ifndef MO_DRIVER_EXEC_COMPARE_OUTPUTS_H
#define MO_DRIVER_EXEC_COMPARE_OUTPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "driver/exec/exec_options.h"
#include "driver/exec/input_tensors.h"
#include "driver/exec/exec_job.h"
#include "driver/exec/device_units.h"
#include "exec/runtime/run.h"

typedef struct mo_exec_comparison {
    double *errors;   /* by output, the largest; NAN: not compared */
    double max_error; /* NAN: nothing was compared */
    int worst;        /* the output with the largest error */
    int64_t at;       /* its element */
    double is, wanted;
    bool same_shape;
    const char *with; /* the reference */
} mo_exec_comparison;

/* The caller clears what the functions below fill, also after a failure. */
void mo_exec_comparison_clear(mo_exec_comparison *comparison);

/* Compares with output0.npy, output1.npy, ... of a folder, which is borrowed.
 */
mo_status mo_exec_compare_files(const char *folder, const mo_exec_plan *plan,
                                const mo_run_result *result,
                                mo_exec_comparison *comparison, mo_error *err);

/* Compares with a run of all ops on one device, in this process; all inputs
 * must be present. */
mo_status mo_exec_compare_single_device(
    const mo_exec_options *o, const mo_exec_job *job,
    const mo_exec_units *units, const mo_exec_inputs *inputs,
    const mo_run_result *result, mo_exec_comparison *comparison, mo_error *err);

/* Reports on stderr the output with an error above the tolerance; returns
 * false if there is none. */
bool mo_exec_comparison_log_mismatch(const mo_exec_options *o,
                                     const mo_exec_plan *plan,
                                     const mo_exec_comparison *comparison);

#endif
