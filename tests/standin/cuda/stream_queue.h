/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_cuda_queue.h - what streams of the stand-in were told and cannot do
 * yet.
 *
 * A stream does at once what it is told, unless another stand-in has put an
 * errand into it that is not done: then all that comes behind waits here, in
 * this stream and in those that wait for its events.  Whoever asks whether a
 * stream is done lets everything go on that can.
 *
 * Whoever calls holds the lock.
 */
#ifndef MO_TESTS_STANDIN_CUDA_STREAM_QUEUE_H
#define MO_TESTS_STANDIN_CUDA_STREAM_QUEUE_H

#include "tests/standin/cuda/cuda_graph.h"

/* Does it behind all of tail, now or later; then tail is what comes next waits
 * for.  *node is copied when it is kept. */
CUresult standin_queue_add(standin_set *tail, const standin_node *node);

/* Tries all that waits; numbers of what is done are left out of tail.  True if
 * none is left. */
bool standin_queue_is_done(standin_set *tail);

/* Returns when nothing waits any more; the lock is free meanwhile. */
void standin_queue_drain(void);

/* What went wrong since it was last asked. */
CUresult standin_queue_result(void);

/* One step of a node whose time has come: true when it is done. */
bool standin_node_step(standin_node *node);

#endif
