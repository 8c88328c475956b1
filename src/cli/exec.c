/* SPDX-License-Identifier: Apache-2.0 */
/* moirai-exec - executes a placed network and measures it. */
#include <config.h>

#include "driver/exec/exec_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/exec/emulate.h"
#include "driver/exec/exchange_units.h"
#include "driver/exec/compare_outputs.h"
#include "driver/exec/input_tensors.h"
#include "driver/exec/exec_job.h"
#include "driver/exec/output_npy.h"
#include "driver/exec/rank_binding.h"
#include "driver/exec/recover.h"
#include "driver/exec/request_files.h"
#include "driver/exec/shape_job.h"
#include "cli/exec_report.h"
#include "driver/exec/device_units.h"
#include "cli/exec_version.h"
#include "base/host.h"
#include "exec/runtime/run.h"
#include "exec/transport/transport.h"
#include "report/execution.h"

static const char command_name[] = "moirai-exec";

/* State of the command. */
typedef struct work {
    const mo_transport *transport;
    mo_transport_world *world;
    mo_transport_world_options world_options;
    int rank, n_ranks;
    mo_exec_job job;
    const mo_problem *problem; /* of the job */
    mo_exec_units units;
    mo_exec_inputs inputs;
    mo_exec_signals signals; /* during requests of one rank */
    mo_exec_recovery recovery;
    uint64_t alike;     /* digest of everything that ranks must share */
    int64_t *hold_ns;   /* by transfer, or NULL: no emulated delay */
    const char **paths; /* by transfer; NULL: nothing was run */
    mo_run_result result;
    mo_measure_load load; /* during the run */
    mo_exec_comparison comparisons[MO_REPORT_EXECUTION_COMPARISONS];
    int n_comparisons;
} work;

/* Callback of a transport thread that ends the process while the command is
 * blocked. */
static void log_last_error(const mo_error *why)
{
    char text[MO_ERROR_FILE_SIZE + MO_ERROR_TEXT_SIZE + 16];

    mo_progress_erase();
    fprintf(stderr, "%s: %s\n", command_name,
            mo_error_format(why, text, sizeof text));
}

/* Logs a rejected rank while the rendezvous goes on. */
static void log_note(const char *text)
{
    fprintf(stderr, "%s: %s\n", command_name, text);
}

static mo_status open_world(mo_exec_options *o, work *w, mo_error *err)
{
    mo_transport_world_options *options = &w->world_options;
    mo_status status;

    *options = (mo_transport_world_options){ .print_fatal = log_last_error,
                                             .note = log_note,
                                             .tolerates_losses =
                                                 mo_exec_options_replans(o) };
    status =
        mo_launch_options_read(&o->job, options->note, &options->launch, err);
    if (status == MO_OK)
        status = mo_transport_select_with(o->transport, &options->launch,
                                          &w->transport, err);
    /* What NCCL has begun with a rank that is lost does not end. */
    if (status == MO_OK && options->tolerates_losses && !o->transport &&
        strcmp(w->transport->name, "nccl") == 0)
        w->transport = &mo_transport_tcp;
    if (status == MO_OK && options->tolerates_losses)
        status = mo_exec_recovery_check_transport(w->transport, err);
    if (status == MO_OK)
        status = w->transport->open(options, &w->world, err);
    if (status == MO_OK) {
        w->rank = w->transport->rank(w->world);
        w->n_ranks = w->transport->n_ranks(w->world);
    }
    return status;
}

/* Makes the plan. */
static mo_status plan_run(mo_exec_options *o, work *w, mo_error *err)
{
    const mo_cluster *cluster = w->problem->cluster;
    mo_status status = mo_exec_units_make(cluster, w->n_ranks, w->rank,
                                          &o->wants, &w->units, err);

    if (status == MO_OK)
        status = mo_exec_exchange_units(w->transport, w->world, &o->wants,
                                        &w->units, err);
    if (status == MO_OK)
        mo_exec_units_log(&w->units, cluster, w->rank, &o->logger);
    if (status == MO_OK)
        status = mo_exec_job_plan(o, &w->units, w->rank == 0, &w->job, err);
    return status == MO_OK ? mo_exec_job_check_capacity(&w->job, err) : status;
}

/* What a run and a stream of requests have in common beside the plan. */
static mo_status find_digest_and_delays(const mo_exec_options *o, work *w,
                                        mo_error *err)
{
    mo_status status = MO_OK;

    if (w->n_ranks > 1)
        status = mo_exec_job_digest(o, &w->job, &w->alike, err);
    if (status == MO_OK && o->wants.emulate)
        status = mo_emulate_transfer_times(w->job.plan, w->problem, &w->hold_ns,
                                           err);
    return status;
}

static mo_status run_plan(const mo_exec_options *o, work *w, mo_error *err)
{
    mo_progress step;
    const mo_cli_exec_progress progress = { &o->logger, &step };
    const mo_run_plan_options options = {
        .transport = w->transport,
        .world = w->world,
        .backends = w->units.backends,
        .units = w->units.options,
        .rank_of = w->units.rank_of,
        .inputs = w->inputs.values,
        .warm_ups = o->runs > 1 ? MO_EXEC_WARMUP_RUNS : 0,
        .warm_up_ns = MO_EXEC_WARMUP_NS,
        .runs = (int) o->runs,
        .config_digest = w->alike,
        .trace = true,
        .within_capacity = true,
        .eager = o->wants.eager,
        .min_transfer_ns = w->hold_ns,
        .on_progress = mo_cli_exec_log_progress,
        .progress_context = &progress,
    };
    mo_status status;

    mo_measure_load_read(NULL, &w->load);
    mo_driver_log_step(&o->logger, &step, "running");
    status = mo_run_plan(w->job.plan, &options, &w->result, err);
    mo_progress_end(&step);
    mo_measure_load_since(NULL, &w->load);
    if (status == MO_OK)
        status = mo_measure_load_gather(w->transport, w->world, &w->load, err);
    if (status == MO_OK && w->rank == 0 && *w->result.eager_reason &&
        !o->logger.quiet)
        fprintf(stderr, "%s: kernels are launched one by one: %s\n",
                o->logger.command, w->result.eager_reason);
    return status;
}

/* "local" is the name of the transport within a process. */
static const char *describe_path(const char *path)
{
    return strcmp(path, mo_transport_local.name) == 0 ? "threads of a process"
                                                      : path;
}

/* Logs one line if the profile's links were measured on other paths than the
 * transfers took; profile may be NULL. */
static void log_paths(const mo_exec_options *o, const work *w)
{
    const mo_exec_plan *plan = w->job.plan;
    const mo_cluster *cluster = w->problem->cluster;
    const mo_profile *profile = w->problem->profile;

    for (int t = 0; profile && !o->logger.quiet && t < plan->n_transfers; t++) {
        const mo_plan_transfer *transfer = &plan->transfers[t];
        const mo_profile_link *row = mo_profile_find_link(
            profile, &cluster->devices[transfer->from],
            &cluster->devices[transfer->to], transfer->bytes);

        if (!row || !row->path || strcmp(row->path, w->paths[t]) == 0)
            continue;
        fprintf(stderr,
                "%s: %s: the link from '%s' to '%s' was measured by %s, but "
                "values go by %s; run moirai-profile with the same ranks\n",
                o->logger.command, profile->file, row->from, row->to,
                describe_path(row->path), describe_path(w->paths[t]));
        return;
    }
}

/* Keeps the paths that values took: within a process, by shared memory, or by a
 * transport. Logs if the profile is of others, or a rank has too few
 * processors. */
static mo_status find_paths(const mo_exec_options *o, work *w, mo_error *err)
{
    const mo_exec_plan *plan = w->job.plan;

    w->paths = calloc((size_t) plan->n_transfers + 1, sizeof *w->paths);
    if (!w->paths)
        return mo_fail_memory(err);
    for (int t = 0; t < plan->n_transfers; t++)
        w->paths[t] = w->transport->path ? w->transport->path(w->world, t)
                                         : mo_transport_local.name;
    if (w->rank == 0)
        log_paths(o, w);
    return mo_exec_rank_binding_log(w->transport, w->world, &w->units, plan,
                                    w->paths, &o->logger, err);
}

static mo_status compare_with_references(const mo_exec_options *o, work *w,
                                         mo_error *err)
{
    mo_progress step;
    mo_status status = MO_OK;

    mo_driver_log_step(&o->logger, &step, "comparing with references");
    if (o->check)
        status = mo_exec_compare_single_device(
            o, &w->job, &w->units, &w->inputs, &w->result,
            &w->comparisons[w->n_comparisons++], err);
    if (status == MO_OK && o->reference)
        status =
            mo_exec_compare_files(o->reference, w->job.plan, &w->result,
                                  &w->comparisons[w->n_comparisons++], err);
    mo_progress_end(&step);
    return status;
}

/* Packs the job instead of running it. */
static mo_status pack_bundle(mo_exec_options *o, const char *path,
                             mo_error *err)
{
    mo_exec_job job = { 0 };
    mo_status status = mo_exec_job_load(o, path, &job, err);

    /* The shapes of one graph have its weights. */
    if (status == MO_OK && job.valid && mo_exec_job_has_shapes(&job))
        status = mo_exec_job_take_shape(o, &job, err);
    if (status == MO_OK && !job.valid) {
        mo_cli_exec_log_invalid(o, path, &job);
        o->code = MO_EXIT_VIOLATION;
    } else if (status == MO_OK) {
        status = mo_bundle_write(o, &job, path, err);
        if (status == MO_OK && !o->logger.quiet)
            fprintf(stderr, "%s: written to %s\n", o->logger.command,
                    o->bundle);
    }
    mo_exec_job_clear(&job);
    return status;
}

/* Without --precision the run is in the precision that the solution was
 * predicted in; fp8 and int8 run in f16. */
static void choose_precision(mo_exec_options *o, const work *w)
{
    const mo_problem *problem = w->problem;
    const mo_numeric *formats = &problem->instance->formats;
    mo_math own =
        formats->precision > MO_MATH_BF16 ? MO_MATH_F16 : formats->precision;
    char text[MO_NUMERIC_TEXT];

    if (!o->wants.precision)
        o->wants.precision = mo_math_name(own);
    mo_numeric_write(formats, text);
    if (w->rank != 0 || o->logger.quiet || problem->profile ||
        (strcmp(o->wants.precision, mo_math_name(formats->precision)) == 0 &&
         !formats->weights))
        return;
    fprintf(stderr, "%s: times were predicted for %s, and this run is in %s\n",
            o->logger.command, text[0] ? text : "the types of the graph",
            o->wants.precision);
}

/* Single runs, or with --dry-run none. */
static mo_status run_single(mo_exec_options *o, work *w, mo_error *err)
{
    bool all = w->rank == 0 && o->check;
    mo_progress step;
    mo_status status =
        mo_exec_units_check_memory(&w->units, w->job.plan, w->rank,
                                   mo_exec_job_memory_left(o, &w->job), err);

    mo_driver_log_step(&o->logger, &step, "reading inputs");
    if (status == MO_OK)
        status = mo_exec_inputs_make(o, w->problem->fine, w->job.plan,
                                     all ? NULL : w->units.rank_of, w->rank,
                                     &w->inputs, err);
    mo_progress_end(&step);
    if (status == MO_OK)
        status = find_digest_and_delays(o, w, err);
    if (status == MO_OK && w->rank == 0 && o->output && !o->dry_run)
        status = mo_exec_output_npy_make(o->output, err);
    if (status == MO_OK && !o->dry_run)
        status = run_plan(o, w, err);
    if (status == MO_OK && !o->dry_run)
        status = find_paths(o, w, err);
    if (status == MO_OK && w->rank == 0 && w->transport->settle)
        status = w->transport->settle(w->world, err);
    if (status == MO_OK && w->rank == 0) {
        mo_cli_exec_result outcome = {
            .job = &w->job,
            .units = &w->units,
            .transport = mo_cli_exec_transport_name(w->transport, w->world),
            .paths = w->n_ranks > 1 ? w->paths : NULL,
            .n_ranks = w->n_ranks,
            .result = o->dry_run ? NULL : &w->result,
            .load = w->load,
            .comparisons = w->comparisons,
        };

        if (o->tolerance < 0)
            o->tolerance = mo_exec_default_tolerance(&o->wants, w->job.plan);
        status = o->dry_run ? MO_OK : compare_with_references(o, w, err);
        outcome.n_comparisons = w->n_comparisons;
        if (status == MO_OK && !o->dry_run)
            mo_cli_exec_log_not_finite(o, w->job.plan, &w->result);
        if (status == MO_OK)
            status = mo_cli_exec_report(o, &outcome, err);
        for (int i = 0; i < w->n_comparisons && status == MO_OK; i++)
            if (mo_exec_comparison_log_mismatch(o, w->job.plan,
                                                &w->comparisons[i]))
                o->code = MO_EXIT_VIOLATION;
    }
    return status;
}

static mo_status run_generation(mo_exec_options *o, work *w, mo_error *err)
{
    mo_cli_exec_stream stream = {
        .job = &w->job,
        .units = &w->units,
        .transport = w->transport,
        .world = w->world,
        .signals = &w->signals,
    };
    mo_status status =
        mo_exec_units_check_memory(&w->units, w->job.plan, w->rank,
                                   mo_exec_job_memory_left(o, &w->job), err);

    if (status == MO_OK)
        status = find_digest_and_delays(o, w, err);
    stream.config_digest = w->alike;
    stream.min_transfer_ns = w->hold_ns;
    return status == MO_OK ? mo_cli_exec_generate(o, &stream, err) : status;
}

static mo_status run_stream(mo_exec_options *o, work *w, mo_error *err)
{
    int64_t in_flight = o->in_flight;
    mo_cli_exec_stream stream = {
        .job = &w->job,
        .units = &w->units,
        .transport = w->transport,
        .world = w->world,
        .signals = &w->signals,
    };
    mo_status status;

    if (mo_exec_options_replans(o))
        stream.recovery = &w->recovery;
    status = mo_exec_requests_choose_in_flight(o, &w->units, &w->job,
                                               w->transport, w->world, err);

    if (status == MO_OK)
        status = mo_exec_requests_check_memory(
            &w->job, &w->units, w->rank, (int) o->in_flight,
            mo_exec_job_memory_left(o, &w->job), err);
    if (status == MO_OK)
        status = find_digest_and_delays(o, w, err);
    stream.config_digest = w->alike;
    stream.min_transfer_ns = w->hold_ns;
    if (stream.recovery) {
        *stream.recovery =
            (mo_exec_recovery){ .options = o,
                                .in_flight = in_flight,
                                .transport = w->transport,
                                .world_options = w->world_options,
                                .world = &w->world,
                                .job = &w->job,
                                .units = &w->units };
        if (status == MO_OK)
            status = mo_exec_recovery_check(stream.recovery, err);
    }
    return status == MO_OK ? mo_cli_exec_requests(o, &stream, err) : status;
}

/* Requests to all copies of the network are of one shape. */
static mo_status check_copies(const mo_exec_options *o, const work *w,
                              mo_error *err)
{
    if (w->job.review.evaluation.n_further > 0 && mo_exec_options_replans(o))
        return mo_fail(err, MO_E_SUPPORT,
                       "--on-loss replan is for one pipeline, and the solution "
                       "has several copies; choose one with --copy 1");
    if (w->job.review.evaluation.n_further > 0 &&
        (mo_problem_placed(w->problem)->phases || o->batch > 0 ||
         o->shapes_max > 0))
        return mo_fail(err, MO_E_USAGE,
                       "several copies run requests of one shape, without "
                       "--batch and --shapes-max; choose one with --copy 1");
    return MO_OK;
}

/* Everything between joining and leaving the ranks. */
static mo_status work_in_world(mo_exec_options *o, const char *path, work *w,
                               mo_error *err)
{
    bool is_stream = mo_exec_requests_wanted(o);
    mo_exec_gpu_init waking;
    mo_status status = MO_OK;

    if ((is_stream || o->generate > 0) && w->n_ranks == 1)
        status = mo_exec_signals_begin(&w->signals, err);
    if (status == MO_OK)
        status = mo_output_files_open(o->outputs, MO_EXEC_N_OUTPUTS, err);
    if (status != MO_OK)
        return status;
    if (is_stream || o->generate > 0)
        mo_exec_gpu_raise_queues();
    mo_exec_gpu_init_start(&o->wants, &waking);
    status = mo_exec_job_load(o, path, &w->job, err);
    w->problem = &w->job.review.problem;
    mo_exec_gpu_init_wait(&waking);
    if (status == MO_OK)
        status = mo_exec_job_check_output(o, &w->job, err);
    if (status == MO_OK && !w->job.valid) {
        if (w->rank == 0)
            mo_cli_exec_log_invalid(o, path, &w->job);
        o->code = MO_EXIT_VIOLATION;
        return MO_OK;
    }
    if (status == MO_OK)
        status = check_copies(o, w, err);
    if (status == MO_OK)
        status = is_stream && (o->inputs_folder || o->batch > 0)
                     ? mo_exec_job_keep_shapes(o, &w->job, err)
                     : mo_exec_job_take_shape(o, &w->job, err);
    if (status == MO_OK)
        choose_precision(o, w);
    if (status == MO_OK)
        status = plan_run(o, w, err);
    if (status != MO_OK)
        return status;
    if (o->generate > 0)
        return run_generation(o, w, err);
    return is_stream ? run_stream(o, w, err) : run_single(o, w, err);
}

static mo_status run_exec(void *context, char **operands, size_t n_operands,
                          mo_error *err)
{
    mo_exec_options *o = context;
    work w = { .signals = { .command = command_name } };
    mo_status status = mo_exec_options_check(o, operands[0], err);

    (void) n_operands;
    if (status == MO_OK && o->bundle)
        return pack_bundle(o, operands[0], err);
    if (status == MO_OK)
        status = mo_emulate_check(&o->wants, err);
    if (status == MO_OK)
        status = open_world(o, &w, err);
    if (status != MO_OK)
        return status;
    /* Standard output has the arrays, or the ids of tokens. */
    if ((mo_exec_requests_to_stdout(o) || (o->generate > 0 && !o->json)) &&
        o->outputs[MO_EXEC_OUTPUT_REPORT].path &&
        strcmp(o->outputs[MO_EXEC_OUTPUT_REPORT].path, "-") == 0)
        o->outputs[MO_EXEC_OUTPUT_REPORT].path = NULL;
    if (w.rank != 0) {
        /* Only the first rank prints and writes. */
        o->logger.quiet = true;
        for (int i = 0; i < MO_EXEC_N_OUTPUTS; i++)
            o->outputs[i].path = NULL;
    }
    status = work_in_world(o, operands[0], &w, err);
    if (status != MO_OK)
        w.transport->fail(w.world, err);
    mo_output_files_discard(o->outputs, MO_EXEC_N_OUTPUTS);
    mo_exec_signals_end(&w.signals);
    w.transport->close(w.world);
    mo_exec_recovery_clear(&w.recovery);
    for (int i = 0; i < w.n_comparisons; i++)
        mo_exec_comparison_clear(&w.comparisons[i]);
    mo_run_result_clear(&w.result);
    free(w.hold_ns);
    free(w.paths);
    mo_exec_inputs_clear(&w.inputs);
    mo_exec_units_clear(&w.units);
    mo_exec_job_clear(&w.job);
    return status;
}

int main(int argc, char **argv)
{
    mo_exec_options o = {
        .prepare = MO_REVIEW_DEFAULTS,
        .weights = MO_EXEC_NO_SEED,
        .runs = 1,
        .wants = MO_EXEC_CONFIG_DEFAULTS,
        .tolerance = -1,
        .top_p = 1,
        .job = MO_LAUNCH_OPTIONS_DEFAULTS,
        .outputs = { [MO_EXEC_OUTPUT_REPORT] = { .option = "--report",
                                                 .path = "-" },
                     [MO_EXEC_OUTPUT_TRACE] = { .option = "--trace" },
                     [MO_EXEC_OUTPUT_PLAN] = { .option = "--plan" },
                     [MO_EXEC_OUTPUT_PAGE] = { .option = "--report-html" } },
        .logger = { .command = command_name },
        .code = MO_EXIT_DONE,
    };
    const mo_option options[] = {
        { 'g', "graph", "FILE", "the graph file, if it is not found by itself",
          MO_OPTION_TEXT, .to = &o.graph },
        MO_REVIEW_OPTIONS(&o.prepare),
        MO_REVIEW_RULE_OPTIONS(&o.prepare),
        { 'i', "input", "NAME=FILE",
          "an input by name or number; others are random", MO_OPTION_LIST,
          .to = &o.inputs },
        { 0, "seed", "N", "seed of random inputs and tokens (default 0)",
          MO_OPTION_INT, .to = &o.seed, .min = 0, .max = 9e15 },
        { 0, "random-weights", "SEED",
          "random weights where the graph or its file has none", MO_OPTION_INT,
          .to = &o.weights, .min = 0, .max = 9e15 },
        MO_EXEC_WEIGHTS_OPTIONS(&o.wants, ""),
        MO_EXEC_CHECK_OPTIONS(&o),
        MO_EXEC_STREAM_OPTIONS(&o),
        MO_EXEC_GENERATION_OPTIONS(&o),
        { 0, "transport", "T",
          "transport of tensors (default: by the launcher)", MO_OPTION_TEXT,
          .to = &o.transport, .choices = "local|tcp|nccl|mpi" },
        MO_LAUNCH_OPTIONS(&o.job),
        { 0, "threads", "N",
          "threads of each CPU device, instead of the cluster's", MO_OPTION_INT,
          .to = &o.wants.threads, .min = 1, .max = MO_BACKEND_MAX_THREADS },
        { 0, "pin", "WHEN", MO_EXEC_PIN_HELP, MO_OPTION_TEXT,
          .to = &o.wants.pin, .choices = MO_EXEC_PIN_CHOICES },
        MO_EXEC_CONFIG_OPTIONS(&o.wants),
        MO_EXEC_PLAN_OPTIONS(&o),
        MO_EXEC_OUTPUT_OPTIONS(&o),
        MO_DRIVER_LOG_OPTIONS(&o.logger),
        { 0 }
    };
    const mo_command command = {
        .name = command_name,
        .synopsis = "[OPTION]... SOLUTION|PLACEMENT|GRAPH|BUNDLE",
        .purpose = "Run a placed network and measure it.",
        .details =
            "Graph and cluster of a solution are found beside it, in the "
            "working folder or in the folders of MOIRAI_PATH.  A graph "
            "runs on one device.  A bundle of --bundle has all it needs.  Exit "
            "status: 0 done, 4 invalid "
            "solution or outputs that differ, 1 failed, or a request has.",
        .options = options,
        .min_operands = 1,
        .max_operands = 1,
        .version = mo_cli_exec_version,
    };
    int code;

    o.wants.precision = NULL; /* not given */
    code = mo_command_main(&command, argc, argv, run_exec, &o);

    mo_option_list_free(&o.inputs);
    mo_option_list_free(&o.stop);
    mo_option_list_free(&o.wants.weights_from);
    mo_read_options_free(&o.prepare.read);
    mo_launch_options_clear(&o.job);
    if (code == MO_EXIT_DONE)
        code = o.code;
    mo_host_exit(code);
    return code;
}
