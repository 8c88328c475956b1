/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/benchmark/benchmark.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel_for.h"
#include "cost/cluster.h"
#include "driver/exec/device_units.h"
#include "driver/exec/exec_job.h"
#include "driver/place/compare_methods.h"
#include "driver/output_guard.h"
#include "driver/placement_solution.h"
#include "driver/profile/cluster_discover.h"
#include "driver/profile/profile_options.h"
#include "driver/report/solution_page.h"
#include "exec/measure/run_analysis.h"
#include "exec/runtime/run.h"
#include "exec/transport/transport.h"
#include "schedule/heuristic/single_device.h"
#include "solvers/process/path_util.h"
#include "solvers/process/workdir.h"

/* State of the benchmark. */
typedef struct work {
    mo_benchmark_options *o;
    mo_workdir *workdir;
    const char *folder;                 /* of the files: kept, or the workdir */
    char *cluster, *profile, *solution; /* files in it */
    bool has_gpu;
    mo_exec_options exec; /* of the solution */
    mo_exec_job job;
    mo_exec_units units;
    mo_exec_inputs inputs;
    char *events; /* of the placement's median run, a trace */
    mo_report_runs table;
} work;

/* Processors are one device beside GPUs, and two where there is no GPU: then
 * there is something to place. */
static mo_status discover(work *w, mo_error *err)
{
    mo_benchmark_options *o = w->o;
    mo_driver_cluster_options options = { .output = w->cluster,
                                          .gpus = o->gpus,
                                          .cpus = o->cpus,
                                          .precision = o->precision,
                                          .job = MO_LAUNCH_OPTIONS_DEFAULTS,
                                          .logger = o->logger };
    bool again = !o->cpus && mo_parallel_for_cores() > 1;
    mo_cluster *cluster = NULL;
    mo_status status;

    options.logger.quiet |= again;
    status = mo_driver_cluster_discover(&options, err);
    if (status == MO_OK)
        status = mo_cluster_read(w->cluster, &cluster, err);
    for (int k = 0; status == MO_OK && k < cluster->n_devices; k++)
        w->has_gpu |= !cluster->devices[k].is_cpu;
    mo_cluster_free(cluster);
    if (status == MO_OK && again && !w->has_gpu) {
        options.cpus = "2";
        options.logger = o->logger;
        status = mo_driver_cluster_discover(&options, err);
    }
    mo_launch_options_clear(&options.job);
    return status;
}

static mo_status profile(work *w, mo_error *err)
{
    mo_benchmark_options *o = w->o;
    mo_profiler_options options = { .output = w->profile,
                                    .logger = o->logger,
                                    .clean = "all",
                                    .cluster = w->cluster,
                                    .fusion = o->fusion,
                                    .read = o->read,
                                    .inputs = o->inputs,
                                    .runs = 25,
                                    .wants = MO_EXEC_CONFIG_DEFAULTS,
                                    .job = MO_LAUNCH_OPTIONS_DEFAULTS };

    mo_status status;

    options.wants.precision = o->precision;
    status = mo_profiler_measure(&options, w->o->model, err);
    mo_launch_options_clear(&options.job);
    return status;
}

static mo_prepare_options prepare_options(const work *w)
{
    mo_prepare_options p = MO_PREPARE_DEFAULTS;

    p.load.cluster = w->cluster;
    p.load.profile = w->profile;
    p.fusion = w->o->fusion;
    p.read = w->o->read;
    return p;
}

static mo_status place(work *w, mo_error *err)
{
    const mo_prepare_options p = prepare_options(w);
    const mo_place_options options = { .time_s = w->o->time_s, .seed = 1 };
    const mo_method *const method = &mo_method_moirai;
    const mo_place_context setting = { .options = &options,
                                       .regime = mo_prepare_regime(&p),
                                       .logger = &w->o->logger,
                                       .begin_s = mo_driver_clock_s() };
    mo_problem problem = { 0 };
    mo_place_comparison c = { 0 };
    const mo_output_guard guard = { .outputs = &w->o->page, .n = 1 };
    const mo_place_result *best;
    mo_status status =
        mo_prepare_instance(&p, w->o->model, &w->o->logger, &problem, err);

    if (status == MO_OK)
        status = mo_output_guard_check_found(&guard, problem.fine,
                                             problem.cluster, w->o->model, err);
    if (status == MO_OK)
        status = mo_output_guard_check_input(&guard, w->profile, err);
    if (status == MO_OK)
        status = mo_output_guard_check_input(&guard, w->solution, err);
    if (status == MO_OK)
        status = mo_place_compare_methods(&setting, problem.instance, &method,
                                          1, &c, err);
    best = status == MO_OK ? mo_place_comparison_best(&c) : NULL;
    if (status == MO_OK && !best)
        status =
            mo_fail(err, MO_E_INFEASIBLE, "no placement was found: %s",
                    c.n > 0 && c.rows[0].why ? c.rows[0].why : "out of memory");
    if (status == MO_OK) {
        const mo_place_solution solution = { .x = problem.instance,
                                             .schedule = best->placed.schedule,
                                             .made_of = problem.made_of,
                                             .method = best->method->name,
                                             .bound_ns = c.report.bound_ns };

        status = mo_place_solution_save(&solution, w->solution, err);
    }
    mo_place_comparison_clear(&c);
    mo_problem_clear(&problem);
    return status;
}

static mo_report_run *add_row(work *w, const char *name, int64_t predicted_ns)
{
    mo_report_run *row = &w->table.rows[w->table.n++];

    snprintf(row->name, sizeof row->name, "%.70s", name);
    row->predicted_ns = predicted_ns;
    return row;
}

/* Runs a plan in this process. Where it cannot run on its devices, row->why has
 * the reason. */
static mo_status run_plan(const work *w, const mo_exec_plan *plan,
                          const mo_exec_units *units,
                          const mo_tensor_dense *inputs, mo_report_run *row,
                          mo_run_result *result, mo_error *err)
{
    /* The network as it is placed. */
    bool trace = plan == w->job.plan;
    const mo_transport_world_options world = { 0 };
    mo_run_plan_options options = {
        .transport = &mo_transport_local,
        .backends = units->backends,
        .units = units->options,
        .rank_of = units->rank_of,
        .inputs = inputs,
        .warm_ups = MO_EXEC_WARMUP_RUNS,
        .warm_up_ns = MO_EXEC_WARMUP_NS,
        .runs = (int) w->o->runs,
        .trace = trace,
        .whole = !trace,
    };
    mo_progress step;
    mo_status status = mo_plan_check_capacity(plan, NULL, err);

    if (status == MO_OK)
        status = mo_exec_units_check_memory(units, plan, 0, 0, err);
    if (status == MO_OK)
        status = mo_transport_local.open(&world, &options.world, err);
    if (status == MO_OK) {
        mo_driver_log_step(&w->o->logger, &step, "running");
        mo_progress_detail(&step, "%s", row->name);
        status = mo_run_plan(plan, &options, result, err);
        mo_progress_end(&step);
        mo_transport_local.close(options.world);
    }
    row->median_ns = result->median_ns;
    row->p95_ns = result->p95_ns;
    row->n_runs = result->n_runs;
    return status;
}

static mo_status run_placement(work *w, mo_error *err)
{
    const mo_problem *problem = &w->job.review.problem;
    mo_run_result result = { 0 };
    mo_out *events = NULL;
    char name[80];
    size_t size;
    int used = 0;
    mo_status status = mo_exec_job_load(&w->exec, w->solution, &w->job, err);

    if (status == MO_OK && !w->job.valid)
        status = mo_fail(err, MO_E_INPUT, "the placement is not valid");
    if (status == MO_OK)
        status = mo_exec_units_make(problem->cluster, 1, 0, &w->exec.wants,
                                    &w->units, err);
    if (status == MO_OK)
        status = mo_exec_job_plan(&w->exec, &w->units, true, &w->job, err);
    if (status == MO_OK)
        status = mo_exec_inputs_make(&w->exec, problem->fine, w->job.plan,
                                     w->units.rank_of, 0, &w->inputs, err);
    if (status != MO_OK)
        return status;
    for (int k = 0; k < problem->instance->n_devices; k++)
        for (int i = 0; i < problem->instance->n; i++)
            if (w->job.review.evaluation.schedule->device[i] == k) {
                used++;
                break;
            }
    snprintf(name, sizeof name, "placement on %d of %d devices", used,
             problem->instance->n_devices);
    status =
        run_plan(w, w->job.plan, &w->units, w->inputs.values,
                 add_row(w, name, w->job.plan->predicted_ns), &result, err);
    if (status == MO_OK)
        status = mo_out_memory(&events, err);
    if (status == MO_OK)
        status =
            mo_measure_write_chrome_trace(w->job.plan, &result, events, err);
    if (status == MO_OK && !(w->events = mo_out_take(events, &size)))
        status = mo_fail_memory(err);
    mo_out_abandon(events);
    mo_run_result_clear(&result);
    return status;
}

/* What cannot run on one device has a row with the reason. */
static mo_status run_alone(work *w, int k, mo_error *err)
{
    const mo_instance *x = w->job.review.problem.instance;
    int *device = calloc((size_t) x->n + 1, sizeof *device);
    mo_exec_plan *plan = NULL;
    mo_run_result result = { 0 };
    mo_report_run *row;
    mo_error why = { 0 };
    mo_status status = device ? MO_OK : mo_fail_memory(err);
    char name[80];

    if (status != MO_OK)
        return status;
    for (int i = 0; i < x->n; i++)
        device[i] = k;
    snprintf(name, sizeof name, "%.60s alone", x->device_ids[k]);
    row = add_row(w, name, mo_single_device_ns(x, k));
    status = mo_exec_job_plan_on(&w->exec, &w->job, x, &w->units, device, &plan,
                                 &why);
    if (status == MO_OK)
        status =
            run_plan(w, plan, &w->units, w->inputs.values, row, &result, &why);
    if (status != MO_OK)
        snprintf(row->why, sizeof row->why, "%.250s", why.text);
    mo_run_result_clear(&result);
    mo_plan_free(plan);
    free(device);
    return MO_OK;
}

/* All processors as one device, of which nothing is predicted: the devices of
 * the placement share them. The pinned threads of these must have ended. */
static mo_status run_processors(work *w, int *threads, mo_error *err)
{
    mo_exec_options exec = w->exec;
    mo_exec_job job = { 0 };
    mo_exec_units units = { 0 };
    mo_exec_inputs inputs = { 0 };
    mo_run_result result = { 0 };
    mo_report_run *row = NULL;
    char name[80];
    mo_status status;

    exec.prepare.load.cluster = NULL;
    exec.prepare.load.profile = NULL;
    exec.graph = NULL;
    status = mo_exec_job_load(&exec, w->o->model, &job, err);
    if (status == MO_OK)
        status = mo_exec_units_make(job.review.problem.cluster, 1, 0,
                                    &exec.wants, &units, err);
    if (status == MO_OK)
        status = mo_exec_job_plan(&exec, &units, false, &job, err);
    if (status == MO_OK)
        status = mo_exec_inputs_make(&exec, job.review.problem.fine, job.plan,
                                     NULL, 0, &inputs, err);
    if (status == MO_OK) {
        *threads = units.options[0].threads;
        snprintf(name, sizeof name, "all processors, %d thread%s", *threads,
                 *threads == 1 ? "" : "s");
        row = add_row(w, name, 0);
        status =
            run_plan(w, job.plan, &units, inputs.values, row, &result, err);
    }
    mo_run_result_clear(&result);
    /* By the same inputs and as many threads. */
    if (status == MO_OK && strcmp(w->o->python, "none") != 0 &&
        strstr(w->o->model, ".onnx"))
        status = mo_benchmark_onnx_runtime(w->o, mo_workdir_path(w->workdir),
                                           job.plan, &inputs, *threads,
                                           add_row(w, "ONNX Runtime", 0), err);
    mo_exec_inputs_clear(&inputs);
    mo_exec_units_clear(&units);
    mo_exec_job_clear(&job);
    return status;
}

static mo_status run_all(work *w, mo_error *err)
{
    int n, threads = 0;
    mo_status status;

    w->exec = (mo_exec_options){ .prepare = MO_REVIEW_DEFAULTS,
                                 .graph = w->o->model,
                                 .inputs = w->o->inputs,
                                 .runs = w->o->runs,
                                 .wants = MO_EXEC_CONFIG_DEFAULTS,
                                 .job = MO_LAUNCH_OPTIONS_DEFAULTS,
                                 .tolerance = -1,
                                 .logger = w->o->logger };
    w->exec.wants.precision = w->o->precision;
    w->exec.prepare.load.cluster = w->cluster;
    w->exec.prepare.load.profile = w->profile;
    w->exec.prepare.read = w->o->read;
    w->table.rows = calloc(MO_MAX_DEVICES + 3, sizeof *w->table.rows);
    if (!w->table.rows)
        return mo_fail_memory(err);
    status = run_placement(w, err);
    n = status == MO_OK ? w->job.review.problem.instance->n_devices : 0;
    for (int k = 0; k < n && status == MO_OK; k++)
        status = run_alone(w, k, err);
    mo_exec_units_clear(&w->units);
    if (status == MO_OK)
        status = run_processors(w, &threads, err);
    if (n == 1)
        w->table.note = "There is one device, so there is nothing to place: a "
                        "machine with several cores or a GPU has more.";
    return status;
}

static mo_status write_page(work *w, mo_error *err)
{
    const char *name = "the placement";
    mo_solution_page_options options = { .events = w->events,
                                         .ablation = true,
                                         .logger = &w->o->logger };
    mo_solution_page made = { 0 };
    mo_status status = mo_solution_page_defaults(&w->job.review, &options, err);

    if (status == MO_OK)
        status = mo_solution_page_make(&options, &w->job.review, &name, 1,
                                       &made, err);
    made.page.runs = &w->table;
    if (status == MO_OK)
        status = mo_solution_page_write(&made.page, NULL, w->o->page.path, 100,
                                        w->o->page.out, err);
    if (status == MO_OK)
        status = mo_output_files_commit(&w->o->page, 1, err);
    mo_solution_page_clear(&made);
    free(options.methods);
    return status;
}

static mo_status print_table(const work *w, mo_error *err)
{
    mo_out *out;
    mo_status status = mo_out_open("-", &out, err);
    mo_json_writer json = { .out = out };

    if (status != MO_OK)
        return status;
    if (w->o->json)
        mo_report_runs_json(&w->table, &json, NULL);
    else
        mo_report_runs_text(&w->table, out);
    return mo_out_commit(out, err);
}

/* What is kept must not replace the model, as in --keep . machine.xml. */
static mo_status check_kept(const work *w, mo_error *err)
{
    const mo_output_file kept[] = {
        { .option = "--keep", .path = w->cluster },
        { .option = "--keep", .path = w->profile },
        { .option = "--keep", .path = w->solution },
    };

    return mo_output_guard_check_input(
        &(mo_output_guard){ .outputs = kept, .n = 3 }, w->o->model, err);
}

mo_status mo_benchmark(mo_benchmark_options *o, mo_error *err)
{
    work w = { .o = o };
    mo_status status = mo_workdir_new(&w.workdir, err);

    if (status == MO_OK && o->keep)
        status = mo_output_files_make_folder(o->keep, 0777, err);
    if (status == MO_OK) {
        w.folder = o->keep ? o->keep : mo_workdir_path(w.workdir);
        w.cluster = mo_path_format("%s/machine.xml", w.folder);
        w.profile = mo_path_format("%s/profile.xml", w.folder);
        w.solution = mo_path_format("%s/model.sol", w.folder);
        if (!w.cluster || !w.profile || !w.solution)
            status = mo_fail_memory(err);
    }
    if (status == MO_OK)
        status = check_kept(&w, err);
    if (status == MO_OK)
        status = mo_output_files_open(&o->page, 1, err);
    if (status == MO_OK)
        status = discover(&w, err);
    if (status == MO_OK)
        status = profile(&w, err);
    if (status == MO_OK)
        status = place(&w, err);
    if (status == MO_OK)
        status = run_all(&w, err);
    if (status == MO_OK && o->page.path)
        status = write_page(&w, err);
    if (status == MO_OK)
        status = print_table(&w, err);
    mo_output_files_discard(&o->page, 1);
    free(w.table.rows);
    free(w.events);
    mo_exec_inputs_clear(&w.inputs);
    mo_exec_units_clear(&w.units);
    mo_exec_job_clear(&w.job);
    free(w.cluster);
    free(w.profile);
    free(w.solution);
    mo_workdir_free(w.workdir);
    return status;
}
