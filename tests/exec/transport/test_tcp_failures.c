/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind threads */
/* Tests of failures in exec/transport/tcp: values that come twice, in part or
 * not at all, and results that are published before a rank is lost. Two ranks;
 * the second is a child process. */
#include <config.h>

#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/transport/tcp/tcp_internal.h"
#include "exec/transport/transport.h"
#include "tests/exec/transport/rendezvous_case.h"
#include "tests/support/suite.h"

static const mo_transport *const tcp = &mo_transport_tcp;

enum { DELAY_US = 300000 };

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
    const mo_transport_world_options options = { .launch = *launch,
                                                 .peer_timeout_s = TIMEOUT_S };
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
    /* Check has a macro called fail: hence the parentheses here and below. */
    (tcp->fail)(world, &err);
    tcp->close(world);
    return 0;
}

START_TEST(a_value_comes_once)
{
    static const int rank_of[] = { 0, 1 };
    mo_rdv_launch_options launch = {
        .has_rank = true, .n_ranks = 2, .token = join_token(), .no_shm = true
    };
    mo_transport_world_options options = { .peer_timeout_s = TIMEOUT_S };
    mo_error why = { 0 };
    char master[64];
    mo_transport_world *world;
    int state;
    pid_t child;

    join_free_address(master, sizeof master);
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
                                                       .token = join_token(),
                                                       .no_shm = true },
                                           .peer_timeout_s = 12 };
    char master[64], value[VALUE_BYTES];
    mo_transport_world *world;
    pid_t child;

    join_free_address(master, sizeof master);
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
    if (pthread_create(&thread, NULL, break_soon, world) != 0 ||
        pthread_detach(thread) != 0)
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

    if (_i == 1 && !join_token())
        return; /* no records */
    lose_value(send_part, _i, &why, &state);
    ck_assert_msg(strstr(why.text, "rank 1 ") != NULL &&
                      strstr(why.text, "a part of a message") != NULL,
                  "%s", why.text);
    ck_assert_int_eq(state, 0);
}
END_TEST

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
        .launch = { .has_rank = true, .n_ranks = 2, .token = join_token() },
        .peer_timeout_s = TIMEOUT_S
    };
    mo_transport_world *world;
    mo_error why = { 0 };
    char master[64];
    mo_status status;
    pid_t child;

    join_free_address(master, sizeof master);
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

SUITE(tcp_failures)
{
    TEST(a_value_comes_once);
    TEST(a_value_lost_after_DONE_ends_all_ranks);
    EACH(a_message_without_its_rest_ends_all_ranks, 2);
    EACH(results_are_published_when_the_others_are_done, 2);
}
