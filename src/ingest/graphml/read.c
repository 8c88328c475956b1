/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader of GraphML. Elements without a transition (drawings, ports,
 * descriptions, other namespaces) are skipped with their content, but for the
 * labels that yEd puts there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "graph/build.h"
#include "ingest/graphml.h"
#include "ingest/graphml/element.h"
#include "ingest/operator.h"

/* Among the names of a node's label, yEd's has the lowest priority. */
enum { YED_RANK = 200 };

/* libxml2 keeps each namespace once, so comparing pointers mostly suffices. */
static bool is_graphml(const mo_graphml_reader *r,
                       const mo_xml_element *element)
{
    if (element->space == r->space || r->depth == 0)
        return true;
    return element->space && r->space && strcmp(element->space, r->space) == 0;
}

/* yEd keeps a node's label inside its drawing: <data><y:ShapeNode> ...
 * <y:NodeLabel>conv1</y:NodeLabel> ... */
static bool is_yed_label(const mo_graphml_reader *r,
                         const mo_xml_element *element)
{
    return r->open[r->depth].place == MO_GRAPHML_IN_NODE_DATA &&
           r->label_depth == 0 && strcmp(element->name, "NodeLabel") == 0;
}

static mo_status skip_element(mo_graphml_reader *r,
                              const mo_xml_element *element)
{
    r->skipped++;
    if (is_yed_label(r, element)) {
        r->label_depth = r->skipped;
        mo_xml_want_text(r->xml);
    }
    return MO_OK;
}

static mo_status end_skipped(mo_graphml_reader *r, const char *text,
                             size_t length, mo_error *err)
{
    mo_graphml_meaning meaning = { .name = "NodeLabel",
                                   .attribute = MO_GRAPHML_LABEL,
                                   .rank = YED_RANK };
    bool is_label = r->skipped == r->label_depth;

    r->skipped--;
    if (!is_label)
        return MO_OK;
    r->label_depth = 0;
    if (r->item.ranks[MO_GRAPHML_LABEL] <= YED_RANK)
        return MO_OK;
    return mo_graphml_item_set(&r->item, &meaning, text, length, r->data_line,
                               err);
}

static mo_status on_start(void *state, const mo_xml_element *element,
                          mo_error *err)
{
    mo_graphml_reader *r = state;
    const mo_graphml_transition *rule = NULL;
    mo_status status;

    if (r->skipped == 0 && is_graphml(r, element))
        rule = mo_graphml_find_transition(r, element->name);
    if (!rule && r->depth == 0)
        return mo_fail_at(err, MO_E_INPUT, NULL, element->line,
                          "the root element is <%.60s>, not <graphml>; give a "
                          "GraphML file",
                          element->name);
    if (!rule)
        return skip_element(r, element);
    r->open[r->depth + 1] = (mo_graphml_level){ rule, rule->child, false };
    status = rule->start(r, element, err);
    r->depth++;
    return status;
}

static mo_status on_end(void *state, const char *name, const char *text,
                        size_t length, int line, mo_error *err)
{
    mo_graphml_reader *r = state;
    const mo_graphml_transition *rule = r->open[r->depth].rule;
    mo_status status = MO_OK;

    (void) name, (void) line;
    if (r->skipped > 0)
        return end_skipped(r, text, length, err);
    if (rule->end)
        status = rule->end(r, text, length, err);
    r->depth--;
    return status;
}

static mo_status finish_graph(mo_graphml_reader *r, mo_graph **graph,
                              mo_error *err)
{
    mo_status status;

    if (!r->has_graph)
        return mo_fail(err, MO_E_INPUT,
                       "there is no <graph> in it; write one, with a <node> "
                       "for each op");
    status = mo_graphml_check_groups(r, err);
    if (status == MO_OK)
        status = mo_builder_finish(r->builder, graph, err);
    if (status == MO_OK)
        mo_operator_resolve(*graph);
    return status;
}

static mo_status reader_init(mo_graphml_reader *r, const char *file,
                             mo_error *err)
{
    mo_status status = mo_graphml_keys_init(&r->keys, err);

    if (status == MO_OK)
        status = mo_builder_new(file, &r->builder, err);
    if (status != MO_OK)
        return status;
    mo_graphml_item_init(&r->item, r->builder);
    r->groups = mo_intern_new(r->keys.arena);
    return r->groups ? MO_OK : mo_fail_memory(err);
}

static void reader_free(mo_graphml_reader *r)
{
    if (!r)
        return;
    free(r->group_lines);
    mo_intern_free(r->groups);
    mo_graphml_item_clear(&r->item);
    mo_graphml_keys_clear(&r->keys);
    mo_builder_free(r->builder);
    free(r);
}

mo_status mo_graphml_read(mo_input *input, const mo_read_options *options,
                          mo_graph **graph, mo_error *err)
{
    static const mo_xml_handler handler = { on_start, on_end };
    mo_graphml_reader *r;
    mo_status status;

    if (options && options->n_shapes > 0)
        return mo_fail(err, MO_E_USAGE,
                       "--shape goes with ONNX and OpenVINO models only; "
                       "leave it out");
    r = calloc(1, sizeof *r);
    if (!r)
        return mo_fail_memory(err);
    status = reader_init(r, mo_input_name(input), err);
    if (status == MO_OK)
        status = mo_xml_parse(input, &handler, r, &r->xml, err);
    if (status == MO_OK) {
        status = finish_graph(r, graph, err);
        if (status != MO_OK)
            mo_error_set_location(err, mo_input_name(input), 0);
    }
    reader_free(r);
    return status;
}

mo_status mo_graphml_read_memory(const char *file, const char *data,
                                 size_t size, const mo_read_options *options,
                                 mo_graph **graph, mo_error *err)
{
    mo_input *input = NULL;
    mo_status status = mo_input_memory(file, data, size, &input, err);

    if (status == MO_OK)
        status = mo_graphml_read(input, options, graph, err);
    mo_input_close(input);
    return status;
}
