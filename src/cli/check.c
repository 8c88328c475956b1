/* SPDX-License-Identifier: Apache-2.0 */
/* moirai-check - validates a solution against every constraint of the paper. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "driver/bundle.h"
#include "driver/output_guard.h"
#include "driver/review.h"
#include "driver/raise_bound.h"
#include "driver/log.h"

enum { REPORT, SCHEDULE, OUTPUTS };

typedef struct settings {
    mo_prepare_options prepare;
    const char *graph, *proof;
    double tolerance;
    double root_lp_s;
    mo_output_file outputs[OUTPUTS];
    bool json;
    mo_driver_log logger;
    int code; /* exit status if nothing failed */
} settings;

static mo_status check_options(const settings *s, const char *path,
                               mo_error *err)
{
    const mo_output_guard guard = { .outputs = s->outputs, .n = OUTPUTS };
    bool from_stdin = strcmp(path, "-") == 0;
    mo_status status;

    if (from_stdin && s->graph && strcmp(s->graph, "-") == 0)
        return mo_fail(err, MO_E_USAGE,
                       "only one of answer and graph can be standard input");
    status = mo_output_guard_check_given(&guard, &s->prepare, s->graph, err);
    if (status == MO_OK)
        status = mo_output_guard_check_inputs(
            &guard, (const char *const[]){ path, s->proof }, 2, err);
    return status;
}

static mo_status raise_bound(const settings *s, mo_review *review,
                             mo_error *err)
{
    mo_answer_evaluation *j = &review->evaluation;

    if (!mo_answer_evaluation_valid(j) || j->period_ns >= 0)
        return MO_OK;
    return mo_root_lp_raise(review->problem.instance, &review->regime,
                            j->schedule->makespan_ns, s->root_lp_s, &s->logger,
                            &j->lower, err);
}

static mo_status run_check(void *context, char **operands, size_t n_operands,
                           mo_error *err)
{
    settings *s = context;
    mo_prepare_options prepare = s->prepare;
    mo_review_source from = { .prepare = &prepare,
                              .tolerance = s->tolerance,
                              .logger = &s->logger };
    const char *path = operands[0];
    mo_bundle *bundle = NULL;
    mo_review review = { 0 };
    mo_status status = check_options(s, path, err);

    (void) n_operands;
    if (status == MO_OK)
        status = mo_bundle_open(path, &bundle, err);
    if (status == MO_OK && bundle)
        mo_bundle_apply(bundle, &prepare, &s->graph, &path);
    from.graph = s->graph;
    from.proof = s->proof;
    if (status == MO_OK)
        status = mo_output_files_open(s->outputs, OUTPUTS, err);
    if (status == MO_OK)
        status = mo_review_file(&from, path, &review, err);
    if (status == MO_OK)
        status = mo_output_guard_check_review(
            &(mo_output_guard){ .outputs = s->outputs, .n = OUTPUTS }, &review,
            err);
    if (status == MO_OK)
        status = raise_bound(s, &review, err);
    if (status == MO_OK) {
        const mo_answer_evaluation *j = &review.evaluation;
        mo_output_file *schedule = &s->outputs[SCHEDULE];
        mo_report_verdict report = mo_review_report(&review);
        mo_out *out = s->outputs[REPORT].out;

        report.graph = mo_bundle_shown(bundle, report.graph);
        report.cluster = mo_bundle_shown(bundle, report.cluster);
        if (s->json)
            mo_report_verdict_json(&report, out);
        else
            mo_report_verdict_text(&report, out);
        if (schedule->out && j->schedule)
            mo_report_schedule_json(review.problem.instance, j->schedule,
                                    schedule->out);
        else if (schedule->out) {
            mo_out_abandon(schedule->out);
            schedule->out = NULL;
        }
        status = mo_output_files_commit(s->outputs, OUTPUTS, err);
    }
    if (!mo_answer_evaluation_valid(&review.evaluation))
        s->code = MO_EXIT_VIOLATION;
    mo_output_files_discard(s->outputs, OUTPUTS);
    if (status != MO_OK)
        mo_bundle_show_error(bundle, err);
    mo_review_clear(&review);
    mo_bundle_close(bundle);
    return status;
}

int main(int argc, char **argv)
{
    settings s = { .prepare = MO_REVIEW_DEFAULTS,
                   .tolerance = MO_ANSWER_TOLERANCE,
                   .outputs = { [REPORT] = { .option = "--output",
                                             .path = "-" },
                                [SCHEDULE] = { .option = "--schedule" } },
                   .logger = { .command = "moirai-check" },
                   .code = MO_EXIT_DONE };
    const mo_option options[] = {
        { 'g', "graph", "FILE", "the graph file, if it is not found by itself",
          MO_OPTION_TEXT, .to = &s.graph },
        MO_REVIEW_OPTIONS(&s.prepare),
        MO_DRIVER_LENGTH_OPTIONS(&s.prepare.read),
        MO_DRIVER_FORMAT_OPTIONS(&s.prepare.load),
        MO_REVIEW_RULE_OPTIONS(&s.prepare),
        { 0, "tolerance", "T",
          "integrality tolerance of binaries (default 1e-5)", MO_OPTION_DOUBLE,
          .to = &s.tolerance, .min = 0, .max = 0.1 },
        { 0, "proof", "FILE",
          "the certificate of the bound: a model of moirai-emit or a solution",
          MO_OPTION_TEXT, .to = &s.proof },
        MO_ROOT_LP_OPTION(&s.root_lp_s, "solve the LP relaxation for a better "
                                        "bound, at most so long (default 0)"),
        { 0, "schedule", "FILE", "write placement and start times as JSON",
          MO_OPTION_TEXT, .to = &s.outputs[SCHEDULE].path },
        { 0, "json", NULL, "print the report as a JSON object", MO_OPTION_FLAG,
          .to = &s.json },
        { 'o', "output", "FILE", "write to FILE instead of standard output",
          MO_OPTION_TEXT, .to = &s.outputs[REPORT].path },
        MO_DRIVER_LOG_OPTIONS(&s.logger),
        { 0 }
    };
    const mo_command command = {
        .name = "moirai-check",
        .synopsis = "[OPTION]... SOLUTION|PLACEMENT|BUNDLE",
        .purpose = "Check a solution against every constraint of the paper.",
        .details =
            "Graph and cluster of a solution are found beside it, in the "
            "working folder or in the folders of MOIRAI_PATH.  Exit "
            "status: 0 valid, 4 violated, 1 cannot be checked.",
        .options = options,
        .min_operands = 1,
        .max_operands = 1,
    };
    int code = mo_command_main(&command, argc, argv, run_check, &s);

    mo_read_options_free(&s.prepare.read);
    return code == MO_EXIT_DONE ? s.code : code;
}
