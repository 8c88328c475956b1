/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stages_internal.h - the stages of a program: stages.c makes and launches
 * them, stage_streams.c gives them streams.
 */
#ifndef MO_EXEC_BACKEND_CUDA_GRAPH_STAGES_INTERNAL_H
#define MO_EXEC_BACKEND_CUDA_GRAPH_STAGES_INTERNAL_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/backend/cuda/driver/cuda_unit.h"
#include "exec/backend/cuda/graph/stages.h"

/* Streams of all stages on a GPU: the most that CUDA_DEVICE_MAX_CONNECTIONS
 * allows. Streams that share a hardware queue wait for each other. */
enum { MO_CUDA_MAX_STAGES = 32 };

/* What runs the stages of a request one by one: a unit, or the transfers of a
 * GPU. The first is the unit that records. */
typedef struct mo_cuda_stage_owner {
    mo_backend_unit *unit;
    bool transfers; /* of the parts of a GPU */
    int n_streams;
} mo_cuda_stage_owner;

typedef struct mo_cuda_stage {
    int owner;
    int n_calls;
    int n_turns; /* streams that requests use by turns */
    mo_backend_program *graph;
    CUstream stream; /* the unit's; shared with other slots */
    CUevent done;    /* NULL: the last one */
    int *waits;      /* stages that it waits for */
    int n_waits;
    bool is_sink; /* none waits for it */
} mo_cuda_stage;

struct mo_cuda_stages {
    const mo_cuda_api *api;
    mo_cuda_stage_owner *owners;
    int n_owners;
    mo_cuda_stage *stages;
    int n_stages;
    int *waits;      /* of all stages */
    CUevent started; /* before the first stage */
    bool by_host;    /* the host waits between stages, not the streams */
};

/* Sets the stream of each stage for the slot that records; each has an owner,
 * its number of calls, and one turn. */
mo_status mo_cuda_stages_assign_streams(mo_cuda_stages *stages, mo_error *err);

#endif
