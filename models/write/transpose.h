/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose.h - entries come row by row and leave column by column, through a
 * buffer that does not grow with their number.
 *
 *     mo_transpose_count(t, n, columns)              each row's, a first time
 *     mo_transpose_plan(t, err)
 *     mo_transpose_add(t, row, n, columns, coefs)    again, rows rising
 *     mo_transpose_visit_columns(t, visit, context, err)
 */
#ifndef MO_MODELS_WRITE_TRANSPOSE_H
#define MO_MODELS_WRITE_TRANSPOSE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct mo_transpose mo_transpose;

/* Bytes for entries; 0 is a good size. */
mo_status mo_transpose_new(size_t buffer_bytes, mo_transpose **transpose,
                           mo_error *err);
void mo_transpose_free(mo_transpose *transpose);

/* How many columns there are; before the first count. */
mo_status mo_transpose_columns(mo_transpose *transpose, int n, mo_error *err);

/* A row has a column once, so there are less than 2^32 of each. */
void mo_transpose_count(mo_transpose *transpose, int n, const int *columns);

mo_status mo_transpose_plan(mo_transpose *transpose, mo_error *err);
mo_status mo_transpose_add(mo_transpose *transpose, uint32_t row, int n,
                           const int *columns, const double *coefs,
                           mo_error *err);

/* Columns without entries are not visited; one with very many is visited
 * several times, with its next entries each time. */
typedef void mo_transpose_visit(void *context, int column, size_t n,
                                const uint32_t *rows, const double *coefs);
mo_status mo_transpose_visit_columns(mo_transpose *transpose,
                                     mo_transpose_visit *visit, void *context,
                                     mo_error *err);

#endif
