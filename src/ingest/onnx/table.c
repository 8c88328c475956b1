/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of translators, by name. */
#include <stdlib.h>
#include <string.h>

#include "ingest/onnx/translate_internal.h"
#include "ingest/onnx/translators.h"

#define ROW(name, translator, argument, ...)                                   \
    { #name, mo_onnx_op_##translator, argument, { __VA_ARGS__ } },

static const mo_onnx_row own_rows[] = {
#define ONNX ROW
#include "ingest/onnx/operators.def"
};

static const mo_onnx_row runtime_rows[] = {
#define ONNX ROW
#include "ingest/onnx/onnxruntime.def"
};

static int compare_rows(const void *key, const void *row)
{
    return strcmp(key, ((const mo_onnx_row *) row)->op_type);
}

const mo_onnx_row *mo_onnx_find_row(const char *op_type, const char *domain)
{
    bool of_runtime = strcmp(domain, "com.microsoft") == 0;

    return !of_runtime && !mo_onnx_is_own_domain(domain)
               ? NULL
               : bsearch(op_type, of_runtime ? runtime_rows : own_rows,
                         of_runtime ? sizeof runtime_rows / sizeof *runtime_rows
                                    : sizeof own_rows / sizeof *own_rows,
                         sizeof *own_rows, compare_rows);
}
