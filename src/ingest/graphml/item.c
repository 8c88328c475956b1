/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/graphml/item.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Longer texts would push the remedy off an error's end. */
enum { MAX_SHOWN = 60 };

/* Number of bytes of text that a message quotes: whole characters. */
static int quoted_length(const char *text, size_t length)
{
    if (length <= MAX_SHOWN)
        return (int) length;
    length = MAX_SHOWN;
    while (length > 0 && ((unsigned char) text[length] & 0xC0) == 0x80)
        length--;
    return (int) length;
}

#define SHOWN(text, length) quoted_length(text, length), text

void mo_graphml_item_init(mo_graphml_item *item, mo_builder *builder)
{
    memset(item, 0, sizeof *item);
    memset(item->default_ranks, MO_GRAPHML_UNSET, sizeof item->default_ranks);
    item->values.builder = builder;
    item->default_node.op = (mo_op){
        .flops = MO_UNKNOWN,
        .bytes = MO_UNKNOWN,
        .memory_bytes = MO_UNKNOWN,
        .weight_bytes = MO_UNKNOWN,
        .workspace_bytes = MO_UNKNOWN,
        .output_bytes = MO_UNKNOWN,
    };
    item->default_edge = (mo_graphml_edge){
        .src_port = MO_PORT_NONE,
        .dst_port = MO_PORT_NONE,
        .bytes = MO_UNKNOWN,
    };
}

void mo_graphml_item_clear(mo_graphml_item *item)
{
    mo_graphml_values_clear(&item->values);
    for (int r = 0; r < MO_GRAPHML_ROLES; r++)
        free(item->measured[r]);
    free(item->measures);
    free(item->names[1].text);
    free(item->names[0].text);
}

static mo_status set_default_measure(mo_graphml_item *item,
                                     mo_graphml_role role, int column,
                                     const char *text, size_t length,
                                     mo_error *err)
{
    double us;
    bool is_value;
    mo_status status = mo_graphml_parse_value(
        &item->values, MO_GRAPHML_MEASURE, text, length, &us, &is_value, err);

    if (status != MO_OK)
        return status;
    if (role == MO_GRAPHML_NODE)
        mo_builder_time_fallback(item->values.builder, column, us);
    else
        mo_builder_comm_fallback(item->values.builder, column, us);
    return MO_OK;
}

/* Parses a value into its field of the node or edge, unless a name of a better
 * rank set it already. */
static mo_status set_field(mo_graphml_item *item,
                           const mo_graphml_attribute *attribute, int rank,
                           unsigned char *old_rank, void *base,
                           const char *text, size_t length, mo_error *err)
{
    void *to = (char *) base + attribute->offset;
    bool is_value = false;
    mo_status status = MO_OK;

    if (rank == *old_rank) {
        item->values.problem = "is given twice; keep one of them";
        return MO_E_INPUT;
    }
    if (rank < *old_rank)
        status = mo_graphml_parse_value(&item->values, attribute->kind, text,
                                        length, to, &is_value, err);
    if (status == MO_OK && is_value)
        *old_rank = (unsigned char) rank;
    return status;
}

mo_status mo_graphml_item_default(mo_graphml_item *item, mo_graphml_role role,
                                  const mo_graphml_meaning *meaning,
                                  const char *text, size_t length,
                                  mo_error *err)
{
    const mo_graphml_attribute *attribute =
        &mo_graphml_attributes_of[role].items[meaning->attribute];
    void *base = role == MO_GRAPHML_NODE ? (void *) &item->default_node
                                         : (void *) &item->default_edge;
    mo_status status;

    if (attribute->kind == MO_GRAPHML_MEASURE)
        status =
            set_default_measure(item, role, meaning->column, text, length, err);
    else
        status = set_field(item, attribute, meaning->rank,
                           &item->default_ranks[role][meaning->attribute], base,
                           text, length, err);
    if (status == MO_E_INPUT)
        mo_fail_at(err, status, NULL, meaning->line,
                   "the default of a key: %.60s '%.*s' %s", meaning->name,
                   SHOWN(text, length), item->values.problem);
    return status;
}

void mo_graphml_item_begin(mo_graphml_item *item, mo_graphml_role role,
                           int line)
{
    item->role = role;
    item->line = line;
    item->serial++;
    item->n_measures = 0;
    memset(item->ranks, MO_GRAPHML_UNSET, sizeof item->ranks);
    if (role == MO_GRAPHML_NODE) {
        item->node = item->default_node;
    } else {
        item->edge = item->default_edge;
        item->edge.line = line;
    }
}

mo_status mo_graphml_item_name(mo_graphml_item *item, int which,
                               const char *text, size_t length, mo_error *err)
{
    mo_graphml_name *name = &item->names[which];
    void *room = name->text;
    mo_status status = MO_OK;

    if (length >= name->room)
        status = mo_array_reserve(&room, &name->room, length + 1, 1, err);
    if (status != MO_OK)
        return status;
    name->text = room;
    name->length = length;
    memcpy(name->text, text, length);
    name->text[length] = '\0';
    return MO_OK;
}

/* Marks that the item has a value in column; false when it had one before. */
static mo_status mark_measured(mo_graphml_item *item, int column, bool *is_new,
                               mo_error *err)
{
    mo_graphml_role r = item->role;

    while (item->n_measured[r] <= (size_t) column) {
        if (MO_ARRAY_GROW(item->measured[r], item->n_measured[r],
                          item->measured_room[r], err) != MO_OK)
            return MO_E_MEMORY;
        item->measured[r][item->n_measured[r]++] = 0;
    }
    *is_new = item->measured[r][column] != item->serial;
    item->measured[r][column] = item->serial;
    return MO_OK;
}

static mo_status set_measure(mo_graphml_item *item, int column,
                             const char *text, size_t length, mo_error *err)
{
    bool is_new = false, is_value;
    mo_status status = mark_measured(item, column, &is_new, err);
    double us;

    if (status != MO_OK)
        return status;
    if (!is_new) {
        item->values.problem = "is given twice; keep one of them";
        return MO_E_INPUT;
    }
    status = mo_graphml_parse_value(&item->values, MO_GRAPHML_MEASURE, text,
                                    length, &us, &is_value, err);
    if (status == MO_OK)
        status = MO_ARRAY_GROW(item->measures, item->n_measures,
                               item->measures_room, err);
    if (status == MO_OK)
        item->measures[item->n_measures++] = (mo_measure){ column, us };
    return status;
}

static void describe_refusal(const mo_graphml_item *item, const char *name,
                             const char *text, size_t length, int line,
                             mo_error *err)
{
    const mo_graphml_name *first = &item->names[0], *second = &item->names[1];

    if (item->role == MO_GRAPHML_NODE)
        mo_fail_at(err, MO_E_INPUT, NULL, line, "node '%.*s': %.60s '%.*s' %s",
                   SHOWN(first->text, first->length), name, SHOWN(text, length),
                   item->values.problem);
    else
        mo_fail_at(err, MO_E_INPUT, NULL, line,
                   "edge '%.*s' -> '%.*s': %.60s '%.*s' %s",
                   SHOWN(first->text, first->length),
                   SHOWN(second->text, second->length), name,
                   SHOWN(text, length), item->values.problem);
}

static bool is_absent(const mo_graphml_meaning *meaning, mo_graphml_kind kind,
                      const char *text, size_t length)
{
    return meaning->none_is_absent && length == 4 &&
           memcmp(text, "None", 4) == 0 && mo_graphml_may_be_empty(kind);
}

mo_status mo_graphml_item_set(mo_graphml_item *item,
                              const mo_graphml_meaning *meaning,
                              const char *text, size_t length, int line,
                              mo_error *err)
{
    int index = meaning->attribute;
    const mo_graphml_attribute *attribute =
        &mo_graphml_attributes_of[item->role].items[index];
    void *base = item->role == MO_GRAPHML_NODE ? (void *) &item->node
                                               : (void *) &item->edge;
    mo_status status;

    assert(index >= 0);
    if (is_absent(meaning, attribute->kind, text, length))
        return MO_OK;
    if (attribute->kind == MO_GRAPHML_MEASURE)
        status = set_measure(item, meaning->column, text, length, err);
    else
        status = set_field(item, attribute, meaning->rank, &item->ranks[index],
                           base, text, length, err);
    if (status == MO_E_INPUT)
        describe_refusal(item, meaning->name, text, length, line, err);
    return status;
}
