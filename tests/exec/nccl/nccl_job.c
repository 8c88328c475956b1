/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "tests/exec/nccl/nccl_job.h"

#include <poll.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "tests/exec/cuda/cuda_pair.h"
#include "tests/support/suite.h"

struct board {
    atomic_int gone; /* the rank that has died, plus one */
};

void job_make(job *j, int n_ranks, const job_way *ways, int n)
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
            j->sockets[a][b] = pair[0];
            j->sockets[b][a] = pair[1];
        }
}

/* So that each rank notices the end of another. */
static void close_others(const job *j)
{
    for (int a = 0; a < j->n_ranks; a++)
        for (int b = 0; b < j->n_ranks; b++)
            if (a != b && a != j->rank)
                close(j->sockets[a][b]);
}

/* Few bytes, which socket buffers hold. */
static mo_status allgather(void *context, const void *own, void *all,
                           size_t bytes, mo_error *err)
{
    job *j = context;

    memcpy((char *) all + (size_t) j->rank * bytes, own, bytes);
    for (int r = 0; r < j->n_ranks; r++)
        if (r != j->rank && send(j->sockets[j->rank][r], own, bytes,
                                 MSG_NOSIGNAL) != (ssize_t) bytes)
            return mo_fail(err, MO_E_IO, "rank %d does not listen", r);
    for (int r = 0; r < j->n_ranks; r++)
        if (r != j->rank &&
            recv(j->sockets[j->rank][r], (char *) all + (size_t) r * bytes,
                 bytes, MSG_WAITALL) != (ssize_t) bytes)
            return mo_fail(err, MO_E_IO, "rank %d says nothing", r);
    return MO_OK;
}

static mo_status get_failure(void *context, mo_error *err)
{
    job *j = context;
    int gone = atomic_load(&j->board->gone);

    return gone ? mo_fail(err, MO_E_IO, "rank %d is gone", gone - 1) : MO_OK;
}

void job_open(job *j)
{
    const mo_backend_unit_options unit = { .cache = "" };
    const mo_nccl_p2p_options options = { .plan = &j->plan,
                                          .rank_of = j->rank_of,
                                          .is_gpu = j->is_gpu,
                                          .rank = j->rank,
                                          .n_ranks = j->n_ranks,
                                          .allgather = allgather,
                                          .failure = get_failure,
                                          .context = j };

    alarm(DEADLINE_S);
    WANT_OK(mo_nccl_p2p_new(&options, &j->nccl, &err));
    WANT_OK(mo_cuda_api_get(&j->api, &err));
    WANT_OK(mo_backend_cuda.open(&unit, &j->units[j->rank], &err));
    WANT(j->api->cuStreamCreate(&j->in, CU_STREAM_NON_BLOCKING) ==
         CUDA_SUCCESS);
}

const mo_backend_carrier *job_carrier(const job *j)
{
    for (int t = 0; t < j->plan.n_transfers; t++)
        if (mo_nccl_p2p_carrier(j->nccl, t))
            return mo_nccl_p2p_carrier(j->nccl, t);
    return NULL;
}

bool job_is_end(const job *j, int t)
{
    return j->transfers[t].from == j->rank || j->transfers[t].to == j->rank;
}

static unsigned char byte_of(int t, int round)
{
    return (unsigned char) (17 * t + 5 * round + 1);
}

void job_fill(job *j, int round)
{
    mo_backend_unit *unit = j->units[j->rank];

    for (int t = 0; t < j->plan.n_transfers; t++) {
        size_t bytes = (size_t) j->transfers[t].bytes;
        unsigned char *own;

        if (!job_is_end(j, t) || bytes == 0)
            continue;
        if (!j->memory[t])
            WANT_OK(mo_backend_cuda.alloc(unit, bytes, &j->memory[t], &err));
        own = malloc(bytes);
        memset(own, j->transfers[t].from == j->rank ? byte_of(t, round) : 0xEE,
               bytes);
        WANT_OK(mo_backend_cuda.upload(unit, j->memory[t], own, bytes, &err));
        free(own);
    }
}

void job_check(job *j, int round)
{
    for (int t = 0; t < j->plan.n_transfers; t++) {
        size_t bytes = (size_t) j->transfers[t].bytes;
        unsigned char *got;

        if (j->transfers[t].to != j->rank || bytes == 0)
            continue;
        got = malloc(bytes);
        WANT_OK(mo_backend_cuda.download(j->units[j->rank], got, j->memory[t],
                                         bytes, &err));
        for (size_t i = 0; i < bytes; i++)
            WANT(got[i] == byte_of(t, round));
        free(got);
    }
}

mo_status job_carry(job *j, int t, mo_error *err)
{
    const mo_backend_carrier *carrier = mo_nccl_p2p_carrier(j->nccl, t);
    bool sends = j->transfers[t].from == j->rank;
    const mo_backend_transfer transfer = {
        .id = t,
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
    return carrier->enqueue(carrier, &transfer,
                            sends ? j->units[j->rank]->stream : j->in, err);
}

bool job_is_done(const job *j)
{
    CUresult out = j->api->cuStreamQuery(j->units[j->rank]->stream);
    CUresult in = j->api->cuStreamQuery(j->in);

    return out == CUDA_SUCCESS && in == CUDA_SUCCESS;
}

mo_status job_await(job *j, mo_error *err)
{
    const mo_backend_carrier *carrier = job_carrier(j);

    while (!job_is_done(j)) {
        mo_status status = carrier ? carrier->poll(carrier, err) : MO_OK;

        if (status != MO_OK)
            return status;
        usleep(100);
    }
    return MO_OK;
}

mo_status job_carry_all(job *j, mo_error *err)
{
    mo_status status = MO_OK;

    for (int t = 0; t < j->plan.n_transfers && status == MO_OK; t++)
        if (job_is_end(j, t))
            status = job_carry(j, t, err);
    return status == MO_OK ? job_await(j, err) : status;
}

void job_close(job *j)
{
    for (int t = 0; t < j->plan.n_transfers; t++)
        mo_backend_cuda.release(j->units[j->rank], j->memory[t]);
    j->api->cuStreamDestroy(j->in);
    mo_backend_cuda.close(j->units[j->rank]);
    mo_nccl_p2p_free(j->nccl);
}

void job_ready(job *j)
{
    const mo_backend_carrier *carrier = job_carrier(j);

    if (carrier)
        WANT_OK(carrier->connect(carrier, j->units, &err));
}

static const char *standin_folder(void)
{
    const char *named = getenv("top_builddir");

    return named ? named : ".";
}

void job_run(job *j, job_rank *work, int exits_wanted[])
{
    pid_t pids[MAX_RANKS];
    char path[4096];

    snprintf(path, sizeof path, "%s/tests/standin/standin_nccl.so",
             standin_folder());
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

void job_run_well(job *j, job_rank *work)
{
    int exits[MAX_RANKS] = { 0 };

    job_run(j, work, exits);
}
