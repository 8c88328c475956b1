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

enum { MAX_STRANGERS = 100 };

static int connect_port(int port)
{
    return mo_rdv_socket_connect(mo_rdv_address_loopback, port,
                                 mo_stop_clock_ns() + 1000000000);
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
                                       mo_stop_clock_ns() + 500000000);
        ck_assert_msg(fds[i] >= 0, "the %d-th was not heard", i + 1);
    }
    for (int i = 0; i < MAX_STRANGERS; i++)
        close(fds[i]);
    close(listener);
}
END_TEST

static mo_rdv_hello make_hello(int number, int n_ranks)
{
    mo_rdv_hello greeting = { .order = MO_RDV_BYTE_ORDER_MARK,
                              .version = MO_RDV_PROTOCOL_VERSION,
                              .rank = (uint32_t) number,
                              .n_ranks = (uint32_t) n_ranks,
                              .endpoint_bytes = sizeof(mo_rdv_endpoint) };

    memcpy(greeting.magic, mo_rdv_magic, sizeof greeting.magic);
    return greeting;
}

/* What a foreign connection sends: nothing, another protocol, half of a hello,
 * far too much, or random bytes. */
static void send_garbage(int fd, int kind, uint64_t seed)
{
    mo_rdv_hello greeting = make_hello(1, 2);
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
    case 3: /* a random response */
        send(fd, &greeting, sizeof greeting, MSG_NOSIGNAL);
        send(fd, bytes, sizeof(mo_rdv_response), MSG_NOSIGNAL);
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

/* A client with the right token that is refused. */
START_TEST(other_kinds_of_machines_are_refused)
{
    join_rank ranks[2];
    int port = join_free_port(), fd;
    mo_rdv_verdict verdict;
    mo_rdv_challenge answer;
    mo_rdv_hello greeting = make_hello(1, 2);
    int64_t soon = mo_stop_clock_ns() + 5000000000;

    if (_i == 0)
        greeting.order = 0x04030201;
    else
        greeting.version++;
    join_set_up(ranks, 2, port);
    ranks[0].seconds = 1;
    join_start(&ranks[0]);
    fd = connect_with_retries(port);
    ck_assert(mo_rdv_send_all(fd, &greeting, sizeof greeting, soon));
    ck_assert(mo_rdv_receive_all(fd, &answer, sizeof answer, soon));
    ck_assert(mo_rdv_receive_all(fd, &verdict, sizeof verdict, soon));
    ck_assert_int_eq((int) verdict.refused, 1);
    join_expect(verdict.text,
                _i == 0 ? "another order of bytes" : "another version");
    close(fd);
    join_finish(&ranks[0]);
    ck_assert_int_eq(ranks[0].status, MO_E_IO);
    join_expect(ranks[0].err.text, "rank 1 has never come");
    join_expect(ranks[0].err.text, verdict.text);
}
END_TEST

START_TEST(what_answers_may_be_something_else)
{
    int port = join_free_port(), caller;
    int listener = mo_rdv_socket_listen(mo_rdv_address_loopback, port, 4);
    join_rank ranks[2];

    join_set_up(ranks, 2, port);
    ranks[1].seconds = 0.5;
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

START_TEST(all_get_the_missing_rank)
{
    join_rank ranks[4];

    join_set_up(ranks, 4, 0);
    for (int r = 0; r < 4; r++)
        ranks[r].seconds = 1;
    for (int r = 0; r < 4; r++)
        if (r != _i)
            join_start(&ranks[r]);
    for (int r = 0; r < 4; r++) {
        char words[32];

        if (r == _i)
            continue;
        join_finish(&ranks[r]);
        ck_assert_int_eq(ranks[r].status, MO_E_IO);
        snprintf(words, sizeof words, "rank %d ", _i);
        join_expect(ranks[r].err.text, words);
    }
}
END_TEST

START_TEST(one_that_leaves_is_named_at_once)
{
    join_rank ranks[3];
    int port = join_free_port(), fd;
    int64_t begin = mo_stop_clock_ns(), soon = begin + SOON_NS;
    mo_rdv_hello greeting = make_hello(2, 3);
    mo_rdv_response claim = { .endpoint = { .host = "tau" } };
    mo_rdv_verdict verdict;
    mo_rdv_challenge answer;

    join_set_up(ranks, 3, port);
    join_start(&ranks[0]);
    fd = connect_with_retries(port);
    ck_assert(mo_rdv_send_all(fd, &greeting, sizeof greeting, soon));
    ck_assert(mo_rdv_receive_all(fd, &answer, sizeof answer, soon));
    mo_rdv_compute_proof("sesame", MO_RDV_CLIENT, &greeting, answer.nonce,
                         claim.proof);
    ck_assert(mo_rdv_send_all(fd, &claim, sizeof claim, soon));
    ck_assert(mo_rdv_receive_all(fd, &verdict, sizeof verdict, soon));
    ck_assert_int_eq((int) verdict.refused, 0);
    close(fd);
    usleep(100000);
    join_start(
        &ranks[1]); /* too late, but it receives the reason all the same */
    join_finish(&ranks[0]);
    join_finish(&ranks[1]);
    join_expect(ranks[0].err.text, "rank 2 (host tau) is gone");
    join_expect(ranks[1].err.text, "rank 2 (host tau) is gone");
    ck_assert_int_lt(mo_stop_clock_ns() - begin, SOON_NS);
}
END_TEST

SUITE(join_strangers)
{
    TEST(many_may_connect_at_once);
    EACH(strangers_block_no_rank, 3);
    EACH(other_kinds_of_machines_are_refused, 2);
    TEST(what_answers_may_be_something_else);
    EACH(all_get_the_missing_rank, 4);
    TEST(one_that_leaves_is_named_at_once);
}
