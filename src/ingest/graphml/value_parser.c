/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/graphml/value_parser.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/json.h"
#include "base/number.h"
#include "graph/dtype.h"
#include "graph/shape.h"

void mo_graphml_values_clear(mo_graphml_values *values)
{
    free(values->scratch);
    values->scratch = NULL;
    values->scratch_room = 0;
}

static mo_status refuse_value(mo_graphml_values *values, const char *problem)
{
    values->problem = problem;
    return MO_E_INPUT;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

void mo_graphml_trim(const char **text, size_t *length)
{
    while (*length > 0 && is_space(**text)) {
        (*text)++;
        (*length)--;
    }
    while (*length > 0 && is_space((*text)[*length - 1]))
        (*length)--;
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
bool mo_graphml_may_be_empty(mo_graphml_kind kind)
{
    return kind == MO_GRAPHML_TEXT || kind == MO_GRAPHML_DTYPE ||
           kind == MO_GRAPHML_JSON || kind == MO_GRAPHML_NAMES ||
           kind == MO_GRAPHML_PORT;
}

mo_status mo_graphml_parse_value(mo_graphml_values *values,
                                 mo_graphml_kind kind, const char *text,
                                 size_t length, void *to, bool *is_value,
                                 mo_error *err)
{
    mo_graphml_trim(&text, &length);
    *is_value = length > 0 || !mo_graphml_may_be_empty(kind);
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
