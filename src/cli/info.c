/* SPDX-License-Identifier: Apache-2.0 */
/* moirai-info - summary of a graph, an instance, a solution or a bundle. */
#include <config.h>

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/option.h"
#include "base/out.h"
#include "cli/info_solution.h"
#include "driver/bundle.h"
#include "driver/log.h"
#include "driver/output_guard.h"
#include "driver/prepare.h"
#include "driver/suggest.h"
#include "graph/summary.h"
#include "ingest/llm/summary.h"
#include "ingest/read.h"
#include "report/graph_info.h"
#include "report/info.h"

typedef struct settings {
    bool json, dot, instance;
    mo_output_file output;
    mo_prepare_options prepare; /* fusion NULL: not given */
    mo_driver_log logger;
} settings;

static mo_status check_found(const settings *s, const mo_graph *graph,
                             const mo_cluster *cluster, const char *file,
                             mo_error *err)
{
    const mo_output_guard guard = { .outputs = &s->output, .n = 1 };

    return mo_output_guard_check_found(&guard, graph, cluster, file, err);
}

static mo_status describe_instance(const settings *s, const char *file,
                                   mo_error *err)
{
    mo_out *out = s->output.out;
    mo_prepare_options p = s->prepare;
    mo_problem problem = { 0 };
    mo_status status;

    if (!p.fusion)
        p.fusion = "default";
    status = mo_prepare_instance(&p, file, &s->logger, &problem, err);
    if (status == MO_OK) {
        const mo_report_instance report = { file, problem.cluster->file,
                                            problem.fine->n_ops,
                                            problem.instance };

        status = s->json ? mo_report_instance_json(&report, out, err)
                         : mo_report_instance_text(&report, out, err);
    }
    if (status == MO_OK)
        status = check_found(s, problem.fine, problem.cluster, file, err);
    mo_problem_clear(&problem);
    return status;
}

/* Standard input and pipes cannot. */
static bool can_be_read_again(const char *path)
{
    struct stat about;

    return strcmp(path, "-") != 0 && stat(path, &about) == 0 &&
           (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode));
}

/* Lists the inputs of a model that has no graph without the sizes of dynamic
 * ones. Returns false if it is none, or sizes were given. */
static bool describe_inputs(const settings *s, const char *path)
{
    const mo_read_format *format = NULL;
    mo_model_inputs inputs = { 0 };
    bool is_dynamic = false;

    if (s->dot || s->instance || !can_be_read_again(path) ||
        s->prepare.read.shapes.count + s->prepare.read.values.count > 0)
        return false;
    if (mo_read_list_inputs(path, &inputs, &format, NULL) != MO_OK)
        inputs.n = 0;
    for (int i = 0; i < inputs.n; i++)
        is_dynamic |= !mo_shape_is_static(&inputs.items[i].shape);
    if (is_dynamic && s->json)
        mo_report_inputs_json(path, format->name, &inputs, s->output.out);
    else if (is_dynamic)
        mo_report_inputs_text(path, format->name, &inputs, s->output.out);
    mo_model_inputs_free(&inputs);
    return is_dynamic;
}

static mo_status describe_graph(const settings *s, const char *file,
                                mo_error *err)
{
    mo_out *out = s->output.out;
    mo_report_graph d = { .file = file };
    const mo_read_format *format;
    mo_graph *graph = NULL;
    mo_summary summary = { 0 };
    mo_llm_summary decoder = { .layers = 0 };
    bool is_decoder = false;
    mo_status status = mo_driver_load_graph(file, &s->prepare.read, &s->logger,
                                            &graph, &format, err);

    if (status == MO_E_INPUT && describe_inputs(s, file))
        return MO_OK;
    if (status != MO_OK)
        return status;
    d.format = format->name;
    d.graph = graph;
    if (!s->dot && can_be_read_again(file))
        status = mo_read_summarize(file, &s->prepare.read, &is_decoder,
                                   &decoder, err);
    d.decoder = is_decoder ? &decoder : NULL;
    if (status != MO_OK) {
        mo_graph_free(graph);
        return status;
    }
    if (s->dot) {
        status = mo_report_graph_dot(&d, out, err);
    } else {
        status = mo_graph_digest(graph, &d.digest, err);
        if (status == MO_OK)
            status = mo_summary_make(graph, &summary, err);
        d.summary = &summary;
        if (status == MO_OK)
            status = s->json ? mo_report_graph_json(&d, out, err)
                             : mo_report_graph_text(&d, out, err);
    }
    if (status == MO_OK)
        status = check_found(s, graph, NULL, file, err);
    mo_summary_clear(&summary);
    mo_graph_free(graph);
    return status;
}

static mo_status check_options(const settings *s, const char *path,
                               mo_error *err)
{
    const mo_driver_load_options *load = &s->prepare.load;
    mo_status status;

    if (s->dot && (s->json || s->instance))
        return mo_fail(err, MO_E_USAGE,
                       "--dot goes with neither --json nor "
                       "--instance");
    if (!s->instance && (load->cluster || load->profile || load->cost ||
                         load->precision || load->weights || s->prepare.fusion))
        return mo_fail(err, MO_E_USAGE,
                       "--%s sets times of an instance; add --instance",
                       load->cluster     ? "cluster"
                       : load->profile   ? "profile"
                       : load->cost      ? "cost"
                       : load->precision ? "precision"
                       : load->weights   ? "weights"
                                         : "fusion");
    status = mo_driver_load_check(load, path, err);
    if (status == MO_OK)
        status = mo_output_guard_check_given(
            &(mo_output_guard){ .outputs = &s->output, .n = 1 }, &s->prepare,
            path, err);
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
    if (status == MO_OK) {
        const char *path = operands[0];
        mo_bundle *bundle = NULL;
        bool is_solution = false;

        status = mo_bundle_open(path, &bundle, err);
        if (status == MO_OK && !bundle)
            status = mo_cli_info_sniff_solution(path, &is_solution, err);
        if (status == MO_OK && (bundle || is_solution)) {
            if (s->dot || s->instance)
                status =
                    mo_fail(err, MO_E_USAGE, "--%s is for graphs; %s is a %s",
                            s->dot ? "dot" : "instance", path,
                            bundle ? "bundle" : "solution");
            else
                status =
                    mo_cli_info_solution(path, bundle, &s->prepare.read,
                                         s->json, &s->logger, &s->output, err);
        } else if (status == MO_OK) {
            status = s->instance ? describe_instance(s, path, err)
                                 : describe_graph(s, path, err);
        }
        if (status != MO_OK)
            mo_bundle_show_error(bundle, err);
        mo_bundle_close(bundle);
    }
    if (status == MO_OK)
        return mo_output_files_commit(&s->output, 1, err);
    mo_output_files_discard(&s->output, 1);
    return status;
}

int main(int argc, char **argv)
{
    settings s = { .prepare = { .load = { .explain = true } },
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
        MO_PREPARE_INSTANCE_OPTIONS(&s.prepare, MO_PREPARE_FUSION_HELP),
        MO_DRIVER_LENGTH_OPTIONS(&s.prepare.read),
        MO_DRIVER_FORMAT_OPTIONS(&s.prepare.load),
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
            "GRAPH is a GraphML file, an ONNX, OpenVINO or GGUF model; - reads "
            "standard input.  Of a solution: its claims, what it is of, "
            "and what of that is here.",
        .options = options,
        .min_operands = 1,
        .max_operands = 1,
    };
    int code = mo_command_main(&command, argc, argv, run_info, &s);

    mo_read_options_free(&s.prepare.read);
    return code;
}
