/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_cuda_graph.h - what streams of the stand-in note while they are
 * captured.
 */
#ifndef MO_TESTS_STANDIN_CUDA_CUDA_GRAPH_H
#define MO_TESTS_STANDIN_CUDA_CUDA_GRAPH_H

#include <pthread.h>

#include "tests/standin/cuda/standin_cuda.h"

/* Nodes, by number. */
typedef struct standin_set {
    int *at;
    int n;
} standin_set;

void standin_set_clear(standin_set *s);
/* False: there is no memory. */
bool standin_set_add(standin_set *s, const int *more, int n);

struct CUgraph_st {
    standin_node *nodes;
    int n;
    uint64_t id; /* of the capture that makes it */
    CUstream origin;
    CUstreamCaptureMode mode;
    pthread_t thread;
    CUgraph next; /* while it is being captured */
};

/* A node of its own out of one that borrows. */
CUresult standin_node_copy(standin_node *to, const standin_node *from,
                           const int *before, int n_before);
void standin_node_clear(standin_node *node);
void standin_nodes_free(standin_node *nodes, int n);

/* In a green context, or NULL. */
CUresult standin_stream_new(struct CUgreenCtx_st *green, CUstream *stream);

/* Whoever asks holds the lock. */
bool standin_is_captured(CUstream stream);

#endif
