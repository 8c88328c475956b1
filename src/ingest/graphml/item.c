/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/graphml/item.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "base/number.h"
#include "graph/build.h"
#include "graph/dtype.h"
#include "graph/shape.h"
#include "ingest/graphml/schema.h"

/* Parser of the text of <data> elements, by kind of attribute. */

static mo_status refuse_value(mo_graphml_values *values, const char *problem)
{
    values->problem = problem;
    return MO_E_INPUT;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static mo_status read_text(mo_graphml_values *values, const char *text,
                           size_t length, void *to, mo_error *err)
{
    return mo_builder_text(values->builder, text, length, to, err);
}

static mo_status read_json(mo_graphml_values *values, const char *text,
                           size_t length, void *to, mo_error *err)
{
    if (!mo_json_is_object(text, length))
        return refuse_value(values, "is not a JSON object; write one such as "
                                    "{\"strides\": [1, 1]}");
    return read_text(values, text, length, to, err);
}

static mo_status read_names(mo_graphml_values *values, const char *text,
                            size_t length, void *to, mo_error *err)
{
    if (!mo_json_is_text_array(text, length))
        return refuse_value(values,
                            "is not a JSON array of names; write one such as "
                            "[\"conv1\", \"relu1\"]");
    return read_text(values, text, length, to, err);
}

static mo_status read_amount(mo_graphml_values *values, const char *text,
                             size_t length, double *to)
{
    double value = 0;

    switch (mo_number_read_double(text, length, &value)) {
    case MO_NUMBER_OK:
        break;
    case MO_NUMBER_INVALID:
        return refuse_value(values,
                            "is not a number; write a decimal one such as "
                            "1.5e9");
    case MO_NUMBER_RANGE:
        return refuse_value(values,
                            "is not a finite number; write one up to 1e308");
    }
    if (value < 0)
        return refuse_value(values,
                            "is negative; write 0 or more, or leave it out "
                            "when it is not known");
    *to = value;
    return MO_OK;
}

/* Integers are read as such: a double would round those beyond 2^53. */
static mo_status read_size(mo_graphml_values *values, const char *text,
                           size_t length, int64_t *to)
{
    int64_t exact;
    double value;
    mo_status status;

    if (mo_number_read_int(text, length, &exact) == MO_NUMBER_OK &&
        exact >= 0) {
        *to = exact;
        return MO_OK;
    }
    status = read_amount(values, text, length, &value);
    if (status != MO_OK)
        return status;
    value = round(value);
    if (value >= 0x1p63)
        return refuse_value(values,
                            "is more than 2^63 bytes; write a smaller size");
    *to = (int64_t) value;
    return MO_OK;
}

static mo_status read_flag(mo_graphml_values *values, const char *text,
                           size_t length, bool *to)
{
    bool is_true = (length == 4 && strncasecmp(text, "true", 4) == 0) ||
                   (length == 1 && *text == '1');
    bool is_false = (length == 5 && strncasecmp(text, "false", 5) == 0) ||
                    (length == 1 && *text == '0');

    if (!is_true && !is_false)
        return refuse_value(values,
                            "is neither true nor false; write one of them");
    *to = is_true;
    return MO_OK;
}

/* Most programs number ports; some have floating-point numbers only ("0.0"),
 * and some give names. */
static mo_status read_port(mo_graphml_values *values, const char *text,
                           size_t length, int *to, mo_error *err)
{
    double number;
    mo_number_fault fault = mo_number_read_double(text, length, &number);

    if (fault == MO_NUMBER_INVALID)
        return mo_builder_port(values->builder, text, length, to, err);
    if (fault == MO_NUMBER_RANGE || number < 0 || number > INT_MAX ||
        number != floor(number))
        return refuse_value(values,
                            "is no port; write a whole number from 0, or a "
                            "name");
    *to = (int) number;
    return MO_OK;
}

static mo_status append_item(mo_graphml_values *values, size_t *used,
                             const char *text, size_t length, mo_error *err)
{
    void *scratch = values->scratch;
    mo_status status = mo_array_reserve(&scratch, &values->scratch_room,
                                        *used + length + 1, 1, err);

    if (status != MO_OK)
        return status;
    values->scratch = scratch;
    memcpy(values->scratch + *used, text, length);
    *used += length;
    return MO_OK;
}

/* Rewrites one output's part of a list ("1,64;1,32"): sets the text to put in
 * its place, valid until the next call. */
typedef mo_status rewrite(mo_graphml_values *values, const char **text,
                          size_t *length, char *room, bool *is_value);

static mo_status rewrite_shape(mo_graphml_values *values, const char **text,
                               size_t *length, char *room, bool *is_value)
{
    mo_shape shape;

    switch (mo_shape_read(*text, *length, &shape)) {
    case MO_SHAPE_OK:
        *text = room;
        *length = mo_shape_write(&shape, room);
        break;
    case MO_SHAPE_INVALID:
        *is_value = false;
        break;
    case MO_SHAPE_DYNAMIC:
        return refuse_value(values,
                            "has a dimension without a size; write all of "
                            "them, as in 1,64,56,56");
    case MO_SHAPE_RANGE:
        return refuse_value(values,
                            "has too many dimensions or elements; check its "
                            "numbers");
    }
    return MO_OK;
}

static mo_status rewrite_dtype(mo_graphml_values *values, const char **text,
                               size_t *length, char *room, bool *is_value)
{
    const char *known = mo_dtype_find(*text, *length);

    (void) values, (void) room, (void) is_value;
    if (known) {
        *text = known;
        *length = strlen(known);
    }
    return MO_OK;
}

/* Rewrites each part of a list in which ';' separates outputs. */
static mo_status read_list(mo_graphml_values *values, rewrite *part,
                           const char *text, size_t length, void *to,
                           bool *is_value, mo_error *err)
{
    char room[MO_SHAPE_TEXT_SIZE];
    const char *end = text + length;
    size_t used = 0;

    for (;;) {
        const char *stop = memchr(text, ';', (size_t) (end - text));
        const char *piece = text;
        size_t n = (size_t) ((stop ? stop : end) - text);
        mo_status status = part(values, &piece, &n, room, is_value);

        if (status != MO_OK || !*is_value)
            return status;
        status = append_item(values, &used, piece, n, err);
        if (status == MO_OK && stop)
            status = append_item(values, &used, ";", 1, err);
        if (status != MO_OK)
            return status;
        if (!stop)
            return read_text(values, values->scratch, used, to, err);
        text = stop + 1;
    }
}

/* Programs that write every attribute for every node leave these empty where
 * they have no value. An empty number is a mistake, an empty shape a scalar. */
static bool may_be_empty(mo_graphml_kind kind)
{
    return kind == MO_GRAPHML_TEXT || kind == MO_GRAPHML_DTYPE ||
           kind == MO_GRAPHML_JSON || kind == MO_GRAPHML_NAMES ||
           kind == MO_GRAPHML_PORT;
}

/*
 * Parses length bytes at text into *to, whose type depends on kind; white
 * space around them does not count. *is_value is false when there is nothing
 * to store: an empty text, or a shape in the sense of drawing programs.
 *
 * An invalid value is MO_E_INPUT with values->problem set; the caller fills
 * the error, since it knows the node or edge.
 */
static mo_status parse_value(mo_graphml_values *values, mo_graphml_kind kind,
                             const char *text, size_t length, void *to,
                             bool *is_value, mo_error *err)
{
    for (; length > 0 && is_space(*text); length--)
        text++;
    while (length > 0 && is_space(text[length - 1]))
        length--;
    *is_value = length > 0 || !may_be_empty(kind);
    if (!*is_value)
        return MO_OK;
    switch (kind) {
    case MO_GRAPHML_TEXT:
        return read_text(values, text, length, to, err);
    case MO_GRAPHML_SHAPE:
        return read_list(values, rewrite_shape, text, length, to, is_value,
                         err);
    case MO_GRAPHML_DTYPE:
        return read_list(values, rewrite_dtype, text, length, to, is_value,
                         err);
    case MO_GRAPHML_JSON:
        return read_json(values, text, length, to, err);
    case MO_GRAPHML_NAMES:
        return read_names(values, text, length, to, err);
    case MO_GRAPHML_SIZE:
        return read_size(values, text, length, to);
    case MO_GRAPHML_AMOUNT:
    case MO_GRAPHML_MEASURE:
        return read_amount(values, text, length, to);
    case MO_GRAPHML_FLAG:
        return read_flag(values, text, length, to);
    case MO_GRAPHML_PORT:
        return read_port(values, text, length, to, err);
    }
    return MO_OK;
}

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
    free(item->values.scratch);
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
    mo_status status = parse_value(&item->values, MO_GRAPHML_MEASURE, text,
                                   length, &us, &is_value, err);

    if (status != MO_OK)
        return status;
    if (role == MO_GRAPHML_NODE)
        mo_builder_time_fallback(item->values.builder, column, us);
    else
        mo_builder_comm_fallback(item->values.builder, column, us);
    return MO_OK;
}

/* Parses a value into its field of the node or edge, or of their defaults,
 * unless a name of a better rank set it already. */
static mo_status set_field(mo_graphml_item *item, mo_graphml_role role,
                           bool is_default, const mo_graphml_meaning *meaning,
                           const char *text, size_t length, mo_error *err)
{
    const mo_graphml_attribute *attribute =
        &mo_graphml_attributes_of[role].items[meaning->attribute];
    unsigned char *old_rank = &(is_default ? item->default_ranks[role]
                                           : item->ranks)[meaning->attribute];
    mo_graphml_node *node = is_default ? &item->default_node : &item->node;
    mo_graphml_edge *edge = is_default ? &item->default_edge : &item->edge;
    char *base = role == MO_GRAPHML_NODE ? (char *) node : (char *) edge;
    bool is_value = false;
    mo_status status = MO_OK;

    if (meaning->rank == *old_rank)
        return refuse_value(&item->values, "is given twice; keep one of them");
    if (meaning->rank < *old_rank)
        status = parse_value(&item->values, attribute->kind, text, length,
                             base + attribute->offset, &is_value, err);
    if (status == MO_OK && is_value)
        *old_rank = (unsigned char) meaning->rank;
    return status;
}

mo_status mo_graphml_item_default(mo_graphml_item *item, mo_graphml_role role,
                                  const mo_graphml_meaning *meaning,
                                  const char *text, size_t length,
                                  mo_error *err)
{
    mo_status status;

    if (mo_graphml_attributes_of[role].items[meaning->attribute].kind ==
        MO_GRAPHML_MEASURE)
        status =
            set_default_measure(item, role, meaning->column, text, length, err);
    else
        status = set_field(item, role, true, meaning, text, length, err);
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
    if (!is_new)
        return refuse_value(&item->values, "is given twice; keep one of them");
    status = parse_value(&item->values, MO_GRAPHML_MEASURE, text, length, &us,
                         &is_value, err);
    if (status == MO_OK)
        status = MO_ARRAY_GROW(item->measures, item->n_measures,
                               item->measures_room, err);
    if (status == MO_OK)
        item->measures[item->n_measures++] = (mo_measure){ column, us };
    return status;
}

mo_status mo_graphml_item_set(mo_graphml_item *item,
                              const mo_graphml_meaning *meaning,
                              const char *text, size_t length, int line,
                              mo_error *err)
{
    mo_graphml_kind kind =
        mo_graphml_attributes_of[item->role].items[meaning->attribute].kind;
    mo_status status;

    assert(meaning->attribute >= 0);
    /* Some programs write None where there is no value. */
    if (meaning->none_is_absent && length == 4 &&
        memcmp(text, "None", 4) == 0 && may_be_empty(kind))
        return MO_OK;
    if (kind == MO_GRAPHML_MEASURE)
        status = set_measure(item, meaning->column, text, length, err);
    else
        status = set_field(item, item->role, false, meaning, text, length, err);
    if (status == MO_E_INPUT) {
        const mo_graphml_name *first = &item->names[0],
                              *second = &item->names[1];

        if (item->role == MO_GRAPHML_NODE)
            mo_fail_at(err, MO_E_INPUT, NULL, line,
                       "node '%.*s': %.60s '%.*s' %s",
                       SHOWN(first->text, first->length), meaning->name,
                       SHOWN(text, length), item->values.problem);
        else
            mo_fail_at(err, MO_E_INPUT, NULL, line,
                       "edge '%.*s' -> '%.*s': %.60s '%.*s' %s",
                       SHOWN(first->text, first->length),
                       SHOWN(second->text, second->length), meaning->name,
                       SHOWN(text, length), item->values.problem);
    }
    return status;
}
