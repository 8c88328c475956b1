/* SPDX-License-Identifier: Apache-2.0 */
/* moirai-emit - writes the placement of a graph as a mixed-integer program. */
#include <config.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/compress.h"
#include "base/option.h"
#include "cli/emit_output.h"
#include "driver/file_hints.h"
#include "driver/output_guard.h"
#include "driver/prepare.h"
#include "driver/log.h"
#include "driver/strengthen_model.h"

/* The model, or its statistics, and the files that belong to it. */
enum { MODEL, START, MAP, OUTPUTS };

typedef struct settings {
    mo_prepare_options prepare;
    const char *side;   /* of --patterns, or NULL */
    const char *format; /* NULL: by the name of the output */
    const char *replicas;
    mo_output_file outputs[OUTPUTS];
    mo_strengthen_options strengthen;
    bool stats, json;
    mo_driver_log logger;
} settings;

static bool wants_mps(const settings *s)
{
    const char *path = s->outputs[MODEL].path;
    size_t length;

    if (s->format)
        return strcmp(s->format, "mps") == 0;
    length = path ? mo_compress_stem(path) : 0;
    return length > 4 && strncmp(path + length - 4, ".mps", 4) == 0;
}

/* Tolerances of solvers, 1e-6 or so, are absolute. */
static void warn_unit(const settings *s, const mo_frame *frame)
{
    double units = (double) frame->horizon_ns / (double) frame->unit_ns;

    if (!s->prepare.unit || s->logger.quiet || (units >= 1 && units <= 1e6))
        return;
    fprintf(stderr,
            "%s: the horizon is %g %s: solvers, whose tolerances are about "
            "1e-6, may be inexact; without --unit one is chosen that suits\n",
            s->logger.command, units, s->prepare.unit);
}

/* Builds the model. The default cluster is known once it is loaded. */
static mo_status prepare_model(settings *s, const char *path, mo_prepared *made,
                               mo_prepared_model *model, mo_error *err)
{
    mo_problem *problem = &made->loaded;
    mo_status status =
        mo_prepare_instance(&s->prepare, path, &s->logger, problem, err);

    if (status == MO_OK)
        status = mo_output_guard_check_found(
            &(mo_output_guard){ .outputs = s->outputs, .n = OUTPUTS },
            problem->fine, problem->cluster, path, err);
    if (status == MO_OK)
        status = mo_strengthen_model(&s->strengthen, &s->prepare, &s->logger,
                                     made, err);
    if (status == MO_OK)
        status = mo_prepare_model(&s->prepare, &s->logger, made, model, err);
    if (status == MO_OK)
        warn_unit(s, model->model.frame);
    return status;
}

static mo_status write_outputs(const settings *s, const mo_cli_emit *emit,
                               mo_error *err)
{
    const mo_output_file *o = s->outputs;
    mo_status status = MO_OK;

    if (o[MAP].out)
        status = mo_cli_emit_map(emit, o[MAP].out, err);
    if (status == MO_OK && o[START].out)
        status = mo_cli_emit_start(emit, o[START].path, o[START].out, err);
    if (status != MO_OK)
        return status;
    if (s->stats)
        return mo_cli_emit_stats(emit, s->json, o[MODEL].out, err);
    if (!o[MODEL].out)
        return mo_cli_emit_hint(emit, err);
    return mo_cli_emit_model(emit, wants_mps(s), o[MODEL].out, err);
}

static mo_status run_emit(void *context, char **operands, size_t n_operands,
                          mo_error *err)
{
    settings *s = context;
    const char *path = operands[0];
    mo_prepared prepared = { 0 };
    mo_prepared_model model = { 0 };
    mo_path_list files = { 0 };
    mo_status status;

    (void) n_operands;
    status = mo_prepare_choose_formulation(&s->prepare, s->side, err);
    if (status == MO_OK && s->replicas && strcmp(s->replicas, "1") != 0)
        status = mo_fail(err, MO_E_USAGE,
                         "--replicas %.40s: a model has one copy of the "
                         "network; moirai-place --replicas searches for "
                         "several, with a bound",
                         s->replicas);
    /* A model is not printed on a terminal, unless -o - is given. */
    if (!s->outputs[MODEL].path && (s->stats || !isatty(STDOUT_FILENO)))
        s->outputs[MODEL].path = "-";
    if (status == MO_OK)
        status = mo_prepare_check(&s->prepare, path, err);
    if (status == MO_OK)
        status = mo_strengthen_check(&s->strengthen, &s->prepare, err);
    if (status == MO_OK && s->json && !s->stats)
        status = mo_fail(err, MO_E_USAGE,
                         "--json is the format of --stats; give both");
    if (status == MO_OK)
        status = mo_output_guard_check_given(
            &(mo_output_guard){ .outputs = s->outputs, .n = OUTPUTS },
            &s->prepare, path, err);
    if (status == MO_OK)
        status = mo_output_files_open(s->outputs, OUTPUTS, err);
    if (status == MO_OK)
        status = prepare_model(s, path, &prepared, &model, err);
    if (status == MO_OK)
        status = mo_file_hints_list(
            &prepared.loaded.made_of,
            s->outputs[MODEL].path ? s->outputs[MODEL].path : "-", &files, err);
    if (status == MO_OK) {
        /* A missing MIP start is reported after the model has been written. */
        const mo_cli_emit emit = { path, &prepared.loaded, &model.model,
                                   &s->logger, files.paths };
        mo_output_file *start = &s->outputs[START];
        bool lacks_start = start->path && !mo_model_has_start(&model.model);

        if (lacks_start) {
            mo_out_abandon(start->out);
            start->out = NULL;
        }
        status = write_outputs(s, &emit, err);
        if (status == MO_OK)
            status = mo_output_files_commit(s->outputs, OUTPUTS, err);
        if (status == MO_OK && lacks_start)
            status =
                mo_fail_at(err, MO_E_INPUT, start->path, 0,
                           "not written: no schedule was found that could be "
                           "a start; all else is written");
    }
    mo_output_files_discard(s->outputs, OUTPUTS);
    mo_path_list_clear(&files);
    mo_prepared_model_clear(&model);
    mo_prepared_clear(&prepared);
    return status;
}

int main(int argc, char **argv)
{
    settings s = { .prepare = MO_PREPARE_DEFAULTS,
                   .outputs = { [MODEL] = { .option = "--output" },
                                [START] = { .option = "--start" },
                                [MAP] = { .option = "--map" } },
                   .strengthen = MO_STRENGTHEN_DEFAULTS,
                   .logger = { .command = "moirai-emit" } };
    const mo_option options[] = {
        MO_PREPARE_OPTIONS(&s.prepare),
        MO_DRIVER_LENGTH_OPTIONS(&s.prepare.read),
        MO_STRENGTHEN_OPTIONS(&s.strengthen),
        { 0, "patterns", "SIDE",
          "schedules of segments (upper, default) or their lower bounds",
          MO_OPTION_TEXT, .to = &s.side, .choices = "upper|lower" },
        { 0, "unit", "UNIT", "time unit of the model (default us)",
          MO_OPTION_TEXT, .to = &s.prepare.unit, .choices = "ns|us|ms|s" },
        { 0, "format", "FORMAT",
          "model format (default: by the output's name, else lp)",
          MO_OPTION_TEXT, .to = &s.format, .choices = "lp|mps" },
        { 0, "start", "FILE", "write a MIP start for the solver",
          MO_OPTION_TEXT, .to = &s.outputs[START].path },
        { 0, "map", "FILE", "write the meaning of every column as CSV",
          MO_OPTION_TEXT, .to = &s.outputs[MAP].path },
        { 0, "replicas", "N|auto", "copies of the network; a model has 1",
          MO_OPTION_TEXT, .to = &s.replicas },
        { 0, "stats", NULL, "print the size of the model only", MO_OPTION_FLAG,
          .to = &s.stats },
        { 0, "json", NULL, "print the report as a JSON object", MO_OPTION_FLAG,
          .to = &s.json },
        { 'o', "output", "FILE", "write to FILE instead of standard output",
          MO_OPTION_TEXT, .to = &s.outputs[MODEL].path },
        MO_DRIVER_LOG_OPTIONS(&s.logger),
        { 0 }
    };
    const mo_command command = {
        .name = "moirai-emit",
        .synopsis = "[OPTION]... GRAPH",
        .purpose = "Write the placement of a graph as a mixed-integer program.",
        .details = "GRAPH may be - for standard input.  Files named .gz or "
                   ".zst are compressed.",
        .options = options,
        .min_operands = 1,
        .max_operands = 1,
    };
    int code;

    s.strengthen.writes_model = true;
    code = mo_command_main(&command, argc, argv, run_emit, &s);
    mo_read_options_free(&s.prepare.read);
    return code;
}
