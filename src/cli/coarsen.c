/* SPDX-License-Identifier: Apache-2.0 */
/* moirai-coarsen - graph cleaning and operator fusion. */
#include <config.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/option.h"
#include "base/out.h"
#include "base/utf8.h"
#include "coarsen/coarsen.h"
#include "cost/cluster.h"
#include "cost/predict/fused_time.h"
#include "driver/log.h"
#include "driver/output_guard.h"
#include "driver/prepare.h"
#include "driver/suggest.h"
#include "graph/phases.h"
#include "graph/summary.h"
#include "ingest/graphml.h"
#include "ingest/read.h"
#include "report/graph_info.h"

typedef struct settings {
    bool json, dot;
    const char *clean, *fusion, *cluster, *output;
    mo_read_options read;
    mo_driver_log logger;
} settings;

enum { SHOWN_SIZE = 128 }; /* of a name; longer ones end in "..." */

/* State of the command. */
typedef struct work {
    mo_graph *fine, *coarse;
    mo_coarsen_map *map;
    unsigned passes;
    mo_fusion_rules *rules;
    mo_cluster *cluster; /* or NULL */
    mo_coarsen_report report;
    mo_summary before, after;
} work;

static bool is_stdio(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

/* With -o - the graph is all that goes to standard output. */
static bool has_stdout(const settings *s)
{
    return is_stdio(s->output) || (s->dot && !s->output);
}

static mo_status check_options(const settings *s, const char *path,
                               mo_error *err)
{
    const mo_output_file output = { .option = "--output", .path = s->output };
    const mo_output_guard guard = { .outputs = &output, .n = 1 };
    const mo_prepare_options given = { .load.cluster = s->cluster,
                                       .fusion = s->fusion };

    if (s->json && has_stdout(s))
        return mo_fail(err, MO_E_USAGE,
                       "--json and the graph cannot both be standard output; "
                       "give the graph a file with -o FILE");
    if (is_stdio(path) && is_stdio(s->cluster))
        return mo_fail(err, MO_E_USAGE,
                       "graph and cluster cannot both be standard input");
    return mo_output_guard_check_given(&guard, &given, path, err);
}

/* Devices matter for measured times only. */
static mo_status read_cluster(const settings *s, const char *path, work *w,
                              mo_error *err)
{
    char *where = NULL;
    mo_status status;

    if (!s->cluster && w->fine->n_time_columns == 0)
        return MO_OK;
    status = mo_cluster_choose(s->cluster, path, &w->cluster, &where, err);
    if (status == MO_OK && w->fine->n_time_columns > 0)
        mo_driver_log_info(&s->logger, "times of fused ops: %s", where);
    free(where);
    return status;
}

static mo_status coarsen_graph(const settings *s, work *w, mo_error *err)
{
    mo_coarsen_options options = { .clean = w->passes,
                                   .rules = w->rules,
                                   .fused_us = mo_predict_fused_us,
                                   .context = w->cluster };
    double begin = mo_driver_clock_s();
    mo_progress step;
    mo_status status;

    mo_driver_log_step(&s->logger, &step, "coarsening");
    status =
        mo_coarsen(w->fine, &options, &w->coarse, &w->map, &w->report, err);
    mo_progress_end(&step);
    if (status == MO_OK)
        mo_driver_log_info(&s->logger, "coarsened in %.2f s",
                           mo_driver_clock_s() - begin);
    if (status == MO_OK)
        status = mo_summary_make(w->fine, &w->before, err);
    if (status == MO_OK)
        status = mo_summary_make(w->coarse, &w->after, err);
    return status;
}

static mo_status write_graph(const settings *s, const char *path, const work *w,
                             mo_error *err)
{
    const mo_output_file output = { .option = "--output", .path = s->output };
    const mo_output_guard guard = { .outputs = &output, .n = 1 };
    mo_report_graph d = { .file = path,
                          .format = "graphml",
                          .graph = w->coarse };
    mo_out *out = NULL;
    mo_status status =
        mo_output_guard_check_found(&guard, w->fine, w->cluster, path, err);

    if (status == MO_OK)
        status = mo_out_open(s->output, &out, err);
    if (status != MO_OK)
        return status;
    if (s->dot)
        status = mo_report_graph_dot(&d, out, err);
    else
        mo_graphml_write(w->coarse, out);
    if (status == MO_OK)
        return mo_out_commit(out, err);
    mo_out_abandon(out);
    return status;
}

static void print_text(const settings *s, const char *path, const work *w,
                       mo_out *out)
{
    const mo_summary *before = &w->before, *after = &w->after;
    char text[SHOWN_SIZE];
    int n_fused = 0;

    mo_out_printf(out, "%-12s%s\n", "graph",
                  mo_utf8_escape_controls(text, sizeof text, path));
    mo_out_printf(out, "%-12s%d, cleaned %d, fused %d", "ops", before->ops,
                  w->report.clean_ops, after->ops);
    if (before->ops > 0)
        mo_out_printf(out, " (%.1f %%)", 100.0 * after->ops / before->ops);
    mo_out_printf(out, "\n%-12s%d, cleaned %d, fused %d\n", "edges",
                  before->edges, w->report.clean_edges, after->edges);
    mo_out_printf(out, "%-12s%d, now %d; at most %d ops between, now %d\n",
                  "clean cuts", before->clean_cuts, after->clean_cuts,
                  before->largest_segment, after->largest_segment);
    mo_out_text(out, "\nremoved by cleaning\n");
    for (int k = 0; k < MO_CLEAN_PASSES; k++)
        mo_out_printf(out, "%12d  %-10s %s\n", w->report.cleaned.removed[k],
                      mo_clean_passes[k].name, mo_clean_passes[k].help);
    mo_out_printf(out, "\nfused by the rules of %s\n",
                  mo_utf8_escape_controls(text, sizeof text, s->fusion));
    for (int i = 0; i < after->n_types; i++) {
        const mo_type_count *type = &after->types[i];

        if (!strchr(type->type, '+'))
            continue;
        mo_out_printf(out, "%12d  %s\n", type->count,
                      mo_utf8_escape_controls(text, sizeof text, type->type));
        n_fused++;
    }
    if (n_fused == 0)
        mo_out_text(out, "     nothing\n");
}

static mo_status write_report(const settings *s, const char *path,
                              const work *w, mo_error *err)
{
    mo_out *out;
    mo_status status = mo_out_open("-", &out, err);

    if (status != MO_OK)
        return status;
    if (s->json) {
        const mo_summary *before = &w->before, *after = &w->after;
        mo_json_writer j = { .out = out };

        mo_json_begin_object(&j, NULL, MO_JSON_LINES);
        mo_json_put_text(&j, "graph", path);
        mo_json_put_int(&j, "ops", before->ops);
        mo_json_put_int(&j, "clean_ops", w->report.clean_ops);
        mo_json_put_int(&j, "coarse_ops", after->ops);
        mo_json_put_int(&j, "edges", before->edges);
        mo_json_put_int(&j, "clean_edges", w->report.clean_edges);
        mo_json_put_int(&j, "coarse_edges", after->edges);
        mo_json_put_int(&j, "clean_cuts", after->clean_cuts);
        mo_json_put_int(&j, "largest_segment", after->largest_segment);
        mo_json_put_text(&j, "fusion", s->fusion);
        mo_json_begin_object(&j, "cleaned", MO_JSON_INLINE);
        for (int k = 0; k < MO_CLEAN_PASSES; k++)
            mo_json_put_int(&j, mo_clean_passes[k].name,
                            w->report.cleaned.removed[k]);
        mo_json_end(&j);
        mo_json_begin_object(&j, "fused", MO_JSON_LINES);
        for (int i = 0; i < after->n_types; i++)
            if (strchr(after->types[i].type, '+'))
                mo_json_put_int(&j, after->types[i].type,
                                after->types[i].count);
        mo_json_end(&j);
        mo_json_end(&j);
    } else
        print_text(s, path, w, out);
    return mo_out_commit(out, err);
}

static mo_status run_coarsen(void *context, char **operands, size_t n_operands,
                             mo_error *err)
{
    const settings *s = context;
    const char *path = operands[0];
    work w = { 0 };
    mo_status status = check_options(s, path, err);

    (void) n_operands;
    if (status == MO_OK) {
        status = mo_fusion_rules_load(s->fusion, &w.rules, err);
        if (status == MO_OK)
            status = mo_clean_parse(s->clean, &w.passes, err);
        if (status == MO_OK)
            status = mo_driver_load_graph(path, &s->read, &s->logger, &w.fine,
                                          NULL, err);
        if (status == MO_OK)
            status = read_cluster(s, path, &w, err);
    }
    if (status == MO_OK && (s->output || s->dot))
        status = mo_phases_refuse(w.fine, err);
    if (status == MO_OK)
        status = coarsen_graph(s, &w, err);
    if (status == MO_OK) {
        if (s->output || s->dot)
            status = write_graph(s, path, &w, err);
        if (status == MO_OK && !has_stdout(s))
            status = write_report(s, path, &w, err);
    }
    mo_summary_clear(&w.before);
    mo_summary_clear(&w.after);
    mo_coarsen_map_free(w.map);
    mo_graph_free(w.coarse);
    mo_graph_free(w.fine);
    mo_cluster_free(w.cluster);
    mo_fusion_rules_free(w.rules);
    return status;
}

int main(int argc, char **argv)
{
    settings s = { .clean = "all",
                   .fusion = "default",
                   .logger = { .command = "moirai-coarsen" } };
    const mo_option options[] = {
        { 0, "fusion", "SET|FILE", "set of rules, or a file of them",
          MO_OPTION_TEXT, .to = &s.fusion, .suggest = mo_suggest_fusion },
        { 0, "clean", "PASSES",
          "all, none, or some of constants,sources,results,views,parallel",
          MO_OPTION_TEXT, .to = &s.clean },
        { 'c', "cluster", "FILE|NAME",
          "cluster whose measured op times are added up", MO_OPTION_TEXT,
          .to = &s.cluster, .suggest = mo_suggest_cluster },
        MO_DRIVER_READ_OPTIONS(&s.read, ""),
        MO_DRIVER_LENGTH_OPTIONS(&s.read),
        { 'o', "output", "FILE", "write the coarse graph to FILE",
          MO_OPTION_TEXT, .to = &s.output },
        { 0, "dot", NULL, "write the graph as a Graphviz digraph",
          MO_OPTION_FLAG, .to = &s.dot },
        { 0, "json", NULL, "print the report as a JSON object", MO_OPTION_FLAG,
          .to = &s.json },
        MO_DRIVER_LOG_OPTIONS(&s.logger),
        { 0 }
    };
    const mo_command command = {
        .name = "moirai-coarsen",
        .synopsis = "[OPTION]... GRAPH",
        .purpose = "Clean a graph and fuse what a backend runs as one call.",
        .details = "Without -o only the report is printed.  -o - writes the "
                   "graph to standard output.",
        .options = options,
        .min_operands = 1,
        .max_operands = 1,
    };
    int code = mo_command_main(&command, argc, argv, run_coarsen, &s);

    mo_read_options_free(&s.read);
    return code;
}
