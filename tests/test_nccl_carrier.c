/* Values that NCCL carries, between processes, on the stand-ins for CUDA and
 * NCCL. */
#include <config.h>

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/stop.h"
#include "exec/backend/cuda/cuda.h"
#include "exec/transport/nccl.h"
#include "tests/cuda_pair.h"
#include "tests/suite.h"

enum { MOST_RANKS = 4, MOST_TRANSFERS = 12, DEADLINE_S = 40 };

/* ---- a job: a rank for each device, as processes */

typedef struct board {
    atomic_int gone; /* the rank that is, plus one */
} board;

typedef struct job {
    int n_ranks, rank;
    int wires[MOST_RANKS][MOST_RANKS]; /* [a][b]: a's end of the way to b */
    board *board;
    mo_plan plan;
    mo_plan_transfer transfers[MOST_TRANSFERS];
    mo_plan_value values[MOST_TRANSFERS];
    int rank_of[MOST_RANKS];
    bool is_gpu[MOST_RANKS];
    /* of a rank */
    mo_nccl *nccl;
    mo_unit *units[MOST_RANKS];
    const mo_cuda_api *api;
    CUstream in;
    void *memory[MOST_TRANSFERS];
} job;

typedef struct way {
    int from, to;
    int64_t bytes;
} way;

static void make_job(job *j, int n_ranks, const way *ways, int n)
{
    static const char *const names[MOST_TRANSFERS] = {
        "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9", "ta", "tb",
    };

    memset(j, 0, sizeof *j);
    j->n_ranks = n_ranks;
    j->plan.n_devices = n_ranks;
    j->plan.n_transfers = n;
    j->plan.transfers = j->transfers;
    j->plan.values = j->values;
    for (int r = 0; r < n_ranks; r++) {
        j->rank_of[r] = r;
        j->is_gpu[r] = true;
    }
    for (int t = 0; t < n; t++) {
        j->values[t].name = names[t];
        j->transfers[t] = (mo_plan_transfer){ .from_value = t,
                                              .from = ways[t].from,
                                              .to = ways[t].to,
                                              .bytes = ways[t].bytes };
    }
}

static void connect_job(job *j)
{
    j->board = mmap(NULL, sizeof *j->board, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(j->board, MAP_FAILED);
    for (int a = 0; a < j->n_ranks; a++)
        for (int b = a + 1; b < j->n_ranks; b++) {
            int pair[2];

            ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
            j->wires[a][b] = pair[0];
            j->wires[b][a] = pair[1];
        }
}

/* So that each hears when another one has ended. */
static void close_others(const job *j)
{
    for (int a = 0; a < j->n_ranks; a++)
        for (int b = 0; b < j->n_ranks; b++)
            if (a != b && a != j->rank)
                close(j->wires[a][b]);
}

/* Few bytes, which sockets hold. */
static mo_status share(void *context, const void *own, void *all, size_t bytes,
                       mo_error *err)
{
    job *j = context;

    memcpy((char *) all + (size_t) j->rank * bytes, own, bytes);
    for (int r = 0; r < j->n_ranks; r++)
        if (r != j->rank && send(j->wires[j->rank][r], own, bytes,
                                 MSG_NOSIGNAL) != (ssize_t) bytes)
            return mo_fail(err, MO_E_IO, "rank %d does not listen", r);
    for (int r = 0; r < j->n_ranks; r++)
        if (r != j->rank &&
            recv(j->wires[j->rank][r], (char *) all + (size_t) r * bytes, bytes,
                 MSG_WAITALL) != (ssize_t) bytes)
            return mo_fail(err, MO_E_IO, "rank %d says nothing", r);
    return MO_OK;
}

static mo_status failure(void *context, mo_error *err)
{
    job *j = context;
    int gone = atomic_load(&j->board->gone);

    return gone ? mo_fail(err, MO_E_IO, "rank %d is gone", gone - 1) : MO_OK;
}

/* ---- a rank of it; whatever is wrong ends its process */

#define WANT(claim)                                                            \
    do {                                                                       \
        if (!(claim)) {                                                        \
            fprintf(stderr, "rank %d: %s:%d: %s\n", j->rank, __FILE__,         \
                    __LINE__, #claim);                                         \
            _exit(3);                                                          \
        }                                                                      \
    } while (0)

#define WANT_OK(call)                                                          \
    do {                                                                       \
        mo_error err = { 0 };                                                  \
        if ((call) != MO_OK) {                                                 \
            fprintf(stderr, "rank %d: %s: %s\n", j->rank, #call, err.text);    \
            _exit(3);                                                          \
        }                                                                      \
    } while (0)

static void open_rank(job *j)
{
    const mo_unit_options unit = { .cache = "" };
    const mo_nccl_options options = { .plan = &j->plan,
                                      .rank_of = j->rank_of,
                                      .is_gpu = j->is_gpu,
                                      .rank = j->rank,
                                      .n_ranks = j->n_ranks,
                                      .share = share,
                                      .failure = failure,
                                      .context = j };

    alarm(DEADLINE_S);
    WANT_OK(mo_nccl_new(&options, &j->nccl, &err));
    WANT_OK(mo_cuda_api_get(&j->api, &err));
    WANT_OK(mo_backend_cuda.open(&unit, &j->units[j->rank], &err));
    WANT(j->api->cuStreamCreate(&j->in, CU_STREAM_NON_BLOCKING) ==
         CUDA_SUCCESS);
}

static const mo_carrier *carrier_of(const job *j)
{
    for (int t = 0; t < j->plan.n_transfers; t++)
        if (mo_nccl_carrier(j->nccl, t))
            return mo_nccl_carrier(j->nccl, t);
    return NULL;
}

static bool is_end(const job *j, int t)
{
    return j->transfers[t].from == j->rank || j->transfers[t].to == j->rank;
}

static unsigned char byte_of(int t, int round)
{
    return (unsigned char) (17 * t + 5 * round + 1);
}

static void fill_memory(job *j, int round)
{
    mo_unit *unit = j->units[j->rank];

    for (int t = 0; t < j->plan.n_transfers; t++) {
        size_t bytes = (size_t) j->transfers[t].bytes;
        unsigned char *own;

        if (!is_end(j, t) || bytes == 0)
            continue;
        if (!j->memory[t])
            WANT_OK(mo_backend_cuda.alloc(unit, bytes, &j->memory[t], &err));
        own = malloc(bytes);
        memset(own, j->transfers[t].from == j->rank ? byte_of(t, round) : 0xEE,
               bytes);
        WANT_OK(mo_backend_cuda.put(unit, j->memory[t], own, bytes, &err));
        free(own);
    }
}

static void check_memory(job *j, int round)
{
    for (int t = 0; t < j->plan.n_transfers; t++) {
        size_t bytes = (size_t) j->transfers[t].bytes;
        unsigned char *got;

        if (j->transfers[t].to != j->rank || bytes == 0)
            continue;
        got = malloc(bytes);
        WANT_OK(mo_backend_cuda.get(j->units[j->rank], got, j->memory[t], bytes,
                                    &err));
        for (size_t i = 0; i < bytes; i++)
            WANT(got[i] == byte_of(t, round));
        free(got);
    }
}

/* What leaves goes through one stream, what comes through another. */
static mo_status carry_one(job *j, int t, mo_error *err)
{
    const mo_carrier *carrier = mo_nccl_carrier(j->nccl, t);
    bool sends = j->transfers[t].from == j->rank;
    const mo_carry carry = {
        .transfer = t,
        .from = j->transfers[t].from,
        .to = j->transfers[t].to,
        .data = sends ? j->memory[t] : NULL,
        .target = sends ? NULL : j->memory[t],
        .bytes = (size_t) j->transfers[t].bytes,
        .from_unit = sends ? j->units[j->rank] : NULL,
        .to_unit = sends ? NULL : j->units[j->rank],
        .carrier = carrier,
    };

    WANT(carrier);
    return carrier->carry(carrier, &carry,
                          sends ? j->units[j->rank]->stream : j->in, err);
}

static bool is_done(const job *j)
{
    CUresult out = j->api->cuStreamQuery(j->units[j->rank]->stream);
    CUresult in = j->api->cuStreamQuery(j->in);

    return out == CUDA_SUCCESS && in == CUDA_SUCCESS;
}

static mo_status await(job *j, mo_error *err)
{
    const mo_carrier *carrier = carrier_of(j);

    while (!is_done(j)) {
        mo_status status = carrier ? carrier->poll(carrier, err) : MO_OK;

        if (status != MO_OK)
            return status;
        usleep(100);
    }
    return MO_OK;
}

static mo_status carry_all(job *j, mo_error *err)
{
    mo_status status = MO_OK;

    for (int t = 0; t < j->plan.n_transfers && status == MO_OK; t++)
        if (is_end(j, t))
            status = carry_one(j, t, err);
    return status == MO_OK ? await(j, err) : status;
}

static void close_rank(job *j)
{
    for (int t = 0; t < j->plan.n_transfers; t++)
        mo_backend_cuda.release(j->units[j->rank], j->memory[t]);
    j->api->cuStreamDestroy(j->in);
    mo_backend_cuda.close(j->units[j->rank]);
    mo_nccl_free(j->nccl);
}

static void make_ready(job *j)
{
    const mo_carrier *carrier = carrier_of(j);

    if (carrier)
        WANT_OK(carrier->ready(carrier, j->units, &err));
}

/* ---- starting them */

typedef void rank_main(job *j);

static const char *folder(void)
{
    const char *named = getenv("top_builddir");

    return named ? named : ".";
}

/* A rank that ends by a signal is told to the others, as a watch does. */
static void run_job(job *j, rank_main *work, int exits_wanted[])
{
    pid_t pids[MOST_RANKS];
    char path[4096];

    snprintf(path, sizeof path, "%s/tests/standin_nccl.so", folder());
    use_standin();
    setenv("MOIRAI_NCCL", path, 1);
    connect_job(j);
    fflush(NULL);
    for (int r = 0; r < j->n_ranks; r++) {
        pids[r] = fork();
        ck_assert_int_ge(pids[r], 0);
        if (pids[r] == 0) {
            j->rank = r;
            close_others(j);
            work(j);
            _exit(0);
        }
    }
    j->rank = -1;
    close_others(j);
    for (int n = 0; n < j->n_ranks; n++) {
        int status, r = 0;
        pid_t pid = wait(&status);

        while (r < j->n_ranks && pids[r] != pid)
            r++;
        ck_assert_int_lt(r, j->n_ranks);
        if (WIFSIGNALED(status))
            atomic_store(&j->board->gone, r + 1);
        ck_assert_msg(WIFSIGNALED(status)
                          ? exits_wanted[r] == -WTERMSIG(status)
                          : exits_wanted[r] == WEXITSTATUS(status),
                      "rank %d ended with status %x", r, (unsigned) status);
    }
    munmap(j->board, sizeof *j->board);
}

static void run_well(job *j, rank_main *work)
{
    int exits[MOST_RANKS] = { 0 };

    run_job(j, work, exits);
}

/* ---- claims */

static const way three_ranks[] = {
    { 0, 1, 4 },      { 1, 0, 100000 }, { 0, 1, 3000000 }, { 2, 0, 17 },
    { 1, 2, 500000 }, { 2, 1, 1 },      { 0, 2, 0 },       { 0, 2, 65536 },
    { 1, 0, 12 },     { 0, 1, 40 },
};

static void work_eagerly(job *j)
{
    open_rank(j);
    WANT(mo_nccl_count(j->nccl) == j->plan.n_transfers);
    make_ready(j);
    for (int round = 0; round < 3; round++) {
        fill_memory(j, round);
        WANT_OK(carry_all(j, &err));
        check_memory(j, round);
    }
    close_rank(j);
}

START_TEST(values_arrive)
{
    job j;

    make_job(&j, 3, three_ranks, COUNT(three_ranks));
    run_well(&j, work_eagerly);
}
END_TEST

START_TEST(values_arrive_by_one_communicator_of_all)
{
    job j;

    setenv("MOIRAI_NCCL_SAFE", "1", 1);
    make_job(&j, 3, three_ranks, COUNT(three_ranks));
    run_well(&j, work_eagerly);
    unsetenv("MOIRAI_NCCL_SAFE");
}
END_TEST

START_TEST(memory_that_is_announced_is_no_other)
{
    job j;

    setenv("MOIRAI_NCCL_REGISTER", "1", 1);
    make_job(&j, 3, three_ranks, COUNT(three_ranks));
    run_well(&j, work_eagerly);
    unsetenv("MOIRAI_NCCL_REGISTER");
}
END_TEST

/* Both streams in one graph. */
static CUgraphExec capture(job *j)
{
    CUstream out = j->units[j->rank]->stream;
    CUgraphExec exec = NULL;
    CUgraph graph = NULL;
    CUevent event = NULL;

    WANT(j->api->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) ==
         CUDA_SUCCESS);
    WANT(j->api->cuStreamBeginCapture(out, CU_STREAM_CAPTURE_MODE_RELAXED) ==
         CUDA_SUCCESS);
    WANT(j->api->cuEventRecord(event, out) == CUDA_SUCCESS);
    WANT(j->api->cuStreamWaitEvent(j->in, event, 0) == CUDA_SUCCESS);
    for (int t = 0; t < j->plan.n_transfers; t++)
        if (is_end(j, t))
            WANT_OK(carry_one(j, t, &err));
    WANT(j->api->cuEventRecord(event, j->in) == CUDA_SUCCESS);
    WANT(j->api->cuStreamWaitEvent(out, event, 0) == CUDA_SUCCESS);
    WANT(j->api->cuStreamEndCapture(out, &graph) == CUDA_SUCCESS);
    WANT(j->api->cuGraphInstantiateWithFlags(&exec, graph, 0) == CUDA_SUCCESS);
    j->api->cuGraphDestroy(graph);
    j->api->cuEventDestroy(event);
    return exec;
}

static void work_by_program(job *j)
{
    CUgraphExec exec;

    open_rank(j);
    make_ready(j);
    fill_memory(j, 0);
    WANT(!carrier_of(j)->eager_because(carrier_of(j)));
    exec = capture(j);
    for (int round = 0; round < 4; round++) {
        fill_memory(j, round);
        WANT(j->api->cuGraphLaunch(exec, j->units[j->rank]->stream) ==
             CUDA_SUCCESS);
        WANT_OK(await(j, &err));
        check_memory(j, round);
    }
    j->api->cuGraphExecDestroy(exec);
    close_rank(j);
}

START_TEST(values_arrive_in_programs)
{
    job j;

    make_job(&j, 3, three_ranks, COUNT(three_ranks));
    run_well(&j, work_by_program);
}
END_TEST

/* Who is not a GPU, or of the same rank, is not carried for. */
static void work_with_processors(job *j)
{
    open_rank(j);
    WANT(mo_nccl_carrier(j->nccl, 0));
    WANT(!mo_nccl_carrier(j->nccl, 1));
    WANT(mo_nccl_count(j->nccl) == 1);
    WANT(!mo_nccl_why_not(j->nccl));
    make_ready(j);
    close_rank(j);
}

START_TEST(processors_have_no_lines)
{
    static const way ways[] = { { 0, 1, 8 }, { 1, 2, 8 } };
    job j;

    make_job(&j, 3, ways, COUNT(ways));
    j.is_gpu[2] = false;
    run_well(&j, work_with_processors);
}
END_TEST

static void work_without(job *j)
{
    if (j->rank == 1)
        setenv("MOIRAI_NCCL", "", 1);
    open_rank(j);
    WANT(mo_nccl_count(j->nccl) == 0);
    WANT(mo_nccl_why_not(j->nccl));
    WANT(strstr(mo_nccl_why_not(j->nccl),
                j->rank == 1 ? "MOIRAI_NCCL is empty" : "rank 1 has no NCCL"));
    close_rank(j);
}

START_TEST(who_lacks_it_is_known_to_all)
{
    job j;

    make_job(&j, 3, three_ranks, COUNT(three_ranks));
    run_well(&j, work_without);
}
END_TEST

/* ---- what goes wrong */

static const way to_and_fro[] = { { 0, 1, 8 }, { 1, 0, 100 }, { 0, 1, 16 } };

/* From its error on, nothing hangs any more. */
static void expect_error(job *j, const char *said)
{
    mo_error err = { 0 };
    int64_t begin = mo_stop_clock_ns();
    const mo_carrier *carrier = carrier_of(j);

    WANT(carry_all(j, &err) != MO_OK);
    if (!strstr(err.text, said)) {
        fprintf(stderr, "rank %d says: %s\n", j->rank, err.text);
        _exit(4);
    }
    while (!is_done(j))
        usleep(1000);
    WANT(mo_stop_clock_ns() - begin < 10000000000);
    WANT(carrier->poll(carrier, NULL) != MO_OK);
    WANT(carry_one(j, 0, NULL) != MO_OK);
    close_rank(j);
}

static void work_until_killed(job *j)
{
    open_rank(j);
    make_ready(j);
    fill_memory(j, 0);
    if (j->rank == 1) {
        WANT_OK(carry_one(j, 0, &err));
        kill(getpid(), SIGKILL);
    }
    expect_error(j, "rank 1 is gone");
}

START_TEST(nobody_waits_for_the_dead)
{
    int exits[] = { 0, -SIGKILL };
    job j;

    make_job(&j, 2, to_and_fro, COUNT(to_and_fro));
    run_job(&j, work_until_killed, exits);
}
END_TEST

/* Rank 1 lives, and does nothing. */
static void work_in_vain(job *j)
{
    setenv("MOIRAI_NCCL_PATIENCE", j->rank == 0 ? "1" : "600", 1);
    open_rank(j);
    make_ready(j);
    fill_memory(j, 0);
    if (j->rank == 0)
        expect_error(j, "rank 0 waits for rank 1 to take tensor 't2'; begun "
                        "before: 't1' of rank 1, 't0' to rank 1");
    else {
        char word;

        /* Until the other one has ended. */
        (void) !recv(j->wires[1][0], &word, 1, 0);
        close_rank(j);
    }
}

START_TEST(who_waits_in_vain_says_for_what)
{
    job j;
    int exits[] = { 0, 0 };

    make_job(&j, 2, to_and_fro, COUNT(to_and_fro));
    run_job(&j, work_in_vain, exits);
}
END_TEST

/* The same line, but other values: NCCL has no names for them. */
static void work_in_another_order(job *j)
{
    open_rank(j);
    make_ready(j);
    fill_memory(j, 0);
    if (j->rank == 1) {
        WANT(carry_one(j, 2, NULL) != MO_OK || carry_one(j, 0, NULL) != MO_OK ||
             await(j, NULL) != MO_OK);
    } else
        WANT(carry_one(j, 0, NULL) != MO_OK || await(j, NULL) != MO_OK);
    close_rank(j);
}

START_TEST(another_order_is_found_out)
{
    job j;

    make_job(&j, 2, to_and_fro, COUNT(to_and_fro));
    run_well(&j, work_in_another_order);
}
END_TEST

START_TEST(patience_is_a_number)
{
    const mo_nccl_options options = { 0 };
    mo_error err = { 0 };
    mo_nccl *nccl;

    setenv("MOIRAI_NCCL_PATIENCE", "long", 1);
    ck_assert_int_eq(mo_nccl_new(&options, &nccl, &err), MO_E_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "MOIRAI_NCCL_PATIENCE is 'long'"));
    unsetenv("MOIRAI_NCCL_PATIENCE");
}
END_TEST

SUITE(nccl_carrier)
{
    TEST(values_arrive);
    TEST(values_arrive_by_one_communicator_of_all);
    TEST(memory_that_is_announced_is_no_other);
    TEST(values_arrive_in_programs);
    TEST(processors_have_no_lines);
    TEST(who_lacks_it_is_known_to_all);
    TEST(nobody_waits_for_the_dead);
    TEST(who_waits_in_vain_says_for_what);
    TEST(another_order_is_found_out);
    TEST(patience_is_a_number);
}
