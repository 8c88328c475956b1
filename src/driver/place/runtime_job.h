/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_job.h - a language model that is placed for a runtime, and the splits
 * that its report compares: the rows.
 */
#ifndef MO_DRIVER_PLACE_RUNTIME_JOB_H
#define MO_DRIVER_PLACE_RUNTIME_JOB_H

#include "driver/load_instance.h"
#include "driver/place/place_lengths.h"
#include "driver/place/place_runtime.h"
#include "report/runtime/handover.h"

enum {
    MO_RUNTIME_PHASES = 2,
    MO_RUNTIME_MAX_ROWS = 2 * MO_CHAIN_MAX_DEVICES + 64
};

/* A model and the lengths of its phases. */
typedef struct mo_runtime_job {
    const mo_place_runtime_options *o;
    const mo_runtime *runtime;
    const mo_prepare_options *prepare;
    const char *path;
    const mo_driver_log *logger;
    mo_place_lengths lengths;
    int draft_layers;
    mo_graph *workload;
    mo_graph
        *graphs[MO_RUNTIME_PHASES]; /* of it: of the prompt, and of a token */
    mo_driver_devices devices;
    mo_handover_row rows[MO_RUNTIME_MAX_ROWS];
    char *reasons[MO_RUNTIME_MAX_ROWS]; /* texts of rows */
    int n_rows;
} mo_runtime_job;

/* Makes the chain on a cluster; the caller frees it. */
mo_status mo_runtime_job_chain(const mo_runtime_job *j, mo_cluster *cluster,
                               mo_chain **chain, mo_error *err);

/* Adds the rows: the split without settings, each device alone, devices left
 * out and devices added.  own is the split of the chain, or NULL where none
 * fits. */
mo_status mo_runtime_job_add_rows(mo_runtime_job *j, const mo_chain *chain,
                                  const mo_split *own, mo_error *err);

#endif
