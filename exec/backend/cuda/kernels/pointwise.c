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

#include "base/ablation.h"
#include "base/minmax.h"
#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/kernels/kernel_class.h"
#include "exec/op/call.h"
#include "exec/op/loop_nest.h"

enum { NOT_TRANSPOSED = -1, TRANSPOSE_TILE = 32 };

/* Configuration of the kernel of a program: its loops, tiles, vectors and
 * grid. */
typedef struct point_config {
    const mo_point_program *point;
    mo_elem stored;
    mo_point_loop_nest loops;
    int last;      /* the innermost dimension */
    int64_t count; /* elements of the result */
    bool used[MO_POINT_MAX_REGISTERS];
    bool wide;      /* offsets need 64 bits */
    int vector;     /* elements per thread */
    int transposed; /* the dimension along which transposed operands are
                       contiguous */
    bool is_transposed[MO_POINT_MAX_OPERANDS];
    int threads;
    int64_t blocks; /* 0: the result is empty */
} point_config;

/* Returns whether n neighbours of an operand can be loaded as a vector,
 * everywhere. */
static bool can_load_vector(const point_config *p, int operand, int n)
{
    const int64_t *stride = p->loops.stride[operand];

    if (stride[p->last] == 0)
        return true;
    if (stride[p->last] != 1 ||
        p->point->operands[operand].access.offset % n != 0)
        return false;
    for (int d = 0; d < p->last; d++)
        if (stride[d] % n != 0)
            return false;
    return true;
}

static bool can_vectorize(const point_config *p, int n)
{
    if (p->loops.extent[p->last] % n != 0)
        return false;
    for (int i = 0; i < p->point->n_operands; i++)
        if (p->used[i] && !can_load_vector(p, i, n))
            return false;
    return true;
}

static size_t widest_element(const point_config *p)
{
    size_t widest = mo_elem_size(p->stored);

    for (int i = 0; i < p->point->n_operands; i++) {
        size_t bytes = mo_elem_size(p->point->operands[i].elem);

        if (p->used[i] && bytes > widest)
            widest = bytes;
    }
    return widest;
}

/* As many as load the widest element type by 16 bytes; fewer where alignment
 * does not allow it, or too few threads would be left to fill the device. */
static int choose_vector_width(const point_config *p, int sms)
{
    enum { ACCESS_BYTES = 16, MOST = 8, THREADS_PER_SM = 64 };
    int n = ACCESS_BYTES / (int) widest_element(p);

    if (n > MOST)
        n = MOST;
    while (n > 1 && (p->count / n < (int64_t) sms * THREADS_PER_SM ||
                     !can_vectorize(p, n)))
        n /= 2;
    return n;
}

/* Returns the dimension along which an operand is contiguous, if it is not
 * that of the result and tiles over both are worth while; else
 * NOT_TRANSPOSED. */
static int find_transposed_dim(const point_config *p, int operand)
{
    enum { LEAST_SIDE = 16 };
    const int64_t *stride = p->loops.stride[operand];
    int last = p->last;

    if (!p->used[operand] || stride[last] == 0 || stride[last] == 1 ||
        p->loops.extent[last] < LEAST_SIDE)
        return NOT_TRANSPOSED;
    for (int d = 0; d < last; d++)
        if (stride[d] == 1 && p->loops.extent[d] >= LEAST_SIDE)
            return d;
    return NOT_TRANSPOSED;
}

/* Marks operands contiguous along the same dimension as the first such one, as
 * many as fit into shared memory; the others are read directly. */
static void mark_transposed(point_config *p)
{
    enum { MOST = 4 };
    int n = 0;

    p->transposed = NOT_TRANSPOSED;
    if (mo_ablated(MO_ABLATION_cuda_pointwise_tiles))
        return;
    for (int i = 0; i < p->point->n_operands && n < MOST; i++) {
        int d = find_transposed_dim(p, i);

        if (d == NOT_TRANSPOSED ||
            (p->transposed != NOT_TRANSPOSED && p->transposed != d))
            continue;
        p->transposed = d;
        p->is_transposed[i] = true;
        n++;
    }
}

/* Chooses the kernel for a program, which is borrowed, and its result on a GPU
 * of that many multiprocessors. */
static point_config configure_kernel(const mo_point_program *point,
                                     const mo_tensor_desc *out, int sms)
{
    point_config p = { .point = point,
                       .stored = out->elem,
                       .loops =
                           mo_point_loop_nest_collapse(point, &out->shape) };

    p.last = p.loops.rank - 1;
    p.count = mo_shape_product(p.loops.extent, p.loops.rank);
    mo_point_mark_live(point, p.used);

    bool wide = p.count > INT32_MAX;

    for (int i = 0; i < p.point->n_operands; i++) {
        mo_point_access access = { p.point->operands[i].access.offset, { 0 } };

        memcpy(access.stride, p.loops.stride[i], sizeof access.stride);
        wide = wide || mo_cuda_needs_64bit_offsets(&access, p.loops.extent,
                                                   p.loops.rank);
    }
    p.wide = wide;
    mark_transposed(&p);
    if (p.transposed != NOT_TRANSPOSED) {
        p.vector = 1;
        p.threads = 256;
        p.blocks = 1;
        for (int d = 0; d < p.loops.rank; d++)
            p.blocks *= d == p.transposed || d == p.last
                            ? mo_ceil_div(p.loops.extent[d], TRANSPOSE_TILE)
                            : p.loops.extent[d];
    }
    if (p.transposed == NOT_TRANSPOSED || p.blocks > INT32_MAX) {
        p.transposed = NOT_TRANSPOSED;

        /* Small blocks where there are few, so that every multiprocessor has
         * some; no more than twice what the device holds: each continues with
         * further elements. */
        enum { THREADS_ON_SM = 2048, MANY = 1024, TURNS = 2 };
        int64_t n, most;

        p.vector = mo_ablated(MO_ABLATION_cuda_pointwise_vectors)
                       ? 1
                       : choose_vector_width(&p, sms);
        n = p.count / p.vector;
        p.threads = n <= (int64_t) sms * MANY ? 128 : 256;
        p.blocks = mo_ceil_div(n, p.threads);
        most = (int64_t) sms * THREADS_ON_SM / p.threads * TURNS;
        if (p.blocks > most)
            p.blocks = most;
    }
    return p;
}

/* Room for the expression of an operand, "in12.at[k]", "s12[x][y + j]". */
enum { ELEMENT_SIZE = 32, INDEX_SIZE = 24 };

typedef char index_names[MO_MAX_RANK][INDEX_SIZE];

/* Returns whether an operand varies along the innermost dimension of the
 * result. */
static bool varies_innermost(const point_config *p, int operand)
{
    return p->loops.stride[operand][p->last] != 0;
}

/* The offset of an operand's element, of the result's for operand -1; the
 * innermost index counts vectors of step elements. */
static void emit_position(const point_config *p, mo_cuda_source *code,
                          int operand, index_names names, int step)
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

static void emit_signature(const point_config *p, mo_cuda_source *code)
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
static void emit_program(const point_config *p, mo_cuda_source *code,
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
static void emit_vector_type(const point_config *p, mo_cuda_source *code,
                             const char *name, mo_elem elem)
{
    size_t bytes = mo_elem_size(elem) * (size_t) p->vector;

    mo_cuda_source_printf(code, "struct MO_ALIGNED(%d) %s { %s at[%d]; };\n",
                          bytes < 16 ? (int) bytes : 16, name,
                          mo_cuda_elem_type_name(elem), p->vector);
}

static void emit_vector_types(const point_config *p, mo_cuda_source *code)
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
static void emit_load(const point_config *p, mo_cuda_source *code, int i,
                      index_names names, char element[ELEMENT_SIZE])
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

static void emit_flat_body(const point_config *p, mo_cuda_source *code)
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

/* Opens a loop over the four rows of a thread, with its element (a, b). */
static void emit_row_loop(const point_config *p, mo_cuda_source *code,
                          const char *a, const char *b)
{
    const char *type = p->wide ? "long long" : "int";

    mo_cuda_source_printf(
        code,
        "#pragma unroll\nfor (int j = 0; j < 32; j += 8) {\n"
        "const %s a = (%s) i%d * 32 + %s, b = (%s) i%d * 32 + %s;\n"
        "if (a < %lld && b < %lld) {\n",
        type, type, p->transposed, a, type, p->last, b,
        (long long) p->loops.extent[p->transposed],
        (long long) p->loops.extent[p->last]);
}

/*
 * A block computes a tile of the dimensions "transposed" (a) and innermost
 * (b). Threads are rows of 32: first along a, where transposed operands are
 * contiguous, to load these into shared memory; then along b, where the result
 * is. A tile has one extra column, so that neither direction has bank
 * conflicts.
 */
static void emit_transposed(const point_config *p, mo_cuda_source *code)
{
    index_names names;
    int64_t extent[MO_MAX_RANK];
    int side = TRANSPOSE_TILE;
    char elements[MO_POINT_MAX_OPERANDS][ELEMENT_SIZE];

    emit_signature(p, code);
    for (int i = 0; i < p->point->n_operands; i++)
        if (p->is_transposed[i])
            mo_cuda_source_printf(
                code, "MO_SHARED %s s%d[%d][%d];\n",
                mo_cuda_elem_type_name(p->point->operands[i].elem), i,
                TRANSPOSE_TILE, TRANSPOSE_TILE + 1);
    /* The tile of a block, as indices of its first element. */
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
    mo_cuda_source_append(code, "MO_BEGIN();\n");
    emit_row_loop(p, code, "x", "y + j");
    for (int i = 0; i < p->point->n_operands; i++) {
        if (!p->is_transposed[i])
            continue;
        mo_cuda_source_printf(code, "s%d[y + j][x] = p%d[", i, i);
        emit_position(p, code, i, names, 1);
        mo_cuda_source_append(code, "];\n");
    }
    mo_cuda_source_append(code, "}\n}\nMO_SYNC();\n");
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

typedef struct point_kernel {
    mo_backend_kernel base;
    mo_cuda_function *function; /* NULL: the result has no elements */
    mo_cuda_grid grid;
    int n_operands;
    bool used[MO_POINT_MAX_OPERANDS];
} point_kernel;

static mo_status prepare(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         mo_error *err)
{
    point_config p = configure_kernel(&call->u.point, &out[0], unit->sms);
    point_kernel *made = calloc(1, sizeof *made);
    mo_status status = MO_OK;

    (void) in;
    if (!made)
        return mo_fail_memory(err);
    made->n_operands = call->u.point.n_operands;
    memcpy(made->used, p.used, sizeof made->used);
    made->grid = (mo_cuda_grid){ .blocks = { (unsigned) p.blocks, 1, 1 },
                                 .threads = { (unsigned) p.threads, 1, 1 } };
    if (p.blocks > 0) {
        mo_cuda_source code = { 0 };

        if (p.transposed == NOT_TRANSPOSED) {
            const char *type = p.wide ? "unsigned long long" : "unsigned";

            emit_vector_types(&p, &code);
            emit_signature(&p, &code);
            mo_cuda_source_printf(
                &code,
                "MO_BEGIN();\n"
                "for (%s t = (%s) blockIdx.x * %du + threadIdx.x; t < %lldu; "
                "t += (%s) gridDim.x * %du) {\n",
                type, type, p.threads, (long long) (p.count / p.vector), type,
                p.threads);
            emit_flat_body(&p, &code);
            mo_cuda_source_append(&code, "}\n}\n");
        } else
            emit_transposed(&p, &code);
        status = mo_cuda_jit_request_source(unit, &code, "point",
                                            &made->function, err);
    }
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
