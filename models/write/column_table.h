/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.h - what a writer keeps of the columns while rows go by: names, kinds
 * and bounds.  About twenty bytes a column.
 */
#ifndef MO_MODELS_WRITE_COLUMN_TABLE_H
#define MO_MODELS_WRITE_COLUMN_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "models/sink/variable.h"

/* Of a continuous column that may not be anything from 0 on. */
typedef struct mo_column_bounds {
    int column;
    double lower, upper; /* INFINITY: none above */
} mo_column_bounds;

typedef struct mo_column_table {
    int n;
    uint64_t *name; /* by column: where it begins in names, and n ends it */
    char *names;
    unsigned char *kind;
    mo_column_bounds *bounds; /* by column, rising */
    size_t n_bounds;
    size_t name_room, names_room, kind_room, bounds_room;
} mo_column_table;

/* Behind a name as many bytes may be read, and are copied whole. */
enum { MO_COLUMN_TABLE_NAME_SLACK = 96 };

/* A zeroed mo_column_table is empty. */
mo_status mo_column_table_add(mo_column_table *columns,
                              const mo_variable *column, mo_error *err);
void mo_column_table_clear(mo_column_table *columns);

static inline size_t mo_column_table_name_length(const mo_column_table *columns,
                                                 int column)
{
    return (size_t) (columns->name[column + 1] - columns->name[column]);
}

/* Copies the name of a column and returns its length.  May write up to
 * MO_COLUMN_TABLE_NAME_SLACK bytes, whatever the length: wide stores, no loop.
 */
static inline size_t mo_column_table_name(const mo_column_table *columns,
                                          int column, char *text)
{
    const char *name = columns->names + columns->name[column];
    size_t length = mo_column_table_name_length(columns, column);

    memcpy(text, name, 16);
    if (length > 16)
        memcpy(text + 16, name + 16, MO_COLUMN_TABLE_NAME_SLACK - 16);
    return length;
}

#endif
