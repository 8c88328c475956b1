/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fed.h - how large the constants are that feed an op.
 */
#ifndef MO_INGEST_WORK_CONSTANT_BYTES_H
#define MO_INGEST_WORK_CONSTANT_BYTES_H

#include "graph/graph.h"

typedef struct mo_constant_bytes_tensor {
    int from, port;
    int64_t bytes;
} mo_constant_bytes_tensor;

/* Room to sort the feeds of an op in; all zero at first. */
typedef struct mo_constant_bytes {
    mo_constant_bytes_tensor *tensors;
    size_t room;
} mo_constant_bytes;

/* The bytes of the constants that op number op reads, a tensor once however
 * often it reads it; MO_UNKNOWN when one of them is or there is no number for
 * them. */
mo_status mo_constant_bytes_sum(mo_constant_bytes *fed, const mo_graph *g,
                                int op, int64_t *sum, mo_error *err);

void mo_constant_bytes_clear(mo_constant_bytes *fed);

#endif
