/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of exec/transport/rendezvous/join.h: foreign connections, and missing
 * ranks. */
#include <config.h>

#include "exec/transport/rendezvous/join.h"

#include <sys/socket.h>
#include <unistd.h>

#include "base/random.h"
#include "base/stop.h"
#include "exec/transport/rendezvous/handshake.h"
#include "tests/exec/transport/rendezvous_case.h"
#include "tests/support/suite.h"

enum { MAX_STRANGERS = 100, SLOW_S = 20 };

static int connect_port(int port)
{
    return mo_rdv_socket_connect(mo_rdv_address_loopback, port,
                                 mo_stop_clock_ns() + SOON_NS);
}

static int connect_with_retries(int port)
{
    int fd;

    while ((fd = connect_port(port)) < 0)
        usleep(1000);
    return fd;
}

/* Connections that arrive together are not evicted before they were read. */
START_TEST(many_may_connect_at_once)
{
    mo_rdv_params job = { .host = "127.0.0.1",
                          .port = join_free_port(),
                          .n_ranks = 2 };
    int listener = mo_rdv_listen(&job, mo_rdv_address_loopback);
    int fds[MAX_STRANGERS];

    ck_assert_int_ge(listener, 0);
    for (int i = 0; i < MAX_STRANGERS; i++) {
        fds[i] = mo_rdv_socket_connect(mo_rdv_address_loopback, job.port,
                                       mo_stop_clock_ns() + SOON_NS);
        ck_assert_msg(fds[i] >= 0, "the %d-th was not heard", i + 1);
    }
    for (int i = 0; i < MAX_STRANGERS; i++)
        close(fds[i]);
    close(listener);
}
END_TEST

static mo_rdv_preamble make_preamble(int rank)
{
    const mo_rdv_params job = { .rank = rank,
                                .has_token = mo_secure_is_available() };
    mo_rdv_preamble preamble;

    mo_rdv_preamble_init(&preamble, &job);
    return preamble;
}

/* What a foreign connection sends: nothing, another protocol, half of a
 * preamble, far too much, or random bytes. */
static void send_garbage(int fd, int kind, uint64_t seed)
{
    mo_rdv_preamble greeting = make_preamble(1);
    mo_random random = { seed };
    unsigned char bytes[4096];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char) mo_random_below(&random, 256);
    switch (kind % 5) {
    case 1:
        send(fd, "GET / HTTP/1.1\r\nHost: tau\r\n\r\n", 29, MSG_NOSIGNAL);
        break;
    case 2:
        send(fd, &greeting, sizeof greeting / 2, MSG_NOSIGNAL);
        break;
    case 3: /* a random hello */
        send(fd, &greeting, sizeof greeting, MSG_NOSIGNAL);
        send(fd, bytes, sizeof(mo_rdv_hello), MSG_NOSIGNAL);
        break;
    case 4:
        send(fd, bytes, sizeof bytes, MSG_NOSIGNAL);
        break;
    default:
        break;
    }
}

START_TEST(strangers_block_no_rank)
{
    join_rank ranks[2];
    int port = join_free_port(), strangers[MAX_STRANGERS];
    int64_t begin = mo_stop_clock_ns();

    join_set_up(ranks, 2, port);
    join_start(&ranks[0]);
    strangers[0] = connect_with_retries(port);
    for (int i = 1; i < MAX_STRANGERS; i++)
        strangers[i] = connect_port(port);
    for (int i = 0; i < MAX_STRANGERS; i++)
        send_garbage(strangers[i], i, (uint64_t) (_i * 1000 + i));
    for (int i = 0; i < MAX_STRANGERS; i += 3) /* some close */
        close(strangers[i]);
    join_start(&ranks[1]);
    join_finish(&ranks[0]);
    join_finish(&ranks[1]);
    ck_assert_msg(ranks[0].status == MO_OK, "seed %d: %s", _i,
                  ranks[0].err.text);
    ck_assert_msg(ranks[1].status == MO_OK, "seed %d: %s", _i,
                  ranks[1].err.text);
    ck_assert_int_lt(mo_stop_clock_ns() - begin, SOON_NS);
    join_check(ranks, 2);
    for (int i = 0; i < MAX_STRANGERS; i++)
        if (i % 3 != 0)
            close(strangers[i]);
    join_hang_up(&ranks[0]);
    join_hang_up(&ranks[1]);
}
END_TEST

/* Rank 0, which waits as long, answers with its own preamble and closes the
 * connection.  Returns false if it has ended before: the machine is busy. */
static bool refuses(join_rank *rank, int port, double seconds,
                    const mo_rdv_preamble *greeting)
{
    int64_t begin = mo_stop_clock_ns(), soon = begin + SOON_NS;
    mo_rdv_preamble answer;
    mo_secure_channel *channel;
    bool is_answered;
    char byte;
    int fd;

    join_set_up(rank, 2, port);
    rank->seconds = seconds;
    join_start(rank);
    while ((fd = connect_port(port)) < 0 &&
           (double) (mo_stop_clock_ns() - begin) < seconds * 1e9)
        usleep(1000);
    if (fd < 0) {
        join_finish(rank);
        return false;
    }
    channel = mo_secure_channel_new(fd);
    is_answered = mo_rdv_send_all(channel, greeting, sizeof *greeting, soon) &&
                  mo_rdv_receive_all(channel, &answer, sizeof answer, soon);
    if (is_answered) {
        ck_assert_int_eq((int) answer.version, MO_RDV_PROTOCOL_VERSION);
        ck_assert(!mo_rdv_receive_all(channel, &byte, 1, soon));
        ck_assert(mo_secure_channel_is_closed(channel));
    }
    mo_secure_channel_free(channel);
    join_finish(rank);
    return is_answered;
}

START_TEST(other_kinds_of_machines_are_refused)
{
    static const char *const words[] = { "another order of bytes",
                                         "another version",
                                         "has a certificate, but rank 0 has" };
    join_rank ranks[2];
    mo_rdv_preamble greeting = make_preamble(1);
    double seconds = 1;

    if (_i == 0)
        greeting.order = 0x04030201;
    else if (_i == 1)
        greeting.version++;
    else
        greeting.security = MO_RDV_SECURITY_CERTIFICATE;
    while (!refuses(ranks, join_free_port(), seconds, &greeting) &&
           seconds < SLOW_S)
        seconds *= 2;
    ck_assert_int_eq(ranks[0].status, MO_E_IO);
    join_expect(ranks[0].err.text, "rank 1 has never come");
    join_expect(ranks[0].err.text, "see the refusal above");
    join_expect(join_notes, words[_i]);
}
END_TEST

START_TEST(what_answers_may_be_something_else)
{
    int port = join_free_port(), caller;
    int listener = mo_rdv_socket_listen(mo_rdv_address_loopback, port, 4);
    join_rank ranks[2];

    join_set_up(ranks, 2, port);
    ranks[1].seconds = 2;
    join_start(&ranks[1]);
    while ((caller = accept(listener, NULL, NULL)) < 0)
        usleep(1000);
    for (int i = 0; i < 50; i++)
        send(caller, "220 mail.example.org\r\n", 22, MSG_NOSIGNAL);
    close(listener);
    join_finish(&ranks[1]);
    close(caller);
    ck_assert_int_eq(ranks[1].status, MO_E_IO);
    ck_assert_msg(strstr(ranks[1].err.text, "is not rank 0") ||
                      strstr(ranks[1].err.text, "cannot be reached"),
                  "%s", ranks[1].err.text);
}
END_TEST

/* A port that accepts connections, and never answers. */
START_TEST(what_listens_may_be_silent)
{
    int port = join_free_port();
    int listener = mo_rdv_socket_listen(mo_rdv_address_loopback, port, 4);
    join_rank ranks[2];
    char words[80];

    join_set_up(ranks, 2, port);
    ranks[1].seconds = 1;
    join_start(&ranks[1]);
    join_finish(&ranks[1]);
    close(listener);
    snprintf(
        words, sizeof words,
        "what listens at 127.0.0.1:%d does not answer as rank 0 does: ", port);
    ck_assert_int_eq(ranks[1].status, MO_E_IO);
    join_expect(ranks[1].err.text, words);
}
END_TEST

/* Accepts a rank as rank 0 does, without security, and then reports that the
 * job has failed. */
static void accept_and_fail(int listener, const char *text)
{
    int64_t soon = mo_stop_clock_ns() + SOON_NS;
    mo_rdv_verdict verdicts[2] = { { .refused = 0 }, { .refused = 1 } };
    const mo_rdv_params job = { .n_ranks = 2 };
    mo_rdv_preamble greeting, own;
    mo_secure_channel *channel;
    mo_rdv_hello hello;
    int fd;

    while ((fd = accept(listener, NULL, NULL)) < 0)
        usleep(1000);
    channel = mo_secure_channel_new(fd);
    mo_rdv_preamble_init(&own, &job);
    snprintf(verdicts[1].text, sizeof verdicts[1].text, "%s", text);
    ck_assert(mo_rdv_receive_all(channel, &greeting, sizeof greeting, soon));
    ck_assert(mo_rdv_send_all(channel, &own, sizeof own, soon));
    ck_assert(mo_rdv_receive_all(channel, &hello, sizeof hello, soon));
    ck_assert(mo_rdv_send_all(channel, verdicts, sizeof verdicts, soon));
    mo_secure_channel_free(channel);
}

/* The reason is a text of rank 0, and is marked as such. */
START_TEST(a_failure_is_reported_as_that_of_rank_0)
{
    static const char *const reasons[] = { "rank 7 (host tau) is gone", "" };
    static const char *const words[] = { "rank 7 (host tau) is gone",
                                         "the job has failed" };
    int port = join_free_port();
    int listener = mo_rdv_socket_listen(mo_rdv_address_loopback, port, 4);
    join_rank ranks[2];
    char wanted[120];

    join_set_up(ranks, 2, port);
    ranks[1].job.has_token = false;
    join_start(&ranks[1]);
    accept_and_fail(listener, reasons[_i]);
    join_finish(&ranks[1]);
    close(listener);
    snprintf(wanted, sizeof wanted, "%s (reported by rank 0 at 127.0.0.1:%d)",
             words[_i], port);
    ck_assert_int_eq(ranks[1].status, MO_E_IO);
    ck_assert_str_eq(ranks[1].err.text, wanted);
}
END_TEST

/* Whether all other ranks, which wait as long, name the missing one. */
static bool is_named_by_all(int missing, double seconds)
{
    join_rank ranks[4];
    char words[32];
    bool is_named = true;

    join_set_up(ranks, 4, 0);
    snprintf(words, sizeof words, "rank %d ", missing);
    for (int r = 0; r < 4; r++) {
        ranks[r].seconds = seconds;
        ranks[r].job.has_token = false; /* deriving a key takes long */
        if (r != missing)
            join_start(&ranks[r]);
    }
    for (int r = 0; r < 4; r++) {
        if (r == missing)
            continue;
        join_finish(&ranks[r]);
        ck_assert_int_eq(ranks[r].status, MO_E_IO);
        is_named = is_named && strstr(ranks[r].err.text, words);
    }
    return is_named;
}

/* On a busy machine some come too late: then all wait for longer. */
START_TEST(all_get_the_missing_rank)
{
    double seconds = 1;
    bool is_named;

    while (!(is_named = is_named_by_all(_i, seconds)) && seconds < SLOW_S)
        seconds *= 2;
    ck_assert(is_named);
}
END_TEST

static bool secure(mo_secure_channel *channel, const mo_rdv_params *params,
                   const mo_rdv_hello *hello, const mo_rdv_preamble *answer)
{
    char identity[MO_SECURE_IDENTITY_SIZE];
    mo_secure_credentials *credentials;

    MUST(
        mo_rdv_credentials_new(params, answer->salt, NULL, &credentials, &err));
    if (!credentials)
        return true;
    mo_rdv_format_identity(identity, hello->rank, hello->n_ranks);
    MUST(mo_secure_channel_start(channel, credentials, MO_SECURE_CLIENT,
                                 identity, &err));
    while (mo_secure_channel_handshake(channel, NULL) == MO_SECURE_AGAIN)
        usleep(100);
    mo_secure_credentials_free(credentials);
    return mo_secure_channel_is_sealed(channel);
}

/* A client that closes its connection once it is accepted. On a busy machine
 * rank 0 may close it before; then it tries again. */
static void join_and_leave(int port, const mo_rdv_params *params, int64_t soon)
{
    mo_rdv_hello hello = { .rank = (uint32_t) params->rank,
                           .n_ranks = (uint32_t) params->n_ranks,
                           .endpoint_bytes = sizeof hello.endpoint,
                           .endpoint = { .host = "tau", .port = 1 } };
    mo_rdv_verdict verdict = { .refused = 1 };
    mo_rdv_preamble greeting, answer;
    bool joined = false;

    mo_rdv_preamble_init(&greeting, params);
    mo_rdv_format_job(params, hello.job);
    while (!joined && mo_stop_clock_ns() < soon) {
        mo_secure_channel *channel =
            mo_secure_channel_new(connect_with_retries(port));

        joined = mo_rdv_send_all(channel, &greeting, sizeof greeting, soon) &&
                 mo_rdv_receive_all(channel, &answer, sizeof answer, soon) &&
                 secure(channel, params, &hello, &answer) &&
                 mo_rdv_send_all(channel, &hello, sizeof hello, soon) &&
                 mo_rdv_receive_all(channel, &verdict, sizeof verdict, soon);
        mo_secure_channel_free(channel);
    }
    ck_assert_int_eq((int) verdict.refused, 0);
}

/* A late rank receives the reason for two seconds, too short to derive a key on
 * a busy machine: there is one only where no token is. */
START_TEST(one_that_leaves_is_named_at_once)
{
    join_rank ranks[3];
    int port = join_free_port();
    int64_t begin = mo_stop_clock_ns(), soon = begin + SOON_NS;
    const bool has_late = _i == 1;

    join_set_up(ranks, 3, port);
    for (int r = 0; r < 3 && has_late; r++)
        ranks[r].job.has_token = false;
    join_start(&ranks[0]);
    join_and_leave(port, &ranks[2].job, soon);
    if (has_late) {
        usleep(100000);
        join_start(&ranks[1]);
        join_finish(&ranks[1]);
        join_expect(ranks[1].err.text, "rank 2 (host tau) is gone");
    }
    join_finish(&ranks[0]);
    join_expect(ranks[0].err.text, "rank 2 (host tau) is gone");
    ck_assert_int_lt(mo_stop_clock_ns() - begin, SOON_NS);
}
END_TEST

SUITE(rendezvous_rejected)
{
    TEST(many_may_connect_at_once);
    EACH(strangers_block_no_rank, 3);
    EACH(other_kinds_of_machines_are_refused, 3);
    TEST(what_answers_may_be_something_else);
    TEST(what_listens_may_be_silent);
    EACH(a_failure_is_reported_as_that_of_rank_0, 2);
    EACH(all_get_the_missing_rank, 4);
    EACH(one_that_leaves_is_named_at_once, 2);
}
