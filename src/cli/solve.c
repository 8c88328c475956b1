/* SPDX-License-Identifier: Apache-2.0 */
/* moirai-solve - solves a model with a portfolio of solvers and validates the
 * solution. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/compress.h"
#include "base/reader.h"
#include "driver/portfolio.h"
#include "driver/select_answer.h"
#include "driver/model_file.h"
#include "driver/output_guard.h"
#include "driver/plugin_option.h"
#include "cli/solve_output.h"
#include "driver/solve_model.h"
#include "driver/log.h"
#include "solvers/process/interrupt.h"
#include "solvers/process/workdir.h"

typedef struct settings {
    mo_portfolio_options portfolio;
    mo_option_list plugins;
    mo_prepare_options prepare; /* for the check */
    const char *graph;
    const char *output;
    char *made; /* the default output path, or NULL */
    bool list, json;
    mo_driver_log logger;
    int code; /* exit status if nothing failed */
} settings;

/* Returns model.sol for model.lp.gz, in the working folder; freed by the
 * caller. */
static char *default_output(const char *model)
{
    const char *slash = strrchr(model, '/');
    const char *base = slash ? slash + 1 : model;
    size_t length = mo_compress_stem(base);
    const char *dot = memchr(base, '.', length);
    char *path = malloc(length + sizeof ".sol");

    for (const char *at = dot; at && at < base + length; at++)
        if (*at == '.')
            dot = at;
    if (dot && dot > base)
        length = (size_t) (dot - base);
    if (path) {
        memcpy(path, base, length);
        memcpy(path + length, ".sol", sizeof ".sol");
    }
    return path;
}

static mo_status write_results(const settings *s,
                               const mo_answer_selector *selector,
                               const mo_portfolio *c,
                               const mo_answer_selection *selection,
                               mo_error *err)
{
    const char *path = s->output;
    const mo_output_file output = { .option = "--output", .path = path };
    const mo_output_guard guard = { .outputs = &output, .n = 1 };
    bool to_stdout = strcmp(path, "-") == 0;
    mo_out *out;
    mo_status status = MO_OK;

    if (selection->best && selector->state == MO_ANSWER_SELECTOR_READY)
        status = mo_output_guard_check_review(&guard, &selector->review, err);
    if (status == MO_OK && selection->best)
        status = mo_cli_solve_write(selection, selector, path, err);
    if (status == MO_OK)
        status = mo_out_open(to_stdout ? "/dev/stderr" : "-", &out, err);
    if (status == MO_OK) {
        mo_cli_solve_report(selection, selector, c, NULL, s->json, out);
        if (selection->best && !s->json && !to_stdout)
            mo_out_printf(out, "%-12s%s\n", "written to", path);
        status = mo_out_commit(out, err);
    }
    return status;
}

static mo_status solve_file(settings *s, const char *model, const char *beside,
                            const mo_workdir *folder, mo_error *err)
{
    mo_answer_selector selector = { .options = &s->prepare,
                                    .graph = s->graph,
                                    .beside = beside,
                                    .output = s->output,
                                    .tolerance = MO_ANSWER_TOLERANCE,
                                    .gap = s->portfolio.gap,
                                    .logger = &s->logger };
    mo_portfolio portfolio = { 0 };
    mo_answer_selection selection;
    mo_status status =
        mo_model_file_provenance(model, &selector.review.origin, err);
    bool is_reported;

    selector.origin_of_model = selector.review.origin.has_graph;
    if (status == MO_OK && selector.origin_of_model)
        status = mo_model_file_proof(model, &selector.review.proof, err);
    if (status == MO_OK && selector.review.origin.edited)
        status = mo_fail_at(err, MO_E_INPUT, beside, 0,
                            "its identity comments were edited, or one is "
                            "missing: they do not fit their digest; write the "
                            "model again with moirai-emit");
    if (status == MO_OK)
        status = mo_driver_solve_model(&s->portfolio, model, folder, &selector,
                                       &portfolio, &selection, err);
    if (status == MO_OK) {
        char text[MO_ERROR_FILE_SIZE + MO_ERROR_TEXT_SIZE + 16];

        if (selection.best &&
            selector.state == MO_ANSWER_SELECTOR_NO_INSTANCE &&
            !s->logger.quiet)
            fprintf(stderr, "%s: not checked: %s\n", s->logger.command,
                    mo_error_format(&selector.why, text, sizeof text));
        /* Reports why there is no solution where the report has no field for
         * it. */
        is_reported = selection.best ? !selection.best->is_start : !s->json;
        for (int i = 0; i < portfolio.n && !is_reported && !s->logger.quiet;
             i++) {
            const mo_portfolio_member *e = &portfolio.entries[i];

            if (e->status == MO_OK &&
                (!e->outcome.solution || e->outcome.solution->n == 0))
                fprintf(stderr, "%s: %s: %s\n", s->logger.command,
                        mo_portfolio_member_title(e), e->outcome.text);
        }
        status = write_results(s, &selector, &portfolio, &selection, err);
        s->code = mo_cli_solve_exit_status(&selection);
    }
    mo_portfolio_clear(&portfolio);
    mo_answer_selector_clear(&selector);
    return status;
}

static mo_status choose_output(settings *s, const char *model, mo_error *err)
{
    mo_output_file output = { .option = "--output" };
    const char *inputs[] = { model, s->portfolio.start, s->graph,
                             s->prepare.load.cluster, s->prepare.load.profile };
    mo_status status;
    struct stat state;
    mo_out *out;

    if (!s->output)
        s->output = s->made =
            default_output(strcmp(model, "-") == 0 ? "model" : model);
    if (!s->output)
        return mo_fail_memory(err);
    output.path = s->output;
    status = mo_output_guard_check_inputs(
        &(mo_output_guard){ .outputs = &output, .n = 1 }, inputs,
        sizeof inputs / sizeof *inputs, err);
    if (status != MO_OK)
        return status;
    /* Checks that the output can be written before solving. */
    if (strcmp(s->output, "-") == 0 ||
        (stat(s->output, &state) == 0 && !S_ISREG(state.st_mode) &&
         !S_ISDIR(state.st_mode)))
        return MO_OK;
    status = mo_out_open(s->output, &out, err);
    if (status == MO_OK)
        mo_out_abandon(out);
    return status;
}

/* From here on a signal stops the solvers, not the process. */
static mo_status solve_in_folder(settings *s, const char *path, mo_error *err)
{
    mo_workdir *folder = NULL;
    char *spooled = NULL;
    int watch;
    mo_status status = mo_interrupt_open(&watch, err);

    if (status != MO_OK)
        return status;
    status = mo_workdir_new(&folder, err);
    if (status == MO_OK && strcmp(path, "-") == 0)
        status = mo_model_file_spool(folder, &spooled, err);
    if (status == MO_OK)
        status = solve_file(s, spooled ? spooled : path,
                            spooled ? "model" : path, folder, err);
    /* Errors name what was given, not its copy. */
    if (status != MO_OK && spooled && strcmp(err->file, spooled) == 0)
        snprintf(err->file, sizeof err->file, "%s", MO_READER_STDIN);
    free(spooled);
    mo_workdir_free(folder);
    mo_interrupt_close(watch);
    return status;
}

static mo_status run_solve(void *context, char **operands, size_t n_operands,
                           mo_error *err)
{
    settings *s = context;
    const mo_output_file output = { .option = "--output", .path = s->output };
    const mo_output_guard guard = { .outputs = &output, .n = 1 };
    mo_status status = mo_plugin_option_load(&s->plugins, &guard, err);

    if (status == MO_OK)
        status = mo_portfolio_check_options(&s->portfolio, err);
    if (status != MO_OK)
        return status;
    if (s->list) {
        mo_out *out;

        status = mo_out_open(s->output, &out, err);
        if (status != MO_OK)
            return status;
        status = mo_cli_list_solvers(&s->portfolio, s->json, out, err);
        if (status == MO_OK)
            return mo_out_commit(out, err);
        mo_out_abandon(out);
        return status;
    }
    if (n_operands == 0)
        return mo_fail(err, MO_E_USAGE,
                       "no model given; name a file, or use --list");
    status = choose_output(s, operands[0], err);
    return status == MO_OK ? solve_in_folder(s, operands[0], err) : status;
}

int main(int argc, char **argv)
{
    settings s = { .portfolio = MO_PORTFOLIO_DEFAULTS,
                   .prepare = MO_REVIEW_DEFAULTS,
                   .logger = { .command = "moirai-solve" },
                   .code = MO_EXIT_DONE };
    const mo_option options[] = {
        MO_PORTFOLIO_OPTIONS(&s.portfolio),
        MO_PLUGIN_OPTION(&s.plugins),
        { 0, "start", "FILE", "a MIP start", MO_OPTION_TEXT,
          .to = &s.portfolio.start },
        { 'o', "output", "FILE",
          "the solution file (default: MODEL's name with .sol)", MO_OPTION_TEXT,
          .to = &s.output },
        { 0, "list", NULL, "list the installed solvers", MO_OPTION_FLAG,
          .to = &s.list },
        { 'g', "graph", "FILE",
          "the graph file for the check, if it is not found by itself",
          MO_OPTION_TEXT, .to = &s.graph },
        MO_REVIEW_OPTIONS(&s.prepare),
        MO_DRIVER_LENGTH_OPTIONS(&s.prepare.read),
        MO_DRIVER_FORMAT_OPTIONS(&s.prepare.load),
        { 0, "json", NULL, "print the report as a JSON object", MO_OPTION_FLAG,
          .to = &s.json },
        MO_DRIVER_LOG_OPTIONS(&s.logger),
        { 0 }
    };
    const mo_command command = {
        .name = "moirai-solve",
        .synopsis = "[OPTION]... MODEL",
        .purpose = "Solve a model with a solver and check the solution.",
        .details = "MODEL may be - for standard input.  -vv shows the "
                   "solver's own log.  Exit status: 0 a valid solution, 3 "
                   "none, 4 an invalid one.",
        .options = options,
        .min_operands = 0,
        .max_operands = 1,
    };
    int code = mo_command_main(&command, argc, argv, run_solve, &s);

    mo_read_options_free(&s.prepare.read);
    mo_option_list_free(&s.plugins);
    free(s.made);
    return code == MO_EXIT_DONE ? s.code : code;
}
