/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of clusters in any known format, selected by the root element. */
#include "cost/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "cost/cluster/cluster_builder.h"
#include "cost/cluster/cluster_format.h"
#include "ingest/input.h"
#include "ingest/xml.h"

static const mo_cluster_format *const formats[] = {
    &mo_cluster_format_xml,
    &mo_cluster_format_nccl,
};

typedef struct reader {
    mo_cluster_builder *builder;
    const mo_cluster_format *format; /* NULL before the root element */
    void *state;                     /* owned by the format */
} reader;

static mo_status begin(reader *r, const mo_xml_element *root, mo_error *err)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i]->root, root->name) == 0)
            r->format = formats[i];
    if (!r->format)
        return mo_fail_at(err, MO_E_INPUT, NULL, root->line,
                          "is no cluster: it begins with <%.80s>; give a file "
                          "of <cluster> or an NCCL topology dump",
                          root->name);
    return r->format->begin(root, r->builder, &r->state, err);
}

static mo_status on_start(void *state, const mo_xml_element *element,
                          mo_error *err)
{
    reader *r = state;

    if (element->depth == 0)
        return begin(r, element, err);
    return r->format->start(r->state, element, err);
}

static mo_status on_end(void *state, const char *name, const char *text,
                        size_t length, int line, mo_error *err)
{
    reader *r = state;

    (void) name, (void) text, (void) length, (void) line, (void) err;
    if (r->format->end)
        r->format->end(r->state);
    return MO_OK;
}

static mo_status start_models(void *state, const mo_xml_element *element,
                              mo_error *err)
{
    reader *r = state;

    if (element->depth > 0)
        return r->format->start(r->state, element, err);
    if (strcmp(element->name, mo_cluster_format_models.root) != 0)
        return mo_fail_at(err, MO_E_INPUT, NULL, element->line,
                          "is no file of device models: it begins with "
                          "<%.80s>, not <models>; mend it, or unset "
                          "MOIRAI_DEVICES",
                          element->name);
    r->format = &mo_cluster_format_models;
    return r->format->begin(element, r->builder, &r->state, err);
}

/* Reads the models of the file that MOIRAI_DEVICES names, if any. */
static mo_status read_own_models(mo_cluster_builder *builder, mo_error *err)
{
    static const mo_xml_handler handler = { start_models, on_end };
    const char *path = getenv("MOIRAI_DEVICES");
    reader r = { builder, NULL, NULL };
    mo_input *input;
    mo_xml *xml;
    mo_status status;

    if (!path || !*path)
        return MO_OK;
    status = mo_input_open(path, &input, err);
    if (status != MO_OK)
        return status;
    status = mo_xml_parse(input, &handler, &r, &xml, err);
    if (status != MO_OK)
        mo_error_set_location(err, path, 0);
    if (r.format)
        r.format->free(r.state);
    mo_input_close(input);
    return status;
}

/* Closes input in any case. */
static mo_status read_input(mo_input *input, mo_cluster **cluster,
                            mo_error *err)
{
    reader r = { NULL, NULL, NULL };
    mo_status status = mo_cluster_builder_new(&r.builder, err);

    if (status == MO_OK)
        status = read_own_models(r.builder, err);
    if (status == MO_OK) {
        static const mo_xml_handler handler = { on_start, on_end };
        mo_xml *xml;

        status = mo_xml_parse(input, &handler, &r, &xml, err);
        if (status == MO_OK && r.format->finish)
            status = r.format->finish(r.state, err);
        if (status == MO_OK)
            status = mo_cluster_builder_finish(r.builder, mo_input_name(input),
                                               cluster, err);
    }
    if (status != MO_OK)
        mo_error_set_location(err, mo_input_name(input), 0);
    if (r.format)
        r.format->free(r.state);
    mo_cluster_builder_free(r.builder);
    mo_input_close(input);
    return status;
}

mo_status mo_cluster_read(const char *path, mo_cluster **cluster, mo_error *err)
{
    mo_input *input;
    mo_status status = mo_input_open(path, &input, err);

    return status == MO_OK ? read_input(input, cluster, err) : status;
}

mo_status mo_cluster_read_memory(const char *file, const char *data,
                                 size_t size, mo_cluster **cluster,
                                 mo_error *err)
{
    mo_input *input;
    mo_status status = mo_input_memory(file, data, size, &input, err);

    return status == MO_OK ? read_input(input, cluster, err) : status;
}
