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
#include "exec/transport/tcp/tcp_internal.h"
#include "exec/transport/transport.h"
#include "tests/support/suite.h"

static const mo_transport *const tcp = &mo_transport_tcp;

enum { N_DEVICES = 4, MAX_TRANSFERS = 24, RUNS = 4 };

/* Sealed, where that is built in. */
static const char *job_token(void)
{
    return mo_secure_is_available() ? "t" : NULL;
}

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

/* ---------------------------------------------------------------- a device */

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

/* ------------------------------------------------------------------ a rank */

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
    const mo_transport_world_options options = { .launch = *launch };
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

/* Finds an unused address: a port that was free a moment ago. */
static void find_address(char *master, size_t size)
{
    int listener = mo_rdv_socket_listen(mo_rdv_address_loopback, 0, 1);

    snprintf(master, size, "127.0.0.1:%d", mo_rdv_socket_local_port(listener));
    close(listener);
}

/* Over TCP, and with shared memory; if only one rank allows that: over TCP. */
START_TEST(values_arrive_in_any_plan)
{
    mo_rdv_launch_options launch = { .has_rank = true,
                                     .n_ranks = 2,
                                     .token = job_token(),
                                     .no_shm = _i % 4 < 2 };
    char master[64];
    int wrong, state;
    pid_t child;

    find_address(master, sizeof master);
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

/* --------------------------------------------------------- after a failure */

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
    const mo_transport_world_options options = { .launch = *launch };
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
 * write there. On a busy machine the message may arrive before the failure. */
START_TEST(a_failed_receive_does_not_write)
{
    mo_rdv_launch_options launch = { .has_rank = true,
                                     .n_ranks = 2,
                                     .token = job_token() };
    mo_transport_world_options options = { 0 };
    char received[CONTROL_BYTES] = { 0 }, master[64];
    mo_error why = { 0 };
    pthread_t thread;
    mo_transport_world *world;
    bool heard_all;
    int state;
    pid_t child;

    find_address(master, sizeof master);
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
    pthread_join(thread, NULL);
    (tcp->fail)(world, &why);
    usleep(2 * DELAY_US);
    ck_assert(is_all(received, sizeof received, heard_all ? 1 : 0));
    tcp->close(world);
    ck_assert_int_eq(waitpid(child, &state, 0), child);
    ck_assert_int_eq(state, 0);
}
END_TEST

/* ------------------------------------------------------------- before DONE */

/* Sends a control message and closes. */
static int send_and_close(const mo_rdv_launch_options *launch)
{
    const mo_transport_world_options options = { .launch = *launch };
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
                                     .token = job_token() };
    mo_transport_world_options options = { 0 };
    char received[CONTROL_BYTES] = { 0 }, master[64];
    mo_transport_world *world;
    int state;
    pid_t child;

    find_address(master, sizeof master);
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

/* ----------------------------------------------------- protocol violations */

enum { VALUE_BYTES = 5000 };

static const mo_exec_plan *plan_of_one_value(void)
{
    static mo_plan_device devices[] = { { .id = "A" }, { .id = "B" } };
    static mo_plan_transfer transfer = { .from = 1, .bytes = VALUE_BYTES };
    static const mo_exec_plan plan = { .n_devices = 2,
                                       .devices = devices,
                                       .n_transfers = 1,
                                       .transfers = &transfer };

    return &plan;
}

/* Sends the same value twice, as raw messages. */
static int send_twice(const mo_rdv_launch_options *launch, const int *rank_of)
{
    const mo_transport_world_options options = { .launch = *launch };
    const mo_tcp_msg_header head = { .kind = MO_TCP_MSG_DATA,
                                     .bytes = VALUE_BYTES };
    char message[sizeof head + VALUE_BYTES] = { 0 };
    struct iovec part = { message, sizeof message };
    mo_error err = { 0 };
    mo_transport_world *world;
    mo_tcp_conn *conn;

    memcpy(message, &head, sizeof head);
    if (tcp->open(&options, &world, &err) != MO_OK ||
        tcp->begin(world, plan_of_one_value(), rank_of, 0, 1, &err) != MO_OK)
        return 1;
    conn = &mo_tcp_world_of(world)->conns[0];
    pthread_mutex_lock(&conn->lock);
    for (int i = 0; i < 2; i++)
        if (mo_secure_channel_send(conn->channel, &part, 1) != sizeof message)
            return 2;
    pthread_mutex_unlock(&conn->lock);
    while (!mo_first_error_is_set(&mo_tcp_world_of(world)->job.process.failure))
        usleep(1000);
    (tcp->fail)(world, &err);
    tcp->close(world);
    return 0;
}

START_TEST(a_value_comes_once)
{
    static const int rank_of[] = { 0, 1 };
    mo_rdv_launch_options launch = {
        .has_rank = true, .n_ranks = 2, .token = job_token(), .no_shm = true
    };
    mo_transport_world_options options = { 0 };
    mo_error why = { 0 };
    char master[64];
    mo_transport_world *world;
    int state;
    pid_t child;

    find_address(master, sizeof master);
    launch.master = master;
    child = fork();
    if (child == 0) {
        launch.rank = 1;
        _exit(send_twice(&launch, rank_of));
    }
    options.launch = launch;
    MUST(tcp->open(&options, &world, &err));
    MUST(tcp->begin(world, plan_of_one_value(), rank_of, 0, 1, &err));
    for (int i = 0; i < 5000; i++)
        if (mo_first_error_get(&mo_tcp_world_of(world)->job.process.failure,
                               &why) == MO_OK)
            usleep(1000);
    (tcp->fail)(world, &why);
    ck_assert_msg(strstr(why.text, "rank 1") != NULL &&
                      strstr(why.text, "not requested") != NULL,
                  "%s", why.text);
    tcp->close(world);
    ck_assert_int_eq(waitpid(child, &state, 0), child);
    ck_assert_int_eq(state, 0);
}
END_TEST

/* ------------------------------------------------------------- lost values */

/* Waits until the job of world has failed; half a minute at most. */
static void await_failure(mo_transport_world *world, mo_error *why)
{
    for (int i = 0; i < 30000; i++)
        if (mo_first_error_get(&mo_tcp_world_of(world)->job.process.failure,
                               why) == MO_OK)
            usleep(1000);
}

typedef int child_fn(mo_transport_world *world, int kind);

/* Rank 0 awaits the value of plan_of_one_value(); rank 1, a child, does what is
 * given. Sets the error of rank 0, and the exit status of rank 1. */
static void lose_value(child_fn *lose, int kind, mo_error *why, int *state)
{
    static const int rank_of[] = { 0, 1 };
    mo_transport_world_options options = { .launch = { .has_rank = true,
                                                       .n_ranks = 2,
                                                       .token = job_token(),
                                                       .no_shm = true },
                                           .peer_timeout_s = 4 };
    char master[64], value[VALUE_BYTES];
    mo_transport_world *world;
    pid_t child;

    find_address(master, sizeof master);
    options.launch.master = master;
    child = fork();
    if (child == 0) {
        options.launch.rank = 1;
        if (tcp->open(&options, &world, why) != MO_OK ||
            tcp->begin(world, plan_of_one_value(), rank_of, 0, 1, why) != MO_OK)
            _exit(77);
        _exit(lose(world, kind));
    }
    MUST(tcp->open(&options, &world, &err));
    MUST(tcp->begin(world, plan_of_one_value(), rank_of, 0, 1, &err));
    MUST(tcp->receive(world, 0, value, &err));
    await_failure(world, why);
    if (why->status == MO_OK)
        kill(child, SIGKILL);
    (tcp->fail)(world, why);
    ck_assert_int_eq(waitpid(child, state, 0), child);
    tcp->close(world);
}

static void *break_soon(void *world)
{
    usleep(DELAY_US);
    shutdown(mo_secure_channel_socket(mo_tcp_world_of(world)->conns[0].channel),
             SHUT_RDWR);
    return NULL;
}

/* Sends DONE without having sent its value; then the connection of values is
 * lost, and no other. */
static int close_and_break(mo_transport_world *world, int kind)
{
    pthread_t thread;

    (void) kind;
    if (pthread_create(&thread, NULL, break_soon, world) != 0)
        return 77;
    tcp->close(world); /* ends the process when rank 0 reports the loss */
    return 0;
}

START_TEST(a_value_lost_after_DONE_ends_all_ranks)
{
    mo_error why = { 0 };
    int state;

    lose_value(close_and_break, 0, &why, &state);
    ck_assert_msg(strstr(why.text, "the connection with rank 1") != NULL &&
                      strstr(why.text, "has broken") != NULL,
                  "%s", why.text);
    ck_assert(WIFEXITED(state) && WEXITSTATUS(state) == EXIT_FAILURE);
}
END_TEST

/* Sends the first part of a message, or of a record, and no more. */
static int send_part(mo_transport_world *world, int kind)
{
    static const unsigned char record[] = { 23, 3, 3, 0, 100, 1, 2, 3 };
    mo_tcp_conn *conn = &mo_tcp_world_of(world)->conns[0];
    mo_tcp_msg_header head = { .kind = MO_TCP_MSG_DATA, .bytes = VALUE_BYTES };
    struct iovec part = { &head, sizeof head };
    mo_error why = { 0 };
    ssize_t sent;

    pthread_mutex_lock(&conn->lock);
    sent = kind == 0 ? mo_secure_channel_send(conn->channel, &part, 1)
                     : send(mo_secure_channel_socket(conn->channel), record,
                            sizeof record, MSG_NOSIGNAL);
    pthread_mutex_unlock(&conn->lock);
    if (sent <= 0)
        return 77;
    await_failure(world, &why);
    (tcp->fail)(world, &why);
    tcp->close(world);
    return strstr(why.text, "a part of a message") ? 0 : 1;
}

START_TEST(a_message_without_its_rest_ends_all_ranks)
{
    mo_error why = { 0 };
    int state;

    if (_i == 1 && !job_token())
        return; /* no records */
    lose_value(send_part, _i, &why, &state);
    ck_assert_msg(strstr(why.text, "rank 1 ") != NULL &&
                      strstr(why.text, "a part of a message") != NULL,
                  "%s", why.text);
    ck_assert_int_eq(state, 0);
}
END_TEST

/* ------------------------------------------------------ published results */

/* Rank 1 has done its part, and is killed; or it is lost before that. */
static int wait_to_be_killed(mo_transport_world *world, int kind)
{
    if (kind == 0)
        tcp->close(world);
    _exit(3);
}

/* Rank 0 closes without an error when others are lost after it has settled. */
START_TEST(results_are_published_when_the_others_are_done)
{
    mo_transport_world_options options = {
        .launch = { .has_rank = true, .n_ranks = 2, .token = job_token() }
    };
    mo_transport_world *world;
    mo_error why = { 0 };
    char master[64];
    mo_status status;
    pid_t child;

    find_address(master, sizeof master);
    options.launch.master = master;
    child = fork();
    if (child == 0) {
        options.launch.rank = 1;
        if (tcp->open(&options, &world, &why) != MO_OK)
            _exit(77);
        _exit(wait_to_be_killed(world, _i));
    }
    MUST(tcp->open(&options, &world, &err));
    status = tcp->settle(world, &why);
    if (_i == 1) {
        ck_assert_int_eq(status, MO_E_IO);
        ck_assert_msg(strstr(why.text, "rank 1 ") && strstr(why.text, "gone"),
                      "%s", why.text);
        (tcp->fail)(world, &why);
    } else {
        ck_assert_msg(status == MO_OK, "%s", why.text);
        kill(child, SIGKILL);
    }
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    usleep(_i == 0 ? DELAY_US : 0); /* the loss is detected meanwhile */
    tcp->close(world);
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
    TEST(a_value_comes_once);
    TEST(a_value_lost_after_DONE_ends_all_ranks);
    EACH(results_are_published_when_the_others_are_done, 2);
    EACH(a_message_without_its_rest_ends_all_ranks, 2);
    TEST(one_rank_needs_no_other);
}
