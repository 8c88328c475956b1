/*
 * Epilogues.  The position of the element in out[0] is worked out once, as
 * "to"; operands that lie as out[0] does are read at the same place, and what
 * is repeated needs only the indices along which it is not.
 */
#include <stdio.h>

#include "exec/backend/cuda/code.h"

enum { INDEX_SIZE = 16 };

/* An epilogue being written. */
typedef struct epilogue {
    mo_code *code;
    const char *name;
    const mo_point *after; /* or NULL */
    const mo_desc *out;
    const mo_access *lies;
    int rank; /* at least 1 */
    int64_t extent[MO_MAX_RANK];
    bool wide; /* positions need 64 bits */
    char names[MO_MAX_RANK][INDEX_SIZE];
    const char *indices[MO_MAX_RANK];
} epilogue;

static bool is_wide(const epilogue *e)
{
    bool wide = mo_code_is_wide(e->lies, e->extent, e->rank);

    for (int i = 1; e->after && i < e->after->n_operands; i++)
        wide = wide || mo_code_is_wide(&e->after->operands[i].access, e->extent,
                                       e->rank);
    return wide;
}

static void begin(epilogue *e)
{
    e->rank = e->out->shape.rank > 0 ? e->out->shape.rank : 1;
    for (int d = 0; d < e->rank; d++)
        e->extent[d] = e->out->shape.rank > 0 ? e->out->shape.dims[d] : 1;
    e->wide = is_wide(e);
    for (int d = 0; d < e->rank; d++) {
        snprintf(e->names[d], INDEX_SIZE, e->wide ? "i%d" : "(int) i%d", d);
        e->indices[d] = e->names[d];
    }
}

/* Do both go the same way, wherever they begin? */
static bool lie_alike(const epilogue *e, const mo_access *a, const mo_access *b)
{
    for (int d = 0; d < e->rank; d++)
        if (e->extent[d] > 1 && a->stride[d] != b->stride[d])
            return false;
    return true;
}

static bool is_in_order(const epilogue *e)
{
    mo_access rows = mo_access_of(&e->out->shape);

    return lie_alike(e, e->lies, &rows);
}

static void add_place_of(const epilogue *e, const mo_access *access,
                         mo_code *texts)
{
    if (!lie_alike(e, access, e->lies))
        mo_code_access(texts, access, e->rank, e->indices, e->wide);
    else if (access->offset == e->lies->offset)
        mo_code_text(texts, "to");
    else
        mo_code_add(texts, "to + %lldLL",
                    (long long) (access->offset - e->lies->offset));
}

/* The expressions that mo_code_point wants, one after the other in texts, a
 * zero behind each. */
static void add_elements(const epilogue *e, mo_code *texts,
                         size_t starts[MO_POINT_MAX_OPERANDS])
{
    for (int i = 1; i < e->after->n_operands; i++) {
        const mo_point_operand *operand = &e->after->operands[i];

        starts[i] = texts->size;
        mo_code_add(texts, "((const %s *) p.pointers[%d])[",
                    mo_code_elem(operand->elem), i - 1);
        add_place_of(e, &operand->access, texts);
        mo_code_add(texts, "]%c", '\0');
    }
}

/* Finishes v and stores it at "to". */
static void add_body(const epilogue *e)
{
    const char *operands[MO_POINT_MAX_OPERANDS] = { NULL };
    size_t starts[MO_POINT_MAX_OPERANDS];
    char result[MO_CODE_RESULT_SIZE];
    mo_code texts = { 0 };

    if (!e->after) {
        mo_code_stored(e->out->elem, "v", result);
    } else {
        add_elements(e, &texts, starts);
        e->code->failed = e->code->failed || texts.failed;
        for (int i = 1; !texts.failed && i < e->after->n_operands; i++)
            operands[i] = texts.text + starts[i];
        mo_code_point(e->code, e->after, e->out->elem, operands, result);
    }
    mo_code_add(e->code, "out[to] = %s;\n", result);
    mo_code_clear(&texts);
}

static const char *register_type(mo_elem elem)
{
    return elem == MO_F64          ? "double"
           : mo_elem_is_real(elem) ? "float"
                                   : "long long";
}

static void add_rest_of_head(const epilogue *e)
{
    mo_code_add(e->code, "%s v, struct mo_extra p, %s *out)\n{\n",
                register_type(e->out->elem), mo_code_elem(e->out->elem));
}

static void add_place(const epilogue *e)
{
    mo_code_text(e->code, "const long long to = ");
    mo_code_access(e->code, e->lies, e->rank, e->indices, e->wide);
    mo_code_text(e->code, ";\n");
}

static void add_by_indices(const epilogue *e)
{
    mo_code_add(e->code, "MO_DEVICE void %s_at(", e->name);
    for (int d = 0; d < e->rank; d++)
        mo_code_add(e->code, "long long i%d, ", d);
    add_rest_of_head(e);
    add_place(e);
    add_body(e);
    mo_code_text(e->code, "}\n");
}

static void add_by_position(const epilogue *e)
{
    mo_code_add(e->code, "MO_DEVICE void %s(long long at, ", e->name);
    add_rest_of_head(e);
    mo_code_indices(e->code, "at", e->extent, e->rank);
    if (is_in_order(e))
        mo_code_add(e->code, "const long long to = at + %lldLL;\n",
                    (long long) e->lies->offset);
    else
        add_place(e);
    add_body(e);
    mo_code_text(e->code, "}\n");
}

void mo_code_epilogue(mo_code *code, const char *name, const mo_call *call,
                      const mo_desc *out, const mo_access *lies)
{
    epilogue e = { .code = code,
                   .name = name,
                   .after = call->after,
                   .out = out,
                   .lies = lies };

    begin(&e);
    mo_code_add(code,
                "#ifndef MO_EXTRA\n#define MO_EXTRA\n"
                "struct mo_extra { const void *pointers[%d]; };\n#endif\n",
                MO_POINT_MAX_OPERANDS);
    add_by_indices(&e);
    add_by_position(&e);
}

mo_code_extra mo_code_extra_of(const mo_call *call, const void *const *in)
{
    mo_code_extra extra = { { NULL } };

    for (int i = 1; call->after && i < call->after->n_operands; i++)
        extra.pointers[i - 1] = in[call->first_extra + i - 1];
    return extra;
}
