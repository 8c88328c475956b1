/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of exec/transport/failure_detector.h. */
#include <config.h>

#include "exec/transport/failure_detector.h"

#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/stop.h"
#include "exec/transport/rendezvous/control_msg.h"
#include "tests/support/suite.h"

/* The detector of rank 0 of two; the test itself is rank 1. */
typedef struct fixture {
    mo_first_error failure;
    mo_failure_detector *watch;
    mo_rdv_msg_channel other;
} fixture;

static void on_failure(void *context, const mo_error *why)
{
    fixture *p = context;

    mo_first_error_set(&p->failure, why);
}

static void describe_missing(void *context, mo_error *why)
{
    (void) context;
    mo_fail(why, MO_E_IO, "rank 1 has never come");
}

static void print_error(const mo_error *why)
{
    printf("last words: %s\n", why->text);
    fflush(stdout);
}

static bool tolerates; /* losses, in the next fixture */

static void open_detector(fixture *p, double timeout_s)
{
    mo_failure_detector_options options = { .timeout_s = timeout_s,
                                            .failure = &p->failure,
                                            .on_failure = on_failure,
                                            .describe_missing =
                                                describe_missing,
                                            .context = p,
                                            .print_fatal = print_error,
                                            .tolerates_losses = tolerates };

    memset(p, 0, sizeof *p);
    mo_first_error_init(&p->failure);
    MUST(mo_failure_detector_new(&options, timeout_s, &p->watch, &err));
}

static void set_up(fixture *p, double timeout_s)
{
    mo_secure_channel *channels[2] = { NULL, NULL };
    int ends[2];

    open_detector(p, timeout_s);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    channels[1] = mo_secure_channel_new(ends[0]);
    mo_rdv_msg_channel_init(&p->other, mo_secure_channel_new(ends[1]));
    MUST(mo_failure_detector_set_peers(p->watch, 2, 0, channels, &err));
    mo_failure_detector_set_peer_name(p->watch, 0, "rank 0 (here)");
    mo_failure_detector_set_peer_name(p->watch, 1, "rank 1 (there)");
}

static void tear_down(fixture *p)
{
    /* As a command that is about to print the error. */
    if (mo_first_error_is_set(&p->failure))
        mo_failure_detector_caller_reports(p->watch);
    mo_rdv_msg_channel_close(&p->other);
    mo_failure_detector_free(p->watch);
    mo_first_error_destroy(&p->failure);
    tolerates = false;
}

static void expect_failure(fixture *p, const char *text)
{
    int64_t end = mo_stop_clock_ns() + 5000000000;

    while (!mo_first_error_is_set(&p->failure) && mo_stop_clock_ns() < end)
        usleep(1000);
    ck_assert(mo_first_error_is_set(&p->failure));
    ck_assert_msg(strstr(p->failure.error.text, text) != NULL, "%s",
                  p->failure.error.text);
}

START_TEST(one_that_closes_its_connection_is_gone)
{
    fixture p;

    set_up(&p, 60);
    mo_rdv_msg_send(&p.other, MO_RDV_MSG_HEARTBEAT, NULL);
    mo_rdv_msg_channel_close(&p.other);
    expect_failure(&p, "rank 1 (there) is gone");
    tear_down(&p);
}
END_TEST

START_TEST(a_reported_error_is_taken_over)
{
    fixture p;

    set_up(&p, 60);
    mo_rdv_msg_send(&p.other, MO_RDV_MSG_ERROR, "rank 1 (there): no\nmemory");
    mo_rdv_msg_channel_close(&p.other);
    expect_failure(&p, "rank 1 (there): no\\nmemory");
    tear_down(&p);
}
END_TEST

START_TEST(silence_is_a_failure)
{
    fixture p;

    set_up(&p, 0.2);
    expect_failure(&p, "rank 1 (there) has sent nothing");
    tear_down(&p);
}
END_TEST

static const struct {
    const char *bytes;
    size_t n;
} garbage[] = { { "GET / HTTP/1.0\r\n\r\n", 18 },
                { "f\xff\xff", 3 },
                { "\0\0\0", 3 },
                { "b\0", 2 } };

/* Heartbeats follow the timeout, so that a peer with the same timeout gets
 * them in time. */
START_TEST(heartbeats_follow_the_timeout)
{
    int64_t last = 0, least = INT64_MAX;
    int beats = 0;
    fixture p;

    set_up(&p, 2);
    while (beats < 5) {
        char text[MO_RDV_MSG_TEXT_SIZE];
        mo_rdv_msg_kind kind;
        bool closed = false;

        mo_rdv_msg_send(&p.other, MO_RDV_MSG_HEARTBEAT, NULL);
        mo_rdv_msg_receive(&p.other, &closed);
        while (mo_rdv_msg_next(&p.other, &kind, text, &closed)) {
            int64_t now = mo_stop_clock_ns();

            if (kind != MO_RDV_MSG_HEARTBEAT)
                continue;
            if (beats++ > 0 && now - last < least)
                least = now - last;
            last = now;
        }
        ck_assert(!closed);
        usleep(20000);
    }
    /* A busy machine delays some of them, but not all. */
    ck_assert_int_lt(least, 900000000);
    tear_down(&p);
}
END_TEST

START_TEST(garbage_is_the_end_of_a_connection)
{
    fixture p;

    set_up(&p, 60);
    ck_assert_int_eq(send(mo_rdv_msg_channel_socket(&p.other),
                          garbage[_i].bytes, garbage[_i].n, 0),
                     (ssize_t) garbage[_i].n);
    mo_rdv_msg_channel_close(&p.other);
    expect_failure(&p, "rank 1 (there) is gone");
    tear_down(&p);
}
END_TEST

START_TEST(messages_may_come_byte_by_byte)
{
    static const char message[] = "f\4\0dead";
    fixture p;

    set_up(&p, 60);
    for (size_t i = 0; i < sizeof message - 1; i++) {
        ck_assert_int_eq(
            send(mo_rdv_msg_channel_socket(&p.other), message + i, 1, 0), 1);
        usleep(2000);
    }
    expect_failure(&p, "dead");
    tear_down(&p);
}
END_TEST

static bool wait_for_message(fixture *p, mo_rdv_msg_kind wanted,
                             char text[MO_RDV_MSG_TEXT_SIZE])
{
    int64_t end = mo_stop_clock_ns() + 5000000000;
    mo_rdv_msg_kind kind;
    bool closed = false;

    while (!closed && mo_stop_clock_ns() < end) {
        mo_rdv_msg_receive(&p->other, &closed);
        while (mo_rdv_msg_next(&p->other, &kind, text, &closed))
            if (kind == wanted)
                return true;
        usleep(1000);
    }
    return false;
}

/* Whether such a message has come. */
static bool has_message(fixture *p, mo_rdv_msg_kind wanted)
{
    char text[MO_RDV_MSG_TEXT_SIZE];
    mo_rdv_msg_kind kind;
    bool closed = false, found = false;

    mo_rdv_msg_receive(&p->other, &closed);
    while (mo_rdv_msg_next(&p->other, &kind, text, &closed))
        found |= kind == wanted;
    return found;
}

START_TEST(own_errors_carry_our_name)
{
    char text[MO_RDV_MSG_TEXT_SIZE];
    mo_error why = { 0 };
    fixture p;

    set_up(&p, 60);
    mo_fail_at(&why, MO_E_IO, "model.bin", 3, "is short");
    mo_first_error_set(&p.failure, &why);
    mo_failure_detector_broadcast_error(p.watch);
    ck_assert(wait_for_message(&p, MO_RDV_MSG_ERROR, text));
    ck_assert_str_eq(text, "rank 0 (here): model.bin:3: is short");
    tear_down(&p);
}
END_TEST

START_TEST(a_tolerated_loss_is_reported_and_ends_nothing)
{
    char text[MO_RDV_MSG_TEXT_SIZE];
    fixture p;

    tolerates = true;
    set_up(&p, 0.2);
    expect_failure(&p, "rank 1 (there) has sent nothing for 0.");
    ck_assert(mo_failure_detector_has_loss(p.watch));
    ck_assert(mo_failure_detector_peer_of(p.watch, 1).lost);
    ck_assert(!mo_failure_detector_peer_of(p.watch, 0).lost);
    ck_assert_int_ge(mo_failure_detector_peer_of(p.watch, 1).silent_ns,
                     200000000);
    /* The lost rank hears of it, when it goes on, and of no other error. */
    mo_failure_detector_broadcast_error(p.watch);
    ck_assert(wait_for_message(&p, MO_RDV_MSG_LOSS, text));
    ck_assert_msg(strncmp(text, "1 rank 1 (there) has sent", 25) == 0, "%s",
                  text);
    usleep(1500000); /* longer than the detector waits for the command */
    ck_assert(!has_message(&p, MO_RDV_MSG_ERROR));
    tear_down(&p);
}
END_TEST

/* Rank 0 gives up no rank, and not itself, for what that rank reports of it. */
START_TEST(only_rank_0_gives_up_ranks)
{
    fixture p;

    tolerates = true;
    set_up(&p, 60);
    mo_rdv_msg_send(&p.other, MO_RDV_MSG_LOSS, "0 rank 0 is gone");
    expect_failure(&p, "rank 0 is gone");
    ck_assert(!mo_failure_detector_peer_of(p.watch, 0).lost);
    ck_assert(!mo_failure_detector_peer_of(p.watch, 1).lost);
    tear_down(&p);
}
END_TEST

START_TEST(a_malformed_loss_is_that_of_its_sender)
{
    fixture p;

    tolerates = true;
    set_up(&p, 60);
    mo_rdv_msg_send(&p.other, MO_RDV_MSG_LOSS, "7 of two");
    expect_failure(&p, "a loss of no rank");
    ck_assert(mo_failure_detector_peer_of(p.watch, 1).lost);
    tear_down(&p);
}
END_TEST

START_TEST(an_orderly_disconnect_is_no_failure)
{
    char text[MO_RDV_MSG_TEXT_SIZE];
    fixture p;

    set_up(&p, 60);
    ck_assert(!mo_failure_detector_peer_has_left(p.watch, -1));
    mo_rdv_msg_send(&p.other, MO_RDV_MSG_DONE, NULL);
    MUST(mo_failure_detector_finish(p.watch, &err));
    ck_assert(wait_for_message(&p, MO_RDV_MSG_DONE, text));
    mo_rdv_msg_send(&p.other, MO_RDV_MSG_CLOSE, NULL);
    mo_rdv_msg_channel_close(&p.other);
    usleep(100000);
    ck_assert(!mo_first_error_is_set(&p.failure));
    tear_down(&p);
}
END_TEST

START_TEST(a_death_after_DONE_is_reported)
{
    fixture p;

    set_up(&p, 60);
    mo_rdv_msg_send(&p.other, MO_RDV_MSG_DONE, NULL);
    MUST(mo_failure_detector_finish(p.watch, &err));
    mo_rdv_msg_channel_close(&p.other);
    expect_failure(&p, "rank 1 (there) is gone");
    tear_down(&p);
}
END_TEST

START_TEST(a_signal_is_a_failure_unless_it_has_a_cause)
{
    fixture p;

    set_up(&p, 60);
    raise(SIGTERM);
    if (_i == 1)
        mo_rdv_msg_channel_close(&p.other);
    expect_failure(&p,
                   _i == 1 ? "rank 1 (there) is gone" : "stopped by SIGTERM");
    tear_down(&p);
}
END_TEST

/* Checks what a process prints that runs act and then hangs; it has to exit
 * with 1. */
static void expect_output(void (*act)(void), const char *words)
{
    char said[1024] = "";
    size_t n = 0;
    ssize_t got;
    int ends[2], status;
    pid_t child;

    ck_assert_int_eq(pipe(ends), 0);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        act();
        for (;;)
            pause();
    }
    close(ends[1]);
    while (n < sizeof said - 1 &&
           (got = read(ends[0], said + n, sizeof said - 1 - n)) > 0)
        n += (size_t) got;
    close(ends[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 1);
    ck_assert_str_eq(said, words);
}

static fixture hanging;

static void wait_for_others(void)
{
    open_detector(&hanging, 0.1);
}

static void get_sigterm(void)
{
    open_detector(&hanging, 60);
    raise(SIGTERM);
}

static void lose_peer(void)
{
    set_up(&hanging, 60);
    mo_rdv_msg_send(&hanging.other, MO_RDV_MSG_ERROR, "rank 1 has died");
}

static void abort_now(void)
{
    lose_peer();
    expect_failure(&hanging, "died");
    mo_failure_detector_abort(hanging.watch);
}

START_TEST(a_process_that_hangs_prints_and_exits)
{
    static const struct {
        void (*act)(void);
        const char *words;
    } cases[] = {
        { wait_for_others, "last words: rank 1 has never come\n" },
        { get_sigterm, "last words: rank 1 has never come\n" },
        { lose_peer, "last words: rank 1 has died\n" },
        { abort_now, "last words: rank 1 has died\n" },
    };

    for (int i = 0; i < COUNT(cases); i++)
        expect_output(cases[i].act, cases[i].words);
}
END_TEST

SUITE(failure_detector)
{
    TEST(one_that_closes_its_connection_is_gone);
    TEST(a_reported_error_is_taken_over);
    TEST(silence_is_a_failure);
    TEST(heartbeats_follow_the_timeout);
    EACH(garbage_is_the_end_of_a_connection, COUNT(garbage));
    TEST(messages_may_come_byte_by_byte);
    TEST(own_errors_carry_our_name);
    TEST(a_tolerated_loss_is_reported_and_ends_nothing);
    TEST(only_rank_0_gives_up_ranks);
    TEST(a_malformed_loss_is_that_of_its_sender);
    TEST(an_orderly_disconnect_is_no_failure);
    TEST(a_death_after_DONE_is_reported);
    EACH(a_signal_is_a_failure_unless_it_has_a_cause, 2);
    TEST(a_process_that_hangs_prints_and_exits);
}
