/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_queue.h - pending operations of the stand-in's streams.
 *
 * A stream executes immediately, unless another stand-in has an external
 * operation in it that is not complete: then all later work waits here, in
 * this stream and in those that wait for its events. A query of a stream
 * advances everything that can proceed.
 *
 * The caller holds the lock.
 */
#ifndef MO_TESTS_STANDIN_CUDA_STREAM_QUEUE_H
#define MO_TESTS_STANDIN_CUDA_STREAM_QUEUE_H

#include "tests/standin/cuda/cuda_graph.h"

/* Executes node after all of tail, now or later; tail becomes the dependencies
 * of the next one. *node is copied when it is kept. */
CUresult standin_queue_add(standin_set *tail, const standin_node *node);

/* Advances all pending entries and removes complete ones from tail. Returns
 * true if none is left. */
bool standin_queue_is_done(standin_set *tail);

/* Returns when nothing is pending; releases the lock meanwhile. */
void standin_queue_drain(void);

/* Returns the first error since the last call. */
CUresult standin_queue_result(void);

/* Advances a node that is ready; returns true when it is complete. */
bool standin_node_step(standin_node *node);

#endif
