#include "exec/backend/cuda/finish.h"

#include <limits.h>
#include <stdio.h>

enum { VECTOR_BYTES = 16, EXPRESSION_SIZE = 32 };

/* ------------------------------------------------------------------ types --
 */

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

    *n = bytes > VECTOR_BYTES ? bytes / VECTOR_BYTES : 1;
    if (width == 1)
        return mo_code_elem(elem);
    switch (bytes) {
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

/* Elements x and words q, called name. */
static void add_vector(mo_code *code, mo_elem elem, int width, const char *name)
{
    int n;
    const char *word = word_of(elem, width, &n);

    mo_code_add(code, "typedef union { %s q[%d]; %s x[%d]; } %s;\n", word, n,
                mo_code_elem(elem), width, name);
}

/* Moves a vector called w from or to the elements at place. */
static void add_move(mo_code *code, mo_elem elem, int width, const char *w,
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
    add_vector(code, elem, width, "WIDE");
    mo_code_text(code, "MO_DEVICE WIDE read_wide(const T *from)\n{\nWIDE w;\n");
    add_move(code, elem, width, "w", "from", false);
    mo_code_text(code, "return w;\n}\n");
}

/* ---------------------------------------------------------------- finish -- */

/* The dimensions of a result in the order they have in memory. */
typedef struct order {
    int n;
    int dims[MO_MAX_RANK];
    int64_t extent[MO_MAX_RANK];
    int place[MO_MAX_RANK]; /* of a dimension in dims, or -1 */
} order;

static order order_of(const mo_call *call, const mo_desc *out)
{
    const mo_shape *shape = &out->shape;
    mo_access lies = call->after ? call->after->out : mo_access_of(shape);
    order o = { 0 };

    for (int d = 0; d < shape->rank; d++) {
        int at = o.n;

        o.place[d] = -1;
        if (shape->dims[d] == 1)
            continue;
        for (; at > 0 && lies.stride[o.dims[at - 1]] < lies.stride[d]; at--)
            o.dims[at] = o.dims[at - 1];
        o.dims[at] = d;
        o.n++;
    }
    for (int i = 0; i < o.n; i++) {
        o.extent[i] = shape->dims[o.dims[i]];
        o.place[o.dims[i]] = i;
    }
    return o;
}

int mo_cuda_finish_width(const mo_call *call, const mo_desc *out, int64_t count)
{
    order o = order_of(call, out);
    int width = VECTOR_BYTES / (int) mo_elem_bytes(out->elem);
    int64_t inner = call->after && o.n > 0 ? o.extent[o.n - 1] : count;

    while (width > 1 && (count % width != 0 || inner % width != 0))
        width /= 2;
    return width;
}

/* How an operand is read for several neighbours of the result. */
typedef enum reading {
    READ_ONCE, /* all see the same element */
    READ_WIDE, /* its elements are neighbours, too */
    READ_EACH  /* as it comes */
} reading;

static int64_t inner_stride(const mo_access *access, const order *o)
{
    return o->n > 0 ? access->stride[o->dims[o->n - 1]] : 0;
}

static reading reading_of(const mo_access *access, const order *o, int width)
{
    if (inner_stride(access, o) == 0)
        return READ_ONCE;
    if (inner_stride(access, o) != 1 || access->offset % width != 0)
        return READ_EACH;
    for (int i = 0; i < o->n - 1; i++)
        if (access->stride[o->dims[i]] % width != 0)
            return READ_EACH;
    return width > 1 ? READ_WIDE : READ_EACH;
}

/* "q1": where operand i of the first neighbour is. */
static void add_pointer(mo_code *code, const mo_point *after, int i,
                        const mo_desc *out, const order *o)
{
    const mo_point_operand *operand = &after->operands[i];
    const char *indices[MO_MAX_RANK];
    char names[MO_MAX_RANK][EXPRESSION_SIZE];

    for (int d = 0; d < out->shape.rank; d++) {
        snprintf(names[d], sizeof names[d], "i%d", o->place[d]);
        indices[d] = o->place[d] < 0 ? "0" : names[d];
    }
    mo_code_add(code, "const %s *q%d = (const %s *) p.pointers[%d] + (",
                mo_code_elem(operand->elem), i, mo_code_elem(operand->elem),
                i - 1);
    mo_code_access(
        code, &operand->access, out->shape.rank, indices,
        mo_code_is_wide(&operand->access, out->shape.dims, out->shape.rank));
    mo_code_text(code, ");\n");
}

/* Loads what is loaded once; the operand of neighbour i is then the expression
 * that is written. */
static void add_reading(mo_code *code, const mo_point *after, int i,
                        const order *o, int width,
                        char expression[EXPRESSION_SIZE])
{
    const mo_point_operand *operand = &after->operands[i];
    const char *type = mo_code_elem(operand->elem);
    char place[EXPRESSION_SIZE];

    switch (reading_of(&operand->access, o, width)) {
    case READ_ONCE:
        mo_code_add(code, "const %s w%d = *q%d;\n", type, i, i);
        snprintf(expression, EXPRESSION_SIZE, "w%d", i);
        break;
    case READ_WIDE:
        snprintf(expression, EXPRESSION_SIZE, "wide%d", i);
        add_vector(code, operand->elem, width, expression);
        mo_code_add(code, "wide%d w%d;\n", i, i);
        snprintf(expression, EXPRESSION_SIZE, "w%d", i);
        snprintf(place, sizeof place, "q%d", i);
        add_move(code, operand->elem, width, expression, place, false);
        snprintf(expression, EXPRESSION_SIZE, "w%d.x[i]", i);
        break;
    default:
        snprintf(expression, EXPRESSION_SIZE, "q%d[i * %lld]", i,
                 (long long) inner_stride(&operand->access, o));
    }
}

/* For neighbours i of u[i]: makes w.x[i]. */
static void add_program(mo_code *code, const mo_call *call, const mo_desc *out,
                        const order *o, int width)
{
    const mo_point *after = call->after;
    char expressions[MO_POINT_MAX_OPERANDS][EXPRESSION_SIZE];
    const char *operands[MO_POINT_MAX_OPERANDS] = { NULL };
    char result[MO_CODE_RESULT_SIZE];

    mo_code_indices(code, "to", o->extent, o->n);
    for (int i = 1; i < after->n_operands; i++) {
        add_pointer(code, after, i, out, o);
        add_reading(code, after, i, o, width, expressions[i]);
        operands[i] = expressions[i];
    }
    mo_code_add(code,
                "#pragma unroll\n"
                "for (int i = 0; i < %d; i++) {\n"
                "const R v = %su[i];\n",
                width, mo_elem_is_real(out->elem) ? "" : "(T) ");
    mo_code_point(code, after, out->elem, operands, result);
    mo_code_add(code, "w.x[i] = %s;\n}\n", result);
}

static void add_conversion(mo_code *code, const mo_desc *out, int width)
{
    char result[MO_CODE_RESULT_SIZE];

    mo_code_stored(out->elem, "u[i]", result);
    mo_code_add(code,
                "#pragma unroll\n"
                "for (int i = 0; i < %d; i++)\n"
                "w.x[i] = %s;\n",
                width, result);
}

static void add_finish(mo_code *code, const mo_call *call, const mo_desc *out,
                       int width, const char *name)
{
    order o = order_of(call, out);

    mo_code_add(code,
                "MO_DEVICE void %s(PLACE to, const R *u, struct mo_extra p, "
                "T *out)\n{\n",
                name);
    add_vector(code, out->elem, width, "whole");
    mo_code_text(code, "whole w;\n");
    if (call->after)
        add_program(code, call, out, &o, width);
    else
        add_conversion(code, out, width);
    add_move(code, out->elem, width, "w", "out + to", true);
    mo_code_text(code, "}\n");
}

void mo_code_finish(mo_code *code, const mo_call *call, const mo_desc *out,
                    int width)
{
    mo_code_add(code,
                "#ifndef MO_EXTRA\n#define MO_EXTRA\n"
                "struct mo_extra { const void *pointers[%d]; };\n#endif\n",
                MO_POINT_MAX_OPERANDS);
    add_finish(code, call, out, width, "finish");
    add_finish(code, call, out, 1, "finish1");
}
