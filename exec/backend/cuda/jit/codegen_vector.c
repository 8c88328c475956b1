/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/jit/codegen_vector.h"

#include <limits.h>

static const char *register_type(mo_elem elem)
{
    return elem == MO_ELEM_F64      ? "double"
           : mo_elem_is_float(elem) ? "float"
                                    : "long long";
}

static const char *load_of(mo_elem elem)
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

/* What so many elements are moved in: words that compilers know as such, for a
 * struct of elements they take apart. */
static const char *word_of(mo_elem elem, int width, int *n)
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
    const char *word = word_of(elem, width, &n);

    mo_cuda_source_printf(code, "typedef union { %s q[%d]; %s x[%d]; } %s;\n",
                          word, n, mo_cuda_elem_type_name(elem), width, name);
}

void mo_cuda_emit_vector_move(mo_cuda_source *code, mo_elem elem, int width,
                              const char *w, const char *place, bool stores)
{
    int n;
    const char *word = word_of(elem, width, &n);

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
                          mo_cuda_elem_type_name(elem), register_type(elem),
                          elements <= INT_MAX / 2 ? "int" : "long long", width,
                          load_of(elem));
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
