/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/read.h"

#include <stdio.h>
#include <string.h>

#include "ingest/gguf.h"
#include "ingest/graphml.h"
#include "ingest/hf.h"
#include "ingest/onnx.h"
#include "ingest/openvino.h"
#include "ingest/state.h"
#include "ingest/work.h"
#include "ingest/workload.h"
#include "ingest/xml.h"

void mo_read_options_free(mo_read_options *options)
{
    mo_option_list_free(&options->shapes);
    mo_option_list_free(&options->values);
}

const mo_read_format mo_read_formats[] = {
    { .name = "graphml",
      .root = "graphml",
      .help = "GraphML of any program",
      .read = mo_graphml_read },
    { .name = "openvino",
      .root = "net",
      .help = "OpenVINO IR, version 10 or 11",
      .read = mo_openvino_read,
      .list_inputs = mo_openvino_list_inputs },
    { .name = "onnx",
      .sniff = mo_onnx_sniff,
      .help = "ONNX model",
      .read = mo_onnx_read,
      .list_inputs = mo_onnx_list_inputs },
    { .name = "gguf",
      .sniff = mo_gguf_sniff,
      .help = "GGUF model",
      .read = mo_gguf_read,
      .summarize = mo_gguf_summarize,
      .read_phases = mo_gguf_read_phases },
    { .name = "transformers",
      .sniff = mo_hf_sniff,
      .help = "config.json of transformers",
      .read = mo_hf_read,
      .summarize = mo_hf_summarize },
    { .name = "workload",
      .root = "workload",
      .help = "workload of several graphs",
      .read = mo_workload_read },
    { .name = NULL },
};

/* XML documents that are often given in place of a graph. */
static const struct {
    const char *root, *what;
} strangers[] = {
    { "cluster", "a cluster; give it with -c, and the graph here" },
    { "system", "a topology of NCCL; give it with -c, and the graph here" },
    { "profile", "a profile; give it with -p, and the graph here" },
    { "gexf", "GEXF; save the graph as GraphML" },
    { "gxl", "GXL; save the graph as GraphML" },
    { "mxfile", "a drawing; save the graph as GraphML" },
    { "svg", "a drawing; save the graph as GraphML" },
    { "html", "a web page; perhaps the download went wrong" },
};

/* The first element of a document, found in its first block. */
typedef struct root {
    char name[64]; /* "" when there is none */
    int line;
} root;

/* Stops the parser: the first element is enough. */
static mo_status take_root(void *state, const mo_xml_element *element,
                           mo_error *err)
{
    root *found = state;

    (void) err;
    snprintf(found->name, sizeof found->name, "%s", element->name);
    found->line = element->line;
    return MO_E_SUPPORT;
}

static mo_status find_root(mo_input *input, root *found, mo_error *err)
{
    static const mo_xml_handler handler = { take_root, NULL };
    const char *data;
    size_t size;
    mo_xml *xml;
    mo_status status = mo_input_peek(input, &data, &size, err);

    if (status != MO_OK)
        return status;
    status = mo_xml_parse_memory(mo_input_name(input), data, size, &handler,
                                 found, &xml, err);
    if (found->name[0])
        return MO_OK;
    if (size < MO_INPUT_BLOCK)
        return status;

    /* The rest of the file decides whether it is broken or only begins late. */
    status = mo_xml_parse(input, &handler, found, &xml, err);
    if (!found->name[0])
        return status;
    return mo_fail_at(err, MO_E_LIMIT, mo_input_name(input), found->line,
                      "more than %d bytes stand before the root element; "
                      "remove them",
                      MO_INPUT_BLOCK);
}

static mo_status refuse_root(const mo_input *input, const root *found,
                             mo_error *err)
{
    char known[512] = "not a graph; give one of:";
    const char *what = known;

    for (const mo_read_format *f = mo_read_formats; f->name; f++) {
        size_t used = strlen(known);

        snprintf(known + used, sizeof known - used,
                 f->root ? "%s %s (<%s>)" : "%s %s",
                 f == mo_read_formats ? "" : ",", f->help, f->root);
    }
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        if (strcmp(strangers[i].root, found->name) == 0)
            what = strangers[i].what;
    return mo_fail_at(err, MO_E_SUPPORT, mo_input_name(input), found->line,
                      "the root element is <%s>: %s", found->name, what);
}

static const mo_read_format *find_by_root(const root *found)
{
    const mo_read_format *f = mo_read_formats;

    while (f->name && (!f->root || strcmp(f->root, found->name) != 0))
        f++;
    return f->name ? f : NULL;
}

/* Sets *format by the first bytes; NULL: it may be XML. */
static mo_status find_binary(mo_input *input, const mo_read_format **format,
                             mo_error *err)
{
    const mo_read_format *f = mo_read_formats;
    const char *data;
    size_t size;
    mo_status status = mo_input_sample(input, &data, &size, err);

    *format = NULL;
    if (status != MO_OK)
        return status;
    while (f->name && !(f->sniff && f->sniff(data, size)))
        f++;
    if (f->name)
        *format = f;
    return MO_OK;
}

mo_status mo_read_find_format(mo_input *input, const mo_read_format **format,
                              mo_error *err)
{
    root found = { "", 0 };
    mo_status status = find_binary(input, format, err);

    if (status != MO_OK || *format)
        return status;
    status = find_root(input, &found, err);
    if (status == MO_OK)
        *format = find_by_root(&found);
    return status == MO_E_MEMORY || status == MO_E_IO ? status : MO_OK;
}

mo_status mo_read_root(mo_input *input, char *name, size_t size, mo_error *err)
{
    root found = { "", 0 };
    mo_status status = find_root(input, &found, err);

    if (status == MO_OK)
        snprintf(name, size, "%s", found.name);
    return status;
}

/* Sets *format; binary formats are accepted from there on. */
static mo_status choose_format(mo_input *input, const mo_read_format **format,
                               mo_error *err)
{
    root found = { "", 0 };
    mo_status status = find_binary(input, format, err);

    if (status == MO_OK && *format)
        mo_input_accept_binary(input);
    if (status != MO_OK || *format)
        return status;
    status = find_root(input, &found, err);
    if (status != MO_OK)
        return status;
    *format = find_by_root(&found);
    return *format ? MO_OK : refuse_root(input, &found, err);
}

/* States are named when the graph is there; the phases of a workload name their
 * own. */
static mo_status read_format(mo_input *input, const mo_read_format *format,
                             const mo_read_options *options, mo_graph **graph,
                             mo_error *err)
{
    bool has_states = false;
    mo_read_options others;
    mo_status status;

    for (size_t i = 0; options && i < options->values.count; i++)
        has_states = has_states || mo_state_is_item(options->values.items[i]);
    if (!has_states || format->read == mo_workload_read)
        return format->read(input, options, graph, err);
    status = mo_state_leave_out(options, &others, err);
    if (status == MO_OK)
        status = format->read(input, &others, graph, err);
    mo_option_list_free(&others.values);
    return status;
}

mo_status mo_read_input(mo_input *input, const mo_read_options *options,
                        mo_graph **graph, const mo_read_format **format,
                        mo_error *err)
{
    const mo_read_format *f = NULL;
    mo_graph *g = NULL;
    const char *const *files;
    int n_files;
    mo_status status = choose_format(input, &f, err);

    if (status == MO_OK)
        status = f->read != mo_workload_read && mo_workload_has_shapes(options)
                     ? mo_workload_read_shapes(input, options, &g, err)
                     : read_format(input, f, options, &g, err);
    files = mo_input_files(input, &n_files);
    if (status == MO_OK && !g->phases)
        status = mo_work_fill(g, err);
    if (status == MO_OK && !g->phases && options)
        status = mo_state_name(&options->values, g, err);
    if (status == MO_OK && !g->phases) {
        status = mo_state_apply(g, err);
        if (status != MO_OK)
            mo_error_set_location(err, mo_input_name(input), 0);
    }
    if (status == MO_OK)
        status = mo_graph_set_files(g, files, n_files, err);
    if (status != MO_OK) {
        mo_graph_free(g);
        return status;
    }
    *graph = g;
    if (format)
        *format = f;
    return MO_OK;
}

mo_status mo_read_graph(const char *path, const mo_read_options *options,
                        mo_graph **graph, const mo_read_format **format,
                        mo_error *err)
{
    mo_input *input = NULL;
    mo_status status = mo_input_open(path, &input, err);

    if (status == MO_OK)
        status = mo_read_input(input, options, graph, format, err);
    mo_input_close(input);
    return status;
}

mo_status mo_read_memory(const char *file, const char *data, size_t size,
                         const mo_read_options *options, mo_graph **graph,
                         const mo_read_format **format, mo_error *err)
{
    mo_input *input = NULL;
    mo_status status = mo_input_memory(file, data, size, &input, err);

    if (status == MO_OK)
        status = mo_read_input(input, options, graph, format, err);
    mo_input_close(input);
    return status;
}

mo_status mo_read_list_inputs(const char *path, mo_model_inputs *inputs,
                              const mo_read_format **format, mo_error *err)
{
    const mo_read_format *f = NULL;
    mo_input *input = NULL;
    mo_status status;

    *inputs = (mo_model_inputs){ .arena = mo_arena_new() };
    status =
        inputs->arena ? mo_input_open(path, &input, err) : mo_fail_memory(err);
    if (status == MO_OK)
        status = choose_format(input, &f, err);
    if (status == MO_OK && f->list_inputs)
        status = f->list_inputs(input, inputs, err);
    if (status == MO_OK && format)
        *format = f;
    mo_input_close(input);
    return status;
}

mo_status mo_read_summarize(const char *path, const mo_read_options *options,
                            bool *found, struct mo_llm_summary *summary,
                            mo_error *err)
{
    const mo_read_format *f = NULL;
    mo_input *input = NULL;
    mo_status status = mo_input_open(path, &input, err);

    *found = false;
    if (status == MO_OK)
        status = choose_format(input, &f, err);
    if (status == MO_OK && f->summarize) {
        *found = true;
        status = f->summarize(input, options, summary, err);
    }
    mo_input_close(input);
    return status;
}

void mo_model_inputs_free(mo_model_inputs *inputs)
{
    mo_arena_free(inputs->arena);
    *inputs = (mo_model_inputs){ 0 };
}
