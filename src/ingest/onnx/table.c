/* SPDX-License-Identifier: Apache-2.0 */
/* The table of translators, by name. */
#include <stdlib.h>
#include <string.h>

#include "ingest/onnx/translators.h"

static const mo_onnx_row rows[] = {
#define ONNX(name, translator, argument, ...)                                  \
    { #name, mo_onnx_op_##translator, argument, { __VA_ARGS__ } },
#include "ingest/onnx/operators.def"
};

enum { N_ROWS = sizeof rows / sizeof *rows };

static int compare_rows(const void *key, const void *row)
{
    return strcmp(key, ((const mo_onnx_row *) row)->op_type);
}

const mo_onnx_row *mo_onnx_find_row(const char *op_type)
{
    return bsearch(op_type, rows, N_ROWS, sizeof *rows, compare_rows);
}
