/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_gather.h - what the devices of all ranks measured and made, brought
 * together at rank 0, and what it amounts to.
 */
#ifndef MO_EXEC_RUNTIME_GATHER_H
#define MO_EXEC_RUNTIME_GATHER_H

#include "base/error.h"
#include "exec/runtime/device/device_run.h"
#include "exec/runtime/run.h"

/* The moments of a device's timed runs on the clock of rank 0; one row of
 * mo_run_timestamp_count for each.  NULL stamps: of another rank, and not known
 * here.
 */
typedef struct mo_run_device_record {
    const int64_t *stamps;
    const int64_t *by_itself; /* by action, or NULL: run_device.h */
    int64_t *foreign; /* where they are owned: as they came from their rank */
    int n_actions;
    int64_t workspace_bytes, allocated_bytes;
} mo_run_device_record;

/* devices: n_here of them, those of this rank, which must outlive records.
 * Fills records, by device of the plan, and outputs; result->n_runs is known.
 */
mo_status mo_run_gather_results(mo_run_device *devices, int n_here,
                                mo_run_device_record *records,
                                mo_run_result *result, mo_error *err);

void mo_run_device_records_clear(mo_run_device_record *records, int n_devices);

/* At rank 0, where values were carried between ranks: each rank has laid out
 * the steps of its devices without knowing when others began.  The steps of
 * result become those of devices that wait for each other. */
mo_status mo_run_align_timeline(const mo_exec_plan *plan,
                                const mo_run_device_record *records,
                                mo_run_result *result, mo_error *err);

/* Makespans, medians, steps: all that is wanted and follows from the records.
 */
mo_status mo_run_aggregate(const mo_exec_plan *plan,
                           const mo_run_device_record *records,
                           const mo_run_plan_options *wanted,
                           mo_run_result *result, mo_error *err);

#endif
