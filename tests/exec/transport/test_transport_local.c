/* SPDX-License-Identifier: Apache-2.0 */
/* tags: threads */
/* Tests of exec/transport/local.c. */
#include <config.h>

#include "exec/transport/transport.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/support/suite.h"

static const mo_transport *const local = &mo_transport_local;

/* Two devices, and transfers between them of one size, in both directions. */
typedef struct pair {
    mo_exec_plan plan;
    mo_plan_device devices[2];
    mo_plan_transfer transfers[2];
    int rank_of[2];
    mo_transport_world *world;
    char *memory_a, *memory_b; /* memory of the two devices */
    int64_t bytes;
    mo_status status;
    mo_error err;
} pair;

static void set_up(pair *p, int64_t bytes)
{
    memset(p, 0, sizeof *p);
    p->bytes = bytes;
    p->devices[0].id = "A";
    p->devices[1].id = "B";
    for (int t = 0; t < 2; t++)
        p->transfers[t] = (mo_plan_transfer){
            .from = t, .to = 1 - t, .bytes = bytes, .tensor = MO_PLAN_NONE
        };
    p->plan.n_devices = p->plan.n_transfers = 2;
    p->plan.devices = p->devices;
    p->plan.transfers = p->transfers;
    p->memory_a = calloc(1, (size_t) bytes + 1);
    p->memory_b = calloc(1, (size_t) bytes + 1);
    MUST(local->open(&(mo_transport_world_options){ 0 }, &p->world, &err));
    MUST(local->begin(p->world, &p->plan, p->rank_of, 0, 0, &err));
}

static void tear_down(pair *p)
{
    local->close(p->world);
    free(p->memory_a);
    free(p->memory_b);
}

static void run_both(pair *p, void *(*other)(void *), void (*own)(pair *))
{
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, other, p), 0);
    own(p);
    pthread_join(thread, NULL);
}

static const int64_t sizes[] = { 0, 1, 1000, 32 << 10, 100000, 3 << 20 };

static void *receive_and_send_back(void *context)
{
    pair *p = context;

    for (int round = 0; round < 50; round++) {
        MUST(local->receive(p->world, 0, p->memory_b, &err));
        MUST(local->wait(p->world, 0, false, &err));
        MUST(local->send(p->world, 1, p->memory_b, &err));
        MUST(local->wait(p->world, 1, true, &err));
    }
    return NULL;
}

static void send_and_receive_back(pair *p)
{
    for (int round = 0; round < 50; round++) {
        memset(p->memory_a, round + 1, (size_t) p->bytes);
        MUST(local->send(p->world, 0, p->memory_a, &err));
        MUST(local->wait(p->world, 0, true, &err));
        memset(p->memory_a, 0, (size_t) p->bytes);
        MUST(local->receive(p->world, 1, p->memory_a, &err));
        MUST(local->wait(p->world, 1, false, &err));
        for (int64_t i = 0; i < p->bytes; i++)
            ck_assert_int_eq(p->memory_a[i], round + 1);
    }
}

START_TEST(what_is_sent_arrives_again_and_again)
{
    pair p;

    set_up(&p, sizes[_i]);
    run_both(&p, receive_and_send_back, send_and_receive_back);
    tear_down(&p);
}
END_TEST

/* Posts a receive, then computes for a while. */
static void *receive_late(void *context)
{
    pair *p = context;

    MUST(local->receive(p->world, 0, p->memory_b, &err));
    usleep(20000);
    MUST(local->wait(p->world, 0, false, &err));
    return NULL;
}

static void send_and_wait(pair *p)
{
    memset(p->memory_a, 5, (size_t) p->bytes);
    MUST(local->send(p->world, 0, p->memory_a, &err));
    MUST(local->wait(p->world, 0, true, &err));
    for (int64_t i = 0; i < p->bytes; i++)
        ck_assert_int_eq(p->memory_b[i], 5);
}

START_TEST(a_sender_need_not_wait_for_the_receiver_to_wait)
{
    pair p;

    set_up(&p, sizes[_i]);
    run_both(&p, receive_late, send_and_wait);
    tear_down(&p);
}
END_TEST

static void *receive_only(void *context)
{
    pair *p = context;

    MUST(local->receive(p->world, 0, p->memory_b, &err));
    return NULL;
}

/* Neither end waits: the worker copies. */
static void send_only(pair *p)
{
    memset(p->memory_a, 6, (size_t) p->bytes);
    MUST(local->send(p->world, 0, p->memory_a, &err));
    usleep(100000);
}

START_TEST(a_transfer_needs_no_waiter)
{
    pair p;

    set_up(&p, sizes[_i]);
    run_both(&p, receive_only, send_only);
    local->leave(p.world);
    local->leave(p.world);
    MUST(local->serve(p.world, 2, &err));
    for (int64_t i = 0; i < p.bytes; i++)
        ck_assert_int_eq(p.memory_b[i], 6);
    tear_down(&p);
}
END_TEST

/* Check has a macro called fail. */
static void report_failure(mo_transport_world *world, const mo_error *why)
{
    (local->fail)(world, why);
}

static void *fail_soon(void *context)
{
    pair *p = context;
    mo_error why = { 0 };

    usleep(10000 * (useconds_t) (p->bytes % 3));
    mo_fail(&why, MO_E_LIMIT, "no more");
    report_failure(p->world, &why);
    mo_fail(&why, MO_E_INPUT, "later");
    report_failure(p->world, &why);
    return NULL;
}

static void wait_in_vain(pair *p)
{
    MUST(local->receive(p->world, 1, p->memory_a, &err));
    p->status = local->wait(p->world, 1, false, &p->err);
}

static void wait_at_barrier(pair *p)
{
    bool stop = false;

    p->status = local->barrier(p->world, &stop, &p->err);
}

static void check_failed(const pair *p)
{
    ck_assert_int_eq(p->status, MO_E_LIMIT);
    ck_assert_str_eq(p->err.text, "no more");
}

START_TEST(a_failure_ends_waiting_and_the_first_one_counts)
{
    pair p;

    set_up(&p, 100 + _i);
    run_both(&p, fail_soon, wait_in_vain);
    check_failed(&p);
    ck_assert_int_eq(local->collect(p.world, 0, NULL, 0, &p.err), MO_E_LIMIT);
    tear_down(&p);
    set_up(&p, 100 + _i);
    run_both(&p, fail_soon, wait_at_barrier);
    check_failed(&p);
    tear_down(&p);
}
END_TEST

static void pass_barriers(pair *p, int stop_after)
{
    for (int round = 0; round < 200; round++) {
        bool stop = round == stop_after;

        MUST(local->barrier(p->world, &stop, &err));
        ck_assert_int_eq(stop, round == 60 || round == 90);
    }
}

static void *pass_with_60(void *context)
{
    pass_barriers(context, 60);
    return NULL;
}

static void pass_with_90(pair *p)
{
    pass_barriers(p, 90);
}

START_TEST(the_wish_of_one_is_told_to_all)
{
    pair p;

    set_up(&p, 8);
    run_both(&p, pass_with_60, pass_with_90);
    tear_down(&p);
}
END_TEST

static const struct {
    const char *name, *variable, *value, *chosen, *error;
} choices[] = {
    { "local", NULL, NULL, "local", NULL },
    { NULL, NULL, NULL, "local", NULL },
    { NULL, "MOIRAI_TRANSPORT", "local", "local", NULL },
    { NULL, "MOIRAI_TRANSPORT", "", "local", NULL },
    { NULL, "OMPI_COMM_WORLD_SIZE", "1", "local", NULL },
    { NULL, "OMPI_COMM_WORLD_SIZE", "2", "mpi", "mpirun does not set" },
    { NULL, "PMI_SIZE", "3", "mpi", "(PMI) does not set" },
    { NULL, "PMIX_RANK", "0", "mpi", "(PMIx) does not set" },
    { NULL, "SLURM_STEP_NUM_TASKS", "4", "mpi", "srun does not set" },
    { NULL, "SLURM_NTASKS", "4", "local", NULL },
    { "local", "OMPI_COMM_WORLD_SIZE", "2", "local", NULL },
    { "mpi", NULL, NULL, "mpi", "--transport requests MPI" },
    { "carrier", NULL, NULL, NULL, "--transport names a transport 'carrier'" },
    { NULL, "MOIRAI_TRANSPORT", "x", NULL, "MOIRAI_TRANSPORT names" },
};

static void unset_launcher_variables(void)
{
    unsetenv("MOIRAI_TRANSPORT");
    unsetenv("OMPI_COMM_WORLD_SIZE");
    unsetenv("PMI_SIZE");
    unsetenv("PMIX_RANK");
    unsetenv("SLURM_STEP_NUM_TASKS");
    unsetenv("SLURM_NTASKS");
    unsetenv("MOIRAI_RANK");
    unsetenv("MOIRAI_RANKS");
    unsetenv("MOIRAI_MASTER");
    unsetenv("RANK");
    unsetenv("WORLD_SIZE");
}

static bool is_built_in(const char *name)
{
    for (int i = 0; mo_transport_table[i]; i++)
        if (name && strcmp(mo_transport_table[i]->name, name) == 0)
            return true;
    return false;
}

START_TEST(the_launcher_selects_the_transport)
{
    const mo_transport *transport = NULL;
    mo_error err = { 0 };
    mo_status status;

    unset_launcher_variables();
    if (choices[_i].variable)
        setenv(choices[_i].variable, choices[_i].value, 1);
    status = mo_transport_select(choices[_i].name, &transport, &err);
    if (is_built_in(choices[_i].chosen)) {
        ck_assert_int_eq(status, MO_OK);
        ck_assert_str_eq(transport->name, choices[_i].chosen);
    } else {
        ck_assert_int_ne(status, MO_OK);
        ck_assert_msg(strstr(err.text, choices[_i].error) != NULL, "%s",
                      err.text);
    }
    unset_launcher_variables();
}
END_TEST

SUITE(transport_local)
{
    EACH(what_is_sent_arrives_again_and_again, COUNT(sizes));
    EACH(a_sender_need_not_wait_for_the_receiver_to_wait, COUNT(sizes));
    EACH(a_transfer_needs_no_waiter, COUNT(sizes));
    EACH(a_failure_ends_waiting_and_the_first_one_counts, 6);
    TEST(the_wish_of_one_is_told_to_all);
    EACH(the_launcher_selects_the_transport, COUNT(choices));
}
