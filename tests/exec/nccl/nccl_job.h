/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_job.h - a job whose ranks are processes, on the stand-ins for CUDA and
 * NCCL.
 */
#ifndef MO_TESTS_EXEC_NCCL_NCCL_JOB_H
#define MO_TESTS_EXEC_NCCL_NCCL_JOB_H

#include <stdio.h>
#include <unistd.h>

#include "exec/backend/cuda/driver/cuda_unit.h"
#include "exec/transport/nccl/p2p.h"

enum { MAX_RANKS = 4, MOST_TRANSFERS = 12, DEADLINE_S = 40 };

typedef struct board board; /* memory shared by all ranks */

typedef struct job {
    int n_ranks, rank;
    int sockets[MAX_RANKS]
               [MAX_RANKS]; /* [a][b]: a's end of the connection to b */
    board *board;
    mo_exec_plan plan;
    mo_plan_transfer transfers[MOST_TRANSFERS];
    mo_plan_value values[MOST_TRANSFERS];
    int rank_of[MAX_RANKS];
    bool is_gpu[MAX_RANKS];
    /* of a rank */
    mo_nccl_p2p *nccl;
    mo_backend_unit *units[MAX_RANKS];
    const mo_cuda_api *api;
    CUstream in;
    void *memory[MOST_TRANSFERS];
} job;

typedef struct job_way {
    int from, to;
    int64_t bytes;
} job_way;

/* One device for each rank, and those transfers. */
void job_make(job *j, int n_ranks, const job_way *ways, int n);

/* In rank j: exits the process unless the claim holds. */
#define WANT(claim)                                                            \
    do {                                                                       \
        if (!(claim)) {                                                        \
            fprintf(stderr, "rank %d: %s:%d: %s\n", j->rank, __FILE__,         \
                    __LINE__, #claim);                                         \
            _exit(3);                                                          \
        }                                                                      \
    } while (0)

#define WANT_OK(call)                                                          \
    do {                                                                       \
        mo_error err = { 0 };                                                  \
        if ((call) != MO_OK) {                                                 \
            fprintf(stderr, "rank %d: %s: %s\n", j->rank, #call, err.text);    \
            _exit(3);                                                          \
        }                                                                      \
    } while (0)

/* Open and close the units and NCCL of a rank. */
void job_open(job *j);
void job_close(job *j);

const mo_backend_carrier *job_carrier(const job *j);

/* Returns whether transfer t starts or ends here. */
bool job_is_end(const job *j, int t);

/* Fills the send buffers, with other values in each round, and checks the
 * received ones. */
void job_fill(job *j, int round);
void job_check(job *j, int round);

/* Prepares the buffers of all transfers. */
void job_ready(job *j);

/* Sends are enqueued on one stream, receives on another. */
mo_status job_carry(job *j, int t, mo_error *err);
mo_status job_carry_all(job *j, mo_error *err);

/* Returns whether no transfer is pending. */
bool job_is_done(const job *j);
mo_status job_await(job *j, mo_error *err);

/* The body of a rank. */
typedef void job_rank(job *j);

/* Runs the ranks as processes and checks the exit status of each. A rank that
 * ends by a signal is reported to the others, as a failure detector does. */
void job_run(job *j, job_rank *work, int exits_wanted[]);

/* The same, where all shall exit with 0. */
void job_run_well(job *j, job_rank *work);

#endif
