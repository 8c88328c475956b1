/* SPDX-License-Identifier: Apache-2.0 */
/*
 * constant_bytes.h - total size of the constants that an op reads.
 */
#ifndef MO_INGEST_WORK_CONSTANT_BYTES_H
#define MO_INGEST_WORK_CONSTANT_BYTES_H

#include "graph/graph.h"

typedef struct mo_constant_bytes_tensor {
    int from, port;
    int64_t bytes;
} mo_constant_bytes_tensor;

/* Scratch buffer to sort the feeds of an op in; all zero at first, reused for
 * all ops. The caller frees it with mo_constant_bytes_clear(). */
typedef struct mo_constant_bytes {
    mo_constant_bytes_tensor *tensors;
    size_t room;
} mo_constant_bytes;

/* Computes the bytes of the constants that op number op reads, each tensor
 * once however often it is read; MO_UNKNOWN when one of them is unknown or the
 * sum overflows. */
mo_status mo_constant_bytes_sum(mo_constant_bytes *fed, const mo_graph *g,
                                int op, int64_t *sum, mo_error *err);

void mo_constant_bytes_clear(mo_constant_bytes *fed);

#endif
