/* SPDX-License-Identifier: Apache-2.0 */
/* moirai - the whole pipeline: coarsen, emit, solve, check. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json_writer.h"
#include "base/option.h"
#include "cli/emit_output.h"
#include "cli/solve_output.h"
#include "driver/file_hints.h"
#include "driver/log.h"
#include "driver/model_file.h"
#include "driver/output_guard.h"
#include "driver/place/place_runtime.h"
#include "driver/placement_solution.h"
#include "driver/plugin_option.h"
#include "driver/prepare.h"
#include "driver/report/solution_page.h"
#include "driver/select_answer.h"
#include "driver/solve_model.h"
#include "driver/strengthen_model.h"
#include "driver/suggest.h"
#include "solvers/process/interrupt.h"
#include "solvers/process/path_util.h"
#include "solvers/process/workdir.h"

enum { N_KEPT = 4 };

/* Starts as zeros; all paths are its own. */
typedef struct model_files {
    char *model, *start, *known, *solution, *schedule;
} model_files;

/* Names the files after the graph and makes the folder keep; keep NULL: they
 * are in folder. Sets kept to those that --keep leaves, borrowed, without paths
 * where keep is NULL. The caller clears *files, whatever the result. */
static mo_status name_files(const char *graph, const char *keep,
                            const mo_workdir *folder, model_files *files,
                            mo_output_file kept[N_KEPT], mo_error *err)
{
    const char *to = keep ? keep : mo_workdir_path(folder);
    char stem[200];
    mo_status status =
        keep ? mo_output_files_make_folder(keep, 0777, err) : MO_OK;

    if (status != MO_OK)
        return status;
    /* The graph's name without folder and suffix. */
    const char *base = mo_path_basename(graph);
    size_t length = strcspn(base, ".");

    if (length == 0 || strcmp(graph, "-") == 0)
        snprintf(stem, sizeof stem, "model");
    else
        snprintf(stem, sizeof stem, "%.*s", (int) length, base);
    files->model = mo_path_format("%s/%s.lp", to, stem);
    files->start = mo_path_format("%s/%s.start.sol", to, stem);
    files->known = mo_workdir_file(folder, "known.sol");
    files->solution = mo_path_format("%s/%s.sol", to, stem);
    files->schedule = mo_path_format("%s/%s.schedule.json", to, stem);
    if (!files->model || !files->start || !files->known || !files->solution ||
        !files->schedule)
        return mo_fail_memory(err);

    const char *const paths[N_KEPT] = { files->model, files->start,
                                        files->solution, files->schedule };

    for (int i = 0; i < N_KEPT; i++)
        kept[i] = (mo_output_file){ .option = "--keep",
                                    .path = keep ? paths[i] : NULL };
    return MO_OK;
}

/* A page is the report as HTML; the last ones are those of --keep. */
enum { SOLUTION, PAGE, KEPT, OUTPUTS = KEPT + N_KEPT };

typedef struct settings {
    mo_prepare_options prepare;
    mo_portfolio_options portfolio;
    mo_option_list plugins;
    mo_place_runtime_options runtime;
    const mo_runtime *settings_of; /* what -o writes; NULL: a solution */
    mo_strengthen_options strengthen;
    const char *keep;
    mo_output_file outputs[OUTPUTS];
    bool json;
    mo_driver_log logger;
    int code; /* exit status if nothing failed */
} settings;

static mo_status write_model(const mo_cli_emit *emit_model,
                             const model_files *files, bool start,
                             mo_error *err)
{
    mo_out *out;
    mo_status status =
        mo_out_open(start ? files->start : files->model, &out, err);

    if (status != MO_OK)
        return status;
    status = start ? mo_cli_emit_start(emit_model, files->start, out, err)
                   : mo_cli_emit_model(emit_model, false, out, err);
    if (status == MO_OK)
        return mo_out_commit(out, err);
    mo_out_abandon(out);
    return status;
}

/* With live memory the model may exclude the schedule of the search, which is
 * an answer all the same. To be called before the model takes it over. */
static mo_status write_known(settings *s, const model_files *files,
                             const mo_prepared *made, mo_error *err)
{
    const mo_place_solution solution = { .x = made->loaded.instance,
                                         .schedule = made->start,
                                         .made_of = made->loaded.made_of,
                                         .method = "search" };

    if (!made->strength || !made->start ||
        made->start->regime.memory != MO_MEMORY_LIVE)
        return MO_OK;
    s->portfolio.known = files->known;
    s->portfolio.searched = true;
    return mo_place_solution_save(&solution, files->known, err);
}

static mo_status emit_model(settings *s, const char *graph,
                            const model_files *files, mo_prepared *made,
                            mo_error *err)
{
    mo_prepared_model model = { 0 };
    mo_cli_emit what = { graph, &made->loaded, &model.model, &s->logger, NULL };
    mo_path_list hints = { 0 };
    mo_status status =
        mo_prepare_model(&s->prepare, &s->logger, made, &model, err);

    if (status == MO_OK && s->keep)
        status = mo_file_hints_list(&made->loaded.made_of, files->model, &hints,
                                    err);
    what.files = hints.paths;
    if (status == MO_OK)
        status = write_model(&what, files, false, err);
    if (status == MO_OK && mo_model_has_start(&model.model)) {
        status = write_model(&what, files, true, err);
        s->portfolio.start = files->start;
        s->portfolio.searched = made->strength != NULL;
    }
    mo_path_list_clear(&hints);
    mo_prepared_model_clear(&model);
    return status;
}

/* Writes the settings of a runtime that places single ops; without a file of
 * their own they come before the report. */
static mo_status write_settings(const settings *s,
                                const mo_answer_selector *selector,
                                const mo_answer_selection *selection,
                                mo_error *err)
{
    const char *output = s->outputs[SOLUTION].path;
    mo_out *out;
    mo_status status = mo_out_open(output ? output : "-", &out, err);

    if (status == MO_OK)
        status = mo_place_runtime_write_ops(
            s->settings_of, &selector->review.problem,
            selection->best->evaluation.schedule->device, out, err);
    else
        return status;
    if (status == MO_OK)
        return mo_out_commit(out, err);
    mo_out_abandon(out);
    return status;
}

static mo_status keep_results(const settings *s, const model_files *files,
                              const mo_answer_selector *selector,
                              const mo_answer_selection *selection,
                              mo_error *err)
{
    const char *output = s->outputs[SOLUTION].path;
    mo_out *out;
    mo_status status;

    if (!selection->best)
        return MO_OK;
    if (s->settings_of)
        status = output || !s->json
                     ? write_settings(s, selector, selection, err)
                     : MO_OK;
    else
        status = output ? mo_cli_solve_write(selection, selector, output, err)
                        : MO_OK;
    if (!s->keep || status != MO_OK)
        return status;
    status = mo_cli_solve_write(selection, selector, files->solution, err);
    if (status == MO_OK)
        status = mo_out_open(files->schedule, &out, err);
    if (status != MO_OK)
        return status;
    mo_report_schedule_json(selector->review.problem.instance,
                            selection->best->evaluation.schedule, out);
    return mo_out_commit(out, err);
}

/* The bound is the largest that was computed here. */
static mo_status write_page(const settings *s,
                            const mo_answer_selector *selector,
                            const mo_answer_selection *selection, mo_error *err)
{
    mo_solution_page_options options = { .ablation = true,
                                         .logger = &s->logger };
    const char *page = s->outputs[PAGE].path;
    const char *output = s->outputs[SOLUTION].path;
    const char *name = output ? output : "the placement";
    mo_solution_page made = { 0 };
    mo_review review = selector->review;
    mo_out *out = NULL;
    mo_status status;

    if (!page || !selection->best)
        return MO_OK;
    review.evaluation = selection->best->evaluation;
    if (selection->own.bound_ns > review.evaluation.lower.bound_ns) {
        review.evaluation.lower.bound_ns = selection->own.bound_ns;
        review.evaluation.lower.which = selection->own.by;
    }
    status = mo_solution_page_defaults(&review, &options, err);
    if (status == MO_OK)
        status = mo_solution_page_make(&options, &review, &name, 1, &made, err);
    if (status == MO_OK)
        status = mo_out_open(page, &out, err);
    if (status == MO_OK)
        status = mo_page_html(&made.page, out, err);
    if (status == MO_OK)
        status = mo_out_commit(out, err);
    else
        mo_out_abandon(out);
    mo_solution_page_clear(&made);
    free(options.methods);
    return status;
}

static mo_status print_report(const settings *s, const model_files *files,
                              const mo_answer_selector *selector,
                              const mo_portfolio *c,
                              const mo_answer_selection *selection,
                              mo_error *err)
{
    const char *output = s->outputs[SOLUTION].path;
    bool to_stdout = output && strcmp(output, "-") == 0;
    mo_runtime_settings made = { .runtime = NULL };
    int *by_op = NULL;
    mo_out *out;
    mo_status status = mo_out_open(to_stdout ? "/dev/stderr" : "-", &out, err);

    if (status != MO_OK)
        return status;
    if (s->json && s->settings_of && selection->best && !output)
        status = mo_place_runtime_make_settings(
            s->settings_of, &selector->review.problem,
            selection->best->evaluation.schedule->device, &by_op, &made, err);
    if (status == MO_OK)
        mo_cli_solve_report(selection, selector, c, &made, s->json, out);
    free(by_op);
    if (status != MO_OK) {
        mo_out_abandon(out);
        return status;
    }
    if (!s->json && selection->best) {
        const mo_answer_evaluation *j = &selection->best->evaluation;

        if (j->single != MO_FREE && mo_answer_evaluation_objective_ns(j) > 0)
            mo_out_printf(out, "%-12s%.2f times the best single device\n",
                          "speed",
                          (double) j->single_ns /
                              (double) mo_answer_evaluation_objective_ns(j));
    }
    if (!s->json && output && selection->best && !to_stdout)
        mo_out_printf(out, "%-12s%s\n", "written to", output);
    if (!s->json && s->keep)
        mo_out_printf(out, "%-12s%s and what goes with it\n", "kept",
                      selection->best ? files->solution : files->model);
    else if (!s->json && selection->best && !output && !s->settings_of)
        mo_out_printf(out, "%-12s%s\n", "kept",
                      "nothing; -o FILE keeps the solution");
    return mo_out_commit(out, err);
}

/* The selector takes over the instance. */
static mo_status solve_in_folder(settings *s, const char *graph,
                                 const model_files *files,
                                 const mo_workdir *folder, mo_prepared *made,
                                 mo_error *err)
{
    mo_answer_selector selector = { .options = &s->prepare,
                                    .graph = graph,
                                    .beside = graph,
                                    .tolerance = MO_ANSWER_TOLERANCE,
                                    .gap = s->portfolio.gap,
                                    .logger = &s->logger,
                                    .state = MO_ANSWER_SELECTOR_READY,
                                    .origin_of_model = true,
                                    .is_emitted = true };
    mo_portfolio portfolio = { 0 };
    mo_answer_selection selection = { 0 };
    mo_status status =
        mo_model_file_provenance(files->model, &selector.review.origin, err);

    if (status == MO_OK)
        status = mo_model_file_proof(files->model, &selector.review.proof, err);
    selector.review.regime = mo_prepare_regime(&s->prepare);
    if (made->strength) {
        mo_answer_selector_add_bound(&selector, made->strength->lower_ns,
                                     "search");
        selector.searched = selector.search_is_full = made->search_is_full;
    }
    made->loaded.made_of.in_flight = s->prepare.in_flight;
    selector.review.problem = made->loaded;
    made->loaded = (mo_problem){ 0 };
    selector.review.located.graph = strdup(graph);
    if (status == MO_OK && !selector.review.located.graph)
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_driver_solve_model(&s->portfolio, files->model, folder,
                                       &selector, &portfolio, &selection, err);
    if (status == MO_OK)
        status = keep_results(s, files, &selector, &selection, err);
    if (status == MO_OK)
        status = write_page(s, &selector, &selection, err);
    if (status == MO_OK) {
        status = print_report(s, files, &selector, &portfolio, &selection, err);
        s->code = mo_cli_solve_exit_status(&selection);
    }
    mo_portfolio_clear(&portfolio);
    mo_answer_selector_clear(&selector);
    return status;
}

static mo_status run_pipeline(settings *s, const char *graph,
                              const model_files *files,
                              const mo_workdir *folder, mo_error *err)
{
    mo_prepared made = { 0 };
    mo_problem *problem = &made.loaded;
    bool optimal;
    double begin_s;
    mo_status status =
        mo_prepare_instance(&s->prepare, graph, &s->logger, problem, err);

    if (status == MO_OK)
        status = mo_output_guard_check_found(
            &(mo_output_guard){ .outputs = s->outputs, .n = OUTPUTS },
            problem->fine, problem->cluster, graph, err);
    if (status == MO_OK && s->settings_of)
        status =
            mo_runtime_check_devices(s->settings_of, problem->cluster, err);
    begin_s = mo_driver_clock_s();
    s->strengthen.limit_s = s->portfolio.time_s / 2;
    if (status == MO_OK)
        status = mo_strengthen_model(&s->strengthen, &s->prepare, &s->logger,
                                     &made, err);
    s->portfolio.search_s = mo_driver_clock_s() - begin_s;
    if (s->portfolio.time_s > 0) /* the solver has what the search left */
        s->portfolio.time_s = fmax(s->portfolio.time_s - s->portfolio.search_s,
                                   s->portfolio.time_s / 2);
    optimal = mo_strengthen_is_optimal(&made);
    if (status == MO_OK)
        status = write_known(s, files, &made, err);
    if (status == MO_OK)
        status = emit_model(s, graph, files, &made, err);
    s->portfolio.no_solver = s->portfolio.searched && optimal &&
                             !s->portfolio.solvers && !s->portfolio.command;
    if (status == MO_OK) {
        char plan[64];

        snprintf(plan, sizeof plan, "solving, at most %.0f s",
                 s->portfolio.time_s);
        if (!s->logger.quiet && !s->json)
            fprintf(stderr, "%s: %d ops, %d to place on %d devices; %s\n",
                    s->logger.command, problem->fine->n_ops,
                    problem->instance->n, problem->instance->n_devices,
                    s->portfolio.no_solver ? "no solver is needed" : plan);
        status = solve_in_folder(s, graph, files, folder, &made, err);
    }
    mo_prepared_clear(&made);
    return status;
}

/* For what is found out before there is a model to solve. */
static mo_status report_infeasible(settings *s, mo_error *why)
{
    mo_out *out;
    mo_error err = { 0 };
    mo_status status = mo_out_open("-", &out, &err);
    mo_json_writer w = { .out = out };

    if (status == MO_OK) {
        mo_json_begin_object(&w, NULL, MO_JSON_LINES);
        mo_json_put_text(&w, "status", "infeasible");
        mo_json_put_text(&w, "why", why->text);
        mo_json_end(&w);
        status = mo_out_commit(out, &err);
    }
    if (status != MO_OK)
        *why = err;
    s->code = MO_EXIT_NO_SOLUTION;
    return status;
}

/* Outputs must not replace an input, and can be written. */
static mo_status check_outputs(settings *s, const char *graph, mo_error *err)
{
    mo_output_file *first = &s->outputs[SOLUTION];
    mo_status status;

    if (s->outputs[PAGE].path && strcmp(s->outputs[PAGE].path, "-") == 0)
        return mo_fail(err, MO_E_USAGE,
                       "--report must be a file; standard output has the text");
    status = mo_output_guard_check_given(
        &(mo_output_guard){ .outputs = first, .n = OUTPUTS }, &s->prepare,
        graph, err);
    if (first->path && strcmp(first->path, "-") == 0)
        first++;
    if (status == MO_OK)
        status = mo_output_files_open(first, &s->outputs[OUTPUTS] - first, err);
    mo_output_files_discard(s->outputs, OUTPUTS);
    return status;
}

/* For a runtime that places layers: there is no model to solve. */
static mo_status place_layers(settings *s, const char *graph, mo_error *err)
{
    mo_status status;

    if (s->keep || s->outputs[PAGE].path)
        return mo_fail(err, MO_E_USAGE,
                       "--for %s makes no solution that %s could show; leave "
                       "it out",
                       s->settings_of->name, s->keep ? "--keep" : "--report");
    status = mo_place_runtime_check_schedule(s->settings_of, &s->prepare, err);
    if (status == MO_OK)
        status = mo_place_runtime_refuse(
            s->settings_of, s->portfolio.solvers || s->portfolio.command,
            "--solver", err);
    if (status == MO_OK)
        status = mo_output_guard_check_given(
            &(mo_output_guard){ .outputs = s->outputs, .n = 1 }, &s->prepare,
            graph, err);
    return status == MO_OK
               ? mo_place_runtime_run(&s->runtime, s->settings_of, &s->prepare,
                                      graph, s->json, &s->outputs[SOLUTION],
                                      &s->logger, err)
               : status;
}

static mo_status run_moirai(void *context, char **operands, size_t n_operands,
                            mo_error *err)
{
    settings *s = context;
    mo_workdir *folder = NULL;
    model_files files = { 0 };
    int watch;
    mo_status status;

    (void) n_operands;
    status = mo_prepare_choose_formulation(&s->prepare, NULL, err);
    if (status == MO_OK)
        status =
            mo_place_runtime_check(&s->runtime, false, &s->settings_of, err);
    if (status == MO_OK)
        status = mo_prepare_check(&s->prepare, operands[0], err);
    if (status == MO_OK && !strpbrk(operands[0], "./-") &&
        access(operands[0], F_OK) != 0)
        status = mo_fail(err, MO_E_USAGE,
                         "'%.200s' is neither a file nor a command; moirai "
                         "help lists the commands",
                         operands[0]);
    if (status == MO_OK && s->settings_of && !s->settings_of->write_ops)
        return place_layers(s, operands[0], err);
    if (status == MO_OK &&
        mo_formulation_of(s->prepare.formulation)->lacks_places)
        status = mo_fail(err, MO_E_USAGE,
                         "the model of %s does not say where ops are; take "
                         "another --formulation",
                         s->prepare.formulation);
    if (status == MO_OK)
        status = mo_strengthen_check(&s->strengthen, &s->prepare, err);
    if (status == MO_OK)
        status = mo_plugin_option_load(
            &s->plugins,
            &(mo_output_guard){ .outputs = s->outputs, .n = OUTPUTS }, err);
    if (status == MO_OK)
        status = mo_portfolio_check_options(&s->portfolio, err);
    if (status == MO_OK)
        status = mo_interrupt_open(&watch, err);
    if (status != MO_OK)
        return status;
    status = mo_workdir_new(&folder, err);
    if (status == MO_OK)
        status = name_files(operands[0], s->keep, folder, &files,
                            &s->outputs[KEPT], err);
    if (status == MO_OK)
        status = check_outputs(s, operands[0], err);
    if (status == MO_OK)
        status = run_pipeline(s, operands[0], &files, folder, err);
    if (status == MO_E_INFEASIBLE && s->json)
        status = report_infeasible(s, err);
    free(files.model);
    free(files.start);
    free(files.known);
    free(files.solution);
    free(files.schedule);
    mo_workdir_free(folder);
    mo_interrupt_close(watch);
    return status;
}

/* A folder is no graph: one called exec does not hide moirai exec. */
static bool is_graph_file(const char *name)
{
    struct stat info;

    return stat(name, &info) == 0 && !S_ISDIR(info.st_mode);
}

/* moirai help emit, moirai emit --help: starts moirai-emit, which lies beside
 * this program or in PATH. Returns if the word is no command, or is a file. */
static void run_subcommand(const mo_command *command, int argc, char **argv)
{
    bool help = argc == 3 && strcmp(argv[1], "help") == 0;
    const char *word = argc < 2 ? "" : argv[help ? 2 : 1];
    const char *slash = strrchr(argv[0], '/');
    char path[4096], option[] = "--help", *first = argv[1], **shifted;

    if (!*word || *word == '-' || strchr(word, '/') || strchr(word, '.') ||
        (!help && (is_graph_file(word) || strcmp(word, "help") == 0 ||
                   strcmp(word, "version") == 0)))
        return;
    snprintf(path, sizeof path, "%.*smoirai-%s",
             slash ? (int) (slash - argv[0] + 1) : 0, argv[0], word);
    shifted = help ? (char *[]){ path, option, NULL } : argv + 1;
    argv[1] = path;
    if (slash)
        execv(path, shifted);
    else
        execvp(path, shifted);
    argv[1] = first;
    if (help || access(word, F_OK) != 0) {
        const char *nearest = mo_option_nearest_operand(command, word);

        fprintf(stderr, "moirai: %s'%.200s'%s",
                help ? "there is no command " : "", word,
                help ? "" : " is neither a file nor a command");
        if (nearest)
            fprintf(stderr, " (did you mean '%s'?)", nearest);
        fprintf(stderr, "; moirai help lists the commands\n");
        exit(MO_EXIT_USAGE);
    }
}

int main(int argc, char **argv)
{
    settings s = { .prepare = MO_PREPARE_DEFAULTS,
                   .portfolio = MO_PORTFOLIO_DEFAULTS,
                   .strengthen = MO_STRENGTHEN_DEFAULTS,
                   .outputs = { [SOLUTION] = { .option = "--output" },
                                [PAGE] = { .option = "--report" } },
                   .logger = { .command = "moirai" },
                   .code = MO_EXIT_DONE };
    const mo_option options[] = {
        MO_PREPARE_OPTIONS(&s.prepare),
        MO_DRIVER_LENGTH_OPTIONS(&s.prepare.read),
        MO_STRENGTHEN_OPTIONS(&s.strengthen),
        MO_PORTFOLIO_OPTIONS(&s.portfolio),
        MO_PLUGIN_OPTION(&s.plugins),
        MO_PLACE_RUNTIME_OPTIONS(&s.runtime),
        { 'o', "output", "FILE",
          "write the solution, or the settings of --for, to FILE",
          MO_OPTION_TEXT, .to = &s.outputs[SOLUTION].path },
        { 0, "keep", "DIR",
          "keep model, MIP start, solution and schedule in DIR", MO_OPTION_TEXT,
          .to = &s.keep },
        { 0, "report", "FILE", "write a page that shows the placement to FILE",
          MO_OPTION_TEXT, .to = &s.outputs[PAGE].path },
        { 0, "json", NULL, "print the report as a JSON object", MO_OPTION_FLAG,
          .to = &s.json },
        MO_DRIVER_LOG_OPTIONS(&s.logger),
        { 0 }
    };
    const mo_command command = {
        .name = "moirai",
        .synopsis = "[OPTION]... GRAPH",
        .purpose = "Place a graph on a cluster: coarsen, emit, solve, check.",
        .details =
            "GRAPH may be - for standard input.  Exit status: 0 a valid "
            "solution, 3 none, 4 an invalid one.  moirai COMMAND runs "
            "moirai-COMMAND, and moirai help COMMAND prints its options: "
            "benchmark, check, cluster, coarsen, emit, exec, export, info, "
            "place, profile, report, solve, zoo.",
        .options = options,
        .min_operands = 1,
        .max_operands = 1,
        .suggest = mo_suggest_command,
        .dispatches = true,
    };
    int code;

    run_subcommand(&command, argc, argv);
    code = mo_command_main(&command, argc, argv, run_moirai, &s);
    mo_read_options_free(&s.prepare.read);
    mo_option_list_free(&s.plugins);
    mo_option_list_free(&s.runtime.added);
    mo_option_list_free(&s.runtime.dropped);
    return code == MO_EXIT_DONE ? s.code : code;
}
