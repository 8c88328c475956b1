/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of a replicated solution: each copy of the network is a pipeline
 * with a thread, a plan and a transport of its own.  A copy takes the next
 * request when it has a free slot (self-scheduling), so that the last requests
 * do not wait for a slow one for long; outputs are delivered in the order of
 * requests.
 */
#include <config.h>

#include "cli/exec_report.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "driver/exec/request_files.h"
#include "report/throughput.h"

typedef struct copies copies;

typedef struct copy_run {
    copies *all;
    mo_exec_options options;
    mo_exec_job job;
    pthread_t thread;
    bool has_thread;
    int64_t *numbers; /* of its requests, in the order in which it took them */
    int64_t n_taken, room;
    mo_pipeline_result result;
    mo_status status;
    mo_error err;
} copy_run;

struct copies {
    mo_exec_options *o;
    const mo_cli_exec_stream *stream;
    mo_exec_requests requests;
    int n;
    copy_run *runs;

    pthread_mutex_t intake;
    int64_t next; /* request to be taken; by intake */
    bool is_over;

    pthread_mutex_t delivery;
    pthread_cond_t delivered;
    int64_t turn; /* request to be delivered; by delivery */
    bool aborted;
};

static mo_status keep_number(copy_run *r, int64_t number, mo_error *err)
{
    if (r->n_taken == r->room) {
        int64_t room = 2 * r->room + 64;
        int64_t *numbers = realloc(r->numbers, (size_t) room * sizeof *numbers);

        if (!numbers)
            return mo_fail_memory(err);
        r->numbers = numbers;
        r->room = room;
    }
    r->numbers[r->n_taken++] = number;
    return MO_OK;
}

/* mo_pipeline_next: the next request of all, whatever its number is here. */
static mo_status take_request(void *context, int64_t request,
                              const atomic_bool *stopped,
                              mo_tensor_dense *inputs, bool *end, mo_error *err)
{
    copy_run *r = context;
    copies *all = r->all;
    bool streams = mo_exec_requests_from_stdin(all->o);
    int64_t number = 0;
    mo_status status = MO_OK;

    (void) request;
    pthread_mutex_lock(&all->intake);
    *end = all->is_over || all->next == all->requests.n ||
           atomic_load(stopped) ||
           atomic_load(&all->stream->signals->number) != 0;
    if (!*end)
        number = all->next;
    if (!*end && streams)
        status = mo_exec_requests_next(&all->requests, number, stopped, inputs,
                                       end, err);
    all->is_over = all->is_over || *end;
    if (!*end) {
        mo_status kept = keep_number(r, number, status == MO_OK ? err : NULL);

        all->next++;
        status = status == MO_OK ? kept : status;
    }
    pthread_mutex_unlock(&all->intake);
    if (status == MO_OK && !*end && !streams)
        status = mo_exec_requests_read(&all->requests, number, inputs, err);
    return status;
}

/* mo_pipeline_sink: waits for all requests before this one. */
static mo_status deliver_request(void *context, int64_t request,
                                 const mo_tensor_dense *outputs,
                                 const mo_error *failure, mo_error *err)
{
    copy_run *r = context;
    copies *all = r->all;
    int64_t number;
    mo_status status;

    pthread_mutex_lock(&all->intake);
    number = request < r->n_taken ? r->numbers[request] : -1;
    pthread_mutex_unlock(&all->intake);
    pthread_mutex_lock(&all->delivery);
    while (all->turn != number && !all->aborted && number >= 0)
        pthread_cond_wait(&all->delivered, &all->delivery);
    status = all->aborted || number < 0
                 ? mo_fail(err, MO_E_IO, "another copy of the network failed")
                 : mo_exec_requests_write(&all->requests, number, outputs,
                                          failure, err);
    all->turn++;
    all->aborted = all->aborted || status != MO_OK;
    pthread_cond_broadcast(&all->delivered);
    pthread_mutex_unlock(&all->delivery);
    return status;
}

static void *run_copy(void *context)
{
    copy_run *r = context;
    copies *all = r->all;
    const mo_transport *transport = &mo_transport_local;
    mo_transport_world *world = NULL;
    mo_run_plan_options run = {
        .transport = transport,
        .backends = all->stream->units->backends,
        .units = all->stream->units->options,
        .rank_of = all->stream->units->rank_of,
        .runs = 1,
        .n_slots = (int) r->options.in_flight,
        .within_capacity = true,
    };
    const mo_pipeline_options options = {
        .run = &run,
        .n_slots = (int) r->options.in_flight,
        .n_requests = all->requests.n,
        .next = take_request,
        .sink = deliver_request,
        .context = r,
        .interrupt = &all->stream->signals->number,
    };

    r->status =
        transport->open(&(mo_transport_world_options){ 0 }, &world, &r->err);
    run.world = world;
    if (r->status == MO_OK)
        r->status = mo_pipeline_run(r->job.plan, &options, &r->result, &r->err);
    if (world)
        transport->close(world);
    if (r->status != MO_OK) {
        pthread_mutex_lock(&all->delivery);
        all->aborted = true;
        pthread_cond_broadcast(&all->delivered);
        pthread_mutex_unlock(&all->delivery);
    }
    return NULL;
}

/* Makes the job of each copy, and its number of requests in flight. */
static mo_status plan_copies(copies *all, const char *path, mo_error *err)
{
    const mo_cli_exec_stream *s = all->stream;
    mo_status status = MO_OK;

    for (int c = 0; c < all->n && status == MO_OK; c++) {
        copy_run *r = &all->runs[c];

        r->all = all;
        r->options = *all->o;
        r->options.copy = c + 1;
        status = mo_exec_job_load(&r->options, path, &r->job, err);
        if (status == MO_OK)
            status =
                mo_exec_job_plan(&r->options, s->units, c == 0, &r->job, err);
        if (status == MO_OK)
            status = mo_exec_requests_choose_in_flight(
                &r->options, s->units, &r->job, s->transport, s->world, err);
        if (status == MO_OK)
            status = mo_exec_requests_check_memory(
                r->job.plan, s->units, 0, (int) r->options.in_flight,
                mo_exec_job_memory_left(&r->options, &r->job), err);
    }
    return status;
}

/* Runs all copies; the error is that of the one that failed first. */
static mo_status run_threads(copies *all, mo_error *err)
{
    mo_status status = MO_OK;

    for (int c = 0; c < all->n && status == MO_OK; c++) {
        copy_run *r = &all->runs[c];

        r->has_thread = pthread_create(&r->thread, NULL, run_copy, r) == 0;
        if (!r->has_thread)
            status = mo_fail(err, MO_E_LIMIT, "cannot start a thread");
    }
    if (status != MO_OK) {
        pthread_mutex_lock(&all->delivery);
        all->aborted = true;
        pthread_cond_broadcast(&all->delivered);
        pthread_mutex_unlock(&all->delivery);
    }
    for (int c = 0; c < all->n; c++)
        if (all->runs[c].has_thread)
            pthread_join(all->runs[c].thread, NULL);
    for (int c = 0; c < all->n && status == MO_OK; c++)
        if (all->runs[c].status != MO_OK) {
            status = all->runs[c].status;
            *err = all->runs[c].err;
        }
    return status;
}

/* Latencies are the largest of all copies, but for the least. */
static void add_result(const copy_run *r, mo_report_throughput_copy *copy,
                       double *rate, mo_report_throughput *t)
{
    const mo_pipeline_result *result = &r->result;
    const mo_answer_evaluation *e = &r->job.review.evaluation;

    *copy =
        (mo_report_throughput_copy){ .n_completed = result->n_completed,
                                     .in_flight = (int) r->options.in_flight,
                                     .period_ns = result->period_ns,
                                     .predicted_ns = e->period_ns };
    t->in_flight += (int) r->options.in_flight;
    t->n_requests += result->n_accepted;
    t->n_completed += result->n_completed;
    t->n_steady += result->n_steady;
    t->wall_ns = mo_max_i64(t->wall_ns, result->wall_ns);
    if (result->n_completed == 0)
        return;
    t->min_ns =
        t->min_ns == 0 ? result->min_ns : mo_min_i64(t->min_ns, result->min_ns);
    t->p50_ns = mo_max_i64(t->p50_ns, result->p50_ns);
    t->p95_ns = mo_max_i64(t->p95_ns, result->p95_ns);
    t->p99_ns = mo_max_i64(t->p99_ns, result->p99_ns);
    *rate += 1 / (double) mo_max_i64(result->period_ns, 1);
}

static mo_status report_copies(copies *all, mo_error *err)
{
    mo_exec_options *o = all->o;
    const mo_exec_job *job = all->stream->job;
    const mo_problem *problem = &job->review.problem;
    mo_out *out = o->outputs[MO_EXEC_OUTPUT_REPORT].out;
    mo_report_throughput_copy *rows = calloc((size_t) all->n, sizeof *rows);
    int number = atomic_load(&all->stream->signals->number);
    double rate = 0;
    mo_report_throughput t = {
        .graph = mo_bundle_shown(job->bundle, job->review.located.graph),
        .cluster = mo_bundle_shown(job->bundle, problem->cluster->file),
        .ops = problem->fine->n_ops,
        .coarse_ops = problem->instance->n,
        .edges = problem->fine->n_edges,
        .transport = mo_transport_local.name,
        .precision = o->wants.precision,
        .n_ranks = 1,
        .trusted = mo_cli_exec_is_trusted(job),
        .predicted_period_ns = job->review.evaluation.period_ns,
        .stopped_by = number ? mo_exec_signals_name(number) : NULL,
        .failures = all->requests.failed,
        .n_failures = (int64_t) all->requests.n_failed,
        .copies = rows,
        .n_copies = all->n,
    };

    if (!rows)
        return mo_fail_memory(err);
    for (int c = 0; c < all->n; c++)
        add_result(&all->runs[c], &rows[c], &rate, &t);
    t.period_ns = rate > 0 ? (int64_t) (1 / rate) : 0;
    if (out && o->json)
        mo_report_throughput_json(&t, out);
    else if (out)
        mo_report_throughput_text(&t, out);
    free(rows);
    if (all->requests.n_failed > 0)
        o->code = MO_EXIT_FAILED;
    if (number != 0)
        o->code = 128 + number;
    return mo_output_files_commit(o->outputs, MO_EXEC_N_OUTPUTS, err);
}

static mo_status check_copies(const mo_exec_options *o,
                              const mo_cli_exec_stream *s, const char *path,
                              mo_error *err)
{
    bool other_ranks = s->transport->n_ranks(s->world) > 1;

    for (int d = 0; d < s->units->n; d++)
        if (s->units->backends[d]->separate_memory || other_ranks)
            return mo_fail(err, MO_E_SUPPORT,
                           "several copies are run by one process on CPUs; on "
                           "GPUs and other ranks run each by a command of its "
                           "own, with --copy 1, --copy 2, ...");
    if (strcmp(path, "-") == 0 || o->wants.emulate ||
        o->outputs[MO_EXEC_OUTPUT_PLAN].out)
        return mo_fail(err, MO_E_USAGE,
                       "several copies are run from a file, without --emulate "
                       "and --plan; leave them out, or choose one with --copy");
    if (mo_problem_placed(&s->job->review.problem)->phases || o->batch > 0 ||
        o->shapes_max > 0)
        return mo_fail(err, MO_E_USAGE,
                       "several copies run requests of one shape, without "
                       "--batch and --shapes-max; choose one with --copy 1");
    return MO_OK;
}

mo_status mo_cli_exec_copies(mo_exec_options *o, const char *path,
                             const mo_cli_exec_stream *stream, mo_error *err)
{
    copies all = { .o = o,
                   .stream = stream,
                   .n = 1 + stream->job->review.evaluation.n_further,
                   .intake = PTHREAD_MUTEX_INITIALIZER,
                   .delivery = PTHREAD_MUTEX_INITIALIZER,
                   .delivered = PTHREAD_COND_INITIALIZER };
    mo_status status = check_copies(o, stream, path, err);

    all.runs = calloc((size_t) all.n, sizeof *all.runs);
    if (status == MO_OK && !all.runs)
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = plan_copies(&all, path, err);
    if (status == MO_OK) {
        status = mo_exec_requests_open(o, stream->job->review.problem.fine,
                                       all.runs[0].job.plan, stream->signals,
                                       &all.requests, err);
        if (status == MO_OK) {
            mo_driver_log_step(&o->logger, &all.requests.step,
                               "running requests");
            status = run_threads(&all, err);
            mo_progress_end(&all.requests.step);
        }
        if (status == MO_OK)
            status = report_copies(&all, err);
        mo_exec_requests_clear(&all.requests);
    }
    for (int c = 0; all.runs && c < all.n; c++) {
        mo_pipeline_result_clear(&all.runs[c].result);
        mo_exec_job_clear(&all.runs[c].job);
        free(all.runs[c].numbers);
    }
    free(all.runs);
    return status;
}
