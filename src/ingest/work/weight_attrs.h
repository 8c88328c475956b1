/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weight_attrs.h - the attribute "weights": constants of a graph that has no
 * nodes for them.
 *
 *     {"weights": "1:768,1000;2:1000"}
 */
#ifndef MO_INGEST_WORK_WEIGHT_ATTRS_H
#define MO_INGEST_WORK_WEIGHT_ATTRS_H

#include <stdbool.h>
#include <stddef.h>

#include "graph/graph.h"
#include "graph/shape.h"

typedef struct mo_weight_attr {
    int port;       /* input number, or MO_PORT_NONE where it is not a number */
    mo_shape shape; /* rank -1 without a port or a fixed size */
} mo_weight_attr;

/* Iterator over such a list: the rest of it. */
typedef struct mo_weight_attr_list {
    const char *text;
    size_t length;
} mo_weight_attr_list;

/* Returns the weights in attrs, which may be NULL and must outlive the list;
 * an empty list when there are none. The other function returns those of an
 * attribute of another name. */
mo_weight_attr_list mo_weight_attr_list_of(const mo_attr_list *attrs);
mo_weight_attr_list mo_weight_attr_list_find(const mo_attr_list *attrs,
                                             const char *key);

/* Takes the first item off the list; returns false at its end. */
bool mo_weight_attr_next(mo_weight_attr_list *list, mo_weight_attr *weight);

#endif
