/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_fault - a rank that runs a hand-made plan, for tests that kill ranks
 * and let them fail.
 *
 *     mpirun -n 3 exec_fault [WORD]...
 *     MOIRAI_RANK=0 MOIRAI_RANKS=3 exec_fault [WORD]... & ...
 *
 * has a device for each rank. Words: slow (calls take long), failing (a kernel
 * fails), early=R (rank R fails before it begins), early_exit=R (rank R exits
 * without a message), other=R (rank R has another plan), late=R (rank R sleeps
 * before it opens), stop=R (rank R stops as by SIGSTOP a while after it has met
 * the others), shared (two devices for each rank), idle (all devices belong to
 * rank 0), here=DIR (writes a file there when it has begun, and its errors),
 * runs=N, calls=N, elements=N, seed=N, patience=SECONDS, undumpable (no
 * unprivileged process may open memory of this one), requests=N (a stream of
 * requests in place of runs; every tenth has no input), in_flight=K. Rank 0
 * prints "right" when all outputs are, and the paths of transfers between
 * ranks.
 */
#include <config.h>

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <unistd.h>

#include "exec/runtime/pipeline/pipeline.h"
#include "exec/runtime/run.h"
#include "tests/exec/support/manual_plan.h"

enum { MAX_DEVICES = 16 };

typedef struct task {
    const mo_transport *transport;
    mo_transport_world *world;
    mo_exec_plan *plan;
    mo_tensor_dense input;
    const mo_backend *backends[MAX_DEVICES];
    mo_backend_unit_options units[MAX_DEVICES];
    int rank_of[MAX_DEVICES];
    mo_run_result result;
    int64_t n_delivered;
} task;

static char **words;

static bool has(const char *word)
{
    for (char **w = words; *w; w++)
        if (strcmp(*w, word) == 0)
            return true;
    return false;
}

/* Returns the text after "word=", or NULL. */
static const char *text(const char *word)
{
    size_t length = strlen(word);

    for (char **w = words; *w; w++)
        if (strncmp(*w, word, length) == 0 && (*w)[length] == '=')
            return *w + length + 1;
    return NULL;
}

static long number(const char *word, long fallback)
{
    return text(word) ? strtol(text(word), NULL, 10) : fallback;
}

static const char *rank_by_launcher(void)
{
    const char *rank = getenv("MOIRAI_RANK");

    if (!rank)
        rank = getenv("OMPI_COMM_WORLD_RANK");
    return rank ? rank : "0";
}

/* Opens a file of this rank in the folder of here=DIR. */
static FILE *open_here(const char *name, const char *mode)
{
    char path[4096];

    if (!text("here"))
        return NULL;
    snprintf(path, sizeof path, "%s/%s.%s", text("here"), name,
             rank_by_launcher());
    return fopen(path, mode);
}

/* Also to a file: a launcher that ends a job may lose its output. */
static void print(const mo_error *why)
{
    char message[2048], line[2100];
    int n =
        snprintf(line, sizeof line, "exec_fault[%s]: %s\n", rank_by_launcher(),
                 mo_error_format(why, message, sizeof message));
    FILE *file = open_here("errors", "a");

    if (file) {
        fputs(line, file);
        fclose(file);
    }
    /* One write, so that lines of several ranks are not mixed up. */
    if (write(STDERR_FILENO, line, (size_t) n) < 0)
        return;
}

static mo_status set_up(task *t, int rank, mo_error *err)
{
    int n_ranks = t->transport->n_ranks(t->world);
    manual_plan_options options = {
        .seed = (uint64_t) number("seed", 1) + (number("other", -1) == rank),
        .n_devices = has("shared") ? 2 * n_ranks : n_ranks,
        .n_calls = (int) number("calls", 40),
        .elements = number("elements", 20000),
    };
    mo_status status;

    t->plan = manual_plan_make(&options);
    for (int d = 0; d < options.n_devices; d++) {
        t->rank_of[d] = has("idle") ? 0 : d % n_ranks;
        t->backends[d] = has("slow")      ? &manual_backend_slow
                         : has("failing") ? &manual_backend_failing
                                          : &manual_backend;
    }
    status = mo_tensor_new(&t->plan->inputs[0].desc, &t->input, err);
    for (int64_t i = 0; i < options.elements && status == MO_OK; i++)
        ((uint32_t *) t->input.data)[i] = 7;
    if (number("early", -1) == rank)
        return mo_fail_at(err, MO_E_IO, "model.bin", 0, "cannot be opened");
    return status;
}

static bool is_right(const task *t)
{
    for (int o = 0; o < t->result.n_outputs; o++) {
        const mo_tensor_dense *y = &t->result.outputs[o];
        uint32_t wanted = manual_plan_result(t->plan, o, 7);

        for (int64_t i = 0; i < mo_tensor_desc_elements(&y->desc); i++)
            if (((uint32_t *) y->data)[i] != wanted)
                return false;
    }
    return true;
}

static bool uses_path(const task *t, const char *path)
{
    for (int i = 0; i < t->plan->n_transfers && t->transport->path; i++)
        if (strcmp(t->transport->path(t->world, i), path) == 0)
            return true;
    return false;
}

static mo_status make_inputs(void *context, int64_t request,
                             mo_tensor_dense *inputs, mo_error *err)
{
    task *t = context;
    mo_status status;

    if (request % 10 == 9)
        return mo_fail(err, MO_E_IO, "request %d has no input", (int) request);
    status = mo_tensor_new(&t->plan->inputs[0].desc, &inputs[0], err);
    for (int64_t i = 0;
         status == MO_OK && i < mo_tensor_desc_elements(&inputs[0].desc); i++)
        ((uint32_t *) inputs[0].data)[i] = (uint32_t) request;
    return status;
}

static bool is_output_right(const task *t, int o, const mo_tensor_dense *y,
                            uint32_t x)
{
    uint32_t wanted = manual_plan_result(t->plan, o, x);

    for (int64_t i = 0; i < mo_tensor_desc_elements(&y->desc); i++)
        if (((uint32_t *) y->data)[i] != wanted)
            return false;
    return true;
}

static mo_status check_outputs(void *context, int64_t request,
                               const mo_tensor_dense *outputs,
                               const mo_error *failure, mo_error *err)
{
    task *t = context;

    if (t->n_delivered++ != request || (outputs != NULL) != (failure == NULL) ||
        (!outputs && request % 10 != 9 && !has("failing")))
        return mo_fail(err, MO_E_INPUT, "request %d is out of order or failed",
                       (int) request);
    for (int o = 0; outputs && o < t->plan->n_outputs; o++)
        if (!is_output_right(t, o, &outputs[o], (uint32_t) request))
            return mo_fail(err, MO_E_INPUT, "the outputs are wrong");
    return MO_OK;
}

static mo_status run_requests(task *t, int rank, mo_error *err)
{
    const mo_run_plan_options options = { .transport = t->transport,
                                          .world = t->world,
                                          .backends = t->backends,
                                          .units = t->units,
                                          .rank_of = t->rank_of,
                                          .runs = 1 };
    const mo_pipeline_options requests = {
        .run = &options,
        .n_slots = (int) number("in_flight", 3),
        .n_requests = number("requests", 1),
        .source = make_inputs,
        .sink = check_outputs,
        .context = t,
    };
    mo_pipeline_result result = { 0 };
    mo_status status = mo_pipeline_run(t->plan, &requests, &result, err);

    if (rank == 0 && status == MO_OK)
        printf("right: %lld requests, %lld failed, period %.1f us\n",
               (long long) result.n_completed, (long long) result.n_failed,
               (double) result.period_ns * 1e-3);
    if (rank == 0 && status != MO_OK &&
        result.n_accepted !=
            result.n_completed + result.n_failed + result.n_lost)
        mo_fail(err, status, "requests are missing");
    mo_pipeline_result_clear(&result);
    return status;
}

static mo_status run(task *t, int rank, mo_error *err)
{
    mo_run_plan_options options = { .transport = t->transport,
                                    .world = t->world,
                                    .backends = t->backends,
                                    .units = t->units,
                                    .rank_of = t->rank_of,
                                    .inputs = &t->input,
                                    .warm_ups = 1,
                                    .runs = (int) number("runs", 3),
                                    .trace = true };
    mo_status status = mo_run_plan(t->plan, &options, &t->result, err);

    if (status != MO_OK)
        return status;
    if (!is_right(t))
        return mo_fail(err, MO_E_INPUT, "the outputs are wrong");
    if (rank == 0)
        printf("right: %d outputs, %.1f us%s%s\n", t->result.n_outputs,
               (double) t->result.median_ns * 1e-3,
               uses_path(t, "shm") ? ", by shm" : "",
               uses_path(t, "tcp") || uses_path(t, "mpi") ? ", by messages"
                                                          : "");
    return MO_OK;
}

static void *stop_soon(void *context)
{
    (void) context;
    sleep(1);
    kill(getpid(), SIGSTOP);
    return NULL;
}

static mo_status do_task(task *t, mo_error *err)
{
    int rank = t->transport->rank(t->world);
    pthread_t thread;
    mo_status status;

    if (number("early_exit", -1) == rank)
        _exit(3);
    if (number("stop", -1) == rank &&
        pthread_create(&thread, NULL, stop_soon, NULL) == 0)
        pthread_detach(thread);
    status = set_up(t, rank, err);
    if (status == MO_OK)
        status =
            text("requests") ? run_requests(t, rank, err) : run(t, rank, err);
    if (status != MO_OK)
        t->transport->fail(t->world, err);
    return status;
}

/* Applies the fault that is requested for this rank. */
static void meet_fate(long rank)
{
    FILE *file;

    if (number("late", -1) == rank)
        sleep(60);
#ifdef __linux__
    if (has("undumpable"))
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
    file = open_here("begun", "w");
    if (file)
        fclose(file);
}

int main(int argc, char **argv)
{
    mo_transport_world_options options = { .print_fatal = print };
    mo_error err = { 0 };
    task t = { 0 };
    mo_status status;

    (void) argc;
    words = argv + 1;
    meet_fate(strtol(rank_by_launcher(), NULL, 10));
    options.peer_timeout_s = (double) number("patience", 0);
    status = mo_transport_select(NULL, &t.transport, &err);
    if (status == MO_OK)
        status = t.transport->open(&options, &t.world, &err);
    if (status == MO_OK)
        status = do_task(&t, &err);
    if (status != MO_OK)
        print(&err);
    mo_run_result_clear(&t.result);
    mo_tensor_clear(&t.input);
    if (t.plan)
        mo_arena_free(t.plan->arena);
    if (t.transport)
        t.transport->close(t.world);
    return status == MO_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
