/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_graph.h - nodes that streams of the stand-in record during capture.
 */
#ifndef MO_TESTS_STANDIN_CUDA_CUDA_GRAPH_H
#define MO_TESTS_STANDIN_CUDA_CUDA_GRAPH_H

#include <pthread.h>

#include "tests/standin/cuda/standin_cuda.h"

/* A set of node indices. */
typedef struct standin_set {
    int *at;
    int n;
} standin_set;

void standin_set_clear(standin_set *s);
/* Returns false without memory. */
bool standin_set_add(standin_set *s, const int *more, int n);

struct CUgraph_st {
    standin_node *nodes;
    int n;
    uint64_t id; /* of its capture */
    CUstream origin;
    CUstreamCaptureMode mode;
    pthread_t thread;
    CUgraph next; /* list of running captures */
};

/* Copies a node with all that it points to. */
CUresult standin_node_copy(standin_node *to, const standin_node *from,
                           const int *before, int n_before);
void standin_node_clear(standin_node *node);
void standin_nodes_free(standin_node *nodes, int n);

/* In a green context; NULL: in none. */
CUresult standin_stream_new(struct CUgreenCtx_st *green, CUstream *stream);

/* The caller holds the lock. */
bool standin_is_captured(CUstream stream);

#endif
