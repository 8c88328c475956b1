/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
#include <config.h>

#include "exec/transport/failure_detector.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/stop.h"
#include "exec/transport/rendezvous/mesh.h"
#include "exec/transport/rendezvous/control_msg.h"
#include "tests/support/suite.h"

/* The watch of rank 0 of two; the test itself is rank 1. */
typedef struct post {
    mo_first_error failure;
    mo_failure_detector *watch;
    mo_rdv_msg_channel other;
} post;

static void found(void *context, const mo_error *why)
{
    post *p = context;

    mo_first_error_set(&p->failure, why);
}

static void missing(void *context, mo_error *why)
{
    (void) context;
    mo_fail(why, MO_E_IO, "rank 1 has never come");
}

static void print(const mo_error *why)
{
    printf("last words: %s\n", why->text);
    fflush(stdout);
}

static void open_watch(post *p, double patience_s)
{
    mo_failure_detector_options options = { .peer_timeout_s = patience_s,
                                            .failure = &p->failure,
                                            .found = found,
                                            .missing = missing,
                                            .context = p,
                                            .print_fatal = print };

    memset(p, 0, sizeof *p);
    mo_first_error_init(&p->failure);
    MUST(mo_failure_detector_new(&options, patience_s, &p->watch, &err));
}

static void set_up(post *p, double patience_s)
{
    int ends[2], sockets[2];

    open_watch(p, patience_s);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    sockets[0] = -1;
    sockets[1] = ends[0];
    mo_rdv_msg_channel_init(&p->other, ends[1]);
    MUST(mo_failure_detector_set_peers(p->watch, 2, 0, sockets, &err));
    mo_failure_detector_set_peer_name(p->watch, 0, "rank 0 (here)");
    mo_failure_detector_set_peer_name(p->watch, 1, "rank 1 (there)");
}

static void tear_down(post *p)
{
    /* As a command does that is about to print what has failed. */
    if (mo_first_error_is_set(&p->failure))
        mo_failure_detector_caller_reports(p->watch);
    mo_rdv_msg_channel_close(&p->other);
    mo_failure_detector_free(p->watch);
    mo_first_error_destroy(&p->failure);
}

static void expect_failure(post *p, const char *text)
{
    int64_t end = mo_stop_clock_ns() + 5000000000;

    while (!mo_first_error_is_set(&p->failure) && mo_stop_clock_ns() < end)
        usleep(1000);
    ck_assert(mo_first_error_is_set(&p->failure));
    ck_assert_msg(strstr(p->failure.error.text, text) != NULL, "%s",
                  p->failure.error.text);
}

/* ------------------------------------------------------------------- others */

START_TEST(one_that_closes_its_connection_is_gone)
{
    post p;

    set_up(&p, 60);
    mo_rdv_msg_send(&p.other, MO_RDV_MSG_HEARTBEAT, NULL);
    mo_rdv_msg_channel_close(&p.other);
    expect_failure(&p, "rank 1 (there) is gone");
    tear_down(&p);
}
END_TEST

START_TEST(one_that_fails_is_believed)
{
    post p;

    set_up(&p, 60);
    mo_rdv_msg_send(&p.other, MO_RDV_MSG_ERROR, "rank 1 (there): no\nmemory");
    mo_rdv_msg_channel_close(&p.other);
    expect_failure(&p, "rank 1 (there): no\\nmemory");
    tear_down(&p);
}
END_TEST

START_TEST(one_that_is_silent_is_given_up)
{
    post p;

    set_up(&p, 0.2);
    expect_failure(&p, "rank 1 (there) has not been heard of");
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

/* Beats come often enough for others who are as impatient. */
START_TEST(who_is_impatient_is_heard_often)
{
    int64_t last = 0, least = INT64_MAX;
    int beats = 0;
    post p;

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
    /* A busy machine makes some of them late, but not all. */
    ck_assert_int_lt(least, 900000000);
    tear_down(&p);
}
END_TEST

START_TEST(garbage_is_the_end_of_a_connection)
{
    post p;

    set_up(&p, 60);
    ck_assert_int_eq(send(p.other.socket, garbage[_i].bytes, garbage[_i].n, 0),
                     (ssize_t) garbage[_i].n);
    mo_rdv_msg_channel_close(&p.other);
    expect_failure(&p, "rank 1 (there) is gone");
    tear_down(&p);
}
END_TEST

START_TEST(messages_may_come_byte_by_byte)
{
    static const char message[] = "f\4\0dead";
    post p;

    set_up(&p, 60);
    for (size_t i = 0; i < sizeof message - 1; i++) {
        ck_assert_int_eq(send(p.other.socket, message + i, 1, 0), 1);
        usleep(2000);
    }
    expect_failure(&p, "dead");
    tear_down(&p);
}
END_TEST

/* ---------------------------------------------------------------- ourselves */

static bool hear(post *p, mo_rdv_msg_kind wanted,
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

START_TEST(what_fails_here_is_told_with_our_name)
{
    char text[MO_RDV_MSG_TEXT_SIZE];
    mo_error why = { 0 };
    post p;

    set_up(&p, 60);
    mo_fail_at(&why, MO_E_IO, "model.bin", 3, "is short");
    mo_first_error_set(&p.failure, &why);
    mo_failure_detector_broadcast_error(p.watch);
    ck_assert(hear(&p, MO_RDV_MSG_ERROR, text));
    ck_assert_str_eq(text, "rank 0 (here): model.bin:3: is short");
    tear_down(&p);
}
END_TEST

START_TEST(good_byes_are_no_failure)
{
    char text[MO_RDV_MSG_TEXT_SIZE];
    post p;

    set_up(&p, 60);
    ck_assert(!mo_failure_detector_peer_has_left(p.watch, -1));
    mo_rdv_msg_send(&p.other, MO_RDV_MSG_DONE, NULL);
    MUST(mo_failure_detector_finish(p.watch, &err));
    ck_assert(hear(&p, MO_RDV_MSG_DONE, text));
    mo_rdv_msg_send(&p.other, MO_RDV_MSG_CLOSE, NULL);
    mo_rdv_msg_channel_close(&p.other);
    usleep(100000);
    ck_assert(!mo_first_error_is_set(&p.failure));
    tear_down(&p);
}
END_TEST

START_TEST(one_that_dies_after_its_good_bye_is_told)
{
    post p;

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
    post p;

    set_up(&p, 60);
    raise(SIGTERM);
    if (_i == 1)
        mo_rdv_msg_channel_close(&p.other);
    expect_failure(&p,
                   _i == 1 ? "rank 1 (there) is gone" : "stopped by SIGTERM");
    tear_down(&p);
}
END_TEST

/* --------------------------------------------------------------- last words */

/* What a process prints that does this and then hangs; it must end with 1. */
static void expect_words(void (*act)(void), const char *words)
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

static post hanging;

static void wait_for_others(void)
{
    open_watch(&hanging, 0.1);
}

static void be_told_to_end(void)
{
    open_watch(&hanging, 60);
    raise(SIGTERM);
}

static void see_one_die(void)
{
    set_up(&hanging, 60);
    mo_rdv_msg_send(&hanging.other, MO_RDV_MSG_ERROR, "rank 1 has died");
}

static void give_up(void)
{
    see_one_die();
    expect_failure(&hanging, "died");
    mo_failure_detector_abort(hanging.watch);
}

START_TEST(a_process_that_hangs_speaks_and_ends)
{
    static const struct {
        void (*act)(void);
        const char *words;
    } cases[] = {
        { wait_for_others, "last words: rank 1 has never come\n" },
        { be_told_to_end, "last words: rank 1 has never come\n" },
        { see_one_die, "last words: rank 1 has died\n" },
        { give_up, "last words: rank 1 has died\n" },
    };

    for (int i = 0; i < COUNT(cases); i++)
        expect_words(cases[i].act, cases[i].words);
}
END_TEST

/* ------------------------------------------------------------------ meeting */

enum { N_RANKS = 4 };

typedef struct guest {
    const mo_rdv_endpoint *cards;
    int rank, listener;
    int sockets[N_RANKS];
    mo_status status;
} guest;

static mo_status meet(const mo_rdv_endpoint *cards, int n_ranks, int rank,
                      int listener, double seconds, int *sockets, mo_error *err)
{
    const mo_rdv_mesh meeting = { .cards = cards,
                                  .n_ranks = n_ranks,
                                  .rank = rank,
                                  .listener = listener,
                                  .seconds = seconds,
                                  .n_kinds = 1 };

    return mo_rdv_mesh_connect(&meeting, sockets, err);
}

static void *attend(void *context)
{
    guest *g = context;

    g->status =
        meet(g->cards, N_RANKS, g->rank, g->listener, 5, g->sockets, NULL);
    return NULL;
}

/* Two call who do not know the secret. */
static void intrude(const mo_rdv_endpoint *host, int fds[2])
{
    mo_rdv_endpoint stranger[2] = { *host, *host };
    int sockets[2];

    stranger[0].secret ^= 1;
    for (int i = 0; i < 2; i++) {
        /* The last of the ranks that it knows: calls, and answers nobody. */
        MUST(meet(stranger, 2, 1, -1, 5, sockets, &err));
        fds[i] = sockets[0];
    }
}

START_TEST(all_ranks_meet_and_strangers_stay_outside)
{
    mo_rdv_endpoint cards[N_RANKS];
    guest guests[N_RANKS];
    pthread_t threads[N_RANKS];
    int strangers[2];

    for (int r = 0; r < N_RANKS; r++) {
        guests[r] = (guest){ .cards = cards, .rank = r };
        MUST(mo_rdv_endpoint_listen(N_RANKS, NULL, &cards[r],
                                    &guests[r].listener, &err));
    }
    intrude(&cards[0], strangers);
    for (int r = 0; r < N_RANKS; r++)
        pthread_create(&threads[r], NULL, attend, &guests[r]);
    for (int r = 0; r < N_RANKS; r++)
        pthread_join(threads[r], NULL);
    for (int a = 0; a < N_RANKS; a++) {
        ck_assert_int_eq(guests[a].status, MO_OK);
        for (int b = 0; b < N_RANKS; b++) {
            char byte = (char) (10 * a + b), got = 0;

            if (a == b)
                continue;
            ck_assert_int_eq(send(guests[a].sockets[b], &byte, 1, 0), 1);
            ck_assert_int_eq(recv(guests[b].sockets[a], &got, 1, 0), 1);
            ck_assert_int_eq(got, byte);
        }
    }
    for (int r = 0; r < N_RANKS; r++) {
        for (int b = 0; b < N_RANKS; b++)
            if (b != r)
                close(guests[r].sockets[b]);
        close(guests[r].listener);
    }
    close(strangers[0]);
    close(strangers[1]);
}
END_TEST

START_TEST(a_rank_that_cannot_be_reached_is_named)
{
    mo_rdv_endpoint cards[2];
    int listeners[2], sockets[2];
    mo_error why = { 0 };

    for (int r = 0; r < 2; r++)
        MUST(mo_rdv_endpoint_listen(2, NULL, &cards[r], &listeners[r], &err));
    close(listeners[0]);
    ck_assert_int_eq(meet(cards, 2, 1, listeners[1], 1, sockets, &why),
                     MO_E_IO);
    ck_assert_ptr_nonnull(strstr(why.text, "rank 0 (host "));
    ck_assert_int_eq(meet(cards, 2, 0, listeners[1], 0.1, sockets, &why),
                     MO_E_IO);
    ck_assert_ptr_nonnull(strstr(why.text, "rank 1 (host "));
    close(listeners[1]);
}
END_TEST

SUITE(watch)
{
    TEST(one_that_closes_its_connection_is_gone);
    TEST(one_that_fails_is_believed);
    TEST(one_that_is_silent_is_given_up);
    TEST(who_is_impatient_is_heard_often);
    EACH(garbage_is_the_end_of_a_connection, COUNT(garbage));
    TEST(messages_may_come_byte_by_byte);
    TEST(what_fails_here_is_told_with_our_name);
    TEST(good_byes_are_no_failure);
    TEST(one_that_dies_after_its_good_bye_is_told);
    EACH(a_signal_is_a_failure_unless_it_has_a_cause, 2);
    TEST(a_process_that_hangs_speaks_and_ends);
    TEST(all_ranks_meet_and_strangers_stay_outside);
    TEST(a_rank_that_cannot_be_reached_is_named);
}
