/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/jit/codegen_epilogue.h"

#include <stdio.h>

enum { EXPRESSION_SIZE = 32 };

/* The dimensions of a result in memory order, outermost first. */
typedef struct dim_order {
    int n;
    int dims[MO_MAX_RANK];
    int64_t extent[MO_MAX_RANK];
    int place[MO_MAX_RANK]; /* index in dims, or -1 */
} dim_order;

static dim_order memory_order(const mo_call *call, const mo_tensor_desc *out)
{
    const mo_shape *shape = &out->shape;
    mo_point_access lies =
        call->after ? call->after->out : mo_point_access_dense(shape);
    dim_order o = { 0 };

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

int mo_cuda_epilogue_vector_width(const mo_call *call,
                                  const mo_tensor_desc *out, int64_t count)
{
    dim_order o = memory_order(call, out);
    int width = MO_CUDA_VECTOR_BYTES / (int) mo_elem_size(out->elem);
    int64_t inner = call->after && o.n > 0 ? o.extent[o.n - 1] : count;

    while (width > 1 && (count % width != 0 || inner % width != 0))
        width /= 2;
    return width;
}

/* How an operand is loaded for a vector of neighbours of the result. */
typedef enum load_kind {
    READ_ONCE, /* one element for all */
    READ_WIDE, /* a vector */
    READ_EACH  /* element by element */
} load_kind;

static int64_t inner_stride(const mo_point_access *access, const dim_order *o)
{
    return o->n > 0 ? access->stride[o->dims[o->n - 1]] : 0;
}

/* A set of functions for vectors of width elements; their names end in
 * suffix. */
typedef struct epilogue_code {
    mo_cuda_source *code;
    const mo_call *call;
    const mo_backend_operand *in; /* NULL: no operand is known to be constant */
    const mo_tensor_desc *out;
    dim_order dim_order;
    int width;
    const char *suffix;
} epilogue_code;

static const mo_point_operand *operand_of(const epilogue_code *e, int i)
{
    return &e->call->after->operands[i];
}

static int count_operands(const epilogue_code *e)
{
    return e->call->after ? e->call->after->n_operands : 1;
}

static load_kind operand_load_kind(const epilogue_code *e, int i)
{
    const mo_point_access *access = &operand_of(e, i)->access;
    const dim_order *o = &e->dim_order;

    if (inner_stride(access, o) == 0)
        return READ_ONCE;
    if (inner_stride(access, o) != 1 || access->offset % e->width != 0)
        return READ_EACH;
    for (int d = 0; d < o->n - 1; d++)
        if (access->stride[o->dims[d]] % e->width != 0)
            return READ_EACH;
    return e->width > 1 ? READ_WIDE : READ_EACH;
}

/* "q1": the address of operand i for the first neighbour. */
static void emit_pointer(const epilogue_code *e, int i)
{
    const mo_point_operand *operand = operand_of(e, i);
    const mo_shape *shape = &e->out->shape;
    const char *indices[MO_MAX_RANK],
        *type = mo_cuda_elem_type_name(operand->elem);
    char names[MO_MAX_RANK][EXPRESSION_SIZE];

    for (int d = 0; d < shape->rank; d++) {
        snprintf(names[d], sizeof names[d], "i%d", e->dim_order.place[d]);
        indices[d] = e->dim_order.place[d] < 0 ? "0" : names[d];
    }
    mo_cuda_source_printf(e->code,
                          "const %s *q%d = (const %s *) p.pointers[%d] + (",
                          type, i, type, i - 1);
    mo_cuda_emit_access(e->code, &operand->access, shape->rank, indices,
                        mo_cuda_needs_64bit_offsets(&operand->access,
                                                    shape->dims, shape->rank));
    mo_cuda_source_append(e->code, ");\n");
}

/* Loads operands that are constant, or those that are not. */
static void emit_prefetch(const epilogue_code *e, const char *name,
                          bool constant)
{
    mo_cuda_source_printf(
        e->code,
        "MO_DEVICE void %s%s(PLACE to, struct mo_extra p, FINISH_READ%s "
        "*r)\n{\n",
        name, e->suffix, e->suffix);
    mo_cuda_emit_indices(e->code, "to", e->dim_order.extent, e->dim_order.n);
    for (int i = 1; i < count_operands(e); i++)
        if (operand_load_kind(e, i) != READ_EACH &&
            (e->in && e->in[e->call->first_extra + i - 1].constant) ==
                constant) {
            char w[EXPRESSION_SIZE], q[EXPRESSION_SIZE];

            emit_pointer(e, i);
            snprintf(w, sizeof w, "r->w%d", i);
            snprintf(q, sizeof q, "q%d", i);
            if (operand_load_kind(e, i) == READ_ONCE)
                mo_cuda_source_printf(e->code, "%s = *%s;\n", w, q);
            else
                mo_cuda_emit_vector_move(e->code, operand_of(e, i)->elem,
                                         e->width, w, q, false);
        }
    mo_cuda_source_append(e->code, "}\n");
}

/* For neighbours i of u[i]: computes w.x[i]. */
static void emit_program(const epilogue_code *e)
{
    char expressions[MO_POINT_MAX_OPERANDS][EXPRESSION_SIZE];
    const char *operands[MO_POINT_MAX_OPERANDS] = { NULL };
    char result[MO_CUDA_EXPR_SIZE];

    mo_cuda_emit_indices(e->code, "to", e->dim_order.extent, e->dim_order.n);
    for (int i = 1; i < count_operands(e); i++) {
        switch (operand_load_kind(e, i)) {
        case READ_ONCE:
            snprintf(expressions[i], EXPRESSION_SIZE, "r->w%d", i);
            break;
        case READ_WIDE:
            snprintf(expressions[i], EXPRESSION_SIZE, "r->w%d.x[i]", i);
            break;
        default:
            emit_pointer(e, i);
            snprintf(expressions[i], EXPRESSION_SIZE, "q%d[i * %lld]", i,
                     (long long) inner_stride(&operand_of(e, i)->access,
                                              &e->dim_order));
        }
        operands[i] = expressions[i];
    }
    mo_cuda_source_printf(e->code,
                          "#pragma unroll\n"
                          "for (int i = 0; i < %d; i++) {\n"
                          "const R v = %su[i];\n",
                          e->width,
                          mo_elem_is_float(e->out->elem) ? "" : "(T) ");
    mo_cuda_emit_point_steps(e->code, e->call->after, e->out->elem, operands,
                             result);
    mo_cuda_source_printf(e->code, "w.x[i] = %s;\n}\n", result);
}

static void emit_functions(const epilogue_code *e)
{
    char name[EXPRESSION_SIZE];

    for (int i = 1; i < count_operands(e); i++) {
        snprintf(name, sizeof name, "finish_wide%d%s", i, e->suffix);
        if (operand_load_kind(e, i) == READ_WIDE)
            mo_cuda_emit_vector_type(e->code, operand_of(e, i)->elem, e->width,
                                     name);
    }
    mo_cuda_source_append(e->code, "typedef struct {\nchar nothing;\n");
    for (int i = 1; i < count_operands(e); i++)
        if (operand_load_kind(e, i) == READ_ONCE)
            mo_cuda_source_printf(
                e->code, "%s w%d;\n",
                mo_cuda_elem_type_name(operand_of(e, i)->elem), i);
        else if (operand_load_kind(e, i) == READ_WIDE)
            mo_cuda_source_printf(e->code, "finish_wide%d%s w%d;\n", i,
                                  e->suffix, i);
    mo_cuda_source_printf(e->code, "} FINISH_READ%s;\n", e->suffix);
    emit_prefetch(e, "finish_load_constants", true);
    emit_prefetch(e, "finish_read", false);
    mo_cuda_source_printf(
        e->code,
        "MO_DEVICE void finish_with%s(PLACE to, const R *u, "
        "const FINISH_READ%s *r, struct mo_extra p, T *out)\n{\n",
        e->suffix, e->suffix);
    mo_cuda_emit_vector_type(e->code, e->out->elem, e->width, "whole");
    mo_cuda_source_append(e->code, "whole w;\n");
    if (e->call->after)
        emit_program(e);
    else {
        char result[MO_CUDA_EXPR_SIZE];

        mo_cuda_stored_expr(e->out->elem, "u[i]", result);
        mo_cuda_source_printf(e->code,
                              "#pragma unroll\n"
                              "for (int i = 0; i < %d; i++)\n"
                              "w.x[i] = %s;\n",
                              e->width, result);
    }
    mo_cuda_emit_vector_move(e->code, e->out->elem, e->width, "w", "out + to",
                             true);
    mo_cuda_source_append(e->code, "}\n");
    mo_cuda_source_printf(e->code,
                          "MO_DEVICE void finish%s(PLACE to, const R *u, "
                          "struct mo_extra p, T *out)\n{\n"
                          "FINISH_READ%s r;\nfinish_load_constants%s(to, p, "
                          "&r);\nfinish_read%s(to, p, &r);\n"
                          "finish_with%s(to, u, &r, p, out);\n}\n",
                          e->suffix, e->suffix, e->suffix, e->suffix,
                          e->suffix);
}

void mo_cuda_emit_epilogue_prefetch(mo_cuda_source *code, const mo_call *call,
                                    const mo_backend_operand *in,
                                    const mo_tensor_desc *out, int width)
{
    epilogue_code several = { code,  call, in, out, memory_order(call, out),
                              width, "" };
    epilogue_code one = several;

    one.width = 1;
    one.suffix = "1";
    mo_cuda_source_printf(
        code,
        "#ifndef MO_EXTRA\n#define MO_EXTRA\n"
        "struct mo_extra { const void *pointers[%d]; };\n#endif\n",
        MO_POINT_MAX_OPERANDS);
    emit_functions(&several);
    emit_functions(&one);
}

void mo_cuda_emit_epilogue(mo_cuda_source *code, const mo_call *call,
                           const mo_tensor_desc *out, int width)
{
    mo_cuda_emit_epilogue_prefetch(code, call, NULL, out, width);
}
