/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of exec/transport/nccl/p2p.h: ranks that die, time out, or disagree. */
#include <config.h>

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/stop.h"
#include "exec/backend/cuda/driver/cuda_unit.h"
#include "exec/transport/nccl/p2p.h"
#include "tests/exec/nccl/nccl_job.h"
#include "tests/support/suite.h"

static const job_way to_and_fro[] = { { 0, 1, 8 },
                                      { 1, 0, 100 },
                                      { 0, 1, 16 } };

/* After the error no call hangs. */
static void expect_error(job *j, const char *said)
{
    mo_error err = { 0 };
    int64_t begin = mo_stop_clock_ns();
    const mo_backend_carrier *carrier = job_carrier(j);

    WANT(job_carry_all(j, &err) != MO_OK);
    if (!strstr(err.text, said)) {
        fprintf(stderr, "rank %d says: %s\n", j->rank, err.text);
        _exit(4);
    }
    while (!job_is_done(j))
        usleep(1000);
    WANT(mo_stop_clock_ns() - begin < 10000000000);
    WANT(carrier->poll(carrier, NULL) != MO_OK);
    WANT(job_carry(j, 0, NULL) != MO_OK);
    job_close(j);
}

static void work_until_killed(job *j)
{
    job_open(j);
    job_ready(j);
    job_fill(j, 0);
    if (j->rank == 1) {
        WANT_OK(job_carry(j, 0, &err));
        kill(getpid(), SIGKILL);
    }
    expect_error(j, "rank 1 is gone");
}

START_TEST(no_rank_waits_for_a_dead_one)
{
    int exits[] = { 0, -SIGKILL };
    job j;

    job_make(&j, 2, to_and_fro, COUNT(to_and_fro));
    job_run(&j, work_until_killed, exits);
}
END_TEST

/* Rank 1 is alive, and posts nothing. */
static void work_in_vain(job *j)
{
    setenv("MOIRAI_NCCL_PATIENCE", j->rank == 0 ? "1" : "600", 1);
    job_open(j);
    job_ready(j);
    job_fill(j, 0);
    if (j->rank == 0)
        expect_error(j, "rank 0 waits for rank 1 to take tensor 't2'; begun "
                        "before: 't1' of rank 1, 't0' to rank 1");
    else {
        char word;

        /* Waits until the other rank has ended. */
        (void) !recv(j->sockets[1][0], &word, 1, 0);
        job_close(j);
    }
}

START_TEST(a_timeout_names_the_transfer)
{
    job j;
    int exits[] = { 0, 0 };

    job_make(&j, 2, to_and_fro, COUNT(to_and_fro));
    job_run(&j, work_in_vain, exits);
}
END_TEST

/* The same pair, but other values: NCCL matches by order alone. */
static void work_in_another_order(job *j)
{
    job_open(j);
    job_ready(j);
    job_fill(j, 0);
    if (j->rank == 1) {
        WANT(job_carry(j, 2, NULL) != MO_OK || job_carry(j, 0, NULL) != MO_OK ||
             job_await(j, NULL) != MO_OK);
    } else
        WANT(job_carry(j, 0, NULL) != MO_OK || job_await(j, NULL) != MO_OK);
    job_close(j);
}

START_TEST(another_order_is_found_out)
{
    job j;

    job_make(&j, 2, to_and_fro, COUNT(to_and_fro));
    job_run_well(&j, work_in_another_order);
}
END_TEST

START_TEST(patience_is_a_number)
{
    const mo_nccl_p2p_options options = { 0 };
    mo_error err = { 0 };
    mo_nccl_p2p *nccl;

    setenv("MOIRAI_NCCL_PATIENCE", "long", 1);
    ck_assert_int_eq(mo_nccl_p2p_new(&options, &nccl, &err), MO_E_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "MOIRAI_NCCL_PATIENCE is 'long'"));
    unsetenv("MOIRAI_NCCL_PATIENCE");
}
END_TEST

SUITE(nccl_failures)
{
    TEST(no_rank_waits_for_a_dead_one);
    TEST(a_timeout_names_the_transfer);
    TEST(another_order_is_found_out);
    TEST(patience_is_a_number);
}
