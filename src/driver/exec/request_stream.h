/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_stream.h - requests from standard input and outputs to standard
 * output: .npy arrays one after the other, without anything in between, those
 * of a request in the order of the network's inputs or outputs.
 */
#ifndef MO_DRIVER_EXEC_REQUEST_STREAM_H
#define MO_DRIVER_EXEC_REQUEST_STREAM_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"
#include "exec/tensor/dense_tensor.h"

typedef struct mo_exec_stream {
    int fd;                      /* zeroed: standard input */
    bool is_over;                /* at its end, or nothing behind can be read */
    const atomic_int *interrupt; /* or NULL; not 0: nothing more is read */
} mo_exec_stream;

/* Whether reading ends before the stream does. */
bool mo_exec_stream_is_stopped(const mo_exec_stream *s,
                               const atomic_bool *stopped);

/* Reads the next array, which must fit the input; one of another type or shape
 * is skipped. *end, without an error: there is none, or reading was stopped,
 * perhaps within it. Any other error is the end of the stream. The caller
 * clears *value. */
mo_status mo_exec_stream_read(mo_exec_stream *s, const mo_plan_input *input,
                              const atomic_bool *stopped,
                              mo_tensor_dense *value, bool *end, mo_error *err);

/* Writes the outputs of a request to standard output at once; NULL: n arrays of
 * shape (0,), in place of those of a failed one. */
mo_status mo_exec_stream_write(const mo_tensor_dense *outputs, int n,
                               mo_error *err);

#endif
