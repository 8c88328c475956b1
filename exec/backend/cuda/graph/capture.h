/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.h - CUDA graphs: calls of a unit captured from its streams once and
 * launched as a whole; and the times of the single calls.
 */
#ifndef MO_EXEC_BACKEND_CUDA_GRAPH_CAPTURE_H
#define MO_EXEC_BACKEND_CUDA_GRAPH_CAPTURE_H

#include "exec/backend/backend.h"
#include "exec/backend/cuda/driver/cuda_api.h"

struct mo_backend_program {
    CUgraphExec exec;              /* NULL: stages */
    struct mo_cuda_stages *stages; /* of several units: stages.h; or NULL */
    uint64_t choice_key; /* of the choice to be made: pdl_choice.h; 0: none */
    struct mo_cuda_pdl_trial *trial; /* NULL: none is under way */
};

/* Captures n calls, which are in a topological order, and instantiates the
 * graph.  The caller frees *program with mo_cuda_graph_destroy(), which accepts
 * NULL. */
mo_status mo_cuda_graph_capture(mo_backend_unit *unit,
                                const mo_backend_program_call *calls, int n,
                                mo_backend_program **program, mo_error *err);

/* Only the graph, as the unit is now; the caller destroys *exec. */
mo_status mo_cuda_graph_capture_once(mo_backend_unit *unit,
                                     const mo_backend_program_call *calls,
                                     int n, CUgraphExec *exec, mo_error *err);

/* Enqueues the graph on unit->stream and returns. */
mo_status mo_cuda_graph_launch(mo_backend_unit *unit,
                               const mo_backend_program *program,
                               mo_error *err);
/* Enqueues the graph on that stream. */
mo_status mo_cuda_graph_launch_on(mo_backend_unit *unit,
                                  const mo_backend_program *program,
                                  CUstream stream, mo_error *err);
void mo_cuda_graph_destroy(mo_backend_unit *unit, mo_backend_program *program);

/* Sets ns[i] to the time of call i and *whole_ns to that of all of them, in
 * nanoseconds, measured by events. */
mo_status mo_cuda_time_calls(mo_backend_unit *unit,
                             const mo_backend_program_call *calls, int n,
                             int64_t *ns, int64_t *whole_ns, mo_error *err);

#endif
