/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Top-k selection: a bounded heap keeps the best k of a line with the worst of
 * them at the root, so that most elements cost one comparison. Elements are
 * compared by order-preserving integer keys, whatever their type, and equal
 * ones by index. The best one alone is found for adjacent lines side by side.
 */
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "exec/backend/cpu/unit/cpu_unit.h"
#include "exec/backend/cpu/unit/multiversion.h"
#include "exec/backend/cpu/pointwise/steps.h"

enum { BLOCK = 512, GRAIN = 8192 };

typedef struct entry {
    uint64_t key; /* lower is better */
    int64_t index;
} entry;

/* Elements of a line in the types that mo_cpu_load_fn stores, then their keys.
 */
typedef union registers {
    double real[BLOCK];
    uint64_t key[BLOCK];
} registers;

typedef struct topk_kernel {
    mo_cpu_kernel base;
    mo_call_topk topk;
    mo_elem elem, index_elem;
    size_t elem_bytes, share_bytes;
    mo_cpu_load_fn *load;
} topk_kernel;

typedef struct topk_run {
    const topk_kernel *kernel;
    const void *in;
    void *values, *indices, *workspace;
} topk_run;

static bool is_better(const entry *a, const entry *b)
{
    return a->key != b->key ? a->key < b->key : a->index < b->index;
}

static bool comes_before(const entry *a, const entry *b)
{
    return a->index < b->index;
}

typedef bool order(const entry *a, const entry *b);

/* Sift-down of the entry at `at`. */
static void sift_down(entry *heap, int64_t n, int64_t at, order *before)
{
    entry moved = heap[at];

    for (int64_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && before(&heap[child], &heap[child + 1]))
            child++;
        if (!before(&moved, &heap[child]))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

static void make_heap(entry *heap, int64_t n, order *before)
{
    for (int64_t at = n / 2; at-- > 0;)
        sift_down(heap, n, at, before);
}

/* Heapsort: the root comes last. */
static void sort_heap(entry *heap, int64_t n, order *before)
{
    for (int64_t last = n - 1; last > 0; last--) {
        entry top = heap[0];

        heap[0] = heap[last];
        heap[last] = top;
        sift_down(heap, last, 0, before);
    }
}

/* Order-preserving keys of doubles, which may be in the same place: negative
 * ones are complemented; adding 0 maps -0 to 0. NaN of either sign is the
 * largest. */
MO_CPU_MULTIVERSION
static void make_real_keys(registers *block, uint64_t flip, int n)
{
    MO_CPU_IVDEP for (int i = 0; i < n; i++)
    {
        union {
            double real;
            uint64_t bits;
        } x = { .real = block->real[i] + 0.0 };
        uint64_t below;

        x.bits = x.real != x.real ? UINT64_C(0x7ff8) << 48 : x.bits;
        below = (uint64_t) 0 - (x.bits >> 63);
        block->key[i] = x.bits ^ (below | UINT64_C(1) << 63) ^ flip;
    }
}

/* Keys of n elements from element at on, stride apart. */
static void load_keys(const topk_run *run, int64_t at, int64_t stride,
                      registers *block, int n)
{
    const topk_kernel *kernel = run->kernel;
    uint64_t flip = kernel->topk.largest ? UINT64_MAX : 0;

    kernel->load(run->in, at, stride, block, n);
    if (mo_elem_is_float(kernel->elem)) {
        make_real_keys(block, flip, n);
        return;
    }
    if (kernel->elem != MO_ELEM_U64)
        flip ^= UINT64_C(1) << 63;
    for (int i = 0; i < n; i++)
        block->key[i] ^= flip;
}

/* Offers n elements with indices from first on, which are worse than earlier
 * ones of the same key. */
static void offer_block(entry *heap, int64_t k, int64_t first,
                        const uint64_t *key, int n)
{
    int i = 0;

    for (; i < n && first + i < k; i++) {
        heap[first + i] = (entry){ key[i], first + i };
        if (first + i == k - 1)
            make_heap(heap, k, is_better);
    }
    for (; i < n; i++)
        if (key[i] < heap[0].key) {
            heap[0] = (entry){ key[i], first + i };
            sift_down(heap, k, 0, is_better);
        }
}

/* Selects the best k of the line that begins at element first. */
static void select_best(const topk_run *run, int64_t first, entry *heap)
{
    const mo_call_topk *topk = &run->kernel->topk;
    registers block;

    for (int64_t at = 0; at < topk->count; at += BLOCK) {
        int n = (int) mo_min_i64(BLOCK, topk->count - at);

        load_keys(run, first + at * topk->inner, topk->inner, &block, n);
        offer_block(heap, topk->k, at, block.key, n);
    }
    sort_heap(heap, topk->k, is_better);
    if (topk->sort == MO_CALL_TOPK_BY_INDEX) {
        make_heap(heap, topk->k, comes_before);
        sort_heap(heap, topk->k, comes_before);
    }
}

/* Element from is selected as element to of the results. */
static void put_result(const topk_run *run, int64_t from, int64_t to,
                       int64_t index)
{
    const topk_kernel *kernel = run->kernel;
    size_t bytes = kernel->elem_bytes;

    memcpy((char *) run->values + (size_t) to * bytes,
           (const char *) run->in + (size_t) from * bytes, bytes);
    if (kernel->index_elem == MO_ELEM_I64)
        ((int64_t *) run->indices)[to] = index;
    else
        ((int32_t *) run->indices)[to] = (int32_t) index;
}

MO_CPU_MULTIVERSION
static void take_better(const uint64_t *restrict key, int64_t index,
                        uint64_t *restrict best, int64_t *restrict indices,
                        int n)
{
    for (int i = 0; i < n; i++) {
        bool better = key[i] < best[i];

        best[i] = better ? key[i] : best[i];
        indices[i] = better ? index : indices[i];
    }
}

/* The best of each of width adjacent lines. */
static void select_side_by_side(const topk_run *run, int64_t outer,
                                int64_t column, int width)
{
    const mo_call_topk *topk = &run->kernel->topk;
    int64_t from = outer * topk->count * topk->inner + column;
    int64_t indices[BLOCK] = { 0 };
    registers best, block;

    load_keys(run, from, 1, &best, width);
    for (int64_t at = 1; at < topk->count; at++) {
        load_keys(run, from + at * topk->inner, 1, &block, width);
        take_better(block.key, at, best.key, indices, width);
    }
    for (int i = 0; i < width; i++)
        put_result(run, from + i + indices[i] * topk->inner,
                   outer * topk->inner + column + i, indices[i]);
}

static void select_lines(void *context, int64_t begin, int64_t end, int worker)
{
    const topk_run *run = context;
    const mo_call_topk *topk = &run->kernel->topk;
    entry *heap =
        mo_cpu_worker_scratch(run->workspace, run->kernel->share_bytes, worker);

    for (int64_t line = begin; line < end;) {
        int64_t outer = line / topk->inner, column = line % topk->inner;
        int64_t from = outer * topk->count * topk->inner + column;
        int64_t to = outer * topk->k * topk->inner + column;

        if (topk->k == 1 && topk->inner > 1) {
            int64_t width = mo_min_i64(end - line, topk->inner - column);

            width = mo_min_i64(width, BLOCK);
            select_side_by_side(run, outer, column, (int) width);
            line += width;
            continue;
        }
        select_best(run, from, heap);
        for (int64_t i = 0; i < topk->k; i++, to += topk->inner)
            put_result(run, from + heap[i].index * topk->inner, to,
                       heap[i].index);
        line++;
    }
}

static mo_status prepare_topk(mo_cpu_unit *unit, const mo_call *call,
                              const mo_backend_operand *in,
                              const mo_tensor_desc *out, mo_cpu_kernel **kernel,
                              size_t *workspace, mo_error *err)
{
    mo_elem elem = in[0].desc.elem;
    topk_kernel *made = calloc(1, sizeof *made);

    if (!made)
        return mo_fail_memory(err);
    made->topk = call->u.topk;
    made->elem = elem;
    made->index_elem = out[1].elem;
    made->elem_bytes = mo_elem_size(elem);
    made->load = mo_cpu_load_fn_for(elem, true); /* reals as doubles */
    made->share_bytes = (size_t) made->topk.k * sizeof(entry);
    *workspace = mo_cpu_workspace_size(unit, made->share_bytes);
    *kernel = &made->base;
    return MO_OK;
}

static mo_status run_topk(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                          const void *const *in, void *const *out,
                          void *workspace, mo_error *err)
{
    const topk_kernel *made = (const topk_kernel *) kernel;
    const mo_call_topk *topk = &made->topk;
    topk_run context = { made, in[0], out[0], out[1], workspace };

    (void) err;
    if (topk->k > 0)
        mo_cpu_thread_pool_parallel_for(
            unit->pool, topk->outer * topk->inner,
            topk->count < GRAIN ? GRAIN / topk->count : 1, select_lines,
            &context);
    return MO_OK;
}

const mo_cpu_kernel_class mo_cpu_topk = { prepare_topk, run_topk, NULL };
