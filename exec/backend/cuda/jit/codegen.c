/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/jit/codegen.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* ---- growing */

/* Room for size more bytes and the zero behind them. */
static bool reserve(mo_cuda_source *code, size_t size)
{
    void *text = code->text;
    size_t need;

    if (code->failed)
        return false;
    if (!mo_size_add(code->size, size, &need) || !mo_size_add(need, 1, &need) ||
        mo_array_reserve(&text, &code->room, need, 1, NULL) != MO_OK) {
        code->failed = true;
        return false;
    }
    code->text = text;
    return true;
}

void mo_cuda_source_append(mo_cuda_source *code, const char *text)
{
    size_t size = strlen(text);

    if (!reserve(code, size))
        return;
    memcpy(code->text + code->size, text, size + 1);
    code->size += size;
}

void mo_cuda_source_printf(mo_cuda_source *code, const char *format, ...)
{
    va_list args, again;
    int size;

    va_start(args, format);
    va_copy(again, args);
    size = vsnprintf(NULL, 0, format, args);
    if (size < 0)
        code->failed = true;
    else if (reserve(code, (size_t) size)) {
        vsnprintf(code->text + code->size, (size_t) size + 1, format, again);
        code->size += (size_t) size;
    }
    va_end(again);
    va_end(args);
}

mo_status mo_cuda_source_check(const mo_cuda_source *code, mo_error *err)
{
    return code->failed || !code->text ? mo_fail_memory(err) : MO_OK;
}

void mo_cuda_source_clear(mo_cuda_source *code)
{
    free(code->text);
    *code = (mo_cuda_source){ 0 };
}

/* ---- types and numbers */

const char *mo_cuda_elem_type_name(mo_elem elem)
{
    static const char *const names[MO_ELEM_COUNT] = {
        [MO_ELEM_F32] = "float",
        [MO_ELEM_F64] = "double",
        [MO_ELEM_F16] = "mo_f16",
        [MO_ELEM_BF16] = "mo_bf16",
        [MO_ELEM_I64] = "long long",
        [MO_ELEM_I32] = "int",
        [MO_ELEM_I16] = "short",
        [MO_ELEM_I8] = "signed char",
        [MO_ELEM_U64] = "unsigned long long",
        [MO_ELEM_U32] = "unsigned",
        [MO_ELEM_U16] = "unsigned short",
        [MO_ELEM_U8] = "unsigned char",
        [MO_ELEM_BOOL] = "unsigned char",
    };

    return names[elem];
}

const char *mo_cuda_bytes_type_name(int64_t bytes)
{
    switch (bytes) {
    case 1:
        return "unsigned char";
    case 2:
        return "unsigned short";
    case 4:
        return "unsigned";
    case 8:
        return "uint2";
    default:
        return "uint4";
    }
}

/* With so many digits a number comes back as it was. */
enum { FLOAT_DIGITS = 9, DOUBLE_DIGITS = 17 };

static void add_finite(mo_cuda_source *code, double x, bool wide)
{
    char digits[40];
    const char *point;

    snprintf(digits, sizeof digits, "%.*g", wide ? DOUBLE_DIGITS : FLOAT_DIGITS,
             x);
    point = strpbrk(digits, ".e") ? "" : ".0";
    mo_cuda_source_printf(code, signbit(x) ? "(%s%s%s)" : "%s%s%s", digits,
                          point, wide ? "" : "f");
}

void mo_cuda_emit_real(mo_cuda_source *code, double x, bool wide)
{
    double value = wide ? x : (double) (float) x;

    if (isnan(value))
        mo_cuda_source_append(code, wide ? "MO_NAN_D" : "MO_NAN");
    else if (isinf(value))
        mo_cuda_source_printf(code, "(%s%s)", value < 0 ? "-" : "",
                              wide ? "MO_INF_D" : "MO_INF");
    else
        add_finite(code, value, wide);
}

/* ---- positions */

bool mo_cuda_needs_64bit_offsets(const mo_point_access *access,
                                 const int64_t *extent, int rank)
{
    double reach = fabs((double) access->offset);

    for (int d = 0; d < rank; d++)
        reach += fabs((double) access->stride[d]) * (double) extent[d];
    return reach > INT_MAX;
}

static void add_term(mo_cuda_source *code, const char *index, int64_t stride,
                     bool wide)
{
    if (stride == 1)
        mo_cuda_source_printf(code, wide ? "(long long) (%s)" : "%s", index);
    else
        mo_cuda_source_printf(code, wide ? "%s * %lldLL" : "%s * %lld", index,
                              (long long) stride);
}

void mo_cuda_emit_access(mo_cuda_source *code, const mo_point_access *access,
                         int rank, const char *const *indices, bool wide)
{
    const char *plus = "";

    for (int d = 0; d < rank; d++) {
        if (access->stride[d] == 0)
            continue;
        mo_cuda_source_append(code, plus);
        add_term(code, indices[d], access->stride[d], wide);
        plus = " + ";
    }
    if (access->offset != 0 || !*plus)
        mo_cuda_source_printf(code, wide ? "%s%lldLL" : "%s%lld", plus,
                              (long long) access->offset);
}

static bool fits_int(const int64_t *extent, int rank)
{
    int64_t count = 1;

    for (int d = 0; d < rank; d++)
        if (!mo_int64_mul(count, extent[d], &count))
            return false;
    return count <= INT_MAX;
}

/* One index, and what is left for those farther out: of the outermost there is
 * nothing.  Division by constants is cheapest without a sign. */
static void add_index(mo_cuda_source *code, const char *type, int d,
                      int64_t extent, bool outermost)
{
    if (extent <= 1)
        mo_cuda_source_printf(code, "const %s i%d = 0;\n", type, d);
    else if (outermost)
        mo_cuda_source_printf(code, "const %s i%d = (%s) rest;\n", type, d,
                              type);
    else
        mo_cuda_source_printf(
            code, "const %s i%d = (%s) (rest %% %lldu); rest /= %lldu;\n", type,
            d, type, (long long) extent, (long long) extent);
}

void mo_cuda_emit_indices(mo_cuda_source *code, const char *at,
                          const int64_t *extent, int rank)
{
    bool narrow = fits_int(extent, rank);
    const char *type = narrow ? "int" : "long long";
    const char *rest = narrow ? "unsigned" : "unsigned long long";
    int outermost = 0;

    while (outermost < rank && extent[outermost] <= 1)
        outermost++;
    mo_cuda_source_printf(code, "%s rest = (%s) (%s);\n", rest, rest, at);
    for (int d = rank; d-- > 0;)
        add_index(code, type, d, extent[d], d == outermost);
    mo_cuda_source_append(code, "(void) rest;\n");
}

mo_cuda_epilogue_inputs mo_cuda_epilogue_inputs_of(const mo_call *call,
                                                   const void *const *in)
{
    mo_cuda_epilogue_inputs extra = { { NULL } };

    for (int i = 1; call->after && i < call->after->n_operands; i++)
        extra.pointers[i - 1] = in[call->first_extra + i - 1];
    return extra;
}
