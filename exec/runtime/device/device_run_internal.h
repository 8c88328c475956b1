/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_parts.h - the inside of run_device.h: what a device is made ready with,
 * in this order, and what it does in a run.
 */
#ifndef MO_EXEC_RUNTIME_DEVICE_DEVICE_RUN_INTERNAL_H
#define MO_EXEC_RUNTIME_DEVICE_DEVICE_RUN_INTERNAL_H

#include "exec/runtime/device/device_run.h"

/* Memory of the unit, counted; NULL for no bytes at all where it is apart.  The
 * error names the device. */
mo_status mo_run_alloc_device_memory(mo_run_device *d, int64_t bytes,
                                     void **memory, mo_error *err);

/* Who hears of it is told that this is done, and how long it took. */
void mo_run_report_progress(mo_run_device *d, const char *what);

/* ---- constants: run_constants.c */

/* Where each is in the process, as its value lies and aligned to its type. */
mo_status mo_run_bind_constants(mo_run_device *d, mo_error *err);

/* Where memory is apart: which of them kernels still read, once all are
 * settled.  How many bytes they need, each once; then, in d->weights, they are
 * placed and put. */
typedef struct mo_run_weight {
    int value;
    const void *data;
    int64_t bytes, offset;
} mo_run_weight;

typedef struct mo_run_weights {
    mo_run_weight *items; /* in the device's arena, by data */
    int n;
    int64_t bytes;
} mo_run_weights;

mo_status mo_run_collect_weights(mo_run_device *d, mo_run_weights *weights,
                                 mo_error *err);
mo_status mo_run_upload_weights(mo_run_device *d, const mo_run_weights *weights,
                                mo_error *err);

/* ---- calls: run_calls.c */

/* The actions, and their kernels, as fast as they get. */
mo_status mo_run_prepare_kernels(mo_run_device *d, mo_error *err);

/* The largest workspace of each lane's calls. */
void mo_run_workspace_bytes(const mo_run_device *d,
                            int64_t bytes[MO_PLAN_MAX_STREAMS]);

/* Values have their places: operands and transfers point to them. */
void mo_run_bind_operands(mo_run_device *d);

/* ---- inputs and outputs: run_border.c */

mo_status mo_run_bind_inputs(mo_run_device *d, mo_error *err);

/* Other values may have taken an input's place in the last run: each run gets
 * them anew. */
mo_status mo_run_load_inputs(const mo_run_device *d, mo_error *err);

/* Where memory is apart: copies of the outputs that the device has. */
mo_status mo_run_fetch_outputs(mo_run_device *d, mo_error *err);

/* ---- where memory is apart: run_staging.c, run_programs.c, run_times.c */

/* Memory of the process for each end of a transfer, as long as it is under
 * way. */
mo_status mo_run_alloc_staging(mo_run_device *d, mo_error *err);

mo_status mo_run_partition_programs(mo_run_device *d, mo_error *err);
mo_status mo_run_record_programs(mo_run_device *d, mo_error *err);
void mo_run_free_programs(mo_run_device *d);

/* How long calls take by themselves, when all runs are done; the steps of every
 * run are laid out by that. */
mo_status mo_run_step_times(mo_run_device *d, mo_error *err);

/* How often something is timed, the same on all ranks. */
int mo_run_timing_repeats(const mo_run_device *d);

/* The first half of it: d->by_itself. */
mo_status mo_run_time_calls(mo_run_device *d, mo_error *err);

/* Of some calls of its unit, or of what it carries; medians of several looks.
 */
mo_status mo_run_median_call_times(mo_run_device *d,
                                   const mo_backend_program_call *calls, int n,
                                   int64_t *medians, mo_error *err);

/* ---- steps: run_work.c */

/* Does one, or begins it where memory is apart. */
mo_status mo_run_execute_step(const mo_run_device *d, const mo_run_action *a,
                              mo_error *err);

/* "op 'x' (Foo): " before what went wrong with a call.  A kernel knows numbers
 * only. */
void mo_run_error_add_op_name(const mo_run_device *d, int call, mo_error *err);

#endif
