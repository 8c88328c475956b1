/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind threads */
/* Two ranks with two devices each: the second is a child of the first. */
#include <config.h>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "exec/transport/tcp/tcp_internal.h"
#include "exec/transport/transport.h"
#include "tests/support/suite.h"

static const mo_transport *const tcp = &mo_transport_tcp;

enum { N_DEVICES = 4, MAX_TRANSFERS = 24, RUNS = 4 };

static const int64_t sizes[] = {
    0, 1, 5000, MO_TCP_EAGER_BYTES, MO_TCP_EAGER_BYTES + 1, 300000, 3 << 20
};

/* Device d belongs to rank d / 2.  A plan is transfers in their total order;
 * each device does its own in that order, after one another. */
typedef struct party {
    mo_exec_plan plan;
    mo_plan_device devices[N_DEVICES];
    mo_plan_transfer transfers[MAX_TRANSFERS];
    int rank_of[N_DEVICES];
    mo_transport_world *world;
    char *memory[MAX_TRANSFERS][2]; /* by end */
    bool hasty;                     /* all that can be begun is begun at once */
} party;

static void make_party(party *p, uint64_t seed)
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
        for (int end = 0; end < 2; end++)
            p->memory[t][end] = malloc((size_t) bytes + 1);
    }
    p->plan.n_devices = N_DEVICES;
    p->plan.devices = p->devices;
    p->plan.n_transfers = MAX_TRANSFERS;
    p->plan.transfers = p->transfers;
    p->hasty = seed % 2 == 1;
}

static void free_party(party *p)
{
    for (int t = 0; t < MAX_TRANSFERS; t++)
        for (int end = 0; end < 2; end++)
            free(p->memory[t][end]);
}

/* ------------------------------------------------------------------- a device
 */

typedef struct device {
    party *party;
    int number;
    mo_status status;
    mo_error err;
    int wrong; /* a transfer whose bytes are, or -1 */
} device;

static char mark_of(int run, int transfer)
{
    return (char) (1 + (run * 31 + transfer) % 100);
}

static mo_status begin(device *d, int run, int t)
{
    party *p = d->party;
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

static mo_status end(device *d, int run, int t)
{
    party *p = d->party;
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
    return d->party->transfers[t].from == d->number ||
           d->party->transfers[t].to == d->number;
}

static mo_status run_once(device *d, int run)
{
    mo_status status = MO_OK;

    for (int t = 0; t < MAX_TRANSFERS && status == MO_OK; t++)
        if (is_own(d, t)) {
            status = begin(d, run, t);
            if (status == MO_OK && !d->party->hasty)
                status = end(d, run, t);
        }
    for (int t = MAX_TRANSFERS - 1; t >= 0 && status == MO_OK; t--)
        if (is_own(d, t) && d->party->hasty)
            status = end(d, run, t);
    return status;
}

static void *drive(void *context)
{
    device *d = context;
    bool stop = false;

    for (int run = 0; !stop && d->status == MO_OK; run++) {
        /* One device only wants to stop: all do. */
        stop = run == RUNS && d->number == 2;
        d->status = tcp->barrier(d->party->world, &stop, &d->err);
        if (d->status == MO_OK && !stop)
            d->status = run_once(d, run);
        if (d->status == MO_OK && run > RUNS)
            d->wrong = MAX_TRANSFERS;
    }
    tcp->leave(d->party->world);
    return NULL;
}

/* --------------------------------------------------------------------- a rank
 */

/* What rank 0 collects: numbers of rank 1. */
static int check_collection(party *p, int rank)
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

/* The devices of a rank; what went wrong is printed, and counted. */
static int drive_devices(party *p, int rank, uint64_t seed)
{
    device devices[2];
    pthread_t threads[2];
    int wrong = 0;
    mo_error err = { 0 };

    for (int i = 0; i < 2; i++) {
        devices[i] =
            (device){ .party = p, .number = 2 * rank + i, .wrong = -1 };
        pthread_create(&threads[i], NULL, drive, &devices[i]);
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

static int be_rank(const mo_rdv_launch_options *launch, uint64_t seed)
{
    const mo_transport_world_options options = { .launch = *launch };
    mo_error err = { 0 };
    party p;
    int wrong = 1;

    make_party(&p, seed);
    if (tcp->open(&options, &p.world, &err) == MO_OK) {
        wrong = 0;
        /* Twice: plans may follow each other. */
        for (int i = 0; i < 2 && wrong == 0; i++) {
            wrong +=
                tcp->begin(p.world, &p.plan, p.rank_of, 0, seed, &err) != MO_OK;
            if (wrong == 0)
                wrong += drive_devices(&p, launch->rank, seed);
            if (wrong == 0)
                wrong += check_collection(&p, launch->rank);
        }
        tcp->close(p.world);
    }
    if (err.status != MO_OK)
        fprintf(stderr, "rank %d: %s\n", launch->rank, err.text);
    free_party(&p);
    return wrong;
}

/* A place that nobody else has: a port that was free a moment ago. */
static void find_place(char *master, size_t size)
{
    int listener = mo_rdv_socket_listen(mo_rdv_address_loopback, 0, 1);

    snprintf(master, size, "127.0.0.1:%d", mo_rdv_socket_local_port(listener));
    close(listener);
}

START_TEST(values_arrive_in_any_plan)
{
    mo_rdv_launch_options launch = { .has_rank = true,
                                     .n_ranks = 2,
                                     .token = "t" };
    char master[64];
    int wrong, state;
    pid_t child;

    find_place(master, sizeof master);
    launch.master = master;
    child = fork();
    if (child == 0) {
        launch.rank = 1;
        _exit(be_rank(&launch, (uint64_t) _i) == 0 ? 0 : 1);
    }
    wrong = be_rank(&launch, (uint64_t) _i);
    ck_assert_int_eq(waitpid(child, &state, 0), child);
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_eq(state, 0);
}
END_TEST

/* ------------------------------------------------------------ after a failure
 */

enum { HEARD_BYTES = 1000, WHILE_US = 300000 };

/* Check has a macro called fail: hence the parentheses here and below. */
static void *fail_soon(void *world)
{
    const mo_error why = { .status = MO_E_IO, .text = "something is wrong" };

    usleep(WHILE_US);
    (tcp->fail)(world, &why);
    return NULL;
}

/* Tells something though the job has failed. */
static int speak_too_late(const mo_rdv_launch_options *launch)
{
    const mo_transport_world_options options = { .launch = *launch };
    char bytes[HEARD_BYTES];
    mo_error err = { 0 };
    mo_transport_world *world;

    memset(bytes, 1, sizeof bytes);
    if (tcp->open(&options, &world, &err) != MO_OK)
        return 1;
    while (!mo_first_error_is_set(&world->ranks.inside.failure))
        usleep(1000);
    (tcp->fail)(world, &err); /* it is ours to speak */
    (void) mo_tcp_control_send(world, 0, bytes, sizeof bytes, &err);
    usleep(WHILE_US);
    tcp->close(world);
    return 0;
}

/* Who waits in vain goes on with its memory: nobody else may write there.  On a
 * busy machine the other rank may be heard before the failure is. */
START_TEST(what_was_asked_for_is_not_written_after_a_failure)
{
    mo_rdv_launch_options launch = { .has_rank = true,
                                     .n_ranks = 2,
                                     .token = "t" };
    mo_transport_world_options options = { 0 };
    char heard[HEARD_BYTES] = { 0 }, master[64];
    mo_error why = { 0 };
    pthread_t thread;
    mo_transport_world *world;
    bool heard_all;
    int state;
    pid_t child;

    find_place(master, sizeof master);
    launch.master = master;
    child = fork();
    if (child == 0) {
        launch.rank = 1;
        _exit(speak_too_late(&launch));
    }
    options.launch = launch;
    MUST(tcp->open(&options, &world, &err));
    ck_assert_int_eq(pthread_create(&thread, NULL, fail_soon, world), 0);
    heard_all = tcp->collect(world, 1, heard, sizeof heard, &why) == MO_OK;
    pthread_join(thread, NULL);
    (tcp->fail)(world, &why);
    usleep(2 * WHILE_US);
    ck_assert(is_all(heard, sizeof heard, heard_all ? 1 : 0));
    tcp->close(world);
    ck_assert_int_eq(waitpid(child, &state, 0), child);
    ck_assert_int_eq(state, 0);
}
END_TEST

/* ------------------------------------------------------- before a good-bye */

/* Tells something and leaves. */
static int speak_and_leave(const mo_rdv_launch_options *launch)
{
    const mo_transport_world_options options = { .launch = *launch };
    char bytes[HEARD_BYTES];
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

/* However late that is: a rank may have much to do before it listens. */
START_TEST(what_was_said_before_a_good_bye_is_heard)
{
    mo_rdv_launch_options launch = { .has_rank = true,
                                     .n_ranks = 2,
                                     .token = "t" };
    mo_transport_world_options options = { 0 };
    char heard[HEARD_BYTES] = { 0 }, master[64];
    mo_transport_world *world;
    int state;
    pid_t child;

    find_place(master, sizeof master);
    launch.master = master;
    child = fork();
    if (child == 0) {
        launch.rank = 1;
        _exit(speak_and_leave(&launch));
    }
    options.launch = launch;
    MUST(tcp->open(&options, &world, &err));
    while (!mo_failure_detector_peer_has_left(world->ranks.watch, 1))
        usleep(1000);
    MUST(tcp->collect(world, 1, heard, sizeof heard, &err));
    ck_assert(is_all(heard, sizeof heard, 1));
    tcp->close(world);
    ck_assert_int_eq(waitpid(child, &state, 0), child);
    ck_assert_int_eq(state, 0);
}
END_TEST

/* ------------------------------------------------------------ what is no rank
 */

enum { TWICE_BYTES = 5000 };

static const mo_exec_plan *plan_of_one_value(void)
{
    static mo_plan_device devices[] = { { .id = "A" }, { .id = "B" } };
    static mo_plan_transfer transfer = { .from = 1, .bytes = TWICE_BYTES };
    static const mo_exec_plan plan = { .n_devices = 2,
                                       .devices = devices,
                                       .n_transfers = 1,
                                       .transfers = &transfer };

    return &plan;
}

/* Sends the same value twice, in the words of a rank. */
static int repeat_itself(const mo_rdv_launch_options *launch,
                         const int *rank_of)
{
    const mo_transport_world_options options = { .launch = *launch };
    const mo_tcp_msg_header head = { .kind = MO_TCP_MSG_DATA,
                                     .bytes = TWICE_BYTES };
    char message[sizeof head + TWICE_BYTES] = { 0 };
    mo_error err = { 0 };
    mo_transport_world *world;

    memcpy(message, &head, sizeof head);
    if (tcp->open(&options, &world, &err) != MO_OK ||
        tcp->begin(world, plan_of_one_value(), rank_of, 0, 1, &err) != MO_OK)
        return 1;
    for (int i = 0; i < 2; i++)
        if (write(world->links[0].socket, message, sizeof message) !=
            sizeof message)
            return 2;
    while (!mo_first_error_is_set(&world->ranks.inside.failure))
        usleep(1000);
    (tcp->fail)(world, &err);
    tcp->close(world);
    return 0;
}

START_TEST(a_value_comes_once)
{
    static const int rank_of[] = { 0, 1 };
    mo_rdv_launch_options launch = { .has_rank = true,
                                     .n_ranks = 2,
                                     .token = "t" };
    mo_transport_world_options options = { 0 };
    mo_error why = { 0 };
    char master[64];
    mo_transport_world *world;
    int state;
    pid_t child;

    find_place(master, sizeof master);
    launch.master = master;
    child = fork();
    if (child == 0) {
        launch.rank = 1;
        _exit(repeat_itself(&launch, rank_of));
    }
    options.launch = launch;
    MUST(tcp->open(&options, &world, &err));
    MUST(tcp->begin(world, plan_of_one_value(), rank_of, 0, 1, &err));
    for (int i = 0; i < 5000; i++)
        if (mo_first_error_get(&world->ranks.inside.failure, &why) == MO_OK)
            usleep(1000);
    (tcp->fail)(world, &why);
    ck_assert_msg(strstr(why.text, "rank 1") != NULL &&
                      strstr(why.text, "nobody has asked for") != NULL,
                  "%s", why.text);
    tcp->close(world);
    ck_assert_int_eq(waitpid(child, &state, 0), child);
    ck_assert_int_eq(state, 0);
}
END_TEST

START_TEST(one_rank_needs_nobody)
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
    SOME(values_arrive_in_any_plan, 12, 4);
    TEST(what_was_asked_for_is_not_written_after_a_failure);
    TEST(what_was_said_before_a_good_bye_is_heard);
    TEST(a_value_comes_once);
    TEST(one_rank_needs_nobody);
}
