/* SPDX-License-Identifier: Apache-2.0 */
/* moirai-info - summary of a graph, an instance, a solution or a bundle. */
#include <config.h>

#include <stdbool.h>

#include "base/option.h"
#include "base/out.h"
#include "cli/info_solution.h"
#include "driver/bundle.h"
#include "driver/log.h"
#include "driver/output_files.h"
#include "driver/prepare.h"
#include "graph/summary.h"
#include "ingest/read.h"
#include "report/graph_info.h"
#include "report/instance_info.h"

typedef struct settings {
    bool json, dot, instance;
    mo_output_file output;
    mo_driver_load_options load;
    mo_option_list shapes;
    mo_driver_log logger;
} settings;

static mo_status read_graph(const settings *s, const char *path,
                            mo_graph **graph, const mo_read_format **format,
                            mo_error *err)
{
    mo_read_options options = { (const char *const *) s->shapes.items,
                                s->shapes.count };
    double begin = mo_driver_clock_s();
    mo_status status = mo_read_graph(path, &options, graph, format, err);

    if (status == MO_OK)
        mo_driver_log_info(&s->logger, "read %d ops and %d edges in %.2f s",
                           (*graph)->n_ops, (*graph)->n_edges,
                           mo_driver_clock_s() - begin);
    return status;
}

/* The instance becomes part of *made. */
static mo_status describe_instance(const settings *s, const char *file,
                                   mo_prepared *made, mo_out *out,
                                   mo_error *err)
{
    mo_driver_loaded *loaded = &made->loaded;
    mo_numeric formats;
    mo_status status = mo_driver_load_formats(&s->load, &formats, err);

    if (status == MO_OK) {
        mo_numeric_apply(&formats, made->fine);
        status = mo_driver_load_instance(&s->load, file, made->fine, &s->logger,
                                         loaded, err);
    }

    if (status == MO_OK) {
        mo_report_instance report = { file, loaded->cluster->file,
                                      loaded->instance };

        status = s->json ? mo_report_instance_json(&report, out, err)
                         : mo_report_instance_text(&report, out, err);
    }
    return status;
}

static mo_status describe_graph(const settings *s, mo_report_graph *d,
                                mo_out *out, mo_error *err)
{
    mo_summary summary = { 0 };
    mo_status status;

    if (s->dot)
        return mo_report_graph_dot(d, out, err);
    if ((status = mo_graph_digest(d->graph, &d->digest, err)) != MO_OK ||
        (status = mo_summary_make(d->graph, &summary, err)) != MO_OK)
        return status;
    d->summary = &summary;
    status = s->json ? mo_report_graph_json(d, out, err)
                     : mo_report_graph_text(d, out, err);
    mo_summary_clear(&summary);
    return status;
}

static mo_status check_options(const settings *s, const char *path,
                               mo_error *err)
{
    const mo_driver_load_options *load = &s->load;
    const mo_prepare_options given = { .load = *load };
    mo_status status;

    if (s->dot && (s->json || s->instance))
        return mo_fail(err, MO_E_USAGE,
                       "--dot goes with neither --json nor "
                       "--instance");
    if (!s->instance && (load->cluster || load->profile || load->cost ||
                         load->precision || load->weights))
        return mo_fail(err, MO_E_USAGE,
                       "--%s sets times of an instance; add --instance",
                       load->cluster     ? "cluster"
                       : load->profile   ? "profile"
                       : load->cost      ? "cost"
                       : load->precision ? "precision"
                                         : "weights");
    status = mo_driver_load_check(load, path, err);
    if (status == MO_OK)
        status =
            mo_prepare_check_outputs_given(&given, path, &s->output, 1, err);
    return status;
}

static mo_status describe_file(const settings *s, const char *path,
                               mo_error *err)
{
    mo_out *out = s->output.out;
    const mo_read_options read = { (const char *const *) s->shapes.items,
                                   s->shapes.count };
    mo_report_graph d = { .file = path };
    const mo_read_format *format;
    mo_prepared made = { 0 };
    mo_bundle *bundle = NULL;
    bool is_solution = false;
    mo_status status = mo_bundle_open(path, &bundle, err);

    if (status == MO_OK && !bundle)
        status = mo_cli_info_sniff_solution(path, &is_solution, err);
    if (status == MO_OK && (bundle || is_solution)) {
        if (s->dot || s->instance)
            status = mo_fail(err, MO_E_USAGE, "--%s is for graphs; %s is a %s",
                             s->dot ? "dot" : "instance", path,
                             bundle ? "bundle" : "solution");
        else
            status = mo_cli_info_solution(path, bundle, &read, s->json,
                                          &s->logger, &s->output, err);
    } else if (status == MO_OK) {
        status = read_graph(s, path, &made.fine, &format, err);
        if (status == MO_OK) {
            d.format = format->name;
            d.graph = made.fine;
            status = s->instance ? describe_instance(s, path, &made, out, err)
                                 : describe_graph(s, &d, out, err);
        }
        if (status == MO_OK)
            status =
                mo_prepare_check_outputs_found(&made, path, &s->output, 1, err);
    }
    if (status != MO_OK)
        mo_bundle_show_error(bundle, err);
    mo_prepared_clear(&made);
    mo_bundle_close(bundle);
    return status;
}

static mo_status run_info(void *context, char **operands, size_t n_operands,
                          mo_error *err)
{
    settings *s = context;
    mo_status status = check_options(s, operands[0], err);

    (void) n_operands;
    if (status == MO_OK)
        status = mo_output_files_open(&s->output, 1, err);
    if (status == MO_OK)
        status = describe_file(s, operands[0], err);
    if (status == MO_OK)
        return mo_output_files_commit(&s->output, 1, err);
    mo_output_files_discard(&s->output, 1);
    return status;
}

int main(int argc, char **argv)
{
    settings s = { .load = { .explain = true },
                   .output = { .option = "--output", .path = "-" },
                   .logger = { .command = "moirai-info" } };
    const mo_option options[] = {
        { 0, "json", NULL, "print the report as a JSON object", MO_OPTION_FLAG,
          .to = &s.json },
        { 0, "dot", NULL, "write a Graphviz digraph, clean cuts filled",
          MO_OPTION_FLAG, .to = &s.dot },
        { 0, "instance", NULL,
          "print the placement problem: times, sizes and transfers",
          MO_OPTION_FLAG, .to = &s.instance },
        MO_DRIVER_LOAD_OPTIONS(&s.load),
        MO_DRIVER_FORMAT_OPTIONS(&s.load),
        { 0, "shape", "NAME=DIMS",
          "size of an input with dynamic dimensions, as in ids=1,128",
          MO_OPTION_LIST, .to = &s.shapes },
        { 'o', "output", "FILE", "write to FILE instead of standard output",
          MO_OPTION_TEXT, .to = &s.output.path },
        MO_DRIVER_LOG_OPTIONS(&s.logger),
        { 0 }
    };
    const mo_command command = {
        .name = "moirai-info",
        .synopsis = "[OPTION]... GRAPH|SOLUTION|BUNDLE",
        .purpose = "Summarize a graph, a solution or a bundle.",
        .details =
            "GRAPH is a GraphML file, an ONNX or an OpenVINO model; - reads "
            "standard input.  Of a solution: its claims, what it is of, "
            "and what of that is here.",
        .options = options,
        .min_operands = 1,
        .max_operands = 1,
    };
    int code = mo_command_main(&command, argc, argv, run_info, &s);

    mo_option_list_free(&s.shapes);
    return code;
}
