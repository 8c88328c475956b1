/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_files.h - inputs and outputs of a stream of requests as files, or as
 * arrays of standard input and output (--inputs -, --output -).
 *
 * Request 3 has its inputs in the folder DIR/0003 of --inputs DIR, as NAME.npy
 * or input0.npy, input1.npy, ...; what is not there is in DIR itself, the same
 * for all requests, or given by --input. Those are read once. Without --inputs,
 * an input without a file is random, of the seed --seed + 3. Outputs go to
 * DIR/0003/output0.npy,
 * ... of --output DIR.
 *
 * With a plan for several shapes a request runs the phase of its arrays.
 */
#ifndef MO_DRIVER_EXEC_REQUEST_FILES_H
#define MO_DRIVER_EXEC_REQUEST_FILES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "driver/exec/device_units.h"
#include "driver/exec/exec_job.h"
#include "driver/exec/exec_options.h"
#include "driver/exec/request_signals.h"
#include "exec/plan/ir/plan.h"
#include "exec/tensor/dense_tensor.h"
#include "exec/runtime/pipeline/pipeline.h"
#include "exec/transport/transport.h"
#include "graph/graph.h"
#include "report/throughput.h"

/* request_stream.c: requests from standard input and outputs to standard
 * output: .npy arrays one after the other, without anything in between, those
 * of a request in the order of the network's inputs or outputs. */
typedef struct mo_exec_stream {
    int fd;                      /* zeroed: standard input */
    bool is_over;                /* at its end, or nothing behind can be read */
    const atomic_int *interrupt; /* or NULL; not 0: nothing more is read */
} mo_exec_stream;

/* Whether reading ends before the stream does. */
bool mo_exec_stream_is_stopped(const mo_exec_stream *s,
                               const atomic_bool *stopped);

/* Waits until something can be read, or the end of the stream, and returns
 * true, or false at a time of mo_stop_clock_ns(). */
bool mo_exec_stream_is_ready(const mo_exec_stream *s, int64_t deadline_ns,
                             const atomic_bool *stopped);

/* Returns the input that takes an array of that type and shape, or NULL, and
 * why there is none. */
typedef const mo_plan_input *
mo_exec_stream_fit(void *context, const mo_tensor_desc *desc, mo_error *err);

/* Reads the next array; one that does not fit is skipped. *end, without an
 * error: there is none, or reading was stopped, perhaps within it. Any other
 * error is the end of the stream. The caller clears *value. */
mo_status mo_exec_stream_read(mo_exec_stream *s, mo_exec_stream_fit *fit,
                              void *context, const atomic_bool *stopped,
                              mo_tensor_dense *value, bool *end, mo_error *err);

/* Writes the outputs of a request to standard output at once; NULL: n arrays of
 * shape (0,), in place of those of a failed one. */
mo_status mo_exec_stream_write(const mo_tensor_dense *outputs, int n,
                               mo_error *err);

enum { MO_EXEC_REQUEST_PHASES = 4 * MO_PIPELINE_MAX_SLOTS };

typedef struct mo_exec_requests {
    const mo_exec_options *options;
    const mo_graph *graph;
    const mo_exec_plan *whole; /* the plan */
    const mo_exec_plan *plan;  /* that of its first phase, or itself */
    /* By request, modulo their number, which is more than the pipeline holds:
     * the phase; by the lock. */
    int phase_of[MO_EXEC_REQUEST_PHASES];
    const char **given;      /* by input: its file by --input, or NULL */
    mo_tensor_dense *common; /* by input: the same for all requests, or empty */
    int64_t n;               /* how many there are; of a stream, at most */
    mo_exec_stream stream;   /* of --inputs - */
    mo_exec_signals *signals;
    int folder; /* of outputs, locked; -1: none */
    pthread_mutex_t lock;
    bool has_begun; /* outputs of an earlier run are removed; by the lock */
    mo_report_throughput_failure *failed; /* with owned texts */
    size_t n_failed, room;
    int64_t intake_ns, output_ns; /* first intake and delivery since they were
                                     set to 0 */
    int64_t n_not_finite, first_not_finite; /* requests with such outputs */
    int64_t n_written;                      /* requests */
    mo_progress step;                       /* of the stream, by the caller */
} mo_exec_requests;

/* Returns whether the options ask for a stream of requests. */
bool mo_exec_requests_wanted(const mo_exec_options *o);

/* Fails with MO_E_USAGE if the options for requests contradict others. */
mo_status mo_exec_requests_check_options(const mo_exec_options *o,
                                         mo_error *err);

/* Returns whether inputs are read from standard input, and whether outputs are
 * written to standard output. */
bool mo_exec_requests_from_stdin(const mo_exec_options *o);
bool mo_exec_requests_to_stdout(const mo_exec_options *o);

/* Sets o->in_flight where it is not given, and that of all copies of a
 * replicated solution, the same on all ranks: one more than
 * the modulo schedule of the placement has, for what the intake takes, but at
 * most the limit of the solution; of a bare graph two. Without such a limit,
 * with one GPU at least 8, with several 16, and with GPUs 16 at most. Fewer
 * where memory demands it: values, weights as they are packed and workspaces of
 * CPU devices, values and weights of others. Logs if the placement was made for
 * another number. The plan must exist; units are those of all ranks.
 * Collective. */
mo_status mo_exec_requests_choose_in_flight(
    mo_exec_options *o, const mo_exec_units *units, const mo_exec_job *job,
    const mo_transport *transport, mo_transport_world *world, mo_error *err);

/* Fails if the values of so many requests, or as many for each copy as it has
 * slots, with all else, exceed the memory of a device or of this process, as
 * mo_plan_check_capacity() and mo_exec_units_check_memory() do for one. */
mo_status mo_exec_requests_check_memory(const mo_exec_job *job,
                                        const mo_exec_units *units, int rank,
                                        int in_flight, int64_t limit,
                                        mo_error *err);

/* request_shapes.c: the phase of a request, of a plan with several shapes. */

/* What is known of the inputs of a request. */
typedef struct mo_exec_request_shapes {
    const mo_exec_requests *requests;
    mo_tensor_desc *descs; /* by input; rank -1: not known */
    int input;             /* whose array is read next */
} mo_exec_request_shapes;

/* Returns the plan of a phase. */
const mo_exec_plan *mo_exec_requests_part(const mo_exec_requests *requests,
                                          int phase);

/* Begins with inputs of which nothing is known; the caller clears it. */
mo_status mo_exec_request_shapes_init(const mo_exec_requests *requests,
                                      mo_exec_request_shapes *shapes,
                                      mo_error *err);
void mo_exec_request_shapes_clear(mo_exec_request_shapes *shapes);

/* mo_exec_stream_fit; context: mo_exec_request_shapes. Notes the array. */
const mo_plan_input *mo_exec_request_shapes_add(void *context,
                                                const mo_tensor_desc *desc,
                                                mo_error *err);

/* Reads the array of the current input of a request from a file, as
 * mo_exec_input_make(), and notes it. */
mo_status mo_exec_request_shapes_read(mo_exec_request_shapes *shapes,
                                      int64_t request, const char *file,
                                      mo_tensor_dense *value, mo_error *err);

/* Returns the first phase whose inputs are those that are known, or -1. */
int mo_exec_request_shapes_phase(const mo_exec_request_shapes *shapes);

/* Keeps the phase of a request, and returns it; phase of mo_pipeline_options.
 */
void mo_exec_requests_set_phase(mo_exec_requests *requests, int64_t request,
                                int phase);
int mo_exec_requests_phase(void *context, int64_t request);

/* At rank 0: counts the requests and makes the folder of outputs, which must
 * have no outputs of an earlier run but those of these requests, and in which
 * no other process writes. graph, plan and signals are borrowed. *requests
 * begins as zeros; the caller clears it. */
mo_status mo_exec_requests_open(const mo_exec_options *o, const mo_graph *graph,
                                const mo_exec_plan *plan,
                                mo_exec_signals *signals,
                                mo_exec_requests *requests, mo_error *err);

/* Another plan of the same network takes over. */
void mo_exec_requests_replan(mo_exec_requests *requests,
                             const mo_exec_plan *plan);
void mo_exec_requests_clear(mo_exec_requests *requests);

/* mo_pipeline_source, _next and _sink; context: mo_exec_requests. Failed
 * requests are logged and listed. */
mo_status mo_exec_requests_read(void *context, int64_t request,
                                mo_tensor_dense *inputs, mo_error *err);
mo_status mo_exec_requests_next(void *context, int64_t request,
                                const atomic_bool *stopped,
                                mo_tensor_dense *inputs, bool *end,
                                mo_error *err);
mo_status mo_exec_requests_write(void *context, int64_t request,
                                 const mo_tensor_dense *outputs,
                                 const mo_error *failure, mo_error *err);

/* The same with the outputs of its phase alone. */
mo_status mo_exec_requests_deliver(mo_exec_requests *requests, int64_t request,
                                   const mo_tensor_dense *outputs,
                                   const mo_error *failure, mo_error *err);

#endif
