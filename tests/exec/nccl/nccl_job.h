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

enum { MOST_RANKS = 4, MOST_TRANSFERS = 12, DEADLINE_S = 40 };

typedef struct board board; /* what all ranks see */

typedef struct job {
    int n_ranks, rank;
    int wires[MOST_RANKS][MOST_RANKS]; /* [a][b]: a's end of the way to b */
    board *board;
    mo_exec_plan plan;
    mo_plan_transfer transfers[MOST_TRANSFERS];
    mo_plan_value values[MOST_TRANSFERS];
    int rank_of[MOST_RANKS];
    bool is_gpu[MOST_RANKS];
    /* of a rank */
    mo_nccl_p2p *nccl;
    mo_backend_unit *units[MOST_RANKS];
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

/* In a rank, j: whatever is wrong ends its process. */
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

/* Opens the units and NCCL of a rank, and closes them. */
void job_open(job *j);
void job_close(job *j);

const mo_backend_carrier *job_carrier(const job *j);

/* Whether transfer t begins or ends here. */
bool job_is_end(const job *j, int t);

/* What there is to send, another in each round, and whether it has come. */
void job_fill(job *j, int round);
void job_check(job *j, int round);

/* Announces the memory of all transfers. */
void job_ready(job *j);

/* What leaves goes through one stream, what comes through another. */
mo_status job_carry(job *j, int t, mo_error *err);
mo_status job_carry_all(job *j, mo_error *err);

/* Until nothing is under way any more. */
bool job_is_done(const job *j);
mo_status job_await(job *j, mo_error *err);

/* What a rank does. */
typedef void job_rank(job *j);

/* As processes, of which each has its exit status.  A rank that ends by a
 * signal is told to the others, as a watch does. */
void job_run(job *j, job_rank *work, int exits_wanted[]);

/* The same, where all shall end with 0. */
void job_run_well(job *j, job_rank *work);

#endif
