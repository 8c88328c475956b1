/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "graph/output_types.h"

#include <string.h>

#include "base/minmax.h"
#include "graph/dtype.h"

static size_t count_items(const char *text)
{
    size_t n = 1;

    while ((text = strchr(text, ';'))) {
        text++;
        n++;
    }
    return n;
}

/* An upper bound of the dimensions in text: one more than the separators. */
static size_t count_dims(const char *text)
{
    size_t n = 1;

    for (; *text != '\0'; text++)
        n += *text == ',' || *text == 'x' || *text == ';';
    return n;
}

const mo_shape_list *mo_shape_list_parse(const char *text, mo_arena *arena)
{
    size_t n = count_items(text), n_dims = 0;
    mo_shape_list *list = mo_arena_alloc(arena, sizeof *list);
    int8_t *ranks = mo_arena_array(arena, n, sizeof *ranks);
    uint32_t *starts = mo_arena_array(arena, n, sizeof *starts);
    int64_t *dims = mo_arena_array(arena, count_dims(text), sizeof *dims);

    if (!list || !ranks || !starts || !dims)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        size_t length = strcspn(text, ";");
        mo_shape shape;

        if (n_dims > UINT32_MAX ||
            mo_shape_read(text, length, &shape) != MO_SHAPE_OK) {
            ranks[i] = -1;
        } else {
            ranks[i] = (int8_t) shape.rank;
            starts[i] = (uint32_t) n_dims;
            memcpy(dims + n_dims, shape.dims,
                   (size_t) shape.rank * sizeof *dims);
            n_dims += (size_t) shape.rank;
        }
        text += length + 1;
    }
    *list =
        (mo_shape_list){ (int) mo_min_size(n, INT32_MAX), ranks, starts, dims };
    return list;
}

const mo_dtype_list *mo_dtype_list_parse(const char *text, mo_arena *arena)
{
    size_t n = count_items(text);
    mo_dtype_list *list = mo_arena_alloc(arena, sizeof *list);
    int8_t *indices = mo_arena_array(arena, n, sizeof *indices);

    if (!list || !indices)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        size_t length = strcspn(text, ";");

        indices[i] = (int8_t) mo_dtype_index(text, length);
        text += length + 1;
    }
    *list = (mo_dtype_list){ (int) mo_min_size(n, INT32_MAX), indices };
    return list;
}

bool mo_shape_list_get(const mo_shape_list *list, int i, mo_shape *shape)
{
    if (!list || i < 0 || i >= list->n || list->ranks[i] < 0)
        return false;
    *shape = (mo_shape){ .rank = list->ranks[i] };
    memcpy(shape->dims, list->dims + list->starts[i],
           (size_t) shape->rank * sizeof *shape->dims);
    return true;
}

const char *mo_dtype_list_get(const mo_dtype_list *list, int i)
{
    if (list && i > 0 && list->n == 1)
        i = 0;
    return list && i >= 0 && i < list->n ? mo_dtype_name(list->indices[i])
                                         : NULL;
}

int mo_op_n_outputs(const mo_op *op)
{
    return op->shapes ? mo_min_int(op->shapes->n, MO_MAX_OUTPUTS) : 0;
}

bool mo_op_shape(const mo_op *op, int i, mo_shape *shape)
{
    return i < MO_MAX_OUTPUTS && mo_shape_list_get(op->shapes, i, shape);
}

const char *mo_op_dtype(const mo_op *op, int i)
{
    bool is_listed = i < MO_MAX_OUTPUTS || (op->dtypes && op->dtypes->n == 1);

    return is_listed ? mo_dtype_list_get(op->dtypes, i) : NULL;
}

const char *mo_text_list_at(const char *text, int index, size_t *length)
{
    const char *end, *stop;

    if (!text || index < 0 || index >= MO_TEXT_LIST_MAX_ITEMS)
        return NULL;
    end = text + strnlen(text, MO_TEXT_LIST_MAX_BYTES);
    stop = memchr(text, ';', (size_t) (end - text));
    while (index-- > 0) {
        if (!stop)
            return NULL;
        text = stop + 1;
        stop = memchr(text, ';', (size_t) (end - text));
    }
    if (!stop && *end != '\0')
        return NULL;
    *length = (size_t) ((stop ? stop : end) - text);
    return text;
}

int mo_text_list_count(const char *text)
{
    const char *end;
    int count = 1;

    if (!text)
        return 0;
    end = text + strnlen(text, MO_TEXT_LIST_MAX_BYTES);
    while (count < MO_TEXT_LIST_MAX_ITEMS &&
           (text = memchr(text, ';', (size_t) (end - text)))) {
        text++;
        count++;
    }
    return count;
}
