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
static bool reserve(mo_code *code, size_t size)
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

void mo_code_text(mo_code *code, const char *text)
{
    size_t size = strlen(text);

    if (!reserve(code, size))
        return;
    memcpy(code->text + code->size, text, size + 1);
    code->size += size;
}

void mo_code_add(mo_code *code, const char *format, ...)
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

mo_status mo_code_ready(const mo_code *code, mo_error *err)
{
    return code->failed || !code->text ? mo_fail_memory(err) : MO_OK;
}

void mo_code_clear(mo_code *code)
{
    free(code->text);
    *code = (mo_code){ 0 };
}

/* ---- types and numbers */

const char *mo_code_elem(mo_elem elem)
{
    static const char *const names[MO_ELEMS] = {
        [MO_F32] = "float",
        [MO_F64] = "double",
        [MO_F16] = "mo_f16",
        [MO_BF16] = "mo_bf16",
        [MO_I64] = "long long",
        [MO_I32] = "int",
        [MO_I16] = "short",
        [MO_I8] = "signed char",
        [MO_U64] = "unsigned long long",
        [MO_U32] = "unsigned",
        [MO_U16] = "unsigned short",
        [MO_U8] = "unsigned char",
        [MO_BOOL] = "unsigned char",
    };

    return names[elem];
}

const char *mo_code_bytes(int64_t bytes)
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

static void add_finite(mo_code *code, double x, bool wide)
{
    char digits[40];
    const char *point;

    snprintf(digits, sizeof digits, "%.*g", wide ? DOUBLE_DIGITS : FLOAT_DIGITS,
             x);
    point = strpbrk(digits, ".e") ? "" : ".0";
    mo_code_add(code, signbit(x) ? "(%s%s%s)" : "%s%s%s", digits, point,
                wide ? "" : "f");
}

void mo_code_real(mo_code *code, double x, bool wide)
{
    double value = wide ? x : (double) (float) x;

    if (isnan(value))
        mo_code_text(code, wide ? "MO_NAN_D" : "MO_NAN");
    else if (isinf(value))
        mo_code_add(code, "(%s%s)", value < 0 ? "-" : "",
                    wide ? "MO_INF_D" : "MO_INF");
    else
        add_finite(code, value, wide);
}

/* ---- positions */

bool mo_code_is_wide(const mo_access *access, const int64_t *extent, int rank)
{
    double reach = fabs((double) access->offset);

    for (int d = 0; d < rank; d++)
        reach += fabs((double) access->stride[d]) * (double) extent[d];
    return reach > INT_MAX;
}

static void add_term(mo_code *code, const char *index, int64_t stride,
                     bool wide)
{
    if (stride == 1)
        mo_code_add(code, wide ? "(long long) (%s)" : "%s", index);
    else
        mo_code_add(code, wide ? "%s * %lldLL" : "%s * %lld", index,
                    (long long) stride);
}

void mo_code_access(mo_code *code, const mo_access *access, int rank,
                    const char *const *indices, bool wide)
{
    const char *plus = "";

    for (int d = 0; d < rank; d++) {
        if (access->stride[d] == 0)
            continue;
        mo_code_text(code, plus);
        add_term(code, indices[d], access->stride[d], wide);
        plus = " + ";
    }
    if (access->offset != 0 || !*plus)
        mo_code_add(code, wide ? "%s%lldLL" : "%s%lld", plus,
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
static void add_index(mo_code *code, const char *type, int d, int64_t extent,
                      bool outermost)
{
    if (extent <= 1)
        mo_code_add(code, "const %s i%d = 0;\n", type, d);
    else if (outermost)
        mo_code_add(code, "const %s i%d = (%s) rest;\n", type, d, type);
    else
        mo_code_add(code,
                    "const %s i%d = (%s) (rest %% %lldu); rest /= %lldu;\n",
                    type, d, type, (long long) extent, (long long) extent);
}

void mo_code_indices(mo_code *code, const char *at, const int64_t *extent,
                     int rank)
{
    bool narrow = fits_int(extent, rank);
    const char *type = narrow ? "int" : "long long";
    const char *rest = narrow ? "unsigned" : "unsigned long long";
    int outermost = 0;

    while (outermost < rank && extent[outermost] <= 1)
        outermost++;
    mo_code_add(code, "%s rest = (%s) (%s);\n", rest, rest, at);
    for (int d = rank; d-- > 0;)
        add_index(code, type, d, extent[d], d == outermost);
    mo_code_text(code, "(void) rest;\n");
}

mo_code_extra mo_code_extra_of(const mo_call *call, const void *const *in)
{
    mo_code_extra extra = { { NULL } };

    for (int i = 1; call->after && i < call->after->n_operands; i++)
        extra.pointers[i - 1] = in[call->first_extra + i - 1];
    return extra;
}
