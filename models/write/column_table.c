/* SPDX-License-Identifier: Apache-2.0 */
#include "models/write/column_table.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"

static mo_status add_name(mo_column_table *columns, const mo_variable *column,
                          mo_error *err)
{
    size_t n = (size_t) columns->n;
    uint64_t at = n > 0 ? columns->name[n] : 0;
    mo_status status =
        mo_array_reserve((void **) &columns->name, &columns->name_room, n + 2,
                         sizeof *columns->name, err);

    if (status == MO_OK)
        status = mo_array_reserve(
            (void **) &columns->names, &columns->names_room,
            at + MO_VARIABLE_NAME + MO_COLUMN_TABLE_NAME_SLACK, 1, err);
    if (status != MO_OK)
        return status;
    columns->name[n] = at;
    columns->name[n + 1] = at + mo_variable_name(column, columns->names + at);
    return MO_OK;
}

static mo_status add_bounds(mo_column_table *columns, const mo_variable *column,
                            mo_error *err)
{
    assert(isfinite(column->lower) && column->lower <= column->upper);
    if (column->lower == 0 && column->upper == INFINITY)
        return MO_OK;
    if (MO_ARRAY_GROW(columns->bounds, columns->n_bounds, columns->bounds_room,
                      err) != MO_OK)
        return MO_E_MEMORY;
    columns->bounds[columns->n_bounds++] =
        (mo_column_bounds){ columns->n, column->lower, column->upper };
    return MO_OK;
}

mo_status mo_column_table_add(mo_column_table *columns,
                              const mo_variable *column, mo_error *err)
{
    mo_status status = add_name(columns, column, err);

    assert(columns->n < INT_MAX);
    if (status == MO_OK && column->kind == MO_VARIABLE_CONTINUOUS)
        status = add_bounds(columns, column, err);
    if (status == MO_OK)
        status = mo_array_reserve((void **) &columns->kind, &columns->kind_room,
                                  (size_t) columns->n + 1, 1, err);
    if (status == MO_OK)
        columns->kind[columns->n++] = (unsigned char) column->kind;
    return status;
}

void mo_column_table_clear(mo_column_table *columns)
{
    free(columns->name);
    free(columns->names);
    free(columns->kind);
    free(columns->bounds);
    *columns = (mo_column_table){ 0 };
}
