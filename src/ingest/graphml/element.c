/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/graphml/element.h"

#include <string.h>

#include "base/array.h"
#include "ingest/graphml/schema.h"

#define SHOWN(a) (int) ((a)->length < 60 ? (a)->length : 60), (a)->value

static bool is_text(const mo_xml_attribute *a, const char *text)
{
    return a && a->length == strlen(text) &&
           memcmp(a->value, text, a->length) == 0;
}

static mo_status start_graphml(mo_graphml_reader *r,
                               const mo_xml_element *element, mo_error *err)
{
    (void) err;
    r->space = element->space;
    return MO_OK;
}

static mo_status start_key(mo_graphml_reader *r, const mo_xml_element *element,
                           mo_error *err)
{
    if (r->has_graph)
        return mo_fail_at(err, MO_E_INPUT, NULL, element->line,
                          "a <key> stands behind the <graph>; declare all keys "
                          "before it");
    return mo_graphml_key_declare(&r->keys, element, r->builder, &r->declared,
                                  r->declared_for, err);
}

static mo_status start_default(mo_graphml_reader *r,
                               const mo_xml_element *element, mo_error *err)
{
    (void) element, (void) err;
    mo_xml_want_text(r->xml);
    return MO_OK;
}

static mo_status end_default(mo_graphml_reader *r, const char *text,
                             size_t length, mo_error *err)
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

static mo_status start_graph(mo_graphml_reader *r,
                             const mo_xml_element *element, mo_error *err)
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

static mo_status start_node(mo_graphml_reader *r, const mo_xml_element *element,
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

static mo_status end_node(mo_graphml_reader *r, const char *text, size_t length,
                          mo_error *err)
{
    mo_graphml_item *item = &r->item;
    mo_status status;
    mo_op *op;
    int slot;

    (void) text, (void) length;
    if (r->open[r->depth].place == MO_GRAPHML_IN_GROUP)
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
static mo_status note_group(mo_graphml_reader *r, mo_error *err)
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
static mo_status start_group(mo_graphml_reader *r,
                             const mo_xml_element *element, mo_error *err)
{
    mo_status status = MO_OK;

    if (r->open[r->depth].place == MO_GRAPHML_IN_NODE)
        status = note_group(r, err);
    r->open[r->depth].place = MO_GRAPHML_IN_GROUP;
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

static mo_status read_end(mo_graphml_reader *r, const mo_xml_element *element,
                          int which, int *slot, mo_error *err)
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
static mo_status read_port(mo_graphml_reader *r, const mo_xml_element *element,
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

static bool is_undirected(const mo_graphml_reader *r,
                          const mo_xml_element *element)
{
    const mo_xml_attribute *directed = mo_xml_find(element, "directed");

    if (directed && directed->length > 0)
        return is_text(directed, "false") || is_text(directed, "0");
    return r->open[r->depth].undirected;
}

static mo_status start_edge(mo_graphml_reader *r, const mo_xml_element *element,
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

static mo_status end_edge(mo_graphml_reader *r, const char *text, size_t length,
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

static mo_status refuse_element(mo_graphml_reader *r,
                                const mo_xml_element *element, mo_error *err)
{
    (void) r;
    return mo_fail_at(err, MO_E_SUPPORT, NULL, element->line,
                      "a <%s> here is not supported; write edges between two "
                      "nodes only",
                      element->name);
}

/* A key that has a meaning here, but was declared for the other role. */
static mo_status check_undeclared(const mo_graphml_reader *r,
                                  const mo_graphml_key *key, int line,
                                  mo_error *err)
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

static mo_status start_data(mo_graphml_reader *r, const mo_xml_element *element,
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

static mo_status end_data(mo_graphml_reader *r, const char *text, size_t length,
                          mo_error *err)
{
    if (!r->meaning)
        return MO_OK;
    return mo_graphml_item_set(&r->item, r->meaning, text, length, r->data_line,
                               err);
}

/* In the order of how often they are met. */
static const mo_graphml_transition rules[] = {
    { MO_GRAPHML_IN_NODE, "data", MO_GRAPHML_IN_NODE_DATA, start_data,
      end_data },
    { MO_GRAPHML_IN_EDGE, "data", MO_GRAPHML_IN_EDGE_DATA, start_data,
      end_data },
    { MO_GRAPHML_IN_GRAPH, "edge", MO_GRAPHML_IN_EDGE, start_edge, end_edge },
    { MO_GRAPHML_IN_GRAPH, "node", MO_GRAPHML_IN_NODE, start_node, end_node },
    { MO_GRAPHML_IN_NODE, "graph", MO_GRAPHML_IN_GRAPH, start_group, NULL },
    { MO_GRAPHML_IN_GROUP, "graph", MO_GRAPHML_IN_GRAPH, start_group, NULL },
    { MO_GRAPHML_IN_GRAPHML, "key", MO_GRAPHML_IN_KEY, start_key, NULL },
    { MO_GRAPHML_IN_KEY, "default", MO_GRAPHML_IN_DEFAULT, start_default,
      end_default },
    { MO_GRAPHML_IN_GRAPHML, "graph", MO_GRAPHML_IN_GRAPH, start_graph, NULL },
    { MO_GRAPHML_AT_TOP, "graphml", MO_GRAPHML_IN_GRAPHML, start_graphml,
      NULL },
    { MO_GRAPHML_IN_GRAPH, "hyperedge", MO_GRAPHML_IN_GRAPH, refuse_element,
      NULL },
    { MO_GRAPHML_IN_EDGE, "graph", MO_GRAPHML_IN_EDGE, refuse_element, NULL },
};

const mo_graphml_transition *
mo_graphml_find_transition(const mo_graphml_reader *r, const char *name)
{
    mo_graphml_state parent = r->open[r->depth].place;

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].parent == parent && strcmp(rules[i].name, name) == 0)
            return &rules[i];
    return NULL;
}

/* An op with a group's name: another node, or the end of an edge that came
 * before the group. */
static mo_status check_group(const mo_graphml_reader *r, int group,
                             mo_error *err)
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

mo_status mo_graphml_check_groups(const mo_graphml_reader *r, mo_error *err)
{
    mo_status status = MO_OK;

    for (size_t i = 0; i < r->n_groups && status == MO_OK; i++)
        status = check_group(r, (int) i, err);
    return status;
}
