/* moirai-profile - what measured times say about devices. */
#include <config.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "base/out.h"
#include "cli/talk.h"
#include "coarsen/clean.h"
#include "cost/accuracy.h"
#include "cost/fit.h"
#include "ingest/read.h"
#include "report/fitting.h"

enum { ROOT_SIZE = 64 };

typedef struct settings {
    const char *train, *test, *clean, *output;
    unsigned passes;
    bool json;
    mo_talk talk;
} settings;

/* All that is made on the way. */
typedef struct work {
    mo_samples samples;
    mo_part *part;
    mo_efficiencies table;
    mo_guesses guesses;
} work;

static mo_status add_profile(mo_input *input, mo_samples *samples,
                             mo_error *err)
{
    mo_profile *profile;
    mo_status status = mo_profile_read_input(input, &profile, err);

    if (status != MO_OK)
        return status;
    status = mo_samples_add_profile(samples, profile, err);
    mo_profile_free(profile);
    return status;
}

static mo_status add_graph(const settings *s, mo_input *input,
                           mo_samples *samples, mo_error *err)
{
    mo_graph *graph = NULL, *clean = NULL;
    mo_map *map = NULL;
    mo_clean_report report;
    mo_status status = mo_read_input(input, NULL, &graph, NULL, err);

    if (status == MO_OK)
        status = mo_clean(graph, s->passes, &clean, &map, &report, err);
    if (status == MO_OK)
        status = mo_samples_add_graph(samples, clean, err);
    mo_map_free(map);
    mo_graph_free(clean);
    mo_graph_free(graph);
    return status;
}

static mo_status add_file(const settings *s, const char *path,
                          mo_samples *samples, mo_error *err)
{
    char root[ROOT_SIZE];
    mo_input *input;
    mo_status status = mo_input_open(path, &input, err);
    size_t before = samples->n;

    if (status != MO_OK)
        return status;
    status = mo_read_root(input, root, sizeof root, err);
    if (status == MO_OK)
        status = strcmp(root, "profile") == 0
                     ? add_profile(input, samples, err)
                     : add_graph(s, input, samples, err);
    if (status == MO_OK)
        mo_talk_say(&s->talk, "%s: %zu rows", mo_input_name(input),
                    samples->n - before);
    mo_input_close(input);
    return status;
}

static mo_status fit(const settings *s, work *w, mo_error *err)
{
    double begin = mo_talk_seconds();
    mo_status status;

    if (w->samples.n == 0)
        return mo_fail(err, MO_E_INPUT,
                       "none of %zu rows is a time on a device model we know "
                       "of an op whose work is known (moirai-profile(1))",
                       w->samples.skipped);
    w->part = calloc(w->samples.n, sizeof *w->part);
    status = w->part ? mo_holdout_choose(&w->samples, s->train, s->test,
                                         w->part, err)
                     : mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_fit(&w->samples, w->part, &w->table, err);
    if (status == MO_OK)
        status = mo_guesses_add_roofline(&w->guesses, &w->samples, w->part,
                                         &w->table, err);
    if (status == MO_OK)
        mo_talk_say(&s->talk, "fitted in %.2f s", mo_talk_seconds() - begin);
    return status;
}

static mo_status write_factors(const char *path, const work *w, mo_error *err)
{
    mo_out *out;
    mo_status status = mo_out_open(path, &out, err);

    if (status != MO_OK)
        return status;
    mo_efficiencies_write(&w->table, out);
    return mo_out_commit(out, err);
}

static mo_status write_report(const settings *s, const work *w, mo_error *err)
{
    const mo_fitting fitting = { &w->samples, w->part, &w->guesses };
    mo_out *out;
    mo_status status = mo_out_open("-", &out, err);

    if (status != MO_OK)
        return status;
    status = s->json ? mo_fitting_json(&fitting, out, err)
                     : mo_fitting_text(&fitting, out, err);
    if (status == MO_OK)
        return mo_out_commit(out, err);
    mo_out_abandon(out);
    return status;
}

/* Standard output is the factors' when they are wanted there, else the
 * report's. */
static mo_status write_results(const settings *s, const work *w, mo_error *err)
{
    mo_status status = s->output ? write_factors(s->output, w, err) : MO_OK;

    if (status == MO_OK && (!s->output || strcmp(s->output, "-") != 0))
        status = write_report(s, w, err);
    return status;
}

static mo_status run(void *context, char **operands, size_t n_operands,
                     mo_error *err)
{
    settings *s = context;
    work w = { .part = NULL };
    mo_status status;

    if (strcmp(operands[0], "fit") != 0)
        return mo_fail(err, MO_E_USAGE, "no subcommand '%s'; there is fit",
                       operands[0]);
    status = mo_clean_parse(s->clean, &s->passes, err);
    for (size_t i = 1; i < n_operands && status == MO_OK; i++)
        status = add_file(s, operands[i], &w.samples, err);
    if (status == MO_OK)
        status = fit(s, &w, err);
    if (status == MO_OK)
        status = write_results(s, &w, err);
    mo_guesses_clear(&w.guesses);
    free(w.part);
    mo_samples_clear(&w.samples);
    return status;
}

int main(int argc, char **argv)
{
    settings s = { .clean = "all", .talk = { .command = "moirai-profile" } };
    const mo_option options[] = {
        { 0, "train", "DEV,DEV", "fit to the times on these device models only",
          MO_OPTION_TEXT, .to = &s.train },
        { 0, "test", "DEV,DEV", "hold these back to test on", MO_OPTION_TEXT,
          .to = &s.test },
        { 0, "clean", "PASSES",
          "clean graphs: all, none, or some of "
          "constants,sources,results,views,parallel",
          MO_OPTION_TEXT, .to = &s.clean },
        { 'o', "output", "FILE", "write the factors to FILE", MO_OPTION_TEXT,
          .to = &s.output },
        { 0, "json", NULL, "report as a JSON object", MO_OPTION_FLAG,
          .to = &s.json },
        MO_TALK_OPTIONS(&s.talk),
        { 0 }
    };
    const mo_command command = {
        .name = "moirai-profile",
        .synopsis = "fit [OPTION]... FILE...",
        .purpose = "Fit the factors of the roofline to measured times.",
        .details = "FILE is a graph with measured times or a profile; - reads "
                   "standard input.  Without --train and --test, one op in "
                   "five is held back.",
        .options = options,
        .min_operands = 2,
        .max_operands = SIZE_MAX,
    };

    return mo_command_main(&command, argc, argv, run, &s);
}
