/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_attrs.h - typed attributes of an op.
 *
 * mo_op.attrs is the text as read, a JSON object; files, digests and messages
 * use it.  mo_builder_finish parses every text once, and all other code reads
 * the result here.  Exporters write one value in several ways (3, "3", [3]),
 * so that an attribute has every type that its text can be read as.
 *
 * An empty list stands for a text that is not an object: parsing fails for
 * lack of memory only.
 */
#ifndef MO_GRAPH_OP_ATTRS_H
#define MO_GRAPH_OP_ATTRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "graph/graph.h"

/* How the value is written. */
typedef enum mo_attr_kind {
    MO_ATTR_NUMBER,
    MO_ATTR_BOOL,
    MO_ATTR_STRING,
    MO_ATTR_LIST,
    MO_ATTR_OTHER /* null, or a nested object */
} mo_attr_kind;

/* A key and its value.  The texts are not 0-terminated. */
typedef struct mo_attr {
    const char *key;    /* without escapes; NULL when it equals no C string */
    const char *text;   /* the value as written; of a string, what is between
                           its quotes */
    const char *string; /* of a string: without escapes; NULL as for key */
    const int64_t *ints;
    size_t key_length, length, string_length;
    double number;  /* 3.5, "3.5", "-inf", or NAN */
    int n_ints;     /* written 3, [1,1], "1,1" or "3"; -1: not integers */
    int8_t boolean; /* true, "true", 1, "1": 1; false likewise: 0; else -1 */
    mo_attr_kind kind;
} mo_attr;

struct mo_attr_list {
    int n;
    const mo_attr *items; /* in the order of the text */
};

/* Parses a text into memory of the arena; the result points into both.  Returns
 * NULL when memory is exhausted. */
const mo_attr_list *mo_attr_list_parse(const char *text, mo_arena *arena);

/* In all functions below, list may be NULL, which is an empty one. */

/* Returns the attribute of that key, the last one of several; NULL when there
 * is none. */
const mo_attr *mo_attr_find(const mo_attr_list *list, const char *key);

/* Copies the attribute's integers.  Returns their number (at most max are
 * stored), -1 when it is absent or not integers. */
int mo_attr_ints(const mo_attr_list *list, const char *key, int64_t *values,
                 int max);

/* Returns the attribute as a boolean, or fallback when it is absent or none. */
bool mo_attr_bool(const mo_attr_list *list, const char *key, bool fallback);

/* Returns whether the attribute is the string given, ignoring case. */
bool mo_attr_equals(const mo_attr_list *list, const char *key,
                    const char *string);

/* Returns the attribute if it is a string, else NULL. */
const mo_attr *mo_attr_find_string(const mo_attr_list *list, const char *key);

#endif
