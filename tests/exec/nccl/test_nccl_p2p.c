/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/*
 * Tests of exec/transport/nccl/p2p.h: point-to-point transfers between
 * processes, on the stand-ins for CUDA and NCCL.
 */
#include <config.h>

#include "exec/backend/cuda/driver/cuda_unit.h"
#include "exec/transport/nccl/p2p.h"
#include "tests/exec/nccl/nccl_job.h"
#include "tests/support/suite.h"

static const job_way three_ranks[] = {
    { 0, 1, 4 },      { 1, 0, 100000 }, { 0, 1, 3000000 }, { 2, 0, 17 },
    { 1, 2, 500000 }, { 2, 1, 1 },      { 0, 2, 0 },       { 0, 2, 65536 },
    { 1, 0, 12 },     { 0, 1, 40 },
};

static void work_eagerly(job *j)
{
    job_open(j);
    WANT(mo_nccl_p2p_n_transfers(j->nccl) == j->plan.n_transfers);
    job_ready(j);
    for (int round = 0; round < 3; round++) {
        job_fill(j, round);
        WANT_OK(job_carry_all(j, &err));
        job_check(j, round);
    }
    job_close(j);
}

START_TEST(values_arrive)
{
    job j;

    job_make(&j, 3, three_ranks, COUNT(three_ranks));
    job_run_well(&j, work_eagerly);
}
END_TEST

START_TEST(values_arrive_by_one_communicator_of_all)
{
    job j;

    setenv("MOIRAI_NCCL_SAFE", "1", 1);
    job_make(&j, 3, three_ranks, COUNT(three_ranks));
    job_run_well(&j, work_eagerly);
    unsetenv("MOIRAI_NCCL_SAFE");
}
END_TEST

START_TEST(memory_that_is_announced_is_no_other)
{
    job j;

    setenv("MOIRAI_NCCL_REGISTER", "1", 1);
    job_make(&j, 3, three_ranks, COUNT(three_ranks));
    job_run_well(&j, work_eagerly);
    unsetenv("MOIRAI_NCCL_REGISTER");
}
END_TEST

/* Both streams in one graph. */
static CUgraphExec capture(job *j)
{
    CUstream out = j->units[j->rank]->stream;
    CUgraphExec exec = NULL;
    CUgraph graph = NULL;
    CUevent event = NULL;

    WANT(j->api->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) ==
         CUDA_SUCCESS);
    WANT(j->api->cuStreamBeginCapture(out, CU_STREAM_CAPTURE_MODE_RELAXED) ==
         CUDA_SUCCESS);
    WANT(j->api->cuEventRecord(event, out) == CUDA_SUCCESS);
    WANT(j->api->cuStreamWaitEvent(j->in, event, 0) == CUDA_SUCCESS);
    for (int t = 0; t < j->plan.n_transfers; t++)
        if (job_is_end(j, t))
            WANT_OK(job_carry(j, t, &err));
    WANT(j->api->cuEventRecord(event, j->in) == CUDA_SUCCESS);
    WANT(j->api->cuStreamWaitEvent(out, event, 0) == CUDA_SUCCESS);
    WANT(j->api->cuStreamEndCapture(out, &graph) == CUDA_SUCCESS);
    WANT(j->api->cuGraphInstantiateWithFlags(&exec, graph, 0) == CUDA_SUCCESS);
    j->api->cuGraphDestroy(graph);
    j->api->cuEventDestroy(event);
    return exec;
}

static void work_by_program(job *j)
{
    CUgraphExec exec;

    job_open(j);
    job_ready(j);
    job_fill(j, 0);
    WANT(!job_carrier(j)->eager_reason(job_carrier(j)));
    exec = capture(j);
    for (int round = 0; round < 4; round++) {
        job_fill(j, round);
        WANT(j->api->cuGraphLaunch(exec, j->units[j->rank]->stream) ==
             CUDA_SUCCESS);
        WANT_OK(job_await(j, &err));
        job_check(j, round);
    }
    j->api->cuGraphExecDestroy(exec);
    job_close(j);
}

START_TEST(values_arrive_in_programs)
{
    job j;

    job_make(&j, 3, three_ranks, COUNT(three_ranks));
    job_run_well(&j, work_by_program);
}
END_TEST

/* Devices that are no GPUs, or of one rank, are not carried for. */
static void work_with_processors(job *j)
{
    job_open(j);
    WANT(mo_nccl_p2p_carrier(j->nccl, 0));
    WANT(!mo_nccl_p2p_carrier(j->nccl, 1));
    WANT(mo_nccl_p2p_n_transfers(j->nccl) == 1);
    WANT(!mo_nccl_p2p_unavailable_reason(j->nccl));
    job_ready(j);
    job_close(j);
}

START_TEST(processors_have_no_lines)
{
    static const job_way ways[] = { { 0, 1, 8 }, { 1, 2, 8 } };
    job j;

    job_make(&j, 3, ways, COUNT(ways));
    j.is_gpu[2] = false;
    job_run_well(&j, work_with_processors);
}
END_TEST

static void work_without(job *j)
{
    if (j->rank == 1)
        setenv("MOIRAI_NCCL", "", 1);
    job_open(j);
    WANT(mo_nccl_p2p_n_transfers(j->nccl) == 0);
    WANT(mo_nccl_p2p_unavailable_reason(j->nccl));
    WANT(strstr(mo_nccl_p2p_unavailable_reason(j->nccl),
                j->rank == 1 ? "MOIRAI_NCCL is empty" : "rank 1 has no NCCL"));
    job_close(j);
}

START_TEST(a_rank_without_nccl_is_known_to_all)
{
    job j;

    job_make(&j, 3, three_ranks, COUNT(three_ranks));
    job_run_well(&j, work_without);
}
END_TEST

SUITE(nccl_p2p)
{
    TEST(values_arrive);
    TEST(values_arrive_by_one_communicator_of_all);
    TEST(memory_that_is_announced_is_no_other);
    TEST(values_arrive_in_programs);
    TEST(processors_have_no_lines);
    TEST(a_rank_without_nccl_is_known_to_all);
}
