/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device code of attention: the call as constants and small functions, in
 * front of one of the two kernels (attention_tensorcore.cu,
 * attention_rows.cu).
 *
 *     typedef struct { PLACE q, k, v, out; const float *s0; ... } head
 *     head head_of(int batch, struct shown shown)  offsets of one head
 *     typedef struct { float s0; ... } sight
 *     sight see(head h, int i, int j)              operands of one score
 *     int is_visible(sight s)                      0: the mask hides the key
 *     float score(sight s, float x)                scaled, biased and masked
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "base/minmax.h"
#include "exec/backend/cuda/algo/fused_attention.h"
#include "exec/backend/cuda/jit/codegen_epilogue.h"
#include "exec/backend/cuda/kernels/single_kernel.h"

#pragma GCC diagnostic ignored "-Woverlength-strings"

static const char tensor_source[] =
#include "exec/backend/cuda/algo/attention_tensorcore.inc"
    ;

static const char rows_source[] =
#include "exec/backend/cuda/algo/attention_rows.inc"
    ;

enum { ROWS_THREADS = 128, ROWS_HELD = 4, EXPRESSION_SIZE = 96 };

static const mo_call_attention *
get_attention(const mo_cuda_attention_problem *problem)
{
    return &problem->call->u.attention;
}

/* One of them, over [batches ..., queries, keys]. */
typedef struct score_operand {
    mo_elem elem;
    mo_point_access access;
} score_operand;

typedef struct score_operands {
    int n; /* the mask first, if there is one */
    score_operand of[MO_CUDA_ATTENTION_MAX_SCORE_INPUTS];
} score_operands;

static score_operands
list_score_operands(const mo_cuda_attention_problem *problem)
{
    const mo_call_attention *c = get_attention(problem);
    score_operands s = { 0 };

    if (c->has_mask) {
        score_operand mask = { problem->in[3].desc.elem,
                               { .offset = c->mask_offset } };

        for (int d = 0; d < c->n_batch; d++)
            mask.access.stride[d] = c->mask_batch[d];
        mask.access.stride[c->n_batch] = c->mask_row;
        mask.access.stride[c->n_batch + 1] = c->mask_column;
        s.of[s.n++] = mask;
    }
    for (int i = 1; c->score && i < c->score->n_operands; i++, s.n++)
        s.of[s.n] = (score_operand){ c->score->operands[i].elem,
                                     c->score->operands[i].access };
    return s;
}

static void emit_base(mo_cuda_source *code, const mo_call_attention *c,
                      const char *name, int64_t offset, const int64_t *batch)
{
    mo_point_access access = { .offset = offset };
    const char *indices[MO_MAX_RANK];
    char names[MO_MAX_RANK][24];

    for (int d = 0; d < c->n_batch; d++) {
        access.stride[d] = batch[d];
        snprintf(names[d], sizeof names[d], "(PLACE) i%d", d);
        indices[d] = names[d];
    }
    mo_cuda_source_printf(code, "h.%s (", name);
    mo_cuda_emit_access(code, &access, c->n_batch, indices, false);
    mo_cuda_source_append(code, ");\n");
}

static void emit_head(mo_cuda_source *code,
                      const mo_cuda_attention_problem *problem,
                      const score_operands *s)
{
    const mo_call_attention *c = get_attention(problem);
    char name[EXPRESSION_SIZE];

    mo_cuda_source_printf(code,
                          "struct shown { const void *pointers[%d]; };\n"
                          "typedef struct {\n    PLACE q, k, v, out;\n",
                          MO_CUDA_ATTENTION_MAX_SCORE_INPUTS);
    for (int i = 0; i < s->n; i++)
        mo_cuda_source_printf(code, "    const %s *s%d;\n",
                              mo_cuda_elem_type_name(s->of[i].elem), i);
    mo_cuda_source_append(code, "} head;\n");
    mo_cuda_source_append(
        code, "MO_DEVICE head head_of(int batch, struct shown shown)\n"
              "{\nhead h;\n");
    mo_cuda_emit_indices(code, "batch", c->extent, c->n_batch);
    emit_base(code, c, "q =", c->q_offset, c->q_batch);
    emit_base(code, c, "k =", c->k_offset, c->k_batch);
    emit_base(code, c, "v =", c->v_offset, c->v_batch);
    emit_base(code, c, "out =", 0, c->out_batch);
    for (int i = 0; i < s->n; i++) {
        snprintf(name, sizeof name, "s%d = (const %s *) shown.pointers[%d] +",
                 i, mo_cuda_elem_type_name(s->of[i].elem), i);
        emit_base(code, c, name, s->of[i].access.offset,
                  s->of[i].access.stride);
    }
    mo_cuda_source_append(code, "(void) shown;\nreturn h;\n}\n");
}

static void emit_visible(mo_cuda_source *code, const mo_call_attention *c,
                         const score_operands *s)
{
    mo_cuda_source_append(code, "MO_DEVICE int is_visible(sight s)\n{\n"
                                "(void) s;\n");
    if (!c->has_mask)
        mo_cuda_source_append(code, "return 1;\n}\n");
    else if (s->of[0].elem == MO_ELEM_BOOL)
        mo_cuda_source_append(code, "return s.s0 != 0;\n}\n");
    else
        mo_cuda_source_printf(code, "return %s(s.s0) != -MO_INF;\n}\n",
                              mo_cuda_elem_to_float(s->of[0].elem));
}

static void emit_score(mo_cuda_source *code, const mo_call_attention *c,
                       const score_operands *s)
{
    const char *operands[MO_POINT_MAX_OPERANDS] = { NULL };
    char elements[MO_POINT_MAX_OPERANDS][EXPRESSION_SIZE];
    char result[MO_CUDA_EXPR_SIZE] = "v";

    mo_cuda_source_append(code, "MO_DEVICE float score(sight s, float x)\n"
                                "{\nconst float v = x * ");
    mo_cuda_emit_real(code, c->scale, false);
    mo_cuda_source_append(code, ";\n(void) s;\n");
    for (int n = 1; c->score && n < c->score->n_operands; n++) {
        snprintf(elements[n], EXPRESSION_SIZE, "s.s%d", c->has_mask + n - 1);
        operands[n] = elements[n];
    }
    if (c->score)
        mo_cuda_emit_point_steps(code, c->score, MO_ELEM_F32, operands, result);
    mo_cuda_source_printf(code, "const float y = %s;\n", result);
    if (!c->has_mask)
        mo_cuda_source_append(code, "return y;\n");
    else if (s->of[0].elem == MO_ELEM_BOOL)
        mo_cuda_source_append(code, "return s.s0 ? y : -MO_INF;\n");
    else
        mo_cuda_source_printf(code, "return y + %s(s.s0);\n",
                              mo_cuda_elem_to_float(s->of[0].elem));
    mo_cuda_source_append(code, "}\n");
}

/* Returns how many neighbours of a row can be loaded at once, at most most,
 * given the alignment of all rows. */
static int read_width(int64_t columns, int64_t offset, int64_t row,
                      const mo_call_attention *c, const int64_t *batch,
                      int most)
{
    int width = most;

    for (; width > 1; width /= 2) {
        bool works =
            columns % width == 0 && offset % width == 0 && row % width == 0;

        for (int d = 0; d < c->n_batch; d++)
            works = works && batch[d] % width == 0;
        if (works)
            break;
    }
    return width;
}

static int count_tiles(int64_t columns)
{
    return (int) ((columns + 7) / 8);
}

/* Neighbours of v in one load, a divisor of those that a thread holds. */
static int v_width(const mo_call_attention *c)
{
    int width = read_width(c->v_width, c->v_offset, c->v_row, c, c->v_batch, 4);

    while (count_tiles(c->v_width) % width != 0)
        width /= 2;
    return width;
}

static int epilogue_width(const mo_cuda_attention_problem *problem)
{
    const mo_call_attention *c = get_attention(problem);
    int width =
        mo_cuda_epilogue_vector_width(problem->call, problem->out, c->v_width);

    return read_width(c->v_width, 0, c->out_row, c, c->out_batch, width);
}

/* Returns whether all operands of scores are constants, so that none is written
 * by another kernel. */
static bool has_constant_scores(const mo_cuda_attention_problem *problem)
{
    int own = 3;

    for (; own < problem->call->first_extra; own++)
        if (!problem->in[own].constant)
            return false;
    return own > 3;
}

/* Returns a type of that many bytes. */
static const char *word_type(int bytes)
{
    return bytes == 16  ? "uint4"
           : bytes == 8 ? "uint2"
           : bytes == 4 ? "unsigned"
                        : "unsigned short";
}

static void emit_reads(mo_cuda_source *code,
                       const mo_cuda_attention_problem *problem)
{
    const mo_call_attention *c = get_attention(problem);
    int bytes = (int) mo_elem_size(problem->out->elem);
    int kv_bytes = (int) mo_elem_size(problem->in[1].desc.elem);
    int q = read_width(c->width, c->q_offset, c->q_row, c, c->q_batch, 4);
    int k = read_width(c->width, c->k_offset, c->k_row, c, c->k_batch, 4);
    int v = v_width(c);

    mo_cuda_source_printf(code,
                          "#define READ %d\n#define READ_BITS %s\n"
                          "#define K_READ %d\n#define K_BITS %s\n"
                          "#define V_READ %d\n#define V_BITS %s\n",
                          q, word_type(q * bytes), k, word_type(k * kv_bytes),
                          v, word_type(v * kv_bytes));
}

/* The size of the largest operand or result. */
static int64_t max_elements(const mo_cuda_attention_problem *problem)
{
    int64_t most = mo_tensor_desc_elements(problem->out);

    for (int i = 0; i < problem->call->first_extra; i++) {
        int64_t elements = mo_tensor_desc_elements(&problem->in[i].desc);

        most = elements > most ? elements : most;
    }
    return most;
}

/* Keys and values may be of a smaller type than queries: a cache. */
static void emit_key_type(mo_cuda_source *code, mo_elem keys, mo_elem queries)
{
    mo_cuda_source_printf(code, "typedef %s KV;\n#define LOAD_KV %s\n",
                          mo_cuda_elem_type_name(keys),
                          keys == queries ? "load"
                                          : mo_cuda_elem_to_float(keys));
}

static mo_status emit_rows_kernel(const mo_cuda_attention_problem *problem,
                                  mo_cuda_source *code, mo_cuda_grid *grid,
                                  mo_error *err)
{
    const mo_call_attention *c = get_attention(problem);
    int piece = 32 * ROWS_HELD;
    int64_t pieces = (c->v_width + piece - 1) / piece;

    mo_cuda_source_printf(code,
                          "#define THREADS %d\n#define HELD %d\n"
                          "#define PIECES %" PRId64 "\n",
                          ROWS_THREADS, ROWS_HELD, pieces);
    emit_key_type(code, problem->in[1].desc.elem, problem->out->elem);
    mo_cuda_source_append(code, rows_source);
    return mo_cuda_grid_1d(problem->batches * c->queries * pieces,
                           ROWS_THREADS / 32, ROWS_THREADS, grid, err);
}

static mo_status
emit_tensorcore_kernel(const mo_cuda_attention_problem *problem,
                       const mo_cuda_attention_tiling *tiling,
                       mo_cuda_source *code, mo_cuda_grid *grid, mo_error *err)
{
    const mo_call_attention *c = get_attention(problem);
    int rows = 16 * tiling->deep * tiling->across;
    int pitch = 8 * count_tiles(c->v_width) + 4;
    int threads = 32 * tiling->across * tiling->along;
    int64_t blocks = (c->queries + rows - 1) / rows * problem->batches;
    mo_status status = mo_cuda_grid_1d(blocks, 1, threads, grid, err);

    mo_cuda_source_printf(
        code,
        "#define THREADS %d\n#define ACROSS %d\n#define ALONG %d\n"
        "#define DEEP %d\n#define SPAN %d\n#define EXACT %d\n"
        "#define CLUSTER %d\n",
        threads, tiling->across, tiling->along, tiling->deep, tiling->span,
        problem->exact, tiling->cluster);
    emit_key_type(code, problem->in[1].desc.elem, problem->out->elem);
    emit_reads(code, problem);
    mo_cuda_source_append(code, tensor_source);
    grid->blocks[2] = grid->cluster = (unsigned) tiling->cluster;
    grid->shared =
        (unsigned) (tiling->along * rows * (pitch + 2 + tiling->cluster)) *
        (unsigned) sizeof(float);
    return status;
}

mo_status mo_cuda_emit_attention(const mo_cuda_attention_problem *problem,
                                 const mo_cuda_attention_tiling *tiling,
                                 mo_cuda_source *code, mo_cuda_grid *grid,
                                 mo_error *err)
{
    score_operands s = list_score_operands(problem);
    int width = epilogue_width(problem);
    mo_status status;

    mo_cuda_emit_types(code, problem->out->elem, width, max_elements(problem));
    mo_cuda_emit_epilogue(code, problem->call, problem->out, width);

    const mo_call_attention *c = get_attention(problem);

    mo_cuda_source_printf(
        code,
        "#define QUERIES %" PRId64 "\n#define KEYS %" PRId64 "\n"
        "#define DEPTH %" PRId64 "\n#define COLUMNS %" PRId64 "\n"
        "#define BATCHES %" PRId64 "\n#define CAUSAL %d\n"
        "#define ZERO_IF_MASKED %d\n#define CONSTANT %d\n"
        "#define Q_ROW %" PRId64 "\n#define K_ROW %" PRId64 "\n"
        "#define V_ROW %" PRId64 "\n#define OUT_ROW %" PRId64 "\n",
        c->queries, c->keys, c->width, c->v_width, problem->batches, c->causal,
        c->zero_if_masked, has_constant_scores(problem), c->q_row, c->k_row,
        c->v_row, c->out_row);
    emit_head(code, problem, &s);
    mo_cuda_source_append(code, "typedef struct {\n    int none;\n");
    for (int i = 0; i < s.n; i++)
        mo_cuda_source_printf(code, "    %s s%d;\n",
                              mo_cuda_elem_type_name(s.of[i].elem), i);
    mo_cuda_source_append(code, "} sight;\n"
                                "MO_DEVICE sight see(head h, int i, int j)\n"
                                "{\nsight s;\ns.none = 0;\n"
                                "(void) h; (void) i; (void) j;\n");
    for (int i = 0; i < s.n; i++) {
        const int64_t *stride =
            s.of[i].access.stride + get_attention(problem)->n_batch;

        mo_cuda_source_printf(code,
                              "s.s%d = h.s%d[(PLACE) i * %" PRId64
                              " + (PLACE) j * %" PRId64 "];\n",
                              i, i, stride[0], stride[1]);
    }
    mo_cuda_source_append(code, "return s;\n}\n");
    emit_visible(code, get_attention(problem), &s);
    emit_score(code, get_attention(problem), &s);
    status = problem->tensor
                 ? emit_tensorcore_kernel(problem, tiling, code, grid, err)
                 : emit_rows_kernel(problem, code, grid, err);
    return status == MO_OK ? mo_cuda_source_check(code, err) : status;
}
