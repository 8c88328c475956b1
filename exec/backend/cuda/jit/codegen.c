/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/jit/codegen.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Reserves room for size more bytes and a terminating 0. */
static bool reserve_text(mo_cuda_source *code, size_t size)
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

    if (!reserve_text(code, size))
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
    else if (reserve_text(code, (size_t) size)) {
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

mo_status mo_cuda_jit_request_source(mo_backend_unit *unit,
                                     mo_cuda_source *code, const char *name,
                                     mo_cuda_function **function, mo_error *err)
{
    mo_status status = mo_cuda_source_check(code, err);

    if (status == MO_OK)
        status = mo_cuda_jit_request(unit, code->text, name, function, err);
    mo_cuda_source_clear(code);
    return status;
}

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

const char *mo_cuda_elem_to_float(mo_elem elem)
{
    return elem == MO_ELEM_F16    ? "mo_f16_load"
           : elem == MO_ELEM_BF16 ? "mo_bf16_load"
                                  : "(float)";
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

/* Digits after which a number reads back exactly. */
enum { FLOAT_DIGITS = 9, DOUBLE_DIGITS = 17 };

void mo_cuda_emit_real(mo_cuda_source *code, double x, bool wide)
{
    double value = wide ? x : (double) (float) x;

    if (isnan(value))
        mo_cuda_source_append(code, wide ? "MO_NAN_D" : "MO_NAN");
    else if (isinf(value))
        mo_cuda_source_printf(code, "(%s%s)", value < 0 ? "-" : "",
                              wide ? "MO_INF_D" : "MO_INF");
    else {
        char digits[40];
        const char *point;

        snprintf(digits, sizeof digits, "%.*g",
                 wide ? DOUBLE_DIGITS : FLOAT_DIGITS, value);
        point = strpbrk(digits, ".e") ? "" : ".0";
        mo_cuda_source_printf(code, signbit(value) ? "(%s%s%s)" : "%s%s%s",
                              digits, point, wide ? "" : "f");
    }
}

bool mo_cuda_needs_64bit_offsets(const mo_point_access *access,
                                 const int64_t *extent, int rank)
{
    double reach = fabs((double) access->offset);

    for (int d = 0; d < rank; d++)
        reach += fabs((double) access->stride[d]) * (double) extent[d];
    return reach > INT_MAX;
}

void mo_cuda_emit_access(mo_cuda_source *code, const mo_point_access *access,
                         int rank, const char *const *indices, bool wide)
{
    const char *plus = "";

    for (int d = 0; d < rank; d++) {
        if (access->stride[d] == 0)
            continue;
        mo_cuda_source_append(code, plus);
        if (access->stride[d] == 1)
            mo_cuda_source_printf(code, wide ? "(long long) (%s)" : "%s",
                                  indices[d]);
        else
            mo_cuda_source_printf(code, wide ? "%s * %lldLL" : "%s * %lld",
                                  indices[d], (long long) access->stride[d]);
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
    /* One index after the other, and the quotient for the dimensions outside of
     * it, of which the outermost has none. Division by constants is cheapest
     * for unsigned operands. */
    for (int d = rank; d-- > 0;) {
        if (extent[d] <= 1)
            mo_cuda_source_printf(code, "const %s i%d = 0;\n", type, d);
        else if (d == outermost)
            mo_cuda_source_printf(code, "const %s i%d = (%s) rest;\n", type, d,
                                  type);
        else
            mo_cuda_source_printf(
                code, "const %s i%d = (%s) (rest %% %lldu); rest /= %lldu;\n",
                type, d, type, (long long) extent[d], (long long) extent[d]);
    }
    mo_cuda_source_append(code, "(void) rest;\n");
}

void mo_cuda_emit_offset_function(mo_cuda_source *code, const char *name,
                                  const int64_t *extent, const int64_t *stride,
                                  int n)
{
    mo_cuda_source_printf(code, "MO_DEVICE PLACE %s(PLACE at)\n{\n", name);
    if (n > 1)
        mo_cuda_emit_indices(code, "at", extent, n);
    else
        mo_cuda_source_append(code, "const PLACE i0 = at;\n");
    mo_cuda_source_append(code, "return 0");
    for (int i = 0; i < n; i++)
        mo_cuda_source_printf(code, " + (PLACE) i%d * (PLACE) %lldLL", i,
                              (long long) stride[i]);
    mo_cuda_source_append(code, ";\n}\n");
}

static const char *load_expr(mo_elem elem)
{
    switch (elem) {
    case MO_ELEM_F16:
        return "mo_f16_load(x)";
    case MO_ELEM_BF16:
        return "mo_bf16_load(x)";
    case MO_ELEM_BOOL:
        return "x != 0";
    default:
        return "(R) x";
    }
}

/* The built-in vector type of a vector access: compilers split the copy of a
 * struct of elements into single accesses. */
static const char *vector_word(mo_elem elem, int width, int *n)
{
    int bytes = (int) mo_elem_size(elem) * width;

    *n = bytes > MO_CUDA_VECTOR_BYTES ? bytes / MO_CUDA_VECTOR_BYTES : 1;
    if (width == 1)
        return mo_cuda_elem_type_name(elem);
    return mo_cuda_bytes_type_name(bytes);
}

void mo_cuda_emit_vector_type(mo_cuda_source *code, mo_elem elem, int width,
                              const char *name)
{
    int n;
    const char *word = vector_word(elem, width, &n);

    mo_cuda_source_printf(code, "typedef union { %s q[%d]; %s x[%d]; } %s;\n",
                          word, n, mo_cuda_elem_type_name(elem), width, name);
}

void mo_cuda_emit_vector_move(mo_cuda_source *code, mo_elem elem, int width,
                              const char *w, const char *place, bool stores)
{
    int n;
    const char *word = vector_word(elem, width, &n);

    for (int i = 0; i < n; i++)
        if (stores)
            mo_cuda_source_printf(code, "((%s *) (%s))[%d] = %s.q[%d];\n", word,
                                  place, i, w, i);
        else
            mo_cuda_source_printf(code, "%s.q[%d] = ((const %s *) (%s))[%d];\n",
                                  w, i, word, place, i);
}

void mo_cuda_emit_types(mo_cuda_source *code, mo_elem elem, int width,
                        int64_t elements)
{
    mo_cuda_source_printf(code,
                          "typedef %s T;\ntypedef %s R;\ntypedef %s PLACE;\n"
                          "#define WIDTH %d\n"
                          "MO_DEVICE R load(T x) { return %s; }\n",
                          mo_cuda_elem_type_name(elem),
                          elem == MO_ELEM_F64      ? "double"
                          : mo_elem_is_float(elem) ? "float"
                                                   : "long long",
                          elements <= INT_MAX / 2 ? "int" : "long long", width,
                          load_expr(elem));
    mo_cuda_source_append(code, elem == MO_ELEM_F64
                                    ? "#define MATH(name) name\n"
                                      "#define SHUFFLE_XOR mo_shfl_xor_d\n"
                                    : "#define MATH(name) name##f\n"
                                      "#define SHUFFLE_XOR mo_shfl_xor_f\n");
    mo_cuda_emit_vector_type(code, elem, width, "WIDE");
    mo_cuda_source_append(
        code, "MO_DEVICE WIDE read_wide(const T *from)\n{\nWIDE w;\n");
    mo_cuda_emit_vector_move(code, elem, width, "w", "from", false);
    mo_cuda_source_append(code, "return w;\n}\n");
}

void mo_cuda_emit_window(mo_cuda_source *code, const mo_call_window *s)
{
    for (int d = 0; d < MO_CALL_MAX_SPATIAL; d++)
        mo_cuda_source_printf(
            code,
            "#define I%d ((PLACE) %lld)\n#define O%d ((PLACE) %lld)\n"
            "#define K%d ((PLACE) %lld)\n#define S%d ((PLACE) %lld)\n"
            "#define D%d ((PLACE) %lld)\n#define P%d ((PLACE) %lld)\n",
            d, (long long) s->in[d], d, (long long) s->out[d], d,
            (long long) s->kernel[d], d, (long long) s->stride[d], d,
            (long long) s->dilation[d], d, (long long) s->pad_begin[d]);
    mo_cuda_source_append(code,
                          "#define I (I0 * I1 * I2)\n#define O (O0 * O1 * O2)\n"
                          "#define TAPS (K0 * K1 * K2)\n");
}

int64_t mo_cuda_window_max_index(const mo_call_window *s, int64_t elements)
{
    double most = (double) elements;

    for (int d = 0; d < MO_CALL_MAX_SPATIAL; d++) {
        double far = ((double) s->out[d] + 1) * (double) s->stride[d] +
                     (double) s->pad_begin[d] + (double) s->in[d] +
                     (double) s->pad_end[d] +
                     (double) s->kernel[d] * (double) s->dilation[d];

        most = far > most ? far : most;
    }
    return most < (double) INT_MAX ? (int64_t) most : INT64_MAX;
}

void mo_cuda_emit_grid_stride_loop(mo_cuda_source *code, int64_t count)
{
    const char *type = count > INT32_MAX ? "unsigned long long" : "unsigned";

    mo_cuda_source_printf(
        code,
        "for (%s t = (%s) blockIdx.x * %du + threadIdx.x; t < %lldu; "
        "t += (%s) gridDim.x * %du) {\n",
        type, type, MO_CUDA_GRID_STRIDE_THREADS, (long long) count, type,
        MO_CUDA_GRID_STRIDE_THREADS);
}

mo_cuda_grid mo_cuda_grid_stride_grid(const mo_backend_unit *unit,
                                      int64_t count)
{
    enum { THREADS_ON_SM = 2048, TURNS = 2 };
    int64_t most = (int64_t) unit->sms *
                   (THREADS_ON_SM / MO_CUDA_GRID_STRIDE_THREADS) * TURNS;
    int64_t blocks =
        (count + MO_CUDA_GRID_STRIDE_THREADS - 1) / MO_CUDA_GRID_STRIDE_THREADS;

    if (blocks > most)
        blocks = most;
    return (mo_cuda_grid){ .blocks = { (unsigned) blocks, 1, 1 },
                           .threads = { MO_CUDA_GRID_STRIDE_THREADS, 1, 1 } };
}

mo_cuda_epilogue_inputs mo_cuda_epilogue_inputs_of(const mo_call *call,
                                                   const void *const *in)
{
    mo_cuda_epilogue_inputs extra = { { NULL } };

    for (int i = 1; call->after && i < call->after->n_operands; i++)
        extra.pointers[i - 1] = in[call->first_extra + i - 1];
    return extra;
}
