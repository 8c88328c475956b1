/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind threads */
/* Tests of exec/transport/tcp: two ranks with two devices each; the second
 * rank is a child process. */
#include <config.h>

#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "exec/transport/failure_detector.h"
#include "exec/transport/tcp/tcp_internal.h"
#include "exec/transport/transport.h"
#include "tests/exec/transport/rendezvous_case.h"
#include "tests/support/suite.h"

static const mo_transport *const tcp = &mo_transport_tcp;

enum { N_DEVICES = 4, MAX_TRANSFERS = 24, RUNS = 4 };

static const int64_t sizes[] = {
    0, 1, 5000, MO_TCP_EAGER_BYTES, MO_TCP_EAGER_BYTES + 1, 300000, 3 << 20
};

/* Device d belongs to rank d / 2. A plan is a list of transfers in total
 * order; each device does its own in that order, one after the other. */
typedef struct rank_pair {
    mo_exec_plan plan;
    mo_plan_device devices[N_DEVICES];
    mo_plan_transfer transfers[MAX_TRANSFERS];
    int rank_of[N_DEVICES];
    mo_transport_world *world;
    char *memory[MAX_TRANSFERS][2]; /* by end */
    bool hasty;                     /* post all transfers at once */
} rank_pair;

static void make_pair(rank_pair *p, uint64_t seed)
{
    static char ids[N_DEVICES][2] = { "A", "B", "C", "D" };
    mo_random random = { seed };

    memset(p, 0, sizeof *p);
    for (int d = 0; d < N_DEVICES; d++) {
        p->devices[d].id = ids[d];
        p->rank_of[d] = d / 2;
    }
    for (int t = 0; t < MAX_TRANSFERS; t++) {
        int from = mo_random_below(&random, N_DEVICES);
        int to =
            (from + 1 + mo_random_below(&random, N_DEVICES - 1)) % N_DEVICES;
        int64_t bytes = sizes[mo_random_below(&random, COUNT(sizes))];

        p->transfers[t] = (mo_plan_transfer){
            .from = from, .to = to, .bytes = bytes, .tensor = MO_PLAN_NONE
        };
        for (int finish_transfer = 0; finish_transfer < 2; finish_transfer++)
            p->memory[t][finish_transfer] = malloc((size_t) bytes + 1);
    }
    p->plan.n_devices = N_DEVICES;
    p->plan.devices = p->devices;
    p->plan.n_transfers = MAX_TRANSFERS;
    p->plan.transfers = p->transfers;
    p->hasty = seed % 2 == 1;
}

static void free_pair(rank_pair *p)
{
    for (int t = 0; t < MAX_TRANSFERS; t++)
        for (int finish_transfer = 0; finish_transfer < 2; finish_transfer++)
            free(p->memory[t][finish_transfer]);
}

typedef struct device {
    rank_pair *rank_pair;
    int number;
    mo_status status;
    mo_error err;
    int wrong; /* a transfer with wrong bytes, or -1 */
} device;

static char mark_of(int run, int transfer)
{
    return (char) (1 + (run * 31 + transfer) % 100);
}

static mo_status post_transfer(device *d, int run, int t)
{
    rank_pair *p = d->rank_pair;
    size_t bytes = (size_t) p->transfers[t].bytes;

    if (p->transfers[t].from == d->number) {
        memset(p->memory[t][0], mark_of(run, t), bytes);
        return tcp->send(p->world, t, p->memory[t][0], &d->err);
    }
    memset(p->memory[t][1], 0, bytes);
    return tcp->receive(p->world, t, p->memory[t][1], &d->err);
}

static bool is_all(const char *bytes, size_t n, char mark)
{
    return n == 0 || (bytes[0] == mark && memcmp(bytes, bytes + 1, n - 1) == 0);
}

static mo_status finish_transfer(device *d, int run, int t)
{
    rank_pair *p = d->rank_pair;
    bool sending = p->transfers[t].from == d->number;
    mo_status status = tcp->wait(p->world, t, sending, &d->err);

    if (status == MO_OK && !sending &&
        !is_all(p->memory[t][1], (size_t) p->transfers[t].bytes,
                mark_of(run, t)))
        d->wrong = t;
    return status;
}

static bool is_own(const device *d, int t)
{
    return d->rank_pair->transfers[t].from == d->number ||
           d->rank_pair->transfers[t].to == d->number;
}

static mo_status run_once(device *d, int run)
{
    mo_status status = MO_OK;

    for (int t = 0; t < MAX_TRANSFERS && status == MO_OK; t++)
        if (is_own(d, t)) {
            status = post_transfer(d, run, t);
            if (status == MO_OK && !d->rank_pair->hasty)
                status = finish_transfer(d, run, t);
        }
    for (int t = MAX_TRANSFERS - 1; t >= 0 && status == MO_OK; t--)
        if (is_own(d, t) && d->rank_pair->hasty)
            status = finish_transfer(d, run, t);
    return status;
}

static void *run_device(void *context)
{
    device *d = context;
    bool stop = false;

    for (int run = 0; !stop && d->status == MO_OK; run++) {
        /* One device votes to stop: all do. */
        stop = run == RUNS && d->number == 2;
        d->status = tcp->barrier(d->rank_pair->world, &stop, &d->err);
        if (d->status == MO_OK && !stop)
            d->status = run_once(d, run);
        if (d->status == MO_OK && run > RUNS)
            d->wrong = MAX_TRANSFERS;
    }
    tcp->leave(d->rank_pair->world);
    return NULL;
}

/* Checks that rank 0 collects the numbers of rank 1. */
static int check_collection(rank_pair *p, int rank)
{
    enum { N = 100000 };
    int *numbers = calloc(N, sizeof *numbers);
    mo_error err = { 0 };
    int wrong = 0;

    for (int i = 0; i < N && rank == 1; i++)
        numbers[i] = i;
    if (tcp->collect(p->world, 1, numbers, N * sizeof *numbers, &err) != MO_OK)
        wrong = 1;
    for (int i = 0; i < N; i++)
        wrong += numbers[i] != i;
    free(numbers);
    return wrong;
}

/* Runs the devices of a rank; prints errors, and returns their number. */
static int run_devices(rank_pair *p, int rank, uint64_t seed)
{
    device devices[2];
    pthread_t threads[2];
    int wrong = 0;
    mo_error err = { 0 };

    for (int i = 0; i < 2; i++) {
        devices[i] =
            (device){ .rank_pair = p, .number = 2 * rank + i, .wrong = -1 };
        pthread_create(&threads[i], NULL, run_device, &devices[i]);
    }
    wrong += tcp->serve(p->world, 2, &err) != MO_OK;
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        wrong += devices[i].status != MO_OK || devices[i].wrong >= 0;
        if (devices[i].status != MO_OK || devices[i].wrong >= 0)
            fprintf(stderr, "seed %d, device %d: transfer %d, %s\n", (int) seed,
                    devices[i].number, devices[i].wrong, devices[i].err.text);
    }
    return wrong;
}

static int run_rank(const mo_rdv_launch_options *launch, uint64_t seed)
{
    const mo_transport_world_options options = { .launch = *launch,
                                                 .peer_timeout_s = TIMEOUT_S };
    mo_error err = { 0 };
    rank_pair p;
    int wrong = 1;

    make_pair(&p, seed);
    if (tcp->open(&options, &p.world, &err) == MO_OK) {
        wrong = 0;
        /* Twice: plans may follow each other. */
        for (int i = 0; i < 2 && wrong == 0; i++) {
            wrong +=
                tcp->begin(p.world, &p.plan, p.rank_of, 0, seed, &err) != MO_OK;
            if (wrong == 0)
                wrong += run_devices(&p, launch->rank, seed);
            if (wrong == 0)
                wrong += check_collection(&p, launch->rank);
        }
        tcp->close(p.world);
    }
    if (err.status != MO_OK)
        fprintf(stderr, "rank %d: %s\n", launch->rank, err.text);
    free_pair(&p);
    return wrong;
}

/* Over TCP, and with shared memory; if only one rank allows that: over TCP.
 * With a token, whose key takes 0.1 s to derive, and without. */
START_TEST(values_arrive_in_any_plan)
{
    mo_rdv_launch_options launch = { .has_rank = true,
                                     .n_ranks = 2,
                                     .token = _i % 3 == 0 ? join_token() : NULL,
                                     .no_shm = _i % 4 < 2 };
    char master[64];
    int wrong, state;
    pid_t child;

    join_free_address(master, sizeof master);
    launch.master = master;
    child = fork();
    if (child == 0) {
        launch.rank = 1;
        launch.no_shm = _i % 8 < 2;
        _exit(run_rank(&launch, (uint64_t) _i) == 0 ? 0 : 1);
    }
    wrong = run_rank(&launch, (uint64_t) _i);
    ck_assert_int_eq(waitpid(child, &state, 0), child);
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_eq(state, 0);
}
END_TEST

enum { CONTROL_BYTES = 1000, DELAY_US = 300000 };

/* Check has a macro called fail: hence the parentheses here and below. */
static void *fail_soon(void *world)
{
    const mo_error why = { .status = MO_E_IO, .text = "something is wrong" };

    usleep(DELAY_US);
    (tcp->fail)(world, &why);
    return NULL;
}

/* Sends a control message after the job has failed. */
static int send_after_failure(const mo_rdv_launch_options *launch)
{
    const mo_transport_world_options options = { .launch = *launch,
                                                 .peer_timeout_s = TIMEOUT_S };
    char bytes[CONTROL_BYTES];
    mo_error err = { 0 };
    mo_transport_world *world;

    memset(bytes, 1, sizeof bytes);
    if (tcp->open(&options, &world, &err) != MO_OK)
        return 1;
    while (!mo_first_error_is_set(&mo_tcp_world_of(world)->job.process.failure))
        usleep(1000);
    (tcp->fail)(world, &err); /* this process reports the error */
    (void) mo_tcp_control_send(mo_tcp_world_of(world), 0, bytes, sizeof bytes,
                               &err);
    usleep(DELAY_US);
    tcp->close(world);
    return 0;
}

/* A receive that fails leaves the buffer to the caller: no other thread may
 * write there afterwards. On a busy machine the message, or a part of it, may
 * arrive before the failure. */
START_TEST(a_failed_receive_does_not_write)
{
    mo_rdv_launch_options launch = { .has_rank = true,
                                     .n_ranks = 2,
                                     .token = join_token() };
    mo_transport_world_options options = { .peer_timeout_s = TIMEOUT_S };
    char received[CONTROL_BYTES] = { 0 }, left[CONTROL_BYTES], master[64];
    mo_error why = { 0 };
    pthread_t thread;
    mo_transport_world *world;
    bool heard_all;
    int state;
    pid_t child;

    join_free_address(master, sizeof master);
    launch.master = master;
    child = fork();
    if (child == 0) {
        launch.rank = 1;
        _exit(send_after_failure(&launch));
    }
    options.launch = launch;
    MUST(tcp->open(&options, &world, &err));
    ck_assert_int_eq(pthread_create(&thread, NULL, fail_soon, world), 0);
    heard_all =
        tcp->collect(world, 1, received, sizeof received, &why) == MO_OK;
    memcpy(left, received, sizeof left);
    pthread_join(thread, NULL);
    (tcp->fail)(world, &why);
    usleep(2 * DELAY_US);
    ck_assert_mem_eq(received, left, sizeof left);
    ck_assert(!heard_all || is_all(received, sizeof received, 1));
    tcp->close(world);
    ck_assert_int_eq(waitpid(child, &state, 0), child);
    ck_assert_int_eq(state, 0);
}
END_TEST

/* Sends a control message and closes. */
static int send_and_close(const mo_rdv_launch_options *launch)
{
    const mo_transport_world_options options = { .launch = *launch,
                                                 .peer_timeout_s = TIMEOUT_S };
    char bytes[CONTROL_BYTES];
    mo_error err = { 0 };
    mo_transport_world *world;
    int wrong;

    memset(bytes, 1, sizeof bytes);
    if (tcp->open(&options, &world, &err) != MO_OK)
        return 1;
    wrong = tcp->collect(world, 1, bytes, sizeof bytes, &err) != MO_OK;
    tcp->close(world);
    return wrong;
}

/* However late: a rank may compute for long before it receives. */
START_TEST(messages_before_DONE_are_received)
{
    mo_rdv_launch_options launch = { .has_rank = true,
                                     .n_ranks = 2,
                                     .token = join_token() };
    mo_transport_world_options options = { .peer_timeout_s = TIMEOUT_S };
    char received[CONTROL_BYTES] = { 0 }, master[64];
    mo_transport_world *world;
    int state;
    pid_t child;

    join_free_address(master, sizeof master);
    launch.master = master;
    child = fork();
    if (child == 0) {
        launch.rank = 1;
        _exit(send_and_close(&launch));
    }
    options.launch = launch;
    MUST(tcp->open(&options, &world, &err));
    while (!mo_failure_detector_peer_has_left(
        mo_tcp_world_of(world)->job.detector, 1))
        usleep(1000);
    MUST(tcp->collect(world, 1, received, sizeof received, &err));
    ck_assert(is_all(received, sizeof received, 1));
    tcp->close(world);
    ck_assert_int_eq(waitpid(child, &state, 0), child);
    ck_assert_int_eq(state, 0);
}
END_TEST

START_TEST(one_rank_needs_no_other)
{
    const mo_transport_world_options options = { .launch = { .has_rank = true,
                                                             .n_ranks = 1 } };
    mo_exec_plan plan = { 0 };
    mo_transport_world *world;
    int none = 0;

    MUST(tcp->open(&options, &world, &err));
    ck_assert_int_eq(tcp->n_ranks(world), 1);
    ck_assert_int_eq(tcp->rank(world), 0);
    MUST(tcp->begin(world, &plan, &none, 0, 7, &err));
    ck_assert_int_eq(tcp->clock_offset_ns(world), 0);
    tcp->leave(world);
    MUST(tcp->serve(world, 1, &err));
    tcp->close(world);
}
END_TEST

SUITE(tcp)
{
    SOME(values_arrive_in_any_plan, 24, 8);
    TEST(a_failed_receive_does_not_write);
    TEST(messages_before_DONE_are_received);
    TEST(one_rank_needs_no_other);
}
