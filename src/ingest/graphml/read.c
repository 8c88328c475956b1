/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader of GraphML. Elements without a transition (drawings, ports,
 * descriptions, other namespaces) are skipped with their content, but for the
 * labels that yEd puts there.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/intern.h"
#include "graph/build.h"
#include "ingest/graphml.h"
#include "ingest/graphml/item.h"
#include "ingest/graphml/key.h"
#include "ingest/graphml/schema.h"
#include "ingest/operator.h"
#include "ingest/xml.h"

/*
 * The elements that are read; all others are skipped:
 *
 *     graphml ─┬─ key ── default
 *              └─ graph ─┬─ node ─┬─ data
 *                        │        └─ graph ...    then the node is a group
 *                        └─ edge ── data
 */

typedef enum graphml_state {
    AT_TOP,
    IN_GRAPHML,
    IN_KEY,
    IN_DEFAULT,
    IN_GRAPH,
    IN_NODE,
    IN_NODE_DATA,
    IN_GROUP,
    IN_EDGE,
    IN_EDGE_DATA
} graphml_state;

typedef struct reader reader;

/* An element that is allowed in a place, and the actions at its start and
 * end. */
typedef struct transition {
    graphml_state parent;
    const char *name;
    graphml_state child;
    mo_status (*start)(reader *r, const mo_xml_element *element, mo_error *err);
    mo_status (*end)(reader *r, const char *text, size_t length,
                     mo_error *err); /* or NULL */
} transition;

/* An element that is open. */
typedef struct level {
    const transition *rule;
    graphml_state place;
    bool undirected; /* of a graph: how its edges are by default */
} level;

struct reader {
    mo_xml *xml;
    mo_builder *builder;
    mo_graphml_keys keys;
    mo_graphml_item item;
    mo_intern *groups; /* names of nodes that are groups */
    int *group_lines;
    size_t n_groups, groups_room;

    level open[MO_XML_MAX_DEPTH + 1];
    int depth;       /* open[depth] is the innermost */
    int skipped;     /* depth inside a skipped element; 0: none */
    int label_depth; /* where in there a label began; 0: nowhere */

    const char *space; /* the namespace of the root, which is ours */
    bool has_graph;
    mo_graphml_key *declared; /* the current <key>, and the roles it is for */
    bool declared_for[MO_GRAPHML_ROLES];
    const mo_graphml_meaning *meaning; /* of the current <data>, or NULL */
    int data_line;
};

#define SHOWN(a) (int) ((a)->length < 60 ? (a)->length : 60), (a)->value

static bool is_text(const mo_xml_attribute *a, const char *text)
{
    return a && a->length == strlen(text) &&
           memcmp(a->value, text, a->length) == 0;
}

static mo_status start_graphml(reader *r, const mo_xml_element *element,
                               mo_error *err)
{
    (void) err;
    r->space = element->space;
    return MO_OK;
}

static mo_status start_key(reader *r, const mo_xml_element *element,
                           mo_error *err)
{
    if (r->has_graph)
        return mo_fail_at(err, MO_E_INPUT, NULL, element->line,
                          "a <key> stands behind the <graph>; declare all keys "
                          "before it");
    return mo_graphml_key_declare(&r->keys, element, r->builder, &r->declared,
                                  r->declared_for, err);
}

static mo_status start_default(reader *r, const mo_xml_element *element,
                               mo_error *err)
{
    (void) element, (void) err;
    mo_xml_want_text(r->xml);
    return MO_OK;
}

static mo_status end_default(reader *r, const char *text, size_t length,
                             mo_error *err)
{
    mo_status status = MO_OK;

    for (int role = 0; role < MO_GRAPHML_ROLES && status == MO_OK; role++) {
        const mo_graphml_meaning *meaning = &r->declared->meanings[role];

        if (r->declared_for[role] && meaning->attribute >= 0)
            status = mo_graphml_item_default(&r->item, role, meaning, text,
                                             length, err);
    }
    return status;
}

static mo_status start_graph(reader *r, const mo_xml_element *element,
                             mo_error *err)
{
    const mo_xml_attribute *id = mo_xml_find(element, "id");
    const char *name = NULL;
    mo_status status = MO_OK;

    if (r->has_graph)
        return mo_fail_at(err, MO_E_INPUT, NULL, element->line,
                          "a second <graph>; write each graph to a file of its "
                          "own");
    r->has_graph = true;
    if (id && id->length > 0)
        status = mo_builder_text(r->builder, id->value, id->length, &name, err);
    mo_builder_name(r->builder, name);
    r->open[r->depth + 1].undirected =
        is_text(mo_xml_find(element, "edgedefault"), "undirected");
    return status;
}

static mo_status start_node(reader *r, const mo_xml_element *element,
                            mo_error *err)
{
    const mo_xml_attribute *id = mo_xml_find(element, "id");

    if (!id || id->length == 0)
        return mo_fail_at(err, MO_E_INPUT, NULL, element->line,
                          "a <node> has no id; give it one that no other node "
                          "has");
    mo_graphml_item_begin(&r->item, MO_GRAPHML_NODE, element->line);
    return mo_graphml_item_name(&r->item, 0, id->value, id->length, err);
}

static mo_status end_node(reader *r, const char *text, size_t length,
                          mo_error *err)
{
    mo_graphml_item *item = &r->item;
    mo_status status;
    mo_op *op;
    int slot;

    (void) text, (void) length;
    if (r->open[r->depth].place == IN_GROUP)
        return MO_OK;
    status = mo_builder_slot(r->builder, item->names[0].text,
                             item->names[0].length, item->line, &slot, err);
    if (status == MO_OK)
        status = mo_builder_define(r->builder, slot, item->line, &op, err);
    if (status != MO_OK)
        return status;
    item->node.op.name = op->name;
    item->node.op.line = op->line;
    *op = item->node.op;
    if (item->node.constant)
        mo_builder_mark_constant(r->builder, slot);
    for (size_t i = 0; i < item->n_measures && status == MO_OK; i++)
        status = mo_builder_time(r->builder, slot, item->measures[i].column,
                                 item->measures[i].us, err);
    return status;
}

static mo_status refuse_second(const char *name, int line, int first,
                               mo_error *err)
{
    return mo_fail_at(err, MO_E_INPUT, NULL, line,
                      "node '%.60s' is defined twice, first on line %d; give "
                      "one of them another id",
                      name, first);
}

/* Records that the current node is a group. */
static mo_status note_group(reader *r, mo_error *err)
{
    const mo_graphml_name *name = &r->item.names[0];
    int number;
    mo_status status =
        mo_intern_put(r->groups, name->text, name->length, &number, err);

    if (status != MO_OK)
        return status;
    if ((size_t) number < r->n_groups)
        return refuse_second(name->text, r->item.line, r->group_lines[number],
                             err);
    status = MO_ARRAY_GROW(r->group_lines, r->n_groups, r->groups_room, err);
    if (status == MO_OK)
        r->group_lines[r->n_groups++] = r->item.line;
    return status;
}

/* A node with a graph in it is a group of ops, not an op. */
static mo_status start_group(reader *r, const mo_xml_element *element,
                             mo_error *err)
{
    mo_status status = MO_OK;

    if (r->open[r->depth].place == IN_NODE)
        status = note_group(r, err);
    r->open[r->depth].place = IN_GROUP;
    r->open[r->depth + 1].undirected =
        is_text(mo_xml_find(element, "edgedefault"), "undirected");
    return status;
}

static mo_status refuse_edge_to_group(const char *name, int line, mo_error *err)
{
    return mo_fail_at(err, MO_E_INPUT, NULL, line,
                      "node '%.60s' is a group (there is a <graph> in it), but "
                      "an edge ends at it; draw the edge to one of the ops in "
                      "it",
                      name);
}

static mo_status read_end(reader *r, const mo_xml_element *element, int which,
                          int *slot, mo_error *err)
{
    static const char *const names[] = { "source", "target" };
    const mo_xml_attribute *end = mo_xml_find(element, names[which]);
    mo_status status;
    int group;

    if (!end || end->length == 0)
        return mo_fail_at(err, MO_E_INPUT, NULL, element->line,
                          "an <edge> has no %s; give it the id of a node",
                          names[which]);
    group = mo_intern_find(r->groups, end->value, end->length);
    if (group >= 0)
        return refuse_edge_to_group(mo_intern_text(r->groups, group),
                                    element->line, err);
    status =
        mo_graphml_item_name(&r->item, which, end->value, end->length, err);
    if (status != MO_OK)
        return status;
    return mo_builder_slot(r->builder, end->value, end->length, element->line,
                           slot, err);
}

/* sourceport and targetport are aliases of src_port and dst_port. */
static mo_status read_port(reader *r, const mo_xml_element *element,
                           const char *name, mo_error *err)
{
    const mo_xml_attribute *port = mo_xml_find(element, name);
    mo_graphml_meaning meaning = { .name = name };

    if (!port)
        return MO_OK;
    meaning.attribute = mo_graphml_find(MO_GRAPHML_EDGE, name, &meaning.rank);
    return mo_graphml_item_set(&r->item, &meaning, port->value, port->length,
                               element->line, err);
}

static bool is_undirected(const reader *r, const mo_xml_element *element)
{
    const mo_xml_attribute *directed = mo_xml_find(element, "directed");

    if (directed && directed->length > 0)
        return is_text(directed, "false") || is_text(directed, "0");
    return r->open[r->depth].undirected;
}

static mo_status start_edge(reader *r, const mo_xml_element *element,
                            mo_error *err)
{
    mo_status status;

    mo_graphml_item_begin(&r->item, MO_GRAPHML_EDGE, element->line);
    status = read_end(r, element, 0, &r->item.edge.from, err);
    if (status == MO_OK)
        status = read_end(r, element, 1, &r->item.edge.to, err);
    if (status == MO_OK && is_undirected(r, element))
        status = mo_fail_at(err, MO_E_INPUT, NULL, element->line,
                            "edge '%.60s' -> '%.60s' is undirected; write a "
                            "directed graph (edgedefault=\"directed\")",
                            r->item.names[0].text, r->item.names[1].text);
    if (status == MO_OK)
        status = read_port(r, element, "sourceport", err);
    if (status == MO_OK)
        status = read_port(r, element, "targetport", err);
    return status;
}

static mo_status end_edge(reader *r, const char *text, size_t length,
                          mo_error *err)
{
    const mo_graphml_item *item = &r->item;
    mo_status status;
    int number;

    (void) text, (void) length;
    status = mo_builder_add_edge(r->builder, &item->edge, &number, err);
    for (size_t i = 0; i < item->n_measures && status == MO_OK; i++)
        status = mo_builder_comm(r->builder, number, item->measures[i].column,
                                 item->measures[i].us, err);
    return status;
}

static mo_status refuse_element(reader *r, const mo_xml_element *element,
                                mo_error *err)
{
    (void) r;
    return mo_fail_at(err, MO_E_SUPPORT, NULL, element->line,
                      "a <%s> here is not supported; write edges between two "
                      "nodes only",
                      element->name);
}

/* A key that has a meaning here, but was declared for the other role. */
static mo_status check_undeclared(const reader *r, const mo_graphml_key *key,
                                  int line, mo_error *err)
{
    mo_graphml_role role = r->item.role;
    const char *name = key->meanings[!role].name;
    int rank;

    if (!name || mo_graphml_find(role, name, &rank) < 0)
        return MO_OK;
    return mo_fail_at(err, MO_E_INPUT, NULL, line,
                      "key '%.60s' (%.60s) is declared for %s only, but %s has "
                      "it; declare it for=\"all\"",
                      key->id, name,
                      role == MO_GRAPHML_NODE ? "edges" : "nodes",
                      role == MO_GRAPHML_NODE ? "a node" : "an edge");
}

static mo_status start_data(reader *r, const mo_xml_element *element,
                            mo_error *err)
{
    const mo_xml_attribute *id = mo_xml_find(element, "key");
    const mo_graphml_key *key;

    r->meaning = NULL;
    r->data_line = element->line;
    if (!id)
        return mo_fail_at(err, MO_E_INPUT, NULL, element->line,
                          "a <data> names no key; give it the id of one");
    key = mo_graphml_key_find(&r->keys, id->value, id->length);
    if (!key)
        return mo_fail_at(err, MO_E_INPUT, NULL, element->line,
                          "no <key> has the id '%.*s'; declare it before the "
                          "<graph>",
                          SHOWN(id));
    if (key->meanings[r->item.role].line == 0)
        return check_undeclared(r, key, element->line, err);
    if (key->meanings[r->item.role].attribute < 0)
        return MO_OK;
    r->meaning = &key->meanings[r->item.role];
    mo_xml_want_text(r->xml);
    return MO_OK;
}

static mo_status end_data(reader *r, const char *text, size_t length,
                          mo_error *err)
{
    if (!r->meaning)
        return MO_OK;
    return mo_graphml_item_set(&r->item, r->meaning, text, length, r->data_line,
                               err);
}

/* In the order of how often they are met. */
static const transition rules[] = {
    { IN_NODE, "data", IN_NODE_DATA, start_data, end_data },
    { IN_EDGE, "data", IN_EDGE_DATA, start_data, end_data },
    { IN_GRAPH, "edge", IN_EDGE, start_edge, end_edge },
    { IN_GRAPH, "node", IN_NODE, start_node, end_node },
    { IN_NODE, "graph", IN_GRAPH, start_group, NULL },
    { IN_GROUP, "graph", IN_GRAPH, start_group, NULL },
    { IN_GRAPHML, "key", IN_KEY, start_key, NULL },
    { IN_KEY, "default", IN_DEFAULT, start_default, end_default },
    { IN_GRAPHML, "graph", IN_GRAPH, start_graph, NULL },
    { AT_TOP, "graphml", IN_GRAPHML, start_graphml, NULL },
    { IN_GRAPH, "hyperedge", IN_GRAPH, refuse_element, NULL },
    { IN_EDGE, "graph", IN_EDGE, refuse_element, NULL },
};

/* Returns the transition for an element of that name in the reader's current
 * place, or NULL. Its start is called with the reader still in the parent, but
 * open[depth + 1] set. */
static const transition *find_transition(const reader *r, const char *name)
{
    graphml_state parent = r->open[r->depth].place;

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].parent == parent && strcmp(rules[i].name, name) == 0)
            return &rules[i];
    return NULL;
}

/* An op with a group's name: another node, or the end of an edge that came
 * before the group. */
static mo_status check_group(const reader *r, int group, mo_error *err)
{
    const char *name = mo_intern_text(r->groups, group);
    int slot = mo_builder_find(r->builder, name, strlen(name));
    int line = r->group_lines[group];
    const mo_op *op;

    if (slot < 0)
        return MO_OK;
    op = mo_builder_op(r->builder, slot);
    if (!op->name)
        return refuse_edge_to_group(name, op->line, err);
    if (op->line > line)
        return refuse_second(name, op->line, line, err);
    return refuse_second(name, line, op->line, err);
}

/* Among the names of a node's label, yEd's has the lowest priority. */
enum { YED_RANK = 200 };

/* libxml2 keeps each namespace once, so comparing pointers mostly suffices. */
static bool is_graphml(const reader *r, const mo_xml_element *element)
{
    if (element->space == r->space || r->depth == 0)
        return true;
    return element->space && r->space && strcmp(element->space, r->space) == 0;
}

static mo_status end_skipped(reader *r, const char *text, size_t length,
                             mo_error *err)
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
    reader *r = state;
    const transition *rule = NULL;
    mo_status status;

    if (r->skipped == 0 && is_graphml(r, element))
        rule = find_transition(r, element->name);
    if (!rule && r->depth == 0)
        return mo_fail_at(err, MO_E_INPUT, NULL, element->line,
                          "the root element is <%.60s>, not <graphml>; give a "
                          "GraphML file",
                          element->name);
    if (!rule) {
        r->skipped++;
        /* yEd keeps a node's label inside its drawing: <data><y:ShapeNode> ...
         * <y:NodeLabel>conv1</y:NodeLabel> ... */
        if (r->open[r->depth].place == IN_NODE_DATA && r->label_depth == 0 &&
            strcmp(element->name, "NodeLabel") == 0) {
            r->label_depth = r->skipped;
            mo_xml_want_text(r->xml);
        }
        return MO_OK;
    }
    r->open[r->depth + 1] = (level){ rule, rule->child, false };
    status = rule->start(r, element, err);
    r->depth++;
    return status;
}

static mo_status on_end(void *state, const char *name, const char *text,
                        size_t length, int line, mo_error *err)
{
    reader *r = state;
    const transition *rule = r->open[r->depth].rule;
    mo_status status = MO_OK;

    (void) name, (void) line;
    if (r->skipped > 0)
        return end_skipped(r, text, length, err);
    if (rule->end)
        status = rule->end(r, text, length, err);
    r->depth--;
    return status;
}

static mo_status finish_graph(reader *r, mo_graph **graph, mo_error *err)
{
    mo_status status = MO_OK;

    if (!r->has_graph)
        return mo_fail(err, MO_E_INPUT,
                       "there is no <graph> in it; write one, with a <node> "
                       "for each op");
    /* No op and no edge has a group's name. */
    for (size_t i = 0; i < r->n_groups && status == MO_OK; i++)
        status = check_group(r, (int) i, err);
    if (status == MO_OK)
        status = mo_builder_finish(r->builder, graph, err);
    if (status == MO_OK)
        mo_operator_resolve(*graph);
    return status;
}

static mo_status reader_init(reader *r, const char *file, mo_error *err)
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

static void reader_free(reader *r)
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
    reader *r;
    mo_status status;

    if (options && options->shapes.count + options->values.count > 0)
        return mo_fail(err, MO_E_USAGE,
                       "--%s goes with %s and workloads of them only; leave "
                       "it out",
                       options->shapes.count > 0 ? "shape" : "value",
                       options->shapes.count > 0
                           ? "ONNX and OpenVINO models"
                           : "ONNX, OpenVINO, GGUF and transformers models");
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
