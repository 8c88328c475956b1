/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_replay.h - requests of standard input that can run again: each is
 * kept until its outputs are delivered.
 *
 * A thread reads, one request ahead of what was taken at most: a run that ends
 * within an array does not cut the stream.
 */
#ifndef MO_DRIVER_EXEC_REQUEST_REPLAY_H
#define MO_DRIVER_EXEC_REQUEST_REPLAY_H

#include "base/error.h"
#include "driver/exec/request_files.h"

typedef struct mo_exec_replay mo_exec_replay;

/* requests outlive *replay, which the caller frees. */
mo_status mo_exec_replay_new(mo_exec_requests *requests,
                             mo_exec_replay **replay, mo_error *err);
/* Accepts NULL. */
void mo_exec_replay_free(mo_exec_replay *replay);

/* mo_pipeline_next; also of a request again that is not delivered. */
mo_status mo_exec_replay_next(void *replay, int64_t request,
                              const atomic_bool *stopped,
                              mo_tensor_dense *inputs, bool *end,
                              mo_error *err);

/* mo_pipeline_sink */
mo_status mo_exec_replay_write(void *replay, int64_t request,
                               const mo_tensor_dense *outputs,
                               const mo_error *failure, mo_error *err);

#endif
