/*
 * fed.h - how large the constants are that feed an op.
 */
#ifndef MO_INGEST_WORK_CONSTANT_BYTES_H
#define MO_INGEST_WORK_CONSTANT_BYTES_H

#include "graph/graph.h"

typedef struct mo_fed_tensor {
    int from, port;
    int64_t bytes;
} mo_fed_tensor;

/* Room to sort the feeds of an op in; all zero at first. */
typedef struct mo_fed {
    mo_fed_tensor *tensors;
    size_t room;
} mo_fed;

/* The bytes of the constants that op number op reads, a tensor once however
 * often it reads it; MO_UNKNOWN when one of them is or there is no number for
 * them. */
mo_status mo_fed_sum(mo_fed *fed, const mo_graph *g, int op, int64_t *sum,
                     mo_error *err);

void mo_fed_clear(mo_fed *fed);

#endif
