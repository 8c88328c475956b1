/* SPDX-License-Identifier: Apache-2.0 */
/* tags: threads */
/* Tests of exec/transport/shm: segments, and ranks that are threads. */
#include <config.h>

#include "exec/transport/shm/shm.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/transport/shm/segment.h"
#include "tests/support/suite.h"

enum { SEGMENT_BYTES = 10000 };

START_TEST(a_segment_is_shared)
{
    mo_shm_segment a, b;

    ck_assert(mo_shm_segment_create(&a, SEGMENT_BYTES));
    ck_assert(mo_shm_segment_open(&b, getpid(), a.fd, SEGMENT_BYTES));
    strcpy((char *) a.memory + SEGMENT_BYTES / 2, "text");
    ck_assert_str_eq((char *) b.memory + SEGMENT_BYTES / 2, "text");
    mo_shm_segment_clear(&a);
    ck_assert_str_eq((char *) b.memory + SEGMENT_BYTES / 2, "text");
    mo_shm_segment_clear(&b);
}
END_TEST

START_TEST(a_segment_is_opened_as_published)
{
    mo_shm_segment a, b;
    int pipes[2], fd;
    FILE *file = tmpfile();

    ck_assert(mo_shm_segment_create(&a, SEGMENT_BYTES));
    fd = a.fd;
    /* Another size, no such process or descriptor, a pipe, a file. */
    ck_assert(!mo_shm_segment_open(&b, getpid(), fd, SEGMENT_BYTES + 1));
    ck_assert(!mo_shm_segment_open(&b, -1, fd, SEGMENT_BYTES));
    ck_assert(!mo_shm_segment_open(&b, getpid(), -1, SEGMENT_BYTES));
    ck_assert(!mo_shm_segment_open(&b, getpid(), 1000000, SEGMENT_BYTES));
    ck_assert_int_eq(pipe(pipes), 0);
    ck_assert(!mo_shm_segment_open(&b, getpid(), pipes[0], SEGMENT_BYTES));
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(ftruncate(fileno(file), SEGMENT_BYTES), 0);
    ck_assert(!mo_shm_segment_open(&b, getpid(), fileno(file), SEGMENT_BYTES));
    ck_assert_ptr_null(b.memory);
    /* Its size is sealed. */
    ck_assert_int_ne(ftruncate(fd, SEGMENT_BYTES / 2), 0);
    ck_assert_int_ne(ftruncate(fd, 2 * SEGMENT_BYTES), 0);
    mo_shm_segment_unpublish(&a);
    ck_assert(!mo_shm_segment_open(&b, getpid(), fd, SEGMENT_BYTES));
    mo_shm_segment_clear(&a);
    mo_shm_segment_clear(&b);
    fclose(file);
    close(pipes[0]);
    close(pipes[1]);
}
END_TEST

enum { N_RANKS = 3, N_TRANSFERS = 5, N_RUNS = 50 };

/* Ranks 0 and 2 are on one host, or all three; device d is of rank d. */
static const mo_plan_transfer transfers[N_TRANSFERS] = {
    { .from = 0, .to = 2, .bytes = 5000 },
    { .from = 2, .to = 0, .bytes = 100000 },
    { .from = 0, .to = 1, .bytes = 70 },
    { .from = 2, .to = 0, .bytes = 0 },
    { .from = 0, .to = 2, .bytes = 100000 },
};
static const int rank_of[N_RANKS] = { 0, 1, 2 };

typedef struct job {
    mo_exec_plan plan;
    mo_plan_transfer transfers[N_TRANSFERS];
    mo_rdv_endpoint endpoints[N_RANKS];
    int64_t limit_bytes;
    pthread_barrier_t barrier;
    char gathered[N_RANKS][256];
    mo_first_error failure;
    int unable; /* a rank that maps nothing, or -1 */
} job;

typedef struct rank {
    job *job;
    int number;
    mo_shm *shm;
    mo_status status;
    int wrong;
} rank;

static void make_job(job *j, const char *machines[N_RANKS])
{
    memset(j, 0, sizeof *j);
    memcpy(j->transfers, transfers, sizeof transfers);
    j->plan.n_devices = N_RANKS;
    j->plan.n_transfers = N_TRANSFERS;
    j->plan.transfers = j->transfers;
    for (int r = 0; r < N_RANKS; r++) {
        strcpy(j->endpoints[r].machine, machines[r]);
        strcpy(j->endpoints[r].memory, "namespace");
    }
    j->unable = -1;
    mo_first_error_init(&j->failure);
    pthread_barrier_init(&j->barrier, NULL, N_RANKS);
}

static void free_job(job *j)
{
    mo_first_error_destroy(&j->failure);
    pthread_barrier_destroy(&j->barrier);
}

/* A rank that is unable sees an offer of a segment that is not there. */
static mo_status allgather(void *context, const void *own, void *all,
                           size_t bytes, mo_error *err)
{
    rank *r = context;
    job *j = r->job;

    (void) err;
    ck_assert_uint_le(bytes, sizeof j->gathered[0]);
    memcpy(j->gathered[r->number], own, bytes);
    pthread_barrier_wait(&j->barrier);
    for (int i = 0; i < N_RANKS; i++)
        memcpy((char *) all + (size_t) i * bytes, j->gathered[i], bytes);
    pthread_barrier_wait(&j->barrier);
    if (j->unable == r->number && bytes > 1)
        ((char *) all)[bytes - 1] ^= 0x5a;
    return MO_OK;
}

static void open_rank(rank *r)
{
    const mo_shm_options options = { .plan = &r->job->plan,
                                     .rank_of = rank_of,
                                     .endpoints = r->job->endpoints,
                                     .rank = r->number,
                                     .n_ranks = N_RANKS,
                                     .limit_bytes = r->job->limit_bytes,
                                     .failure = &r->job->failure,
                                     .allgather = allgather,
                                     .context = r };

    r->status = mo_shm_new(&options, &r->shm, NULL);
}

/* Sends all, then receives all in the opposite order. */
static void run_transfers(rank *r, int run)
{
    static const size_t most = 100000;
    char *data = malloc(most + 1);

    for (int t = 0; t < N_TRANSFERS; t++)
        if (transfers[t].from == r->number && mo_shm_carries(r->shm, t)) {
            memset(data, run + t, most);
            mo_shm_send(r->shm, t, data);
        }
    for (int t = N_TRANSFERS - 1; t >= 0; t--)
        if (transfers[t].to == r->number && mo_shm_carries(r->shm, t)) {
            size_t n = (size_t) transfers[t].bytes;

            memset(data, 0x7f, most + 1);
            r->wrong += mo_shm_receive(r->shm, t, data, NULL) != MO_OK;
            for (size_t i = 0; i < n; i++)
                r->wrong += data[i] != (char) (run + t);
            r->wrong += data[n] != 0x7f;
        }
    free(data);
}

static void *run_rank(void *context)
{
    rank *r = context;

    open_rank(r);
    for (int run = 0; run < N_RUNS && r->status == MO_OK; run++) {
        bool verdict = false, vote = run == r->number;

        if (mo_shm_has_barrier(r->shm)) {
            r->status = mo_shm_barrier(r->shm, vote, &verdict, NULL);
            r->wrong += verdict != (run < N_RANKS);
        } else {
            pthread_barrier_wait(&r->job->barrier);
        }
        run_transfers(r, run);
    }
    return NULL;
}

/* Runs all ranks; carried: '1' at the transfers that go through memory. */
static void check_job(job *j, const char *carried, bool has_barrier)
{
    rank ranks[N_RANKS];
    pthread_t threads[N_RANKS];

    for (int r = 0; r < N_RANKS; r++) {
        ranks[r] = (rank){ .job = j, .number = r };
        pthread_create(&threads[r], NULL, run_rank, &ranks[r]);
    }
    for (int r = 0; r < N_RANKS; r++)
        pthread_join(threads[r], NULL);
    for (int r = 0; r < N_RANKS; r++) {
        ck_assert_int_eq(ranks[r].status, MO_OK);
        ck_assert_int_eq(ranks[r].wrong, 0);
        ck_assert_int_eq(mo_shm_has_barrier(ranks[r].shm), has_barrier);
        for (int t = 0; t < N_TRANSFERS; t++)
            ck_assert_int_eq(mo_shm_carries(ranks[r].shm, t),
                             carried[t] == '1');
        mo_shm_free(ranks[r].shm);
    }
}

static const char *one_host[] = { "a", "a", "a" },
                  *two_hosts[] = { "a", "b", "a" };

START_TEST(ranks_of_a_host_share_memory)
{
    job j;

    make_job(&j, one_host);
    check_job(&j, "11111", true);
    free_job(&j);
    make_job(&j, two_hosts);
    check_job(&j, "11011", false);
    free_job(&j);
}
END_TEST

START_TEST(larger_values_do_not_fit)
{
    static const struct {
        int64_t limit;
        const char *carried;
    } cases[] = { { 300000, "11111" },
                  { 110000, "10110" }, /* both of a size, or none */
                  { 1000, "00110" },
                  { 130, "00010" } };
    job j;

    make_job(&j, one_host);
    j.limit_bytes = cases[_i].limit;
    check_job(&j, cases[_i].carried, true);
    free_job(&j);
}
END_TEST

START_TEST(no_value_fits)
{
    job j;

    make_job(&j, one_host);
    j.limit_bytes = 64;
    check_job(&j, "00000", true);
    free_job(&j);
}
END_TEST

START_TEST(ranks_without_shared_memory_are_left_out)
{
    job j;

    /* By their endpoints: disabled, another namespace. */
    make_job(&j, one_host);
    j.endpoints[1].memory[0] = '\0';
    check_job(&j, "11011", false);
    strcpy(j.endpoints[1].memory, "other");
    check_job(&j, "11011", false);
    j.endpoints[0].memory[0] = j.endpoints[2].memory[0] = '\0';
    check_job(&j, "00000", false);
    free_job(&j);
    /* The offer that rank 2 sees has another secret than the segment. */
    make_job(&j, two_hosts);
    j.unable = 2;
    check_job(&j, "00000", false);
    free_job(&j);
}
END_TEST

static void *fail_soon(void *context)
{
    const mo_error why = { .status = MO_E_IO, .text = "a rank is gone" };

    usleep(50000);
    mo_first_error_set(context, &why);
    return NULL;
}

static void *open_in_thread(void *context)
{
    open_rank(context);
    return NULL;
}

START_TEST(a_failure_ends_waits)
{
    rank ranks[N_RANKS];
    pthread_t threads[N_RANKS], failing;
    char data[5000];
    mo_error err = { 0 };
    bool verdict;
    job j;

    make_job(&j, one_host);
    for (int r = 0; r < N_RANKS; r++) {
        ranks[r] = (rank){ .job = &j, .number = r };
        pthread_create(&threads[r], NULL, open_in_thread, &ranks[r]);
    }
    for (int r = 0; r < N_RANKS; r++)
        pthread_join(threads[r], NULL);
    pthread_create(&failing, NULL, fail_soon, &j.failure);
    ck_assert_int_eq(mo_shm_receive(ranks[2].shm, 0, data, &err), MO_E_IO);
    ck_assert_str_eq(err.text, "a rank is gone");
    ck_assert_int_eq(mo_shm_barrier(ranks[0].shm, false, &verdict, &err),
                     MO_E_IO);
    pthread_join(failing, NULL);
    for (int r = 0; r < N_RANKS; r++)
        mo_shm_free(ranks[r].shm);
    free_job(&j);
}
END_TEST

SUITE(shm)
{
    TEST(a_segment_is_shared);
    TEST(a_segment_is_opened_as_published);
    TEST(ranks_of_a_host_share_memory);
    EACH(larger_values_do_not_fit, 4);
    TEST(no_value_fits);
    TEST(ranks_without_shared_memory_are_left_out);
    TEST(a_failure_ends_waits);
}
