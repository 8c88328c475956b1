/* SPDX-License-Identifier: Apache-2.0 */
/* moirai-place - placement without a MILP solver, with a proven gap. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/minmax.h"
#include "base/option.h"
#include "driver/output_guard.h"
#include "driver/plugin_option.h"
#include "driver/place/place_options.h"
#include "driver/place/compare_methods.h"
#include "driver/place/place_runtime.h"
#include "driver/place/replan_start.h"
#include "driver/stop_on_signal.h"
#include "driver/placement_solution.h"
#include "driver/prepare.h"
#include "models/identity.h"
#include "driver/log.h"

/* The last two are written by trained methods, not by the command. */
enum { SOLUTION, POLICY, CURVE, OUTPUTS };

typedef struct settings {
    mo_prepare_options prepare;
    double begin_s;
    mo_place_options place;
    mo_option_list plugins;
    mo_place_runtime_options runtime;
    const mo_runtime *settings_of; /* what -o writes; NULL: a solution */
    mo_output_file outputs[OUTPUTS];
    bool json;
    mo_driver_log logger;
    int code; /* exit status if nothing failed */
} settings;

/* Checks that policy and curve can be written before training starts. */
static mo_status try_learned(settings *s, mo_error *err)
{
    mo_output_file *learned = &s->outputs[POLICY];
    int n = OUTPUTS - POLICY;
    mo_status status = MO_OK;

    for (int i = 0; i < n && status == MO_OK; i++)
        if (learned[i].path && strcmp(learned[i].path, "-") == 0)
            status = mo_fail(err, MO_E_USAGE,
                             "%s must be a file; standard output has the table",
                             learned[i].option);
    if (status == MO_OK)
        status = mo_output_files_open(learned, n, err);
    mo_output_files_discard(learned, n);
    return status;
}

/* A policy that is only read must exist, and must not be a pipe: opening one
 * blocks. */
static mo_status check_policy(const settings *s, mo_error *err)
{
    const char *path = s->place.policy;
    bool is_input = s->place.no_learning;
    struct stat info;
    mo_status status = MO_OK;

    if (!path)
        return MO_OK;
    if (is_input)
        status = mo_output_guard_check_input(
            &(mo_output_guard){ .outputs = s->outputs, .n = OUTPUTS }, path,
            err);
    if (status == MO_OK && is_input && access(path, R_OK) != 0)
        status = mo_fail_errno(err, path, "cannot be read");
    if (status == MO_OK && stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        status = mo_fail_at(err, MO_E_INPUT, path, 0, "is not a plain file");
    return status;
}

/* Writes the best placement as a solution, or discards the file if there is
 * none. */
static mo_status write_solution(settings *s, const mo_place_comparison *c,
                                const mo_place_replan *replan,
                                const mo_problem *problem, mo_error *err)
{
    const mo_place_result *best = mo_place_comparison_best(c);
    mo_output_file *output = &s->outputs[SOLUTION];
    mo_place_solution solution = { .x = problem->instance,
                                   .made_of = problem->made_of,
                                   .schedule = replan->placed,
                                   .output = output->path };
    mo_status status;

    if (!output->out || (!best && replan->n_copies == 0)) {
        mo_output_files_discard(output, 1);
        return MO_OK;
    }
    /* With a device more the bound may be less. */
    if (replan->x == replan->whole) {
        solution.bound_ns = mo_max_i64(c->report.bound_ns, c->report.search_ns);
        solution.proof = mo_place_comparison_proof(c);
    }
    if (s->settings_of && replan->n_copies == 0) {
        status = mo_place_runtime_write_ops(s->settings_of, problem,
                                            solution.schedule->device,
                                            output->out, err);
        return status == MO_OK ? mo_output_files_commit(output, 1, err)
                               : status;
    }
    solution.method = best ? best->method->name : "moirai";
    solution.made_of.in_flight = s->prepare.in_flight;
    if (replan->n_copies > 0) {
        solution.objective = MO_OBJECTIVE_PERIOD;
        solution.period_ns = replan->period_ns;
        solution.bound_ns = replan->x == replan->whole ? replan->bound_ns : 0;
        solution.proof = NULL;
        solution.further = replan->copies + 1;
        solution.n_further = replan->n_copies - 1;
    } else if (best->row.steady_ns > 0) {
        solution.objective = MO_OBJECTIVE_PERIOD;
        solution.period_ns = best->row.makespan_ns;
    }
    status = mo_place_solution_write(&solution, output->out, err);
    return status == MO_OK ? mo_output_files_commit(output, 1, err) : status;
}

/* Settings without a file of their own come before the report, or are part of
 * it; in that case the caller frees *by_op. */
static mo_status print_settings(const settings *s, const mo_place_comparison *c,
                                const mo_problem *problem, int **by_op,
                                mo_runtime_settings *made, mo_error *err)
{
    const mo_place_result *best = mo_place_comparison_best(c);
    mo_out *out;
    mo_status status;

    if (!s->settings_of || s->outputs[SOLUTION].path || !best)
        return MO_OK;
    if (s->json)
        return mo_place_runtime_make_settings(s->settings_of, problem,
                                              best->placed.schedule->device,
                                              by_op, made, err);
    status = mo_out_open("-", &out, err);
    if (status != MO_OK)
        return status;
    status = mo_place_runtime_write_ops(
        s->settings_of, problem, best->placed.schedule->device, out, err);
    if (status == MO_OK)
        return mo_out_commit(out, err);
    mo_out_abandon(out);
    return status;
}

/* Prints the report on standard output, unless the solution went there. */
static mo_status print_report(const settings *s,
                              const mo_report_methods *report, mo_error *err)
{
    const char *path = s->outputs[SOLUTION].path;
    bool to_stdout = path && strcmp(path, "-") == 0;
    mo_out *out;
    mo_status status = mo_out_open(to_stdout ? "/dev/stderr" : "-", &out, err);

    if (status != MO_OK)
        return status;
    if (s->json)
        mo_report_methods_json(report, out);
    else
        mo_report_methods_text(report, out);
    if (path && !to_stdout && !s->json && mo_report_methods_best(report))
        mo_out_printf(out, "written to %s\n", path);
    return mo_out_commit(out, err);
}

/* A graph that is refused before any method runs has the same rows as one that
 * no method can place. */
static mo_status report_infeasible(const settings *s,
                                   const mo_method *const *methods, int n,
                                   mo_error *err)
{
    mo_report_method_row *rows = calloc((size_t) n + 1, sizeof *rows);
    const mo_report_methods report = { .n = n, .rows = rows };
    mo_status status;

    if (!rows)
        return mo_fail_memory(err);
    for (int i = 0; i < n; i++)
        rows[i] = (mo_report_method_row){ .method = methods[i]->name,
                                          .why = err->text };
    status = print_report(s, &report, err);
    free(rows);
    return status == MO_OK ? MO_E_INFEASIBLE : status;
}

/* A solution of several shapes has to name them for those that run it. */
static mo_status check_shapes(const mo_option_list *shapes, mo_error *err)
{
    for (size_t i = 0; i < shapes->count; i++)
        if (strchr(shapes->items[i], ';') && !mo_identity_holds_shapes(shapes))
            return mo_fail(err, MO_E_LIMIT,
                           "--shape lists more shapes than a solution can "
                           "hold; give fewer: moirai-exec --shapes-max runs "
                           "others, too");
    return MO_OK;
}

/* While the graph is read and methods run, a signal stops them instead of the
 * process; but it terminates a read that blocks on a pipe. */
static mo_status place_graph(settings *s, const char *path,
                             const mo_method *const *methods, int n,
                             mo_error *err)
{
    mo_place_context setting = { .options = &s->place,
                                 .regime = mo_prepare_regime(&s->prepare),
                                 .objective = mo_prepare_objective(&s->prepare),
                                 .in_flight = (int) s->prepare.in_flight,
                                 .logger = &s->logger,
                                 .begin_s = s->begin_s };
    mo_problem problem = { 0 };
    mo_solver_install found = { 0 };
    mo_place_comparison c = { 0 };
    mo_place_replan replan = { 0 };
    mo_runtime_settings made = { .runtime = NULL };
    int *by_op = NULL;
    mo_driver_signals *watch = NULL;
    /* Whether opening the path would block until its other end is opened. */
    struct stat info;
    mo_status status = (stat(path, &info) == 0 && S_ISFIFO(info.st_mode))
                           ? MO_OK
                           : mo_driver_signals_begin(NULL, NULL, &watch, err);

    if (status == MO_OK)
        status = check_shapes(&s->prepare.read.shapes, err);
    if (status == MO_OK)
        status =
            mo_prepare_instance(&s->prepare, path, &s->logger, &problem, err);
    if (status == MO_OK)
        status = mo_output_guard_check_found(
            &(mo_output_guard){ .outputs = s->outputs, .n = OUTPUTS },
            problem.fine, problem.cluster, path, err);
    if (status == MO_OK && s->settings_of)
        status = mo_runtime_check_devices(s->settings_of, problem.cluster, err);
    if (status == MO_OK && !watch)
        status = mo_driver_signals_begin(NULL, NULL, &watch, err);
    if (status == MO_OK)
        status =
            mo_place_assist_solver(&s->place, &setting.assist, &found, err);
    setting.found = &found;
    if (setting.assist)
        mo_driver_log_info(&s->logger, "%s helps", setting.assist->title);
    if (status == MO_OK)
        status = mo_place_replan_open(&replan, &setting, &s->runtime.dropped,
                                      problem.instance, problem.cluster, err);
    if (replan.start.device)
        setting.start = &replan.start;
    if (status == MO_OK)
        status =
            mo_place_compare_methods(&setting, replan.x, methods, n, &c, err);
    if (status == MO_OK)
        status = mo_place_replan_finish(&replan, &setting, &c, err);
    c.report.replan = &replan.report;
    mo_driver_signals_end(watch);
    if (status == MO_E_INFEASIBLE && s->json)
        status = report_infeasible(s, methods, n, err);
    if (status == MO_OK)
        status = write_solution(s, &c, &replan, &problem, err);
    if (status == MO_OK)
        status = print_settings(s, &c, &problem, &by_op, &made, err);
    c.report.settings = &made;
    if (status == MO_OK)
        status = print_report(s, &c.report, err);
    free(by_op);
    if (status == MO_OK)
        status = mo_place_comparison_exit_status(&c, &s->code, err);
    mo_place_comparison_clear(&c);
    mo_place_replan_clear(&replan);
    mo_solver_install_clear(&found);
    mo_problem_clear(&problem);
    return status;
}

static bool names_all(const mo_option_list *methods)
{
    for (size_t i = 0; i < methods->count; i++) {
        char list[256];

        /* "all" between commas. */
        snprintf(list, sizeof list, ",%.250s,", methods->items[i]);
        if (strstr(list, ",all,"))
            return true;
    }
    return false;
}

/* Reports the methods that --method all does not contain: they have no row. */
static void log_left_out(const settings *s, const mo_method *const *methods,
                         int n)
{
    const mo_method *method;
    char names[256] = "";

    for (int i = 0; (method = mo_method_at(i)); i++) {
        size_t used = strlen(names);
        int k = 0;

        while (k < n && methods[k] != method)
            k++;
        if (k == n)
            snprintf(names + used, sizeof names - used, "%s%s",
                     used > 0 ? ", " : "", method->name);
    }
    if (names[0] && names_all(&s->place.methods) && !s->logger.quiet)
        fprintf(stderr,
                "%s: --method all leaves out %s; name them to run them\n",
                s->logger.command, names);
}

/* For a runtime that places layers: no method searches. */
static mo_status place_layers(settings *s, const char *graph, mo_error *err)
{
    const mo_runtime *runtime = s->settings_of;
    mo_status status =
        mo_place_runtime_check_schedule(runtime, &s->prepare, err);

    if (status == MO_OK)
        status = mo_place_runtime_refuse(runtime, s->place.methods.count > 0,
                                         "--method", err);
    if (status == MO_OK)
        status = mo_place_runtime_refuse(runtime, s->place.work_s > 0, "--work",
                                         err);
    if (status == MO_OK)
        status = mo_place_runtime_refuse(runtime, s->place.ablation,
                                         "--ablation", err);
    return status == MO_OK
               ? mo_place_runtime_run(&s->runtime, runtime, &s->prepare, graph,
                                      s->json, &s->outputs[SOLUTION],
                                      &s->logger, err)
               : status;
}

static mo_status run_place(void *context, char **operands, size_t n_operands,
                           mo_error *err)
{
    settings *s = context;
    const mo_method **methods = NULL;
    int n = 0;
    mo_status status;

    (void) n_operands;
    s->begin_s = mo_driver_clock_s();
    /* Without training the policy is only read. */
    s->outputs[POLICY].path = s->place.no_learning ? NULL : s->place.policy;
    s->outputs[CURVE].path = s->place.curve;
    status = mo_place_runtime_check(&s->runtime, true, &s->settings_of, err);
    if (status == MO_OK)
        status = mo_prepare_check(&s->prepare, operands[0], err);
    if (status == MO_OK)
        status = mo_output_guard_check_given(
            &(mo_output_guard){ .outputs = s->outputs, .n = OUTPUTS },
            &s->prepare, operands[0], err);
    if (status == MO_OK && s->settings_of && !s->settings_of->write_ops)
        return place_layers(s, operands[0], err);
    if (status == MO_OK)
        status = check_policy(s, err);
    if (status == MO_OK)
        status = mo_plugin_option_load(
            &s->plugins,
            &(mo_output_guard){ .outputs = s->outputs, .n = OUTPUTS }, err);
    if (status == MO_OK)
        status = mo_place_select_methods(&s->place, &methods, &n, err);
    if (status == MO_OK)
        log_left_out(s, methods, n);
    if (status == MO_OK)
        status = try_learned(s, err);
    if (status == MO_OK)
        status = mo_output_files_open(&s->outputs[SOLUTION], 1, err);
    if (status == MO_OK)
        status = place_graph(s, operands[0], methods, n, err);
    mo_output_files_discard(&s->outputs[SOLUTION], 1);
    free(methods);
    return status;
}

int main(int argc, char **argv)
{
    settings s = { .prepare = MO_PREPARE_DEFAULTS,
                   .place = MO_PLACE_DEFAULTS,
                   .outputs = { [SOLUTION] = { .option = "--output" },
                                [POLICY] = { .option = "--policy" },
                                [CURVE] = { .option = "--curve" } },
                   .logger = { .command = "moirai-place" },
                   .code = MO_EXIT_DONE };
    const mo_option options[] = {
        MO_PLACE_OPTIONS(&s.place),
        MO_PLACE_REPLAN_OPTIONS(&s.place),
        MO_PLUGIN_OPTION(&s.plugins),
        MO_PLACE_RUNTIME_OPTIONS(&s.runtime),
        MO_PREPARE_INSTANCE_OPTIONS(&s.prepare, MO_PREPARE_FUSION_HELP),
        MO_DRIVER_LENGTH_OPTIONS(&s.prepare.read),
        MO_DRIVER_FORMAT_OPTIONS(&s.prepare.load),
        MO_PREPARE_REGIME_OPTIONS(&s.prepare),
        MO_PREPARE_OBJECTIVE_OPTION(&s.prepare),
        MO_PREPARE_IN_FLIGHT_OPTION(&s.prepare),
        { 'o', "output", "FILE",
          "write the best placement as a solution, or as settings",
          MO_OPTION_TEXT, .to = &s.outputs[SOLUTION].path },
        { 0, "json", NULL, "print the report as a JSON array", MO_OPTION_FLAG,
          .to = &s.json },
        MO_DRIVER_LOG_OPTIONS(&s.logger),
        { 0 }
    };
    const mo_command command = {
        .name = "moirai-place",
        .synopsis = "[OPTION]... GRAPH",
        .purpose = "Place a graph on a cluster without a solver, with a bound.",
        .details = "GRAPH may be - for standard input.  Exit status: 0 a "
                   "placement, 3 none.",
        .options = options,
        .min_operands = 1,
        .max_operands = 1,
    };
    int code = mo_command_main(&command, argc, argv, run_place, &s);

    mo_option_list_free(&s.place.methods);
    mo_option_list_free(&s.plugins);
    mo_option_list_free(&s.runtime.added);
    mo_option_list_free(&s.runtime.dropped);
    mo_read_options_free(&s.prepare.read);
    return code == MO_EXIT_DONE ? s.code : code;
}
