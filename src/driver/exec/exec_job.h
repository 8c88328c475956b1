/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_job.h - from what moirai-exec is given to the plan it runs.
 */
#ifndef MO_DRIVER_EXEC_EXEC_JOB_H
#define MO_DRIVER_EXEC_EXEC_JOB_H

#include <stdbool.h>

#include "base/error.h"
#include "driver/exec/exec_options.h"
#include "driver/exec/device_units.h"
#include "driver/review.h"
#include "exec/weights/constants.h"
#include "exec/plan/ir/plan.h"
#include "schedule/schedule.h"

typedef struct mo_exec_job {
    mo_review review;
    bool alone;   /* a bare graph: all of it on one device */
    bool valid;   /* the judge had nothing against it */
    char *folder; /* of the graph, where its weights are */
    mo_weights_store *constants;
    mo_exec_plan *plan; /* verified */
} mo_exec_job;

/* Begins as zeros, and is the caller's to clear whatever the result. */
void mo_exec_job_clear(mo_exec_job *job);

/* Finds out what path is, reads it and has it judged. */
mo_status mo_exec_job_load(const mo_exec_options *o, const char *path,
                           mo_exec_job *job, mo_error *err);

/* Makes the plan of a valid job for units; speaks: ops that cannot be run are
 * told. */
mo_status mo_exec_job_plan(const mo_exec_options *o, const mo_exec_units *units,
                           bool speaks, mo_exec_job *job, mo_error *err);

/* A digest of all that ranks must have alike besides the plan: the graph with
 * its weights, and what is made up.  The plan is there. */
mo_status mo_exec_job_digest(const mo_exec_options *o, const mo_exec_job *job,
                             uint64_t *digest, mo_error *err);

/* Another plan of the same placement, for other units. */
mo_status mo_exec_job_replan(const mo_exec_options *o, const mo_exec_job *job,
                             const mo_exec_units *units, mo_exec_plan **plan,
                             mo_error *err);

/* Another one with everything on one device, for comparison: on CPU threads,
 * and f32 as the network has it. */
mo_status mo_exec_job_plan_single_device(const mo_exec_options *o,
                                         const mo_exec_job *job, int device,
                                         mo_exec_plan **plan, mo_error *err);

#endif
