#include <config.h>

#include "exec/transport/join.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/random.h"
#include "base/stop.h"
#include "exec/transport/join_parts.h"
#include "tests/suite.h"

enum { MAX_RANKS = 6, N_KINDS = 2, MAX_STRANGERS = 100 };

/* Busy machines take their time; whoever waits in vain takes more. */
enum { PATIENCE_S = 40 };
#define SOON_NS (PATIENCE_S * INT64_C(1000000000) * 3 / 4)

/* A rank, which is a thread here. */
typedef struct rank {
    mo_job job;
    double seconds;
    mo_card cards[MAX_RANKS];
    int sockets[N_KINDS * MAX_RANKS];
    mo_status status;
    mo_error err;
    pthread_t thread;
} rank;

static char notes[4096];

static void note(const char *text)
{
    size_t length = strlen(notes);

    snprintf(notes + length, sizeof notes - length, "%s\n", text);
}

/* A port that was free a moment ago. */
static int free_port(void)
{
    int listener = mo_address_listen(mo_address_loopback, 0, 1);
    int port = mo_address_port(listener);

    ck_assert_int_gt(port, 0);
    close(listener);
    return port;
}

/* n ranks of one job; port 0: at a name. */
static void set_up(rank *ranks, int n, int port)
{
    static int jobs;

    notes[0] = '\0';
    jobs++;
    for (int r = 0; r < n; r++) {
        mo_job *job = &ranks[r].job;

        memset(&ranks[r], 0, sizeof ranks[r]);
        job->by = "a test";
        job->rank = r;
        job->n_ranks = n;
        job->token = "sesame";
        job->port = port;
        if (port > 0)
            strcpy(job->host, "127.0.0.1");
        snprintf(job->name, sizeof job->name, "test-%ld-%d", (long) getpid(),
                 jobs);
        ranks[r].seconds = PATIENCE_S;
    }
}

static void *join(void *context)
{
    rank *r = context;
    const mo_join_options options = { r->seconds, N_KINDS, note };

    r->status = mo_join(&r->job, &options, r->cards, r->sockets, &r->err);
    return NULL;
}

static void start(rank *r)
{
    ck_assert_int_eq(pthread_create(&r->thread, NULL, join, r), 0);
}

static void finish(rank *r)
{
    pthread_join(r->thread, NULL);
}

static void hang_up(rank *r)
{
    for (int i = 0; i < N_KINDS * r->job.n_ranks; i++)
        if (r->sockets[i] >= 0)
            close(r->sockets[i]);
}

/* Every connection has its own two ends. */
static void check_connections(const rank *ranks, int n)
{
    for (int k = 0; k < N_KINDS; k++)
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++) {
                char byte = (char) (k * 100 + a * 10 + b), got = 0;

                if (a == b)
                    continue;
                ck_assert_int_eq(send(ranks[a].sockets[k * n + b], &byte, 1, 0),
                                 1);
                while (recv(ranks[b].sockets[k * n + a], &got, 1, 0) < 0)
                    usleep(100);
                ck_assert_int_eq(got, byte);
            }
}

static void all_join(rank *ranks, int n)
{
    for (int r = 0; r < n; r++)
        start(&ranks[r]);
    for (int r = 0; r < n; r++)
        finish(&ranks[r]);
    for (int r = 0; r < n; r++)
        ck_assert_msg(ranks[r].status == MO_OK, "rank %d: %s", r,
                      ranks[r].err.text);
    check_connections(ranks, n);
    for (int r = 0; r < n; r++)
        hang_up(&ranks[r]);
}

START_TEST(all_are_connected_with_all)
{
    rank ranks[MAX_RANKS];
    int n = 1 + _i % MAX_RANKS;

    set_up(ranks, n, _i < MAX_RANKS ? 0 : free_port());
    all_join(ranks, n);
}
END_TEST

/* A name of a machine may lead to its loopback, and yet others shall come. */
START_TEST(only_loopback_itself_is_local)
{
    char name[256] = "";
    uint8_t at[MO_ADDRESS_BYTES];

    ck_assert(mo_address_is_local("localhost", at));
    ck_assert(mo_address_is_local("127.0.0.1", at));
    ck_assert(mo_address_is_local("127.1.2.3", at));
    ck_assert(mo_address_is_local("::1", at));
    ck_assert(!mo_address_is_local("10.0.0.1", at));
    ck_assert(!mo_address_is_local("::", at));
    ck_assert(!mo_address_is_local("localhost.example.org", at));
    gethostname(name, sizeof name - 1);
    if (strcmp(name, "localhost") != 0)
        ck_assert(!mo_address_is_local(name, at));
}
END_TEST

/* Loopback has more than one address, and what is called must be the one where
 * rank 0 listens; ranks that are told where find each other there as well. */
START_TEST(ranks_meet_at_any_loopback)
{
    static const char *const hosts[] = { "localhost", "127.0.0.2", "::1" };
    rank ranks[3];
    uint8_t at[MO_ADDRESS_BYTES];
    int listener;

    ck_assert(mo_address_is_local(hosts[_i], at));
    listener = mo_address_listen(at, 0, 1);
    if (listener < 0)
        return; /* not on this machine */
    close(listener);
    set_up(ranks, 3, free_port());
    for (int r = 0; r < 3; r++)
        strcpy(ranks[r].job.host, hosts[_i]);
    all_join(ranks, 3);
}
END_TEST

START_TEST(an_address_of_others_is_refused_by_name)
{
    rank alone;

    set_up(&alone, 1, free_port());
    alone.job.n_ranks = 2;
    alone.job.bind = "192.0.2.77"; /* of nobody: RFC 5737 */
    start(&alone);
    finish(&alone);
    ck_assert_int_eq(alone.status, MO_E_IO);
    ck_assert_msg(strstr(alone.err.text, "'192.0.2.77'") != NULL, "%s",
                  alone.err.text);
}
END_TEST

START_TEST(the_first_may_come_last)
{
    rank ranks[2];

    set_up(ranks, 2, free_port());
    start(&ranks[1]);
    usleep(200000);
    start(&ranks[0]);
    finish(&ranks[0]);
    finish(&ranks[1]);
    ck_assert_int_eq(ranks[0].status, MO_OK);
    ck_assert_int_eq(ranks[1].status, MO_OK);
    check_connections(ranks, 2);
    hang_up(&ranks[0]);
    hang_up(&ranks[1]);
}
END_TEST

/* There are more connections than a process may have files, unless it asks. */
START_TEST(many_ranks_need_many_files)
{
    rank ranks[MAX_RANKS];
    struct rlimit limit, before;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = before;
    limit.rlim_cur = 40;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    set_up(ranks, MAX_RANKS, free_port());
    all_join(ranks, MAX_RANKS);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
}
END_TEST

/* ------------------------------------------------------------------ refusals
 */

static void expect_words(const char *text, const char *words)
{
    ck_assert_msg(strstr(text, words) != NULL, "'%s' is not in: %s", words,
                  text);
}

/* Somebody who is not what the others expect is refused, the right one is
 * welcome afterwards. */
static void refuse_then_welcome(rank *ranks, rank *wrong, const char *own_words,
                                const char *others_words)
{
    start(&ranks[0]);
    start(wrong);
    finish(wrong);
    ck_assert_int_eq(wrong->status, MO_E_IO);
    expect_words(wrong->err.text, own_words);
    start(&ranks[1]);
    finish(&ranks[0]);
    finish(&ranks[1]);
    ck_assert_msg(ranks[0].status == MO_OK, "%s", ranks[0].err.text);
    ck_assert_msg(ranks[1].status == MO_OK, "%s", ranks[1].err.text);
    expect_words(notes, others_words);
    hang_up(&ranks[0]);
    hang_up(&ranks[1]);
}

START_TEST(a_wrong_token_is_refused_by_name)
{
    rank ranks[2], wrong;

    set_up(ranks, 2, _i == 0 ? 0 : free_port());
    wrong = ranks[1];
    wrong.job.token = _i == 0 ? "" : "sesame ";
    refuse_then_welcome(ranks, &wrong, "has another token",
                        _i == 0 ? "rank 1 at here has another token"
                                : "rank 1 at 127.0.0.1 has another token");
}
END_TEST

START_TEST(another_number_of_ranks_is_refused)
{
    rank ranks[2], wrong;

    set_up(ranks, 2, 0);
    wrong = ranks[1];
    wrong.job.n_ranks = 3;
    refuse_then_welcome(ranks, &wrong, "was told of 3 ranks, rank 0 of 2",
                        "was told of 3 ranks, rank 0 of 2");
}
END_TEST

START_TEST(a_rank_that_is_there_already_is_refused)
{
    rank ranks[3], twin;

    set_up(ranks, 3, 0);
    twin = ranks[1];
    start(&ranks[0]);
    start(&ranks[1]);
    usleep(300000);
    start(&twin);
    finish(&twin);
    ck_assert_int_eq(twin.status, MO_E_IO);
    expect_words(twin.err.text, "rank 1 at here has come already");
    start(&ranks[2]);
    for (int r = 0; r < 3; r++) {
        finish(&ranks[r]);
        ck_assert_int_eq(ranks[r].status, MO_OK);
    }
    check_connections(ranks, 3);
    for (int r = 0; r < 3; r++)
        hang_up(&ranks[r]);
}
END_TEST

START_TEST(a_second_rank_0_is_told_that_there_is_one)
{
    rank ranks[2], twin;

    set_up(ranks, 2, free_port());
    twin = ranks[0];
    start(&ranks[0]);
    usleep(200000);
    start(&twin);
    finish(&twin);
    ck_assert_int_eq(twin.status, MO_E_IO);
    expect_words(twin.err.text, "is taken");
    start(&ranks[1]);
    finish(&ranks[0]);
    finish(&ranks[1]);
    ck_assert_int_eq(ranks[0].status, MO_OK);
    hang_up(&ranks[0]);
    hang_up(&ranks[1]);
}
END_TEST

/* ----------------------------------------------------------------- strangers
 */

static int call(int port)
{
    return mo_address_call(mo_address_loopback, port,
                           mo_stop_clock_ns() + 1000000000);
}

static int call_until_there(int port)
{
    int fd;

    while ((fd = call(port)) < 0)
        usleep(1000);
    return fd;
}

/* Who calls in a crowd is not turned away before anybody has looked. */
START_TEST(a_crowd_may_call_at_once)
{
    mo_job job = { .host = "127.0.0.1", .port = free_port(), .n_ranks = 2 };
    int listener = mo_join_listen(&job, mo_address_loopback);
    int fds[MAX_STRANGERS];

    ck_assert_int_ge(listener, 0);
    for (int i = 0; i < MAX_STRANGERS; i++) {
        fds[i] = mo_address_call(mo_address_loopback, job.port,
                                 mo_stop_clock_ns() + 500000000);
        ck_assert_msg(fds[i] >= 0, "the %d-th was not heard", i + 1);
    }
    for (int i = 0; i < MAX_STRANGERS; i++)
        close(fds[i]);
    close(listener);
}
END_TEST

static mo_join_greeting greeting_of(int number, int n_ranks)
{
    mo_join_greeting greeting = { .order = MO_JOIN_ORDER,
                                  .version = MO_JOIN_VERSION,
                                  .rank = (uint32_t) number,
                                  .n_ranks = (uint32_t) n_ranks,
                                  .card_bytes = sizeof(mo_card) };

    memcpy(greeting.magic, mo_join_magic, sizeof greeting.magic);
    return greeting;
}

/* What a stranger says: nothing, somebody else's words, half of ours, much too
 * much, or chance. */
static void babble(int fd, int kind, uint64_t seed)
{
    mo_join_greeting greeting = greeting_of(1, 2);
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
    case 3: /* a claim that is all chance */
        send(fd, &greeting, sizeof greeting, MSG_NOSIGNAL);
        send(fd, bytes, sizeof(mo_join_claim), MSG_NOSIGNAL);
        break;
    case 4:
        send(fd, bytes, sizeof bytes, MSG_NOSIGNAL);
        break;
    default:
        break;
    }
}

START_TEST(strangers_are_in_nobodys_way)
{
    rank ranks[2];
    int port = free_port(), strangers[MAX_STRANGERS];
    int64_t begin = mo_stop_clock_ns();

    set_up(ranks, 2, port);
    start(&ranks[0]);
    strangers[0] = call_until_there(port);
    for (int i = 1; i < MAX_STRANGERS; i++)
        strangers[i] = call(port);
    for (int i = 0; i < MAX_STRANGERS; i++)
        babble(strangers[i], i, (uint64_t) (_i * 1000 + i));
    for (int i = 0; i < MAX_STRANGERS; i += 3) /* some leave */
        close(strangers[i]);
    start(&ranks[1]);
    finish(&ranks[0]);
    finish(&ranks[1]);
    ck_assert_msg(ranks[0].status == MO_OK, "seed %d: %s", _i,
                  ranks[0].err.text);
    ck_assert_msg(ranks[1].status == MO_OK, "seed %d: %s", _i,
                  ranks[1].err.text);
    ck_assert_int_lt(mo_stop_clock_ns() - begin, SOON_NS);
    check_connections(ranks, 2);
    for (int i = 0; i < MAX_STRANGERS; i++)
        if (i % 3 != 0)
            close(strangers[i]);
    hang_up(&ranks[0]);
    hang_up(&ranks[1]);
}
END_TEST

/* What one who knows the token is refused for. */
START_TEST(other_kinds_of_machines_are_refused)
{
    rank ranks[2];
    int port = free_port(), fd;
    mo_join_verdict verdict;
    mo_join_answer answer;
    mo_join_greeting greeting = greeting_of(1, 2);
    int64_t soon = mo_stop_clock_ns() + 5000000000;

    if (_i == 0)
        greeting.order = 0x04030201;
    else
        greeting.version++;
    set_up(ranks, 2, port);
    ranks[0].seconds = 1;
    start(&ranks[0]);
    fd = call_until_there(port);
    ck_assert(mo_join_send(fd, &greeting, sizeof greeting, soon));
    ck_assert(mo_join_receive(fd, &answer, sizeof answer, soon));
    ck_assert(mo_join_receive(fd, &verdict, sizeof verdict, soon));
    ck_assert_int_eq((int) verdict.refused, 1);
    expect_words(verdict.text,
                 _i == 0 ? "another order of bytes" : "another version");
    close(fd);
    finish(&ranks[0]);
    ck_assert_int_eq(ranks[0].status, MO_E_IO);
    expect_words(ranks[0].err.text, "rank 1 has never come");
    expect_words(ranks[0].err.text, verdict.text);
}
END_TEST

START_TEST(what_answers_may_be_something_else)
{
    int port = free_port(), caller;
    int listener = mo_address_listen(mo_address_loopback, port, 4);
    rank ranks[2];

    set_up(ranks, 2, port);
    ranks[1].seconds = 0.5;
    start(&ranks[1]);
    while ((caller = accept(listener, NULL, NULL)) < 0)
        usleep(1000);
    for (int i = 0; i < 50; i++)
        send(caller, "220 mail.example.org\r\n", 22, MSG_NOSIGNAL);
    close(listener);
    finish(&ranks[1]);
    close(caller);
    ck_assert_int_eq(ranks[1].status, MO_E_IO);
    ck_assert_msg(strstr(ranks[1].err.text, "is not rank 0") ||
                      strstr(ranks[1].err.text, "cannot be reached"),
                  "%s", ranks[1].err.text);
}
END_TEST

/* -------------------------------------------------------------------- missing
 */

START_TEST(all_hear_who_is_missing)
{
    rank ranks[4];

    set_up(ranks, 4, 0);
    for (int r = 0; r < 4; r++)
        ranks[r].seconds = 1;
    for (int r = 0; r < 4; r++)
        if (r != _i)
            start(&ranks[r]);
    for (int r = 0; r < 4; r++) {
        char words[32];

        if (r == _i)
            continue;
        finish(&ranks[r]);
        ck_assert_int_eq(ranks[r].status, MO_E_IO);
        snprintf(words, sizeof words, "rank %d ", _i);
        expect_words(ranks[r].err.text, words);
    }
}
END_TEST

START_TEST(one_that_leaves_is_named_at_once)
{
    rank ranks[3];
    int port = free_port(), fd;
    int64_t begin = mo_stop_clock_ns(), soon = begin + SOON_NS;
    mo_join_greeting greeting = greeting_of(2, 3);
    mo_join_claim claim = { .card = { .host = "tau" } };
    mo_join_verdict verdict;
    mo_join_answer answer;

    set_up(ranks, 3, port);
    start(&ranks[0]);
    fd = call_until_there(port);
    ck_assert(mo_join_send(fd, &greeting, sizeof greeting, soon));
    ck_assert(mo_join_receive(fd, &answer, sizeof answer, soon));
    mo_join_seal("sesame", MO_JOIN_CALLER, &greeting, answer.number,
                 claim.proof);
    ck_assert(mo_join_send(fd, &claim, sizeof claim, soon));
    ck_assert(mo_join_receive(fd, &verdict, sizeof verdict, soon));
    ck_assert_int_eq((int) verdict.refused, 0);
    close(fd);
    usleep(100000);
    start(&ranks[1]); /* comes too late, and hears of it all the same */
    finish(&ranks[0]);
    finish(&ranks[1]);
    expect_words(ranks[0].err.text, "rank 2 (host tau) is gone");
    expect_words(ranks[1].err.text, "rank 2 (host tau) is gone");
    ck_assert_int_lt(mo_stop_clock_ns() - begin, SOON_NS);
}
END_TEST

SUITE(join)
{
    EACH(all_are_connected_with_all, 2 * MAX_RANKS);
    TEST(only_loopback_itself_is_local);
    EACH(ranks_meet_at_any_loopback, 3);
    TEST(an_address_of_others_is_refused_by_name);
    TEST(the_first_may_come_last);
    TEST(many_ranks_need_many_files);
    EACH(a_wrong_token_is_refused_by_name, 2);
    TEST(another_number_of_ranks_is_refused);
    TEST(a_rank_that_is_there_already_is_refused);
    TEST(a_second_rank_0_is_told_that_there_is_one);
    TEST(a_crowd_may_call_at_once);
    EACH(strangers_are_in_nobodys_way, 3);
    EACH(other_kinds_of_machines_are_refused, 2);
    TEST(what_answers_may_be_something_else);
    EACH(all_hear_who_is_missing, 4);
    TEST(one_that_leaves_is_named_at_once);
}
