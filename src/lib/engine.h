/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - the engine of executors: a plan with the pipeline of requests
 * (exec/runtime/pipeline) that a thread of its own runs until it is freed.
 *
 *     submit -> queue -> next -> slots of the devices -> sink -> wait
 *
 * A request runs a phase of the plan: one of the shapes that it was placed for.
 * It is a node of a list from its submission to its wait. The pipeline numbers
 * requests in the order in which it takes them from the queue.
 */
#ifndef MO_LIB_ENGINE_H
#define MO_LIB_ENGINE_H

#include "lib/run_setup.h"

typedef struct mo_lib_engine mo_lib_engine;

/* Plans and prepares a placement, and starts the thread. The caller releases
 * *opened. Fails with MO_E_SUPPORT for a workload with states. */
mo_status mo_lib_engine_open(const moirai_placement *placement,
                             const mo_exec_options *options,
                             mo_lib_engine **opened, mo_error *err);

/* Count and drop a reference; the last drop waits for all requests and frees
 * the engine. NULL is dropped without effect. */
void mo_lib_engine_retain(mo_lib_engine *e);
void mo_lib_engine_release(mo_lib_engine *e);

/* Return its job, its number of phases, the first input or output of a phase,
 * of the phase behind the last their number, and what output i of the plan is
 * returned as. */
const mo_lib_run *mo_lib_engine_run(const mo_lib_engine *e);
int mo_lib_engine_n_phases(const mo_lib_engine *e);
int mo_lib_engine_first_input(const mo_lib_engine *e, int phase);
int mo_lib_engine_first_output(const mo_lib_engine *e, int phase);
const mo_tensor_desc *mo_lib_engine_output(const mo_lib_engine *e, int i);

/* Submits a request of a phase, with its inputs and outputs, and waits for one;
 * from any thread, see moirai_executor_submit(). */
mo_status mo_lib_engine_submit(mo_lib_engine *e, int phase,
                               const void *const *inputs, void *const *outputs,
                               int64_t *ticket, mo_error *err);
mo_status mo_lib_engine_wait(mo_lib_engine *e, int64_t ticket, mo_error *err);

#endif
