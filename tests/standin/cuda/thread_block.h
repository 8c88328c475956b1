/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_block.h - one thread block of the stand-in.
 */
#ifndef MO_TESTS_STANDIN_CUDA_THREAD_BLOCK_H
#define MO_TESTS_STANDIN_CUDA_THREAD_BLOCK_H

#include "tests/standin/cuda/standin_cuda.h"

typedef enum standin_state {
    STANDIN_READY,
    STANDIN_AT_BARRIER,
    STANDIN_AT_CLUSTER, /* waits for the other blocks of its cluster, too */
    STANDIN_IN_WARP,    /* waits for others of its warp */
    STANDIN_DONE
} standin_state;

typedef struct standin_thread {
    standin_state state;
    standin_dim index;
    standin_fiber *fiber; /* NULL: not started, or complete */
    standin_exchange *exchange;
} standin_thread;

typedef struct standin_block {
    const standin_launch *launch;
    standin_dim index;
    standin_thread threads[STANDIN_THREADS];
    unsigned waiting[STANDIN_THREADS / STANDIN_WARP]; /* lanes IN_WARP */
    int n;
    char *dynamic, *statics; /* shared memory; statics while swapped out */
} standin_block;

void standin_block_begin(standin_block *block);
void standin_block_abandon(standin_block *block);

/* Runs until all threads are complete or wait for the cluster; the last ones
 * first if reverse. Returns false, with a report, on a deadlock. */
bool standin_block_run(standin_block *block, bool reverse);

int standin_block_count(const standin_block *block, standin_state state);

/* Makes the threads in that state ready. */
void standin_block_wake(standin_block *block, standin_state state);

void standin_block_tell(const standin_block *block);

#endif
