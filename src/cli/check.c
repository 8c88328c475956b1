/* moirai-check - holds an answer against every constraint of the paper. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "cli/outputs.h"
#include "cli/review.h"
#include "cli/talk.h"
#include "cli/text_file.h"
#include "solvers/listing.h"

enum { REPORT, SCHEDULE, OUTPUTS };

typedef struct settings {
    mo_prepare prepare;
    const char *graph;
    double tolerance;
    mo_output outputs[OUTPUTS];
    bool json;
    mo_talk talk;
    int code; /* to leave with when nothing failed */
} settings;

static mo_status spare_inputs(const settings *s, const char *path,
                              mo_error *err)
{
    const mo_prepare *p = &s->prepare;
    const char *inputs[] = { path, s->graph, p->load.cluster, p->load.profile,
                             p->fusion };
    mo_status status = mo_outputs_check(s->outputs, OUTPUTS, err);

    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        if (status == MO_OK)
            status = mo_outputs_spare(s->outputs, OUTPUTS, inputs[i], err);
    return status;
}

static mo_status check_options(const settings *s, const char *path,
                               mo_error *err)
{
    bool from_stdin = strcmp(path, "-") == 0;

    if (from_stdin && s->graph && strcmp(s->graph, "-") == 0)
        return mo_fail(err, MO_E_USAGE,
                       "only one of answer and graph can be standard input");
    return spare_inputs(s, path, err);
}

static mo_status judge_listing(const settings *s, const char *path, char *text,
                               size_t size, mo_review *review, mo_error *err)
{
    const mo_instance *x;
    int *device;
    mo_error why = { 0 };
    mo_status status;

    if (!s->graph)
        return mo_fail_at(err, MO_E_USAGE, path, 0,
                          "is a placement, which does not say of what; give "
                          "the graph with --graph");
    status =
        mo_review_instance(&s->prepare, s->graph, path, &s->talk, review, err);
    if (status != MO_OK)
        return status;
    x = review->made.loaded.instance;
    device = calloc((size_t) x->n + 1, sizeof *device);
    if (!device)
        return mo_fail_memory(err);
    status = mo_listing_read(path, text, size, x, device, &why);
    if (status == MO_OK)
        status = mo_judge_placement(x, &review->regime, device,
                                    &review->judgement, &why);
    else if (status == MO_E_INPUT)
        status = mo_judge_refused(why.text, &review->judgement);
    if (status != MO_OK)
        *err = why;
    free(device);
    return status;
}

static mo_status refuse_empty(const char *path, const mo_solution *solution,
                              mo_error *err)
{
    if (solution->n > 0)
        return MO_OK;
    return mo_fail_at(err, MO_E_INPUT, path, 0,
                      "holds no solution to check; it says: %s",
                      mo_claim_names[solution->claim]);
}

static mo_status judge_columns(const settings *s, const char *path,
                               const char *text, size_t size, mo_review *review,
                               mo_error *err)
{
    mo_solution *solution = NULL;
    mo_status status =
        mo_solution_read_memory(path, text, size, &solution, err);

    if (status == MO_OK)
        status = refuse_empty(path, solution, err);
    if (status == MO_OK) {
        status = mo_answer_origin(solution, &review->origin, err);
        if (status != MO_OK)
            mo_error_place(err, path, 0);
    }
    if (status == MO_OK)
        status = mo_review_instance(&s->prepare, s->graph, path, &s->talk,
                                    review, err);
    if (status == MO_OK)
        status = mo_review_solution(solution, s->tolerance, review, err);
    mo_solution_free(solution);
    return status;
}

/* With a graph at hand, what no solver writes is taken for a placement that was
 * not written well, and told where. */
static bool is_listing(const settings *s, const char *text)
{
    return mo_listing_sniff(text) || (s->graph && !mo_solution_sniff(text));
}

static mo_status judge(const settings *s, const char *path, mo_review *review,
                       mo_error *err)
{
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    char *text = NULL;
    size_t size;
    mo_status status = mo_text_file_read(path, &text, &size, err);

    if (status == MO_OK && is_listing(s, text))
        status = judge_listing(s, name, text, size, review, err);
    else if (status == MO_OK)
        status = judge_columns(s, name, text, size, review, err);
    free(text);
    return status;
}

static void write_report(const settings *s, const mo_review *review)
{
    mo_verdict_report report = mo_review_report(review);
    mo_out *out = s->outputs[REPORT].out;

    if (s->json)
        mo_verdict_json(&report, out);
    else
        mo_verdict_text(&report, out);
}

static mo_status write_outputs(settings *s, const mo_review *review,
                               mo_error *err)
{
    const mo_judgement *j = &review->judgement;
    mo_output *schedule = &s->outputs[SCHEDULE];

    write_report(s, review);
    if (schedule->out && j->schedule)
        mo_verdict_schedule(review->made.loaded.instance, j->schedule,
                            schedule->out);
    else if (schedule->out) {
        mo_out_abandon(schedule->out);
        schedule->out = NULL;
    }
    return mo_outputs_commit(s->outputs, OUTPUTS, err);
}

static mo_status run(void *context, char **operands, size_t n_operands,
                     mo_error *err)
{
    settings *s = context;
    mo_review review = { 0 };
    mo_status status = check_options(s, operands[0], err);

    (void) n_operands;
    if (status == MO_OK)
        status = mo_outputs_open(s->outputs, OUTPUTS, err);
    if (status == MO_OK)
        status = judge(s, operands[0], &review, err);
    if (status == MO_OK)
        status = write_outputs(s, &review, err);
    if (!mo_judgement_valid(&review.judgement))
        s->code = MO_EXIT_VIOLATION;
    mo_outputs_abandon(s->outputs, OUTPUTS);
    mo_review_clear(&review);
    return status;
}

int main(int argc, char **argv)
{
    settings s = { .prepare = MO_REVIEW_DEFAULTS,
                   .tolerance = MO_ANSWER_TOLERANCE,
                   .outputs = { [REPORT] = { .option = "--output",
                                             .path = "-" },
                                [SCHEDULE] = { .option = "--schedule" } },
                   .talk = { .command = "moirai-check" },
                   .code = MO_EXIT_DONE };
    const mo_option options[] = {
        { 'g', "graph", "FILE", "the graph, where it cannot be found",
          MO_OPTION_TEXT, .to = &s.graph },
        MO_REVIEW_OPTIONS(&s.prepare),
        { 0, "congestion", "C", "for a placement: port unless given",
          MO_OPTION_TEXT, .to = &s.prepare.congestion,
          .choices = MO_CONGESTION_CHOICES },
        { 0, "tensors", "T", "for a placement: per-edge unless given",
          MO_OPTION_TEXT, .to = &s.prepare.tensors,
          .choices = MO_TENSORS_CHOICES },
        { 0, "memory", "M", "for a placement: static unless given",
          MO_OPTION_TEXT, .to = &s.prepare.memory,
          .choices = MO_MEMORY_CHOICES },
        { 0, "tolerance", "T", "how far off 0 or 1 a value may be, 1e-5",
          MO_OPTION_DOUBLE, .to = &s.tolerance, .min = 0, .max = 0.1 },
        { 0, "schedule", "FILE", "write placement and times, as JSON",
          MO_OPTION_TEXT, .to = &s.outputs[SCHEDULE].path },
        { 0, "json", NULL, "tell it as a JSON object", MO_OPTION_FLAG,
          .to = &s.json },
        { 'o', "output", "FILE", "write to FILE instead of standard output",
          MO_OPTION_TEXT, .to = &s.outputs[REPORT].path },
        MO_TALK_OPTIONS(&s.talk),
        { 0 }
    };
    const mo_command command = {
        .name = "moirai-check",
        .synopsis = "[OPTION]... SOLUTION|PLACEMENT",
        .purpose = "Hold an answer against every constraint of the paper.",
        .details = "What a solution is of is found beside it, in the working "
                   "folder or in the folders of MOIRAI_PATH.  Exit status: 0 "
                   "valid, 4 violated, 1 not to be judged.",
        .options = options,
        .min_operands = 1,
        .max_operands = 1,
    };
    int code = mo_command_main(&command, argc, argv, run, &s);

    mo_option_list_free(&s.prepare.shapes);
    return code == MO_EXIT_DONE ? s.code : code;
}
