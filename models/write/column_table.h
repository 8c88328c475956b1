/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column_table.h - names, kinds and bounds of the columns, kept by a writer
 * while rows are streamed.  About twenty bytes a column.
 */
#ifndef MO_MODELS_WRITE_COLUMN_TABLE_H
#define MO_MODELS_WRITE_COLUMN_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "models/sink/variable.h"

/* Of a continuous column with other bounds than 0 and infinity. */
typedef struct mo_column_bounds {
    int column;
    double lower, upper; /* INFINITY: no upper bound */
} mo_column_bounds;

typedef struct mo_column_table {
    int n;
    uint64_t *name; /* by column: its offset in names; entry n is the end */
    char *names;
    unsigned char *kind;
    mo_column_bounds *bounds; /* by column, increasing */
    size_t n_bounds;
    size_t name_room, names_room, kind_room, bounds_room;
} mo_column_table;

/* This many bytes behind a name may be read, and are copied whole. */
enum { MO_COLUMN_TABLE_NAME_SLACK = 96 };

/* A zeroed mo_column_table is empty; the caller clears it with
 * mo_column_table_clear(). */
mo_status mo_column_table_add(mo_column_table *columns,
                              const mo_variable *column, mo_error *err);
void mo_column_table_clear(mo_column_table *columns);

static inline size_t mo_column_table_name_length(const mo_column_table *columns,
                                                 int column)
{
    return (size_t) (columns->name[column + 1] - columns->name[column]);
}

/* Copies the name of a column and returns its length.  May write up to
 * MO_COLUMN_TABLE_NAME_SLACK bytes into the buffer text, whatever the length:
 * wide stores, no loop. */
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
