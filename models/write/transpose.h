/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose.h - external transposition of a sparse matrix: entries arrive by
 * rows and leave by columns, through a buffer of bounded size.
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

/* buffer_bytes is for entries; 0: a default.  The caller frees *transpose with
 * mo_transpose_free(), which accepts NULL. */
mo_status mo_transpose_new(size_t buffer_bytes, mo_transpose **transpose,
                           mo_error *err);
void mo_transpose_free(mo_transpose *transpose);

/* Sets the number of columns, before the first count. */
mo_status mo_transpose_columns(mo_transpose *transpose, int n, mo_error *err);

/* A row has a column once, so there are less than 2^32 entries in each. */
void mo_transpose_count(mo_transpose *transpose, int n, const int *columns);

mo_status mo_transpose_plan(mo_transpose *transpose, mo_error *err);
mo_status mo_transpose_add(mo_transpose *transpose, uint32_t row, int n,
                           const int *columns, const double *coefs,
                           mo_error *err);

/* Columns without entries are not visited; one with very many is visited
 * several times, with its next entries each time.  The arrays are borrowed for
 * the call. */
typedef void mo_transpose_visit(void *context, int column, size_t n,
                                const uint32_t *rows, const double *coefs);
mo_status mo_transpose_visit_columns(mo_transpose *transpose,
                                     mo_transpose_visit *visit, void *context,
                                     mo_error *err);

#endif
