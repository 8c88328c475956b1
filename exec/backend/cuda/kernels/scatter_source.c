/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/kernels/scatter_source.h"

#include <stdbool.h>
#include <stdint.h>

#include "exec/backend/cuda/kernels/index_check.h"

enum {
    BLOCK_KEYS = MO_CUDA_SCATTER_BLOCK_KEYS,
    SORT_THREADS = MO_CUDA_SCATTER_SORT_THREADS
};

/* Reduction, as in exec/backend/cpu/kernels/scatter_reduce.c */

/* For booleans a sum is "or" and a product "and". */
static mo_call_scatter_op merge_op(const mo_cuda_scatter_problem *s)
{
    mo_call_scatter_op op = s->call->op;

    if (op == MO_CALL_SCATTER_MEAN)
        op = MO_CALL_SCATTER_SUM;
    if (s->elem == MO_ELEM_BOOL && op == MO_CALL_SCATTER_SUM)
        return MO_CALL_SCATTER_MAX;
    if (s->elem == MO_ELEM_BOOL && op == MO_CALL_SCATTER_PROD)
        return MO_CALL_SCATTER_MIN;
    return op;
}

/* Integers wrap around: they are computed as unsigned. */
static const char *compute_type(mo_elem elem, bool compares)
{
    if (elem == MO_ELEM_F64)
        return "double";
    if (mo_elem_is_float(elem))
        return "float";
    return compares ? mo_cuda_elem_type_name(elem) : "unsigned long long";
}

static void emit_load(mo_cuda_source *code, mo_elem elem, const char *type,
                      const char *name)
{
    if (elem == MO_ELEM_F16 || elem == MO_ELEM_BF16)
        mo_cuda_source_printf(code, "const float %c = mo_%s_load(%s);\n",
                              name[0], mo_elem_name(elem), name);
    else
        mo_cuda_source_printf(code, "const %s %c = (%s) %s;\n", type, name[0],
                              type, name);
}

/* Comparisons with NaN are false: the old value stays. */
static void emit_merge(const mo_cuda_scatter_problem *s, mo_cuda_source *code)
{
    static const char *const values[] = {
        [MO_CALL_SCATTER_SET] = "f",
        [MO_CALL_SCATTER_SUM] = "t + f",
        [MO_CALL_SCATTER_PROD] = "t * f",
        [MO_CALL_SCATTER_MIN] = "f < t ? f : t",
        [MO_CALL_SCATTER_MAX] = "f > t ? f : t",
        [MO_CALL_SCATTER_SUB] = "t - f",
    };
    mo_call_scatter_op op = merge_op(s);
    bool compares = op == MO_CALL_SCATTER_MIN || op == MO_CALL_SCATTER_MAX;
    const char *type = compute_type(s->elem, compares);
    char result[MO_CUDA_EXPR_SIZE];

    mo_cuda_source_printf(code, "MO_DEVICE %s merge(%s to, %s from)\n{\n",
                          mo_cuda_elem_type_name(s->elem),
                          mo_cuda_elem_type_name(s->elem),
                          mo_cuda_elem_type_name(s->elem));
    emit_load(code, s->elem, type, "to");
    emit_load(code, s->elem, type, "from");
    mo_cuda_source_printf(code, "(void) t;\nconst %s v = %s;\n", type,
                          values[op]);
    mo_cuda_stored_expr(s->elem, "v", result);
    mo_cuda_source_printf(code, "return %s;\n}\n", result);
}

/* A sum divided by the count; integers are rounded down. */
static void emit_divide(const mo_cuda_scatter_problem *s, mo_cuda_source *code)
{
    bool real = mo_elem_is_float(s->elem);
    char result[MO_CUDA_EXPR_SIZE];

    mo_cuda_source_printf(
        code, "MO_DEVICE %s divide(%s sum, long long by)\n{\n",
        mo_cuda_elem_type_name(s->elem), mo_cuda_elem_type_name(s->elem));
    emit_load(code, s->elem, real ? compute_type(s->elem, true) : "long long",
              "sum");
    mo_cuda_source_append(
        code, real ? "const double v = (double) s / (double) by;\n"
                   : "const long long v = s / by - (s % by < 0);\n");
    mo_cuda_stored_expr(s->elem, "v", result);
    mo_cuda_source_printf(code, "return %s;\n}\n", result);
}

/* The start value of an element that does not contribute itself. */
static void emit_start(const mo_cuda_scatter_problem *s, mo_cuda_source *code)
{
    char result[MO_CUDA_EXPR_SIZE];

    switch (s->call->op) {
    case MO_CALL_SCATTER_SUM:
    case MO_CALL_SCATTER_SUB:
    case MO_CALL_SCATTER_MEAN:
        mo_cuda_stored_expr(s->elem, "0", result);
        break;
    case MO_CALL_SCATTER_PROD:
        mo_cuda_stored_expr(s->elem, "1", result);
        break;
    default:
        snprintf(result, sizeof result, "UPDATE(last)");
    }
    mo_cuda_source_printf(code, "v = %s;\n", result);
}

/* Code for an element v of index i of block o with n > 0 updates, the last one
 * last; each opens a loop over them, c by c. */
static void emit_merging(const mo_cuda_scatter_problem *s, const char *each,
                         mo_cuda_source *code)
{
    const mo_call_scatter *call = s->call;

    if (call->op == MO_CALL_SCATTER_SET || !call->use_init)
        emit_start(s, code);
    if (call->op != MO_CALL_SCATTER_SET)
        mo_cuda_source_printf(code, "%sv = merge(v, UPDATE(c));\n}\n", each);
    if (call->op == MO_CALL_SCATTER_MEAN)
        mo_cuda_source_printf(code, "v = divide(v, (long long) n + %d);\n",
                              call->use_init);
}

static void emit_helpers(const mo_cuda_scatter_problem *s, mo_cuda_source *code)
{
    emit_merge(s, code);
    if (s->call->op == MO_CALL_SCATTER_MEAN)
        emit_divide(s, code);
    mo_cuda_source_printf(
        code,
        "#define UPDATE(c) updates[((long long) o * %lldLL + (c)) * "
        "%lldLL + i]\n",
        (long long) s->n_keys, (long long) s->inner);
}

/* Keys: the place of updates c, or -1. */

static void emit_tuple_key(const mo_cuda_scatter_problem *s,
                           mo_cuda_source *code)
{
    const mo_call_scatter *call = s->call;

    mo_cuda_source_printf(code,
                          "const long long first = c * %d;\n"
                          "long long key = 0;\n",
                          call->depth);
    mo_cuda_emit_tuple_offset(code, "key", "first", call->dims, s->steps,
                              call->depth);
    mo_cuda_source_append(code, "return key;\n}\n");
}

static void emit_element_key(const mo_cuda_scatter_problem *s,
                             mo_cuda_source *code)
{
    const mo_call_scatter *call = s->call;

    mo_cuda_emit_indices(code, "c", call->updates.dims, call->updates.rank);
    mo_cuda_source_printf(
        code,
        "const long long at = mo_index(indices, c, %lldLL, wrong);\n"
        "return at < 0 ? -1 : at * %lldLL",
        (long long) call->data.dims[call->at], (long long) s->steps[call->at]);
    mo_cuda_emit_offset_except(code, s->steps, call->updates.rank, call->at);
    mo_cuda_source_append(code, ";\n}\n");
}

static void emit_key(const mo_cuda_scatter_problem *s, mo_cuda_source *code)
{
    mo_cuda_emit_index_check(code, s->index_elem);
    mo_cuda_source_printf(
        code,
        "MO_DEVICE long long key_of(const %s *indices, long long c, "
        "long long *wrong)\n"
        "{\n",
        mo_cuda_elem_type_name(s->index_elem));
    if (s->call->kind == MO_CALL_GATHER_ND)
        emit_tuple_key(s, code);
    else if (s->call->kind == MO_CALL_GATHER_ELEMENTS)
        emit_element_key(s, code);
    else
        mo_cuda_source_printf(
            code, "return mo_index(indices, c, %lldLL, wrong);\n}\n",
            (long long) s->axis);
}

/* Few keys: scan. */

void mo_cuda_scatter_emit_scan(const mo_cuda_scatter_problem *s,
                               mo_cuda_source *code)
{
    const char *type = mo_cuda_elem_type_name(s->elem);
    int64_t extent[] = { s->outer, s->axis, s->inner };

    emit_key(s, code);
    emit_helpers(s, code);
    mo_cuda_source_printf(
        code,
        "MO_KERNEL_OF(scatter, %d)(const %s *data, const %s *indices, "
        "const %s *updates, %s *out, long long *wrong)\n{\n"
        "MO_SHARED long long keys[%lld];\n"
        "MO_BEGIN();\n"
        "for (int c = threadIdx.x; c < %lld; c += %d)\n"
        "    keys[c] = key_of(indices, c, wrong);\n"
        "MO_SYNC();\n",
        MO_CUDA_GRID_STRIDE_THREADS, type,
        mo_cuda_elem_type_name(s->index_elem), type, type,
        (long long) s->n_keys, (long long) s->n_keys,
        MO_CUDA_GRID_STRIDE_THREADS);
    mo_cuda_emit_grid_stride_loop(code, s->outer * s->axis * s->inner);
    mo_cuda_emit_indices(code, "t", extent, 3);
    mo_cuda_source_printf(code,
                          "const long long o = i0, i = i2;\n"
                          "%s v = data[t];\n"
                          "int n = 0, last = 0;\n"
                          "for (int c = 0; c < %lld; c++)\n"
                          "    if (keys[c] == i1)\n"
                          "        n++, last = c;\n"
                          "(void) last;\n"
                          "if (n > 0) {\n",
                          type, (long long) s->n_keys);
    emit_merging(s, "for (int c = 0; c <= last; c++) {\nif (keys[c] == i1)\n",
                 code);
    mo_cuda_source_append(code, "}\nout[t] = v;\n}\n}\n");
}

/* Many keys: bitonic sort. */

#include "exec/backend/cuda/kernels/scatter_sort.inc"

/* Keys out of range are sorted behind all others. */
void mo_cuda_scatter_emit_keys(const mo_cuda_scatter_problem *s,
                               mo_cuda_source *code)
{
    emit_key(s, code);
    mo_cuda_source_append(code, exchange_source);
    mo_cuda_source_append(code, block_steps_source);
    mo_cuda_source_printf(
        code,
        "MO_KERNEL_OF(scatter_keys, %d)(const %s *indices, unsigned "
        "long long *keys, long long *wrong)\n{\n"
        "MO_SHARED unsigned long long shared[%d];\n"
        "const unsigned first = blockIdx.x * %du;\n"
        "MO_BEGIN();\n"
        "for (unsigned i = threadIdx.x; i < %du; i += %du) {\n"
        "    const long long c = (long long) first + i;\n"
        "    const long long key = c < %lldLL ? key_of(indices, c, wrong) : "
        "-1;\n"
        "    shared[i] = key < 0 ? ~0ull : (unsigned long long) key << "
        "32 | (unsigned long long) c;\n"
        "}\n"
        "for (unsigned k = 2; k <= %du; k *= 2)\n"
        "    block_steps(shared, first, k, k / 2);\n"
        "for (unsigned i = threadIdx.x; i < %du; i += %du)\n"
        "    keys[first + i] = shared[i];\n"
        "}\n",
        SORT_THREADS, mo_cuda_elem_type_name(s->index_elem), BLOCK_KEYS,
        BLOCK_KEYS, BLOCK_KEYS, SORT_THREADS, (long long) s->n_keys, BLOCK_KEYS,
        BLOCK_KEYS, SORT_THREADS);
}

void mo_cuda_scatter_emit_step(mo_cuda_source *code)
{
    mo_cuda_source_append(code, exchange_source);
    mo_cuda_source_printf(
        code,
        "MO_KERNEL_OF(scatter_step, %d)(unsigned long long *keys, "
        "unsigned k, unsigned j)\n{\n"
        "const unsigned t = blockIdx.x * %du + threadIdx.x;\n"
        "const unsigned i = 2 * t - (t & (j - 1));\n"
        "MO_BEGIN();\n"
        "exchange(&keys[i], &keys[i + j], (i & k) == 0);\n"
        "}\n",
        SORT_THREADS, SORT_THREADS);
}

void mo_cuda_scatter_emit_merge(mo_cuda_source *code)
{
    mo_cuda_source_append(code, exchange_source);
    mo_cuda_source_append(code, block_steps_source);
    mo_cuda_source_printf(
        code,
        "MO_KERNEL_OF(scatter_merge, %d)(unsigned long long *keys, "
        "unsigned k)\n{\n"
        "MO_SHARED unsigned long long shared[%d];\n"
        "const unsigned first = blockIdx.x * %du;\n"
        "MO_BEGIN();\n"
        "for (unsigned i = threadIdx.x; i < %du; i += %du)\n"
        "    shared[i] = keys[first + i];\n"
        "block_steps(shared, first, k, %du);\n"
        "for (unsigned i = threadIdx.x; i < %du; i += %du)\n"
        "    keys[first + i] = shared[i];\n"
        "}\n",
        SORT_THREADS, BLOCK_KEYS, BLOCK_KEYS, BLOCK_KEYS, SORT_THREADS,
        BLOCK_KEYS / 2, BLOCK_KEYS, SORT_THREADS);
}

void mo_cuda_scatter_emit_apply(const mo_cuda_scatter_problem *s,
                                mo_cuda_source *code)
{
    const char *type = mo_cuda_elem_type_name(s->elem);
    int64_t extent[] = { s->outer, s->n_keys, s->inner };

    emit_helpers(s, code);
    mo_cuda_source_printf(
        code,
        "MO_KERNEL_OF(scatter_apply, %d)(const unsigned long long "
        "*keys, const %s *updates, %s *out)\n{\n"
        "MO_BEGIN();\n",
        MO_CUDA_GRID_STRIDE_THREADS, type, type);
    mo_cuda_emit_grid_stride_loop(code, s->outer * s->n_keys * s->inner);
    mo_cuda_emit_indices(code, "t", extent, 3);
    mo_cuda_source_printf(
        code,
        "const long long o = i0, i = i2;\n"
        "const unsigned long long place = keys[i1] >> 32;\n"
        "if (place == 0xffffffffull || (i1 > 0 && keys[i1 - 1] >> 32 "
        "== place))\n"
        "    continue;\n"
        "long long end = i1 + 1;\n"
        "while (end < %lldLL && keys[end] >> 32 == place)\n"
        "    end++;\n"
        "const long long n = end - i1;\n"
        "const unsigned last = (unsigned) keys[end - 1];\n"
        "%s *to = out + ((o * %lldLL + (long long) place) * %lldLL + "
        "i);\n"
        "%s v = *to;\n"
        "(void) last, (void) n;\n",
        (long long) s->n_keys, type, (long long) s->axis, (long long) s->inner,
        type);
    emit_merging(s,
                 "for (long long q = i1; q < end; q++) {\n"
                 "const unsigned c = (unsigned) keys[q];\n",
                 code);
    mo_cuda_source_append(code, "*to = v;\n}\n}\n");
}
