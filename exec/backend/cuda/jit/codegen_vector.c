#include "exec/backend/cuda/jit/codegen_vector.h"

#include <limits.h>

static const char *register_type(mo_elem elem)
{
    return elem == MO_F64          ? "double"
           : mo_elem_is_real(elem) ? "float"
                                   : "long long";
}

static const char *load_of(mo_elem elem)
{
    switch (elem) {
    case MO_F16:
        return "mo_f16_load(x)";
    case MO_BF16:
        return "mo_bf16_load(x)";
    case MO_BOOL:
        return "x != 0";
    default:
        return "(R) x";
    }
}

/* What so many elements are moved in: words that compilers know as such, for a
 * struct of elements they take apart. */
static const char *word_of(mo_elem elem, int width, int *n)
{
    int bytes = (int) mo_elem_bytes(elem) * width;

    *n = bytes > MO_VECTOR_BYTES ? bytes / MO_VECTOR_BYTES : 1;
    if (width == 1)
        return mo_code_elem(elem);
    return mo_code_bytes(bytes);
}

void mo_code_vector(mo_code *code, mo_elem elem, int width, const char *name)
{
    int n;
    const char *word = word_of(elem, width, &n);

    mo_code_add(code, "typedef union { %s q[%d]; %s x[%d]; } %s;\n", word, n,
                mo_code_elem(elem), width, name);
}

void mo_code_move(mo_code *code, mo_elem elem, int width, const char *w,
                  const char *place, bool stores)
{
    int n;
    const char *word = word_of(elem, width, &n);

    for (int i = 0; i < n; i++)
        if (stores)
            mo_code_add(code, "((%s *) (%s))[%d] = %s.q[%d];\n", word, place, i,
                        w, i);
        else
            mo_code_add(code, "%s.q[%d] = ((const %s *) (%s))[%d];\n", w, i,
                        word, place, i);
}

void mo_code_types(mo_code *code, mo_elem elem, int width, int64_t elements)
{
    mo_code_add(code,
                "typedef %s T;\ntypedef %s R;\ntypedef %s PLACE;\n"
                "#define WIDTH %d\n"
                "MO_DEVICE R load(T x) { return %s; }\n",
                mo_code_elem(elem), register_type(elem),
                elements <= INT_MAX / 2 ? "int" : "long long", width,
                load_of(elem));
    mo_code_text(code, elem == MO_F64 ? "#define MATH(name) name\n"
                                        "#define SHUFFLE_XOR mo_shfl_xor_d\n"
                                      : "#define MATH(name) name##f\n"
                                        "#define SHUFFLE_XOR mo_shfl_xor_f\n");
    mo_code_vector(code, elem, width, "WIDE");
    mo_code_text(code, "MO_DEVICE WIDE read_wide(const T *from)\n{\nWIDE w;\n");
    mo_code_move(code, elem, width, "w", "from", false);
    mo_code_text(code, "return w;\n}\n");
}
