/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "exec/backend/cuda/kernels/pointwise_kernel.h"

/* Room for an operand's expression, "in12.at[k]", "s12[x][y + j]". */
enum { ELEMENT_SIZE = 32, INDEX_SIZE = 24 };

typedef char index_names[MO_MAX_RANK][INDEX_SIZE];

/* Does an operand go along with the result's innermost dimension? */
static bool goes_along(const mo_cuda_pointwise_config *p, int operand)
{
    return p->loops.stride[operand][p->last] != 0;
}

static const char *index_type(const mo_cuda_pointwise_config *p)
{
    return p->wide ? "long long" : "int";
}

/* The position of an operand's element, of the result's for -1; the innermost
 * index counts steps of so many elements. */
static void add_position(const mo_cuda_pointwise_config *p,
                         mo_cuda_source *code, int operand, index_names names,
                         int step)
{
    const char *indices[MO_MAX_RANK];
    mo_point_access access = { 0 };
    int64_t dense = 1;

    for (int d = p->loops.rank; d-- > 0; dense *= p->loops.extent[d]) {
        indices[d] = names[d];
        access.stride[d] = operand < 0 ? dense : p->loops.stride[operand][d];
    }
    if (operand >= 0)
        access.offset = p->point->operands[operand].access.offset;
    access.stride[p->last] *= step;
    mo_cuda_emit_access(code, &access, p->loops.rank, indices, p->wide);
}

static void add_head(const mo_cuda_pointwise_config *p, mo_cuda_source *code)
{
    mo_cuda_source_printf(code, "MO_KERNEL_OF(point, %d)(", p->threads);
    for (int i = 0; i < p->point->n_operands; i++)
        if (p->used[i])
            mo_cuda_source_printf(
                code, "const %s *p%d, ",
                mo_cuda_elem_type_name(p->point->operands[i].elem), i);
    mo_cuda_source_printf(code, "%s *out)\n{\n",
                          mo_cuda_elem_type_name(p->stored));
}

/* The program, given the operands' expressions; what it makes goes to
 * target. */
static void add_program(const mo_cuda_pointwise_config *p, mo_cuda_source *code,
                        char elements[MO_POINT_MAX_OPERANDS][ELEMENT_SIZE],
                        const char *target)
{
    const char *operands[MO_POINT_MAX_OPERANDS];
    char result[MO_CUDA_EXPR_SIZE];

    for (int i = 0; i < p->point->n_operands; i++)
        operands[i] = elements[i];
    mo_cuda_emit_point_steps(code, p->point, p->stored, operands, result);
    mo_cuda_source_printf(code, "%s = %s;\n", target, result);
}

/* ---- flat */

/* Neighbours that are moved as one. */
static void add_vector_type(const mo_cuda_pointwise_config *p,
                            mo_cuda_source *code, const char *name,
                            mo_elem elem)
{
    size_t bytes = mo_elem_size(elem) * (size_t) p->vector;

    mo_cuda_source_printf(code, "struct MO_ALIGNED(%d) %s { %s at[%d]; };\n",
                          bytes < 16 ? (int) bytes : 16, name,
                          mo_cuda_elem_type_name(elem), p->vector);
}

static void add_types(const mo_cuda_pointwise_config *p, mo_cuda_source *code)
{
    if (p->vector == 1)
        return;
    for (int i = 0; i < p->point->n_operands; i++) {
        char name[16];

        if (!p->used[i] || !goes_along(p, i))
            continue;
        snprintf(name, sizeof name, "some%d", i);
        add_vector_type(p, code, name, p->point->operands[i].elem);
    }
    add_vector_type(p, code, "made", p->stored);
}

/* Loads an operand, all its neighbours at once, and says what its element for
 * k is. */
static void add_load(const mo_cuda_pointwise_config *p, mo_cuda_source *code,
                     int i, index_names names, char element[ELEMENT_SIZE])
{
    bool many = p->vector > 1 && goes_along(p, i);

    if (many)
        mo_cuda_source_printf(
            code,
            "const struct some%d in%d = *(const struct some%d *) "
            "(p%d + ",
            i, i, i, i);
    else
        mo_cuda_source_printf(
            code, "const %s in%d = p%d[",
            mo_cuda_elem_type_name(p->point->operands[i].elem), i, i);
    add_position(p, code, i, names, p->vector);
    mo_cuda_source_append(code, many ? ");\n" : "];\n");
    snprintf(element, ELEMENT_SIZE, many ? "in%d.at[k]" : "in%d", i);
}

static void add_flat_body(const mo_cuda_pointwise_config *p,
                          mo_cuda_source *code)
{
    char elements[MO_POINT_MAX_OPERANDS][ELEMENT_SIZE];
    int64_t extent[MO_MAX_RANK];
    index_names names;

    memcpy(extent, p->loops.extent, sizeof extent);
    extent[p->last] /= p->vector;
    for (int d = 0; d < p->loops.rank; d++)
        snprintf(names[d], INDEX_SIZE, "i%d", d);
    mo_cuda_emit_indices(code, "t", extent, p->loops.rank);
    for (int i = 0; i < p->point->n_operands; i++)
        if (p->used[i])
            add_load(p, code, i, names, elements[i]);
    if (p->vector == 1) {
        add_program(p, code, elements, "out[t]");
        return;
    }
    mo_cuda_source_printf(code,
                          "struct made made;\n#pragma unroll\n"
                          "for (int k = 0; k < %d; k++) {\n",
                          p->vector);
    add_program(p, code, elements, "made.at[k]");
    mo_cuda_source_append(code, "}\n((struct made *) out)[t] = made;\n");
}

static void add_flat(const mo_cuda_pointwise_config *p, mo_cuda_source *code)
{
    const char *type = p->wide ? "unsigned long long" : "unsigned";

    add_types(p, code);
    add_head(p, code);
    mo_cuda_source_printf(
        code,
        "MO_BEGIN();\n"
        "for (%s t = (%s) blockIdx.x * %du + threadIdx.x; t < %lldu; "
        "t += (%s) gridDim.x * %du) {\n",
        type, type, p->threads, (long long) (p->count / p->vector), type,
        p->threads);
    add_flat_body(p, code);
    mo_cuda_source_append(code, "}\n}\n");
}

/* ---- turned */

/*
 * A block does a square of the dimensions "turned" (a) and innermost (b).
 * Threads are rows of 32: first along a, where turned operands are contiguous,
 * to bring these to shared memory; then along b, where the result is.  A square
 * is one column too wide, so that neither way meets a bank twice.
 */
static void add_squares(const mo_cuda_pointwise_config *p, mo_cuda_source *code)
{
    for (int i = 0; i < p->point->n_operands; i++)
        if (p->is_turned[i])
            mo_cuda_source_printf(
                code, "MO_SHARED %s s%d[%d][%d];\n",
                mo_cuda_elem_type_name(p->point->operands[i].elem), i,
                MO_CUDA_POINTWISE_TRANSPOSE_TILE,
                MO_CUDA_POINTWISE_TRANSPOSE_TILE + 1);
}

/* Which square: its indices become those of its first element. */
static void add_square_of_block(const mo_cuda_pointwise_config *p,
                                mo_cuda_source *code, index_names names)
{
    int64_t extent[MO_MAX_RANK];
    int side = MO_CUDA_POINTWISE_TRANSPOSE_TILE;

    memcpy(extent, p->loops.extent, sizeof extent);
    extent[p->turned] = (extent[p->turned] + side - 1) / side;
    extent[p->last] = (extent[p->last] + side - 1) / side;
    mo_cuda_emit_indices(code, "blockIdx.x", extent, p->loops.rank);
    for (int d = 0; d < p->loops.rank; d++)
        snprintf(names[d], INDEX_SIZE, "i%d", d);
    snprintf(names[p->turned], INDEX_SIZE, "a");
    snprintf(names[p->last], INDEX_SIZE, "b");
    mo_cuda_source_append(code, "const int x = threadIdx.x % 32u, "
                                "y = threadIdx.x / 32u;\n");
}

/* Begins a loop over the four rows of a thread, with its element (a, b). */
static void begin_rows(const mo_cuda_pointwise_config *p, mo_cuda_source *code,
                       const char *a, const char *b)
{
    const char *type = index_type(p);

    mo_cuda_source_printf(
        code,
        "#pragma unroll\nfor (int j = 0; j < 32; j += 8) {\n"
        "const %s a = (%s) i%d * 32 + %s, b = (%s) i%d * 32 + %s;\n"
        "if (a < %lld && b < %lld) {\n",
        type, type, p->turned, a, type, p->last, b,
        (long long) p->loops.extent[p->turned],
        (long long) p->loops.extent[p->last]);
}

static void add_fetching(const mo_cuda_pointwise_config *p,
                         mo_cuda_source *code, index_names names)
{
    begin_rows(p, code, "x", "y + j");
    for (int i = 0; i < p->point->n_operands; i++) {
        if (!p->is_turned[i])
            continue;
        mo_cuda_source_printf(code, "s%d[y + j][x] = p%d[", i, i);
        add_position(p, code, i, names, 1);
        mo_cuda_source_append(code, "];\n");
    }
    mo_cuda_source_append(code, "}\n}\nMO_SYNC();\n");
}

static void add_making(const mo_cuda_pointwise_config *p, mo_cuda_source *code,
                       index_names names)
{
    char elements[MO_POINT_MAX_OPERANDS][ELEMENT_SIZE];

    begin_rows(p, code, "y + j", "x");
    for (int i = 0; i < p->point->n_operands; i++) {
        if (p->is_turned[i])
            snprintf(elements[i], ELEMENT_SIZE, "s%d[x][y + j]", i);
        else if (p->used[i])
            add_load(p, code, i, names, elements[i]);
    }
    mo_cuda_source_append(code, "const long long to = ");
    add_position(p, code, -1, names, 1);
    mo_cuda_source_append(code, ";\n");
    add_program(p, code, elements, "out[to]");
    mo_cuda_source_append(code, "}\n}\n}\n");
}

static void add_turned(const mo_cuda_pointwise_config *p, mo_cuda_source *code)
{
    index_names names;

    add_head(p, code);
    add_squares(p, code);
    add_square_of_block(p, code, names);
    mo_cuda_source_append(code, "MO_BEGIN();\n");
    add_fetching(p, code, names);
    add_making(p, code, names);
}

void mo_cuda_emit_pointwise(const mo_cuda_pointwise_config *p,
                            mo_cuda_source *code)
{
    if (p->turned == MO_CUDA_POINTWISE_NOT_TRANSPOSED)
        add_flat(p, code);
    else
        add_turned(p, code);
}
