/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_job.h - the job of moirai-exec: from its operand to the plan.
 */
#ifndef MO_DRIVER_EXEC_EXEC_JOB_H
#define MO_DRIVER_EXEC_EXEC_JOB_H

#include <stdbool.h>

#include "base/error.h"
#include "driver/bundle.h"
#include "driver/exec/bundle_weights.h"
#include "driver/exec/exec_options.h"
#include "driver/exec/device_units.h"
#include "driver/review.h"
#include "exec/weights/constants.h"
#include "exec/plan/ir/plan.h"
#include "exec/plan/ir/plan_source.h"
#include "exec/runtime/pipeline/pipeline.h"
#include "ingest/llm/decoder.h"
#include "schedule/schedule.h"

typedef struct mo_exec_job {
    mo_review review;
    bool alone;                  /* a bare graph: all ops on one device */
    bool valid;                  /* the solution passed validation */
    bool by_shape;               /* a workload runs the phase of its inputs */
    char *folder;                /* of the graph and its weights */
    char *target;                /* of a language model in a file: where the
                                    file is that this name links to, or NULL */
    const char **allowed;        /* folders of weights, or NULL */
    char lengths[64];            /* of a language model, as of --value */
    const char *lengths_item;    /* points to them */
    mo_path_list hints;          /* of mo_read_options, from files of inputs */
    mo_bundle *bundle;           /* that the job came in, or NULL */
    mo_bundle_sources sources;   /* of its weights */
    mo_weights_store *constants; /* of a workload, of its first phase */
    mo_weights_store **others;   /* of its other phases, owned */
    int n_others;
    /* Of a language model that was placed by its sizes: the graphs of its
     * phases, which run (ingest/llm/decoder.h); NULL: none, the placed graph
     * does. */
    mo_graph *phases[MO_LLM_N_PHASES];
    mo_exec_plan *plan; /* verified */
    /* Of a replicated solution, whose copies are the phases of the plan; owned;
     * n_slots: the most in flight that it wants. */
    mo_pipeline_copy *copies;
    int n_copies; /* 0: it is none, or one copy was chosen */
} mo_exec_job;

/* Frees the members. A job begins as zeros and is cleared by the caller, also
 * after a failure. */
void mo_exec_job_clear(mo_exec_job *job);

/* Detects the kind of the file, reads it and validates the solution. A bundle
 * is unpacked, and gives what the options leave open. */
mo_status mo_exec_job_load(const mo_exec_options *o, const char *path,
                           mo_exec_job *job, mo_error *err);

/* Fails with MO_E_USAGE if an output would replace a file of the job. */
mo_status mo_exec_job_check_output(const mo_exec_options *o,
                                   const mo_exec_job *job, mo_error *err);

/* Builds the plan of a valid job for units; with speaks, unsupported ops are
 * listed on stderr. */
mo_status mo_exec_job_plan(const mo_exec_options *o, const mo_exec_units *units,
                           bool speaks, mo_exec_job *job, mo_error *err);

/* exec_job_llm.c: a language model in a file of its own. */

/* Sets the lengths of a model that was not placed in prepare: those of the
 * prompt and of --generate. */
mo_status mo_exec_job_take_lengths(const mo_exec_options *o,
                                   mo_prepare_options *prepare,
                                   mo_exec_job *job, mo_error *err);

/* Its graph has sizes alone: reads the graphs that run to job->phases. Does
 * nothing where the graph is no such model. */
mo_status mo_exec_job_read_phases(const mo_exec_options *o, mo_exec_job *job,
                                  mo_error *err);

/* The file has its weights, also behind a link: adds the folder that it leads
 * to, which the job owns. Caches of downloads consist of links. */
mo_status mo_exec_job_allow_target(mo_exec_job *job,
                                   mo_weights_options *weights, mo_error *err);

/* phase_plans.c: the same for a workload. The plans of its phases keep their
 * states between runs and are merged (exec/plan/build.h). */
mo_status mo_exec_job_plan_phases(const mo_plan_source *source,
                                  const mo_weights_options *weights,
                                  mo_exec_job *job, mo_error *err);

/* The same for a replicated solution: the plans of its copies are merged. */
mo_status mo_exec_job_plan_copies(const mo_plan_source *source,
                                  mo_exec_job *job, mo_error *err);

/* Fails as mo_plan_check_capacity() does for one request. The error of a
 * placement by static memory mentions --memory live unless weights, or an op
 * with one of its inputs, need more memory than there is. */
mo_status mo_exec_job_check_capacity(const mo_exec_job *job, mo_error *err);

/* Returns what --memory-limit leaves behind the constants that are held in
 * memory; 0: no limit was given. */
int64_t mo_exec_job_memory_left(const mo_exec_options *o,
                                const mo_exec_job *job);

/* Returns a number of the weights, by samples of their files. The plan must
 * exist. */
uint64_t mo_exec_job_weights(const mo_exec_options *o, const mo_exec_job *job);

/* Computes a digest of everything that ranks must share besides the plan: the
 * graph with its weights, and the seeds. The plan must exist. */
mo_status mo_exec_job_digest(const mo_exec_options *o, const mo_exec_job *job,
                             uint64_t *digest, mo_error *err);

/* Builds another plan of the same placement, for other units. */
mo_status mo_exec_job_replan(const mo_exec_options *o, const mo_exec_job *job,
                             const mo_exec_units *units, mo_exec_plan **plan,
                             mo_error *err);

/* Builds a plan of another placement, a device of x for each op; x is an
 * instance of the placed graph on any cluster, and units are its devices. */
mo_status mo_exec_job_plan_on(const mo_exec_options *o, const mo_exec_job *job,
                              const mo_instance *x, const mo_exec_units *units,
                              const int *device, mo_exec_plan **plan,
                              mo_error *err);

/* Builds a plan with all ops on one device, for comparison: on CPU threads, in
 * the network's own precision. */
mo_status mo_exec_job_plan_single_device(const mo_exec_options *o,
                                         const mo_exec_job *job, int device,
                                         mo_exec_plan **plan, mo_error *err);

/* bundle_write.c: packs the valid job, which was loaded from the file at path,
 * into the archive o->bundle (driver/bundle.h): its files and, by
 * o->bundle_weights, its weights or their digests. The bytes depend on names
 * and contents of the files alone. Every missing weight file is in the error;
 * with random weights it is left out. */
mo_status mo_bundle_write(const mo_exec_options *o, const mo_exec_job *job,
                          const char *path, mo_error *err);

#endif
