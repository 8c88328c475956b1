/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointwise programs, generated as one fused kernel of one of two kinds.
 * Grid-stride: a thread computes several neighbouring elements, with accesses
 * of 16 bytes where every operand is contiguous along the innermost dimension,
 * or broadcast. Transposed: where operands are contiguous along another
 * dimension than the result, blocks compute tiles over both dimensions, and
 * such operands go through shared memory.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/kernels/kernel_class.h"
#include "exec/backend/cuda/kernels/pointwise_config.h"
#include "exec/op/loop_nest.h"

/* Room for the expression of an operand, "in12.at[k]", "s12[x][y + j]". */
enum { ELEMENT_SIZE = 32, INDEX_SIZE = 24 };

typedef char index_names[MO_MAX_RANK][INDEX_SIZE];

/* Returns whether an operand varies along the innermost dimension of the
 * result. */
static bool varies_innermost(const mo_cuda_pointwise_config *p, int operand)
{
    return p->loops.stride[operand][p->last] != 0;
}

static const char *index_type(const mo_cuda_pointwise_config *p)
{
    return p->wide ? "long long" : "int";
}

/* The offset of an operand's element, of the result's for operand -1; the
 * innermost index counts vectors of step elements. */
static void emit_position(const mo_cuda_pointwise_config *p,
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

static void emit_signature(const mo_cuda_pointwise_config *p,
                           mo_cuda_source *code)
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

/* The steps of the program for the given operands; the result is assigned to
 * target. */
static void emit_program(const mo_cuda_pointwise_config *p,
                         mo_cuda_source *code,
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

/* A struct of neighbours that are loaded or stored as one. */
static void emit_vector_type(const mo_cuda_pointwise_config *p,
                             mo_cuda_source *code, const char *name,
                             mo_elem elem)
{
    size_t bytes = mo_elem_size(elem) * (size_t) p->vector;

    mo_cuda_source_printf(code, "struct MO_ALIGNED(%d) %s { %s at[%d]; };\n",
                          bytes < 16 ? (int) bytes : 16, name,
                          mo_cuda_elem_type_name(elem), p->vector);
}

static void emit_vector_types(const mo_cuda_pointwise_config *p,
                              mo_cuda_source *code)
{
    if (p->vector == 1)
        return;
    for (int i = 0; i < p->point->n_operands; i++) {
        char name[16];

        if (!p->used[i] || !varies_innermost(p, i))
            continue;
        snprintf(name, sizeof name, "some%d", i);
        emit_vector_type(p, code, name, p->point->operands[i].elem);
    }
    emit_vector_type(p, code, "made", p->stored);
}

/* Loads an operand, a vector where possible; writes to element the expression
 * of its element k. */
static void emit_load(const mo_cuda_pointwise_config *p, mo_cuda_source *code,
                      int i, index_names names, char element[ELEMENT_SIZE])
{
    bool many = p->vector > 1 && varies_innermost(p, i);

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
    emit_position(p, code, i, names, p->vector);
    mo_cuda_source_append(code, many ? ");\n" : "];\n");
    snprintf(element, ELEMENT_SIZE, many ? "in%d.at[k]" : "in%d", i);
}

static void emit_flat_body(const mo_cuda_pointwise_config *p,
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
            emit_load(p, code, i, names, elements[i]);
    if (p->vector == 1) {
        emit_program(p, code, elements, "out[t]");
        return;
    }
    mo_cuda_source_printf(code,
                          "struct made made;\n#pragma unroll\n"
                          "for (int k = 0; k < %d; k++) {\n",
                          p->vector);
    emit_program(p, code, elements, "made.at[k]");
    mo_cuda_source_append(code, "}\n((struct made *) out)[t] = made;\n");
}

static void emit_flat(const mo_cuda_pointwise_config *p, mo_cuda_source *code)
{
    const char *type = p->wide ? "unsigned long long" : "unsigned";

    emit_vector_types(p, code);
    emit_signature(p, code);
    mo_cuda_source_printf(
        code,
        "MO_BEGIN();\n"
        "for (%s t = (%s) blockIdx.x * %du + threadIdx.x; t < %lldu; "
        "t += (%s) gridDim.x * %du) {\n",
        type, type, p->threads, (long long) (p->count / p->vector), type,
        p->threads);
    emit_flat_body(p, code);
    mo_cuda_source_append(code, "}\n}\n");
}

/*
 * A block computes a tile of the dimensions "transposed" (a) and innermost
 * (b). Threads are rows of 32: first along a, where transposed operands are
 * contiguous, to load these into shared memory; then along b, where the result
 * is. A tile has one extra column, so that neither direction has bank
 * conflicts.
 */
static void emit_tiles(const mo_cuda_pointwise_config *p, mo_cuda_source *code)
{
    for (int i = 0; i < p->point->n_operands; i++)
        if (p->is_transposed[i])
            mo_cuda_source_printf(
                code, "MO_SHARED %s s%d[%d][%d];\n",
                mo_cuda_elem_type_name(p->point->operands[i].elem), i,
                MO_CUDA_TRANSPOSE_TILE, MO_CUDA_TRANSPOSE_TILE + 1);
}

/* The tile of a block, as indices of its first element. */
static void emit_tile_indices(const mo_cuda_pointwise_config *p,
                              mo_cuda_source *code, index_names names)
{
    int64_t extent[MO_MAX_RANK];
    int side = MO_CUDA_TRANSPOSE_TILE;

    memcpy(extent, p->loops.extent, sizeof extent);
    extent[p->transposed] = (extent[p->transposed] + side - 1) / side;
    extent[p->last] = (extent[p->last] + side - 1) / side;
    mo_cuda_emit_indices(code, "blockIdx.x", extent, p->loops.rank);
    for (int d = 0; d < p->loops.rank; d++)
        snprintf(names[d], INDEX_SIZE, "i%d", d);
    snprintf(names[p->transposed], INDEX_SIZE, "a");
    snprintf(names[p->last], INDEX_SIZE, "b");
    mo_cuda_source_append(code, "const int x = threadIdx.x % 32u, "
                                "y = threadIdx.x / 32u;\n");
}

/* Opens a loop over the four rows of a thread, with its element (a, b). */
static void emit_row_loop(const mo_cuda_pointwise_config *p,
                          mo_cuda_source *code, const char *a, const char *b)
{
    const char *type = index_type(p);

    mo_cuda_source_printf(
        code,
        "#pragma unroll\nfor (int j = 0; j < 32; j += 8) {\n"
        "const %s a = (%s) i%d * 32 + %s, b = (%s) i%d * 32 + %s;\n"
        "if (a < %lld && b < %lld) {\n",
        type, type, p->transposed, a, type, p->last, b,
        (long long) p->loops.extent[p->transposed],
        (long long) p->loops.extent[p->last]);
}

static void emit_tile_loads(const mo_cuda_pointwise_config *p,
                            mo_cuda_source *code, index_names names)
{
    emit_row_loop(p, code, "x", "y + j");
    for (int i = 0; i < p->point->n_operands; i++) {
        if (!p->is_transposed[i])
            continue;
        mo_cuda_source_printf(code, "s%d[y + j][x] = p%d[", i, i);
        emit_position(p, code, i, names, 1);
        mo_cuda_source_append(code, "];\n");
    }
    mo_cuda_source_append(code, "}\n}\nMO_SYNC();\n");
}

static void emit_tile_stores(const mo_cuda_pointwise_config *p,
                             mo_cuda_source *code, index_names names)
{
    char elements[MO_POINT_MAX_OPERANDS][ELEMENT_SIZE];

    emit_row_loop(p, code, "y + j", "x");
    for (int i = 0; i < p->point->n_operands; i++) {
        if (p->is_transposed[i])
            snprintf(elements[i], ELEMENT_SIZE, "s%d[x][y + j]", i);
        else if (p->used[i])
            emit_load(p, code, i, names, elements[i]);
    }
    mo_cuda_source_append(code, "const long long to = ");
    emit_position(p, code, -1, names, 1);
    mo_cuda_source_append(code, ";\n");
    emit_program(p, code, elements, "out[to]");
    mo_cuda_source_append(code, "}\n}\n}\n");
}

static void emit_transposed(const mo_cuda_pointwise_config *p,
                            mo_cuda_source *code)
{
    index_names names;

    emit_signature(p, code);
    emit_tiles(p, code);
    emit_tile_indices(p, code, names);
    mo_cuda_source_append(code, "MO_BEGIN();\n");
    emit_tile_loads(p, code, names);
    emit_tile_stores(p, code, names);
}

static void emit_pointwise(const mo_cuda_pointwise_config *p,
                           mo_cuda_source *code)
{
    if (p->transposed == MO_CUDA_NOT_TRANSPOSED)
        emit_flat(p, code);
    else
        emit_transposed(p, code);
}

typedef struct point_kernel {
    mo_backend_kernel base;
    mo_cuda_function *function; /* NULL: the result has no elements */
    mo_cuda_grid grid;
    int n_operands;
    bool used[MO_POINT_MAX_OPERANDS];
} point_kernel;

static mo_status request_function(mo_backend_unit *unit,
                                  const mo_cuda_pointwise_config *p,
                                  mo_cuda_function **function, mo_error *err)
{
    mo_cuda_source code = { 0 };

    emit_pointwise(p, &code);
    return mo_cuda_jit_request_source(unit, &code, "point", function, err);
}

static mo_status prepare(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         mo_error *err)
{
    mo_cuda_pointwise_config p =
        mo_cuda_pointwise_configure(&call->u.point, &out[0], unit->sms);
    point_kernel *made = calloc(1, sizeof *made);
    mo_status status = MO_OK;

    (void) in;
    if (!made)
        return mo_fail_memory(err);
    made->n_operands = call->u.point.n_operands;
    memcpy(made->used, p.used, sizeof made->used);
    made->grid = (mo_cuda_grid){ .blocks = { (unsigned) p.blocks, 1, 1 },
                                 .threads = { (unsigned) p.threads, 1, 1 } };
    if (p.blocks > 0)
        status = request_function(unit, &p, &made->function, err);
    if (status != MO_OK) {
        free(made);
        return status;
    }
    *kernel = &made->base;
    return MO_OK;
}

static mo_status enqueue(mo_backend_unit *unit, const mo_backend_kernel *kernel,
                         const void *const *in, void *const *out,
                         void *workspace, CUstream stream, mo_error *err)
{
    const point_kernel *point = (const point_kernel *) kernel;
    const void *pointers[MO_POINT_MAX_OPERANDS + 1];
    void *args[MO_POINT_MAX_OPERANDS + 1];
    int n = 0;

    (void) workspace;
    if (!point->function)
        return MO_OK;
    for (int i = 0; i < point->n_operands; i++)
        if (point->used[i])
            pointers[n++] = in[i];
    pointers[n++] = out[0];
    for (int i = 0; i < n; i++)
        args[i] = &pointers[i];
    return mo_cuda_launch(unit, point->function, &point->grid, stream, args,
                          err);
}

const mo_cuda_kernel_class mo_cuda_pointwise_kernel = { prepare, NULL, enqueue,
                                                        mo_cuda_kernel_free };
