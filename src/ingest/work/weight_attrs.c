/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/work/weight_attrs.h"

#include <limits.h>
#include <string.h>

#include "base/number.h"
#include "graph/graph.h"
#include "graph/op_attrs.h"

mo_weight_attr_list mo_weight_attr_list_find(const mo_attr_list *attrs,
                                             const char *key)
{
    const mo_attr *attr = mo_attr_find_string(attrs, key);

    if (!attr)
        return (mo_weight_attr_list){ NULL, 0 };
    return (mo_weight_attr_list){ attr->text, attr->length };
}

mo_weight_attr_list mo_weight_attr_list_of(const mo_attr_list *attrs)
{
    return mo_weight_attr_list_find(attrs, "weights");
}

static int read_port(const char *text, size_t length)
{
    int64_t port;

    if (mo_number_read_int(text, length, &port) != MO_NUMBER_OK || port < 0 ||
        port > INT_MAX)
        return MO_PORT_NONE;
    return (int) port;
}

bool mo_weight_attr_next(mo_weight_attr_list *list, mo_weight_attr *weight)
{
    const char *stop;
    size_t length;
    const char *colon;
    size_t before;

    if (list->length == 0)
        return false;
    stop = memchr(list->text, ';', list->length);
    length = stop ? (size_t) (stop - list->text) : list->length;
    colon = memchr(list->text, ':', length);
    before = colon ? (size_t) (colon - list->text) : length;
    weight->port = read_port(list->text, before);
    if (!colon || weight->port == MO_PORT_NONE ||
        mo_shape_read(colon + 1, length - before - 1, &weight->shape) !=
            MO_SHAPE_OK)
        weight->shape.rank = -1;
    length += stop != NULL;
    list->text += length;
    list->length -= length;
    return true;
}
