/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generate.h - generation of text by a workload of two phases: the first takes
 * the prompt, the second one token again and again. A longer prompt goes
 * through the first phase in several runs, if that attends to what is in the
 * states.  Tokens that do not fill one more go through it a second time, if the
 * states are written by position, or through the second phase, one by one.
 *
 * The inputs of a phase, beside states, are the ids of tokens [batch, n] and,
 * with one element, the number of tokens before them. Its output is the logits
 * of the next token, [batch, vocabulary] or [batch, n, vocabulary]; of the
 * latter the last row counts.
 *
 * A request of the pipeline is a step, one in flight: its source feeds back
 * what the sink has chosen. Nothing is allocated between two tokens.
 */
#ifndef MO_DRIVER_EXEC_GENERATE_H
#define MO_DRIVER_EXEC_GENERATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "driver/exec/exec_job.h"
#include "driver/exec/exec_options.h"
#include "driver/exec/sampler.h"
#include "exec/plan/ir/plan.h"
#include "exec/tensor/dense_tensor.h"

/* Called with the ids of a step, one for each sequence. */
typedef mo_status mo_generate_on_ids(void *context, const int64_t *ids,
                                     int64_t batch, mo_error *err);

/* The ports of a phase, as numbers in the plan. */
typedef struct mo_generate_ports {
    int ids, position, logits;
    int64_t tokens; /* that a run takes */
} mo_generate_ports;

typedef struct mo_generate_run {
    const mo_exec_plan *plan;
    uint64_t weights; /* of mo_exec_job_weights(), if states are files */
    mo_generate_ports phases[2];
    int64_t batch, vocabulary;
    int64_t capacity;  /* tokens in the states; INT64_MAX: unknown */
    int64_t n_past;    /* tokens in the states before the first request */
    int64_t n_prompt;  /* tokens of each sequence before those to be made */
    int64_t n_filling; /* runs of the first phase */
    int64_t n_filled;  /* tokens of the prompt that those take */
    int64_t n_before;  /* requests before the one that makes the first token */
    int64_t n, n_wanted; /* tokens: made, at most */
    int64_t *ids;        /* [n_wanted][batch] */
    int64_t *times_ns;   /* by token: its end; one more, first: the begin */
    /* Of the caller: the ids of the prompt, in place of a file; NULL: none. */
    const int64_t *given;
    size_t n_given;
    mo_tensor_dense prompt;                  /* i64 [batch, n_prompt] */
    mo_tensor_dense inputs[2], positions[2]; /* by phase */
    mo_sampler *sampler;
    int64_t *stop_ids;
    size_t n_stop_ids;
    bool *is_over; /* by sequence */
    int64_t n_over;
    mo_generate_on_ids *on_ids; /* or NULL */
    void *context;              /* of on_ids */
    mo_error failure;           /* of a step */
    int lock;                   /* on --save-states; 0 or -1: none */
} mo_generate_run;

/* generate_prompt.c */

/* Sets prompt, n_prompt and n_past: what is given, read or drawn, behind the
 * ids that --load-states has. */
mo_status mo_generate_make_prompt(const mo_exec_options *o, mo_generate_run *g,
                                  mo_error *err);

/* Makes the folder of --save-states. With lock, at rank 0, fails where one was
 * saved before, or is by another process until the caller closes *lock; -1:
 * there are no locks. */
mo_status mo_generate_make_folder(const char *folder, int *lock, mo_error *err);

/* Fails with MO_E_INPUT if the states of --load-states are of other weights. */
mo_status mo_generate_check_model(const char *folder, uint64_t weights,
                                  mo_error *err);

/* With --save-states, after the run: writes a number of the weights beside the
 * states of this rank and, at rank 0, the ids of prompt and answer. */
mo_status mo_generate_save(const mo_exec_options *o, const mo_generate_run *g,
                           mo_error *err);

/* generate_options.c */

/* Fails with MO_E_USAGE if the options of generation contradict others. */
mo_status mo_generate_check_options(const mo_exec_options *o, mo_error *err);

/* Fails with MO_E_USAGE if the options of sampling contradict each other. */
mo_status mo_generate_check_sampling(const mo_exec_options *o, mo_error *err);

/* Finds the ports of the job's plan, reads the prompt, or makes a random one of
 * the length that the first phase takes, and allocates everything; makes the
 * folder of --save-states and checks that of --load-states. Without speaks, at
 * other ranks, there is no prompt. *g begins as zeros but for given, n_given,
 * on_ids and context; the caller clears it. */
mo_status mo_generate_open(const mo_exec_options *o, const mo_exec_job *job,
                           bool speaks, mo_generate_run *g, mo_error *err);
void mo_generate_clear(mo_generate_run *g);

/* Returns the number of requests to the pipeline, if no sequence ends. */
int64_t mo_generate_n_requests(const mo_generate_run *g);

/* Returns the predicted time to the first token. */
int64_t mo_generate_predicted_first_ns(const mo_generate_run *g);

/* mo_pipeline_next, _sink and the phase of a request; context: the generation.
 */
mo_status mo_generate_next(void *context, int64_t request,
                           const atomic_bool *stopped, mo_tensor_dense *inputs,
                           bool *end, mo_error *err);
int mo_generate_phase(void *context, int64_t request);
mo_status mo_generate_take(void *context, int64_t request,
                           const mo_tensor_dense *outputs,
                           const mo_error *failure, mo_error *err);

#endif
