/* SPDX-License-Identifier: Apache-2.0 */
/* Parser of constants written as attributes: lists of numbers, masks. */
#include <math.h>
#include <string.h>

#include "graph/op_attrs.h"
#include "base/number.h"
#include "exec/weights/constants_internal.h"

static bool is_word(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && memcmp(text, word, length) == 0;
}

static void trim_spaces(const char **text, size_t *length)
{
    while (*length > 0 && strchr(" [\"", (*text)[0]))
        (*text)++, (*length)--;
    while (*length > 0 && strchr(" ]\"", (*text)[*length - 1]))
        (*length)--;
}

/* Integers exactly, whatever their size, but "-0" as a real; infinities by
 * name.
 */
static bool store_number(const char *text, size_t length,
                         mo_tensor_dense *value, int64_t i)
{
    int64_t integer;
    double real;

    trim_spaces(&text, &length);
    if (mo_number_read_int(text, length, &integer) == MO_NUMBER_OK &&
        !(integer == 0 && text[0] == '-'))
        mo_tensor_set_int(value, i, integer);
    else if (mo_number_read_double(text, length, &real) == MO_NUMBER_OK)
        mo_tensor_set_double(value, i, real);
    else if (is_word(text, length, "inf"))
        mo_tensor_set_double(value, i, INFINITY);
    else if (is_word(text, length, "-inf"))
        mo_tensor_set_double(value, i, -INFINITY);
    else
        return false;
    return true;
}

mo_status mo_weights_parse_numbers(const char *text, size_t length,
                                   mo_tensor_dense *value, mo_error *err)
{
    int64_t n = mo_tensor_desc_elements(&value->desc), count = 0;
    size_t size = mo_elem_size(value->desc.elem);
    char *data = value->data;

    trim_spaces(&text, &length);
    while (length > 0 || count > 0) {
        const char *comma = memchr(text, ',', length);
        size_t part = comma ? (size_t) (comma - text) : length;

        if (count < n && !store_number(text, part, value, count))
            return mo_fail(err, MO_E_INPUT,
                           "'%.*s' is no number; write decimal ones, with "
                           "commas between them",
                           part > 40 ? 40 : (int) part, text);
        count++;
        if (!comma)
            break;
        text = comma + 1;
        length -= part + 1;
    }
    for (int64_t i = 1; i < n && count == 1; i++)
        memcpy(data + (size_t) i * size, data, size);
    if (count != n && !(count == 1 && n > 1))
        return mo_fail(err, MO_E_INPUT,
                       "there are %lld numbers where %lld belong",
                       (long long) count, (long long) n);
    return MO_OK;
}

/* Finds the part of "0:...;2:..." for the port; false when there is none. */
static bool find_port(const char *text, size_t length, int port,
                      const char **part, size_t *part_length)
{
    while (length > 0) {
        const char *stop = memchr(text, ';', length);
        size_t size = stop ? (size_t) (stop - text) : length;
        const char *colon = memchr(text, ':', size);
        int64_t number;

        if (colon &&
            mo_number_read_int(text, (size_t) (colon - text), &number) ==
                MO_NUMBER_OK &&
            number == port) {
            *part = colon + 1;
            *part_length = size - (size_t) (colon + 1 - text);
            return true;
        }
        size += stop != NULL;
        text += size;
        length -= size;
    }
    return false;
}

mo_status mo_weights_parse_port_values(const mo_op *op, int port,
                                       mo_tensor_dense *value, bool *found,
                                       mo_error *err)
{
    const mo_attr *attr = mo_attr_find_string(op->attr_list, "values");
    const char *part = NULL;
    size_t size = 0;

    *found = attr && find_port(attr->text, attr->length, port, &part, &size);
    if (!*found)
        return MO_OK;
    if (!is_word(part, size, "causal"))
        return mo_weights_parse_numbers(part, size, value, err);

    /* Causal mask: 0 on the diagonal of the last two dimensions and below,
     * -infinity above. */
    const mo_shape *shape = &value->desc.shape;
    int64_t n = mo_tensor_desc_elements(&value->desc);
    int64_t columns = shape->rank > 0 ? shape->dims[shape->rank - 1] : 1;
    int64_t rows = shape->rank > 1 ? shape->dims[shape->rank - 2] : 1;

    for (int64_t i = 0; i < n; i++)
        if (i % columns > i / columns % rows)
            mo_tensor_set_double(value, i, -INFINITY);
    return MO_OK;
}
