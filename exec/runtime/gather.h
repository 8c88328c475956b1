/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather.h - gather of timestamps and outputs of all ranks at rank 0, and
 * their aggregation.
 */
#ifndef MO_EXEC_RUNTIME_GATHER_H
#define MO_EXEC_RUNTIME_GATHER_H

#include "base/error.h"
#include "exec/runtime/device/device_run.h"
#include "exec/runtime/run.h"

/* Timestamps of a device's timed runs on the clock of rank 0; one row of
 * mo_run_timestamp_count for each. NULL timestamps: of another rank, unknown
 * here. */
typedef struct mo_run_device_record {
    const int64_t *timestamps;
    const int64_t *isolated_ns; /* by action, or NULL: see mo_run_device */
    int64_t
        *foreign; /* owned buffer of timestamps received from another rank */
    const int64_t *wait_ns; /* by timed run, as in mo_run_device */
    int n_actions;
    int64_t workspace_bytes, allocated_bytes;
} mo_run_device_record;

/* Collective. devices: the n_here devices of this rank, which must outlive
 * records. Fills records, by device of the plan, and outputs; result->n_runs
 * is set. The caller frees records with mo_run_device_records_clear(). */
mo_status mo_run_gather_results(mo_run_device *devices, int n_here,
                                mo_run_device_record *records,
                                mo_run_result *result, mo_error *err);

/* Makes output i of the network from the bytes of its value, which are not
 * used for a constant. The caller clears *output. */
mo_status mo_run_make_output(const mo_exec_plan *plan, int i, const void *bytes,
                             mo_tensor_dense *output, mo_error *err);

/* The same into a tensor of mo_plan_output_desc(). */
mo_status mo_run_fill_output(const mo_exec_plan *plan, int i, const void *bytes,
                             mo_tensor_dense *output, mo_error *err);

/* What another rank sends of a device, before its times. */
typedef struct mo_run_record_header {
    int64_t workspace_bytes, allocated_bytes;
    int64_t timed; /* 1: isolated times of calls follow; else 0 */
} mo_run_record_header;

/* Decoders of messages (transport/rendezvous/decode.h): a header, and n times
 * in nanoseconds. Sums of durations do not overflow, nor do differences of
 * timestamps, which may be negative. */
mo_status mo_run_decode_record(const mo_run_record_header *header,
                               mo_error *err);
mo_status mo_run_decode_timestamps(const int64_t *times, size_t n,
                                   mo_error *err);
mo_status mo_run_decode_durations(const int64_t *times, size_t n,
                                  mo_error *err);

/* Frees the buffers that records own; NULL timestamps are skipped. */
void mo_run_device_records_clear(mo_run_device_record *records, int n_devices);

/* At rank 0, where values were sent between ranks: each rank has computed the
 * times of its steps without knowing when other ranks began. Adjusts the steps
 * of result so that devices wait for each other. */
mo_status mo_run_align_timeline(const mo_exec_plan *plan,
                                const mo_run_device_record *records,
                                mo_run_result *result, mo_error *err);

/* Computes makespans, medians and step times as far as wanted->trace and
 * wanted->whole require. */
mo_status mo_run_aggregate(const mo_exec_plan *plan,
                           const mo_run_device_record *records,
                           const mo_run_plan_options *wanted,
                           mo_run_result *result, mo_error *err);

#endif
