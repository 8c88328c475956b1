/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_compare.h - what a run put out, held against what it should.
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
    double *errors;   /* by output, the largest so far; NAN: not compared */
    double max_error; /* NAN: nothing was compared */
    int worst;        /* the output that has it */
    int64_t at;       /* its element */
    double is, wanted;
    bool same_shape;
    const char *with; /* what the worst was compared with */
} mo_exec_comparison;

mo_status mo_exec_comparison_begin(const mo_exec_plan *plan,
                                   mo_exec_comparison *comparison,
                                   mo_error *err);
void mo_exec_comparison_clear(mo_exec_comparison *comparison);

/* With output0.npy, output1.npy, ... of a folder. */
mo_status mo_exec_compare_files(const char *folder, const mo_exec_plan *plan,
                                const mo_run_result *result,
                                mo_exec_comparison *comparison, mo_error *err);

/* With a run of everything on one device, in this process; inputs are all
 * there. */
mo_status mo_exec_compare_single_device(
    const mo_exec_options *o, const mo_exec_job *job,
    const mo_exec_units *units, const mo_exec_inputs *inputs,
    const mo_run_result *result, mo_exec_comparison *comparison, mo_error *err);

/* Says on stderr which output is further off than it may be; false: none. */
bool mo_exec_comparison_log_mismatch(const mo_exec_options *o,
                                     const mo_exec_plan *plan,
                                     const mo_exec_comparison *comparison);

#endif
