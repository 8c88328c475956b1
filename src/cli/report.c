/* SPDX-License-Identifier: Apache-2.0 */
/* moirai-report - the placement of a solution as a page, picture or text. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "driver/output_guard.h"
#include "driver/report/solution_page.h"

enum { MOST_SOLUTIONS = 16, COLUMNS = 100 };

typedef struct settings {
    mo_prepare_options prepare;
    mo_place_options place; /* only its methods */
    const char *graph, *trace, *format;
    bool no_compare, no_ablation;
    int64_t columns, copy;
    mo_output_file output;
    mo_driver_log logger;
} settings;

static mo_status check_options(const settings *s, char **paths, size_t n,
                               mo_error *err)
{
    int from_stdin = s->trace && strcmp(s->trace, "-") == 0;
    const mo_output_guard guard = { .outputs = &s->output, .n = 1 };
    mo_status status =
        mo_output_guard_check_given(&guard, &s->prepare, s->graph, err);

    if (status == MO_OK)
        status = mo_output_guard_check_input(&guard, s->trace, err);
    for (size_t i = 0; i < n && status == MO_OK; i++) {
        from_stdin += strcmp(paths[i], "-") == 0;
        status = mo_output_guard_check_input(&guard, paths[i], err);
    }
    if (status == MO_OK && from_stdin > 1)
        status =
            mo_fail(err, MO_E_USAGE, "only one input can be standard input");
    return status;
}

static mo_status run_report(void *context, char **operands, size_t n,
                            mo_error *err)
{
    settings *s = context;
    mo_review *reviews = calloc(n, sizeof *reviews);
    mo_status status =
        reviews ? check_options(s, operands, n, err) : mo_fail_memory(err);

    if (status == MO_OK)
        status = mo_output_files_open(&s->output, 1, err);
    if (status == MO_OK) {
        const mo_review_source from = { .prepare = &s->prepare,
                                        .graph = s->graph,
                                        .tolerance = MO_ANSWER_TOLERANCE,
                                        .logger = &s->logger,
                                        .one_copy = true,
                                        .copy = s->copy };

        for (int i = 0; i < (int) n && status == MO_OK; i++) {
            status = mo_review_file(&from, operands[i], &reviews[i], err);
            if (status == MO_OK)
                status = mo_output_guard_check_review(
                    &(mo_output_guard){ .outputs = &s->output, .n = 1 },
                    &reviews[i], err);
        }
    }
    if (status == MO_OK) {
        mo_solution_page_options options = { .trace = s->trace,
                                             .ablation = !s->no_ablation,
                                             .logger = &s->logger };
        mo_solution_page made = { 0 };

        if (s->place.methods.count > 0)
            status = mo_place_select_methods(&s->place, &options.methods,
                                             &options.n_methods, err);
        else if (!s->no_compare)
            status = mo_solution_page_defaults(&reviews[0], &options, err);
        if (status == MO_OK)
            status = mo_solution_page_make(&options, reviews,
                                           (const char *const *) operands,
                                           (int) n, &made, err);
        if (status == MO_OK)
            status =
                mo_solution_page_write(&made.page, s->format, s->output.path,
                                       (int) s->columns, s->output.out, err);
        if (status == MO_OK)
            status = mo_output_files_commit(&s->output, 1, err);
        mo_solution_page_clear(&made);
        free(options.methods);
    }
    mo_output_files_discard(&s->output, 1);
    for (size_t i = 0; reviews && i < n; i++)
        mo_review_clear(&reviews[i]);
    free(reviews);
    return status;
}

int main(int argc, char **argv)
{
    settings s = { .prepare = MO_REVIEW_DEFAULTS,
                   .columns = COLUMNS,
                   .output = { .option = "--output", .path = "-" },
                   .logger = { .command = "moirai-report" } };
    const mo_option options[] = {
        { 'o', "output", "FILE", "write to FILE instead of standard output",
          MO_OPTION_TEXT, .to = &s.output.path },
        { 0, "format", "FORMAT",
          "format (default by the name of FILE, or text)", MO_OPTION_TEXT,
          .to = &s.format, .choices = "html|text|svg|json|trace" },
        { 0, "trace", "FILE", "measured times, of moirai-exec --trace",
          MO_OPTION_TEXT, .to = &s.trace },
        { 0, "method", "M,...", "methods to compare with", MO_OPTION_LIST,
          .to = &s.place.methods, .suggest = mo_suggest_method },
        { 0, "copy", "N", "report copy N of a replicated solution",
          MO_OPTION_INT, .to = &s.copy, .min = 1, .max = 1000 },
        { 0, "no-compare", NULL, "compare with no method", MO_OPTION_FLAG,
          .to = &s.no_compare },
        { 0, "no-ablation", NULL, "do not place again without each device",
          MO_OPTION_FLAG, .to = &s.no_ablation, .former = "no-worth" },
        { 0, "columns", "N", "width of text (default 100)", MO_OPTION_INT,
          .to = &s.columns, .min = 40, .max = 1000 },
        { 'g', "graph", "FILE", "the graph file, if it is not found by itself",
          MO_OPTION_TEXT, .to = &s.graph },
        MO_REVIEW_OPTIONS(&s.prepare),
        MO_DRIVER_LENGTH_OPTIONS(&s.prepare.read),
        MO_DRIVER_FORMAT_OPTIONS(&s.prepare.load),
        MO_REVIEW_RULE_OPTIONS(&s.prepare),
        MO_DRIVER_LOG_OPTIONS(&s.logger),
        { 0 }
    };
    const mo_command command = {
        .name = "moirai-report",
        .synopsis = "[OPTION]... SOLUTION...",
        .purpose = "Show a placement: timeline, memory, graph, and why.",
        .details = "Graph and cluster are found as by moirai-check.  An HTML "
                   "page needs no network.  Further solutions of the same "
                   "graph and cluster are shown beside the first.",
        .options = options,
        .min_operands = 1,
        .max_operands = MOST_SOLUTIONS,
    };
    int code = mo_command_main(&command, argc, argv, run_report, &s);

    mo_option_list_free(&s.place.methods);
    mo_read_options_free(&s.prepare.read);
    return code;
}
