/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_run_internal.h - the phases of preparing and running a device, in
 * order.
 */
#ifndef MO_EXEC_RUNTIME_DEVICE_DEVICE_RUN_INTERNAL_H
#define MO_EXEC_RUNTIME_DEVICE_DEVICE_RUN_INTERNAL_H

#include "exec/runtime/device/device_run.h"

/* Allocates and counts memory of the unit; *memory is NULL for no bytes where
 * it is separate. The error names the device. */
mo_status mo_run_alloc_device_memory(mo_run_device *d, int64_t bytes,
                                     void **memory, mo_error *err);

/* Calls options->on_progress with the time since the last phase. */
void mo_run_report_progress(mo_run_device *d, const char *what);

/* Finds or copies every constant in host memory, in its layout and aligned to
 * its type. */
mo_status mo_run_bind_constants(mo_run_device *d, mo_error *err);

/* Returns whether the constant of value v is unaligned, and copied when a
 * kernel that reads it is prepared. */
bool mo_run_is_copied_late(const mo_run_device *d, int v);

/* The constants that kernels still read, once all are prepared, and their total
 * size, each once; with separate memory they get offsets in d->weights and are
 * uploaded. */
typedef struct mo_run_weight {
    int value;
    const void *data;
    int64_t bytes, offset;
} mo_run_weight;

typedef struct mo_run_weights {
    mo_run_weight *items; /* in the device's arena, by data */
    int n;
    int64_t bytes;      /* aligned */
    int64_t data_bytes; /* as they are */
} mo_run_weights;

mo_status mo_run_collect_weights(mo_run_device *d, mo_run_weights *weights,
                                 mo_error *err);
mo_status mo_run_upload_weights(mo_run_device *d, const mo_run_weights *weights,
                                mo_error *err);

/* Creates the actions and prepares their kernels, including autotuning. */
mo_status mo_run_prepare_kernels(mo_run_device *d, mo_error *err);

/* The largest workspace of each stream's calls. */
void mo_run_workspace_bytes(const mo_run_device *d,
                            int64_t bytes[MO_PLAN_MAX_STREAMS]);

/* After values have their addresses: sets the pointers of operands and
 * transfers. */
void mo_run_bind_operands(mo_run_device *d);

/* Converts an input to the type and layout of its value: *bytes is the input
 * itself or one of the buffers, which are allocated where they are NULL and
 * needed; the caller frees them. */
enum { MO_RUN_N_CONVERTED = 2 };
mo_status mo_run_convert_input(const mo_plan_value *value,
                               const mo_tensor_dense *input,
                               void *buffers[MO_RUN_N_CONVERTED],
                               const void **bytes, mo_error *err);

/* I/O binding: converts the inputs to the type and layout of their values. */
mo_status mo_run_bind_inputs(mo_run_device *d, mo_error *err);

/* Loads inputs before every run: other values may have overwritten them in the
 * last. */
mo_status mo_run_load_inputs(mo_run_device *d, mo_error *err);

/* Separate memory: downloads the outputs that the device has. */
mo_status mo_run_fetch_outputs(mo_run_device *d, mo_error *err);

/* Allocates host memory for each end of a transfer, reused when its live range
 * ends. */
mo_status mo_run_alloc_staging(mo_run_device *d, mo_error *err);

/* Prefixes an error of a call with "op 'x' (Foo): ", which kernels do not
 * know. */
void mo_run_error_add_op_name(const mo_run_device *d, int call, mo_error *err);

#endif
