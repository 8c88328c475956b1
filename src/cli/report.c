/* SPDX-License-Identifier: Apache-2.0 */
/* moirai-report - the placement of a solution as a page, picture or text. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "driver/output_guard.h"
#include "driver/report/solution_page.h"

enum { MOST_SOLUTIONS = 16, COLUMNS = 100, NAME_ROOM = 256 };

typedef struct settings {
    mo_prepare_options prepare;
    mo_place_options place; /* only its methods */
    const char *graph, *trace, *format, *proof;
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
        status = mo_output_guard_check_inputs(
            &guard, (const char *const[]){ s->trace, s->proof }, 2, err);
    for (size_t i = 0; i < n && status == MO_OK; i++) {
        from_stdin += strcmp(paths[i], "-") == 0;
        status = mo_output_guard_check_input(&guard, paths[i], err);
    }
    if (status == MO_OK && from_stdin > 1)
        status =
            mo_fail(err, MO_E_USAGE, "only one input can be standard input");
    return status;
}

static mo_status choose_methods(const settings *s, const mo_review *first,
                                mo_solution_page_options *options,
                                mo_error *err)
{
    if (s->place.methods.count > 0)
        return mo_place_select_methods(&s->place, &options->methods,
                                       &options->n_methods, err);
    return s->no_compare ? MO_OK
                         : mo_solution_page_defaults(first, options, err);
}

/* What is reported: a placement of each solution, or of each copy of the
 * network of the first. */
typedef struct placements {
    mo_review *reviews;
    char (*names)[NAME_ROOM];
    const char **shown;
    int n;
    int n_copies; /* 0: it is not replicated */
    int64_t copies_ns;
} placements;

static mo_status add_review(const settings *s, char *path, int64_t copy,
                            placements *p, mo_error *err)
{
    const mo_review_source from = { .prepare = &s->prepare,
                                    .graph = s->graph,
                                    .proof = s->proof,
                                    .tolerance = MO_ANSWER_TOLERANCE,
                                    .logger = &s->logger,
                                    .one_copy = copy > 0 || p->n > 0,
                                    .copy = copy };
    mo_review *r = &p->reviews[p->n];
    mo_status status = mo_review_file(&from, path, r, err);

    p->shown[p->n] = path;
    if (p->n_copies > 0 && copy > 0) {
        snprintf(p->names[p->n], NAME_ROOM, "copy %lld of %s", (long long) copy,
                 path);
        p->shown[p->n] = p->names[p->n];
    }
    p->n++;
    return status == MO_OK
               ? mo_output_guard_check_review(
                     &(mo_output_guard){ .outputs = &s->output, .n = 1 }, r,
                     err)
               : status;
}

static mo_status alloc_placements(placements *p, int n, mo_error *err)
{
    p->reviews = calloc((size_t) n, sizeof *p->reviews);
    p->names = calloc((size_t) n, sizeof *p->names);
    p->shown = calloc((size_t) n, sizeof *p->shown);
    return p->reviews && p->names && p->shown ? MO_OK : mo_fail_memory(err);
}

static void clear_placements(placements *p)
{
    for (int i = 0; i < p->n; i++)
        mo_review_clear(&p->reviews[i]);
    free(p->reviews);
    free(p->names);
    free(p->shown);
}

/* A replicated solution is read again for each copy, and reported alone. */
static mo_status review_copies(const settings *s, char *path, placements *p,
                               mo_error *err)
{
    placements all = *p;
    const mo_answer_evaluation *e = &p->reviews[0].evaluation;
    mo_status status;

    *p =
        (placements){ .n_copies = 1 + e->n_further, .copies_ns = e->period_ns };
    status = alloc_placements(p, p->n_copies, err);
    clear_placements(&all);
    for (int c = 1; c <= p->n_copies && status == MO_OK; c++)
        status = add_review(s, path, c, p, err);
    return status;
}

static mo_status review_all(settings *s, char **paths, int n, placements *p,
                            mo_error *err)
{
    mo_status status = alloc_placements(p, n, err);

    for (int i = 0; i < n && status == MO_OK; i++) {
        status = add_review(s, paths[i], s->copy, p, err);
        if (status == MO_OK && i == 0 && p->reviews[0].evaluation.n_further > 0)
            return n > 1 ? mo_fail(err, MO_E_USAGE,
                                   "%s has several copies of the network; "
                                   "report it alone, or choose one with "
                                   "--copy 1",
                                   paths[0])
                         : review_copies(s, paths[0], p, err);
    }
    return status;
}

static mo_status make_report(settings *s, const placements *p, mo_error *err)
{
    mo_solution_page_options options = { .trace = s->trace,
                                         .ablation = !s->no_ablation,
                                         .n_copies = p->n_copies,
                                         .copies_ns = p->copies_ns,
                                         .logger = &s->logger };
    mo_solution_page made = { 0 };
    mo_status status = MO_OK;

    /* Other placements are compared with one pipeline. */
    if (p->n_copies > 0)
        options.ablation = false;
    else
        status = choose_methods(s, &p->reviews[0], &options, err);
    if (status == MO_OK)
        status = mo_solution_page_make(&options, p->reviews, p->shown, p->n,
                                       &made, err);
    if (status == MO_OK)
        status = mo_solution_page_write(&made.page, s->format, s->output.path,
                                        (int) s->columns, s->output.out, err);
    if (status == MO_OK)
        status = mo_output_files_commit(&s->output, 1, err);
    mo_solution_page_clear(&made);
    free(options.methods);
    return status;
}

static mo_status run_report(void *context, char **operands, size_t n,
                            mo_error *err)
{
    settings *s = context;
    placements p = { 0 };
    mo_status status = check_options(s, operands, n, err);

    if (status == MO_OK)
        status = mo_output_files_open(&s->output, 1, err);
    if (status == MO_OK)
        status = review_all(s, operands, (int) n, &p, err);
    if (status == MO_OK)
        status = make_report(s, &p, err);
    mo_output_files_discard(&s->output, 1);
    clear_placements(&p);
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
        { 0, "proof", "FILE",
          "the certificate of the bound: a model of moirai-emit or a solution",
          MO_OPTION_TEXT, .to = &s.proof },
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
