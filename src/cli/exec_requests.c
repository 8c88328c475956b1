/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cli/exec_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "driver/exec/request_batches.h"
#include "driver/exec/request_files.h"
#include "driver/exec/request_replay.h"
#include "driver/exec/resource_loads.h"
#include "exec/measure/host_load.h"
#include "exec/plan/ir/plan_json.h"
#include "report/throughput.h"

void mo_cli_exec_log_progress(const void *progress, const char *device,
                              const char *what, double seconds)
{
    const mo_cli_exec_progress *p = progress;

    mo_progress_detail(p->step, "device '%s' is %s", device, what);
    mo_driver_log_info(p->logger, "device '%s': %s in %.3f s", device, what,
                       seconds);
}

/* The copy of a replicated solution that uses the device, or -1. */
static int find_copy(const mo_exec_job *job, int device)
{
    for (int c = 0; c < job->n_copies; c++)
        if (job->plan->parts[c]->devices[device].n_steps > 0)
            return c;
    return -1;
}

static mo_status fill_devices(const mo_cli_exec_stream *s,
                              const mo_pipeline_result *result,
                              mo_report_throughput *t, mo_error *err)
{
    const mo_exec_plan *plan = s->job->plan;

    t->n_devices = plan->n_devices;
    t->devices = calloc((size_t) plan->n_devices + 1, sizeof *t->devices);
    if (!t->devices)
        return mo_fail_memory(err);
    for (int d = 0; d < plan->n_devices; d++) {
        const mo_backend *backend = s->units->backends[d];
        int copy = find_copy(s->job, d);
        double share = copy < 0 ? 1
                                : (double) t->copies[copy].n_completed /
                                      (double) mo_max_i64(t->n_completed, 1);

        t->devices[d] = (mo_report_throughput_device){
            .id = plan->devices[d].id,
            .backend = backend->name,
            .threads =
                backend->separate_memory ? 0 : s->units->options[d].threads,
            .weight_bytes = plan->devices[d].weight_bytes,
            .slots = copy < 0 ? t->in_flight : t->copies[copy].in_flight,
            .planned_slot_bytes = plan->devices[d].arena_bytes,
            .slot_bytes = result->devices[d].slot_bytes,
            .shared_bytes = result->devices[d].shared_bytes,
            .capacity_bytes = plan->devices[d].capacity_bytes,
        };
        if (result->n_completed > 0)
            t->resources[d].measured_ns =
                llround(share * (double) result->devices[d].load_ns);
        else
            t->resources[d].measured_ns = -1;
    }
    for (int i = 0; i < plan->n_items; i++)
        if (plan->items[i].op != MO_PLAN_NONE)
            t->devices[plan->items[i].device].items++;
    return MO_OK;
}

/* The part of the requests that each phase of the plan is predicted to run:
 * copies by their rates, while several shapes are as frequent. */
static mo_status list_shares(const mo_exec_job *job,
                             const mo_pipeline_result *result, double **shares,
                             mo_report_throughput_copy **copies, mo_error *err)
{
    int n = job->plan->n_phases;
    double rate = 0;

    if (n == 0)
        return MO_OK;
    *shares = calloc((size_t) n, sizeof **shares);
    *copies = calloc((size_t) n, sizeof **copies);
    if (!*shares || !*copies)
        return mo_fail_memory(err);
    for (int c = 0; c < job->n_copies; c++)
        rate += 1 / (double) mo_max_i64(job->copies[c].period_ns, 1);
    for (int p = 0; p < n; p++) {
        const mo_pipeline_copy *copy =
            job->n_copies > 0 ? &job->copies[p] : NULL;

        (*shares)[p] = 1.0 / n;
        if (!copy)
            continue;
        (*shares)[p] = 1 / (double) mo_max_i64(copy->period_ns, 1) / rate;
        (*copies)[p] = (mo_report_throughput_copy){
            .n_completed = result->copies[p].n_completed,
            .in_flight = copy->n_slots,
            .period_ns = result->copies[p].period_ns,
            .predicted_ns = copy->period_ns,
        };
    }
    return MO_OK;
}

static void put_report(const mo_exec_options *o, const mo_report_throughput *t,
                       mo_out *out)
{
    if (o->json)
        mo_report_throughput_json(t, out);
    else
        mo_report_throughput_text(t, out);
}

/* The requests were run, and would have to be run again for their report: where
 * its file could not be written, as on a full disk, it goes to standard
 * output. */
static void rescue_report(const mo_exec_options *o,
                          const mo_report_throughput *t)
{
    mo_out *out;

    if (mo_exec_requests_to_stdout(o) || mo_out_open("-", &out, NULL) != MO_OK)
        return;
    put_report(o, t, out);
    mo_out_commit(out, NULL);
}

static mo_status write_report(mo_exec_options *o, const mo_cli_exec_stream *s,
                              const mo_exec_requests *requests,
                              const mo_exec_batches *batches,
                              const mo_pipeline_result *result,
                              const mo_measure_load *load, mo_error *err)
{
    const mo_review *r = &s->job->review;
    const mo_problem *problem = &r->problem;
    mo_out *out = o->outputs[MO_EXEC_OUTPUT_REPORT].out;
    mo_out *plan = o->outputs[MO_EXEC_OUTPUT_PLAN].out;
    char loads[MO_MEASURE_LOAD_SIZE];
    mo_report_throughput t = {
        .graph = mo_bundle_shown(s->job->bundle, r->located.graph),
        .cluster = mo_bundle_shown(s->job->bundle, problem->cluster->file),
        .ops = problem->fine->n_ops,
        .coarse_ops = problem->instance->n,
        .edges = problem->fine->n_edges,
        .transport = mo_cli_exec_transport_name(s->transport, s->world),
        .precision = o->wants.precision,
        .n_ranks = s->transport->n_ranks(s->world),
        .trusted = mo_cli_exec_is_trusted(s->job),
        .load = mo_measure_load_quiet(load)
                    ? NULL
                    : mo_measure_load_format(load, loads),
        .in_flight = (int) o->in_flight,
        .n_requests = result->n_accepted,
        .n_completed = result->n_completed,
        .stopped_by =
            result->interrupt ? mo_exec_signals_name(result->interrupt) : NULL,
        .wall_ns = result->wall_ns,
        .period_ns = result->period_ns,
        .n_steady = result->n_steady,
        .min_ns = result->min_ns,
        .p50_ns = result->p50_ns,
        .p95_ns = result->p95_ns,
        .p99_ns = result->p99_ns,
        .recoveries = s->recovery ? s->recovery->all : NULL,
        .n_recoveries = s->recovery ? s->recovery->n : 0,
        .failures = requests->failed,
        .n_failures = (int64_t) requests->n_failed,
    };
    double *shares = NULL;
    mo_report_throughput_copy *copies = NULL;
    mo_status status = list_shares(s->job, result, &shares, &copies, err);

    t.copies = copies;
    t.n_copies = s->job->n_copies;
    if (status == MO_OK)
        status = mo_exec_resource_loads(s->job->plan, problem, shares,
                                        s->job->alone ? MO_CONGESTION_NONE
                                                      : r->regime.congestion,
                                        &t.resources, &t.n_resources, err);

    if (batches) {
        const mo_exec_batch_counts counts = mo_exec_batches_count(batches);

        t.n_batches = counts.n_batches;
        t.n_requests = counts.n_requests;
        t.n_completed = counts.n_completed;
        t.period_ns = (int64_t) ((double) t.period_ns * (double) t.n_batches /
                                 (double) mo_max_i64(t.n_completed, 1));
        t.trusted = false; /* sizes of batches are not known before */
    }
    if (status == MO_OK)
        status = fill_devices(s, result, &t, err);
    for (int i = 0; i < t.n_resources && status == MO_OK; i++)
        t.predicted_period_ns =
            mo_max_i64(t.predicted_period_ns, t.resources[i].predicted_ns);
    if (status == MO_OK && out)
        put_report(o, &t, out);
    if (status == MO_OK && plan)
        mo_plan_write_json(s->job->plan, plan);
    if (status == MO_OK) {
        status = mo_output_files_commit(o->outputs, MO_EXEC_N_OUTPUTS, err);
        if (status != MO_OK && out)
            rescue_report(o, &t);
    }
    free(t.resources);
    free(t.devices);
    free(shares);
    free(copies);
    return status;
}

/* Adds which requests have no outputs to the error that has ended the run. */
static void add_lost(const mo_pipeline_result *result, mo_error *err)
{
    const mo_error why = *err;
    char lost[256] = "";
    size_t n = 0;

    for (int i = 0, last; i < result->n_lost; i = last + 1) {
        const char *comma = i > 0 ? ", " : "";

        last = i;
        while (last + 1 < result->n_lost &&
               result->lost[last + 1] == result->lost[last] + 1)
            last++;
        if (n > sizeof lost - 64) {
            snprintf(lost + n, sizeof lost - n, ", and others");
            break;
        }
        n += (size_t) snprintf(lost + n, sizeof lost - n, "%s%lld", comma,
                               (long long) result->lost[i]);
        if (last > i)
            n += (size_t) snprintf(lost + n, sizeof lost - n, "%s%lld",
                                   last > i + 1 ? " to " : ", ",
                                   (long long) result->lost[last]);
    }
    if (result->n_accepted == 0)
        return;
    mo_fail(err, why.status,
            "%.600s; %lld of %lld requests were completed before%s%s", why.text,
            (long long) result->n_completed, (long long) result->n_accepted,
            result->n_lost > 0 ? ", and without outputs are " : "", lost);
    memcpy(err->file, why.file, sizeof err->file);
    err->line = why.line;
}

/* The failed run counts for the result of all. */
typedef struct epochs {
    int64_t n_completed, begin_ns;
} epochs;

static void add_epoch(epochs *e, mo_pipeline_result *result)
{
    if (e->begin_ns == 0 && result->wall_ns > 0)
        e->begin_ns = result->begin_ns;
    e->n_completed += result->n_completed;
}

/* Whether all requests have their outputs: then a loss is none. */
static bool has_all(const mo_pipeline_result *result)
{
    return !result->is_sunk && result->next >= result->n_requests;
}

static void finish_recovery(const mo_cli_exec_stream *s,
                            const mo_exec_requests *requests)
{
    mo_exec_recovery *r = s->recovery;

    if (!r || r->n == 0)
        return;
    r->all[r->n - 1].loaded_ns = requests->intake_ns;
    r->all[r->n - 1].output_ns = requests->output_ns;
}

/* Runs the requests, after each loss those that have no outputs yet. */
static mo_status run_epochs(mo_exec_options *o, mo_cli_exec_stream *s,
                            mo_pipeline_options *options,
                            mo_run_plan_options *run,
                            mo_exec_requests *requests,
                            mo_pipeline_result *result, mo_error *err)
{
    epochs before = { 0 };
    bool is_first = s->transport->rank(s->world) == 0;
    mo_status status;

    for (;;) {
        status = mo_pipeline_run(s->job->plan, options, result, err);
        finish_recovery(s, requests);
        if (status != MO_OK && s->recovery && is_first && has_all(result) &&
            mo_exec_recovery_is_due(s->recovery))
            status = MO_OK;
        if (status == MO_OK || result->is_sunk ||
            !mo_exec_recovery_is_due(s->recovery))
            break;
        options->first = result->next;
        options->n_requests = result->n_requests;
        status = mo_exec_recover(s->recovery, result->next,
                                 result->n_accepted - result->next, err);
        if (status != MO_OK || s->recovery->is_over)
            break;
        add_epoch(&before, result);
        mo_pipeline_result_clear(result);
        s->world = run->world = *s->recovery->world;
        run->n_slots = options->n_slots = (int) o->in_flight;
        if (is_first)
            mo_exec_requests_replan(requests, s->job->plan);
    }
    result->n_completed += before.n_completed;
    if (before.begin_ns > 0 && result->wall_ns > 0)
        result->wall_ns += result->begin_ns - before.begin_ns;
    return status;
}

mo_status mo_cli_exec_requests(mo_exec_options *o,
                               const mo_cli_exec_stream *given, mo_error *err)
{
    mo_cli_exec_stream own = *given, *stream = &own;
    const mo_exec_job *job = stream->job;
    mo_exec_requests requests = { .n = 0 };
    const mo_cli_exec_progress progress = { &o->logger, &requests.step };
    mo_run_plan_options run = {
        .transport = stream->transport,
        .world = stream->world,
        .backends = stream->units->backends,
        .units = stream->units->options,
        .rank_of = stream->units->rank_of,
        .runs = 1,
        .config_digest = stream->config_digest,
        .min_transfer_ns = stream->min_transfer_ns,
        .n_slots = (int) o->in_flight,
        .within_capacity = true,
        .on_progress = mo_cli_exec_log_progress,
        .progress_context = &progress,
    };
    int rank = stream->transport->rank(stream->world);
    mo_pipeline_options options = {
        .run = &run,
        .n_slots = (int) o->in_flight,
        .resumes = stream->recovery != NULL,
        .source = mo_exec_requests_read,
        .next = mo_exec_requests_from_stdin(o) ? mo_exec_requests_next : NULL,
        .sink = mo_exec_requests_write,
        .phase = job->plan->phases && job->n_copies == 0
                     ? mo_exec_requests_phase
                     : NULL,
        .copies = job->n_copies > 0 ? job->copies : NULL,
        .context = &requests,
        .interrupt = &stream->signals->number,
    };
    mo_pipeline_result result = { 0 };
    mo_exec_batches *batches = NULL;
    mo_exec_replay *replay = NULL;
    mo_measure_load load;
    mo_status status = MO_OK;

    if (rank == 0)
        status = mo_exec_requests_open(o, job->review.problem.fine,
                                       job->n_copies > 0 ? job->plan->parts[0]
                                                         : job->plan,
                                       stream->signals, &requests, err);
    if (rank == 0 && status == MO_OK && o->batch > 0)
        status =
            mo_exec_batches_new(&requests, o->batch, o->wait_us, &batches, err);
    if (rank == 0 && status == MO_OK && stream->recovery && options.next)
        status = mo_exec_replay_new(&requests, &replay, err);
    options.n_requests = requests.n;
    if (replay) {
        options.next = mo_exec_replay_next;
        options.sink = mo_exec_replay_write;
        options.context = replay;
    }
    if (batches) {
        options.next = mo_exec_batches_next;
        options.sink = mo_exec_batches_write;
        options.phase = mo_exec_batches_phase;
        options.context = batches;
    }
    mo_measure_load_read(NULL, &load);
    if (status == MO_OK) {
        mo_driver_log_step(&o->logger, &requests.step, "running requests");
        status = run_epochs(o, stream, &options, &run, &requests, &result, err);
        mo_progress_end(&requests.step);
        if (status != MO_OK && rank == 0)
            add_lost(&result, err);
    }
    mo_measure_load_since(NULL, &load);
    if (requests.n_not_finite > 0)
        fprintf(stderr,
                "%s: outputs of %lld of %lld requests have values that are not "
                "finite; the first is request %lld\n",
                o->logger.command, (long long) requests.n_not_finite,
                (long long) result.n_completed,
                (long long) requests.first_not_finite);
    if (status == MO_OK) {
        status = mo_measure_load_gather(stream->transport, stream->world, &load,
                                        err);
        if (mo_exec_recovery_is_due(stream->recovery))
            status = MO_OK; /* after the last output */
    }
    if (status == MO_OK && rank == 0 && stream->transport->settle)
        status = stream->transport->settle(stream->world, err);
    if (status == MO_OK && rank == 0)
        status =
            write_report(o, stream, &requests, batches, &result, &load, err);
    if (status == MO_OK && requests.n_failed > 0)
        o->code = MO_EXIT_FAILED;
    if (status == MO_OK && result.interrupt != 0)
        o->code = 128 + result.interrupt;
    mo_pipeline_result_clear(&result);
    mo_exec_batches_free(batches);
    mo_exec_replay_free(replay);
    mo_exec_requests_clear(&requests);
    return status;
}
