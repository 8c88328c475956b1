/* SPDX-License-Identifier: Apache-2.0 */
/*
 * told.h - constants that a graph without nodes for them tells in attrs.
 *
 *     {"weights": "1:768,1000;2:1000"}
 */
#ifndef MO_INGEST_WORK_WEIGHT_ATTRS_H
#define MO_INGEST_WORK_WEIGHT_ATTRS_H

#include <stdbool.h>
#include <stddef.h>

#include "graph/shape.h"

typedef struct mo_weight_attr {
    int port;       /* which input, or MO_PORT_NONE where that is no number */
    mo_shape shape; /* rank -1 where there is no port or no fixed size */
} mo_weight_attr;

/* What is left to read of such a list. */
typedef struct mo_weight_attr_list {
    const char *text;
    size_t length;
} mo_weight_attr_list;

/* The weights in attrs, which may be NULL; an empty list when it has none. */
mo_weight_attr_list mo_weight_attr_list_of(const char *attrs);

/* Takes the first of what is left; false when there is nothing. */
bool mo_weight_attr_next(mo_weight_attr_list *list, mo_weight_attr *told);

#endif
