/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Top-k selection: a bounded heap keeps the best k of a line with the worst of
 * them at the root, so that most elements cost one comparison. Elements are
 * compared by order-preserving integer keys, whatever their type, and equal
 * ones by index.
 */
#include <stdlib.h>
#include <string.h>

#include "exec/backend/cpu/unit/cpu_unit.h"
#include "exec/backend/cpu/pointwise/steps.h"

enum { BLOCK = 512, GRAIN = 8192 };

typedef struct entry {
    uint64_t key; /* lower is better */
    int64_t index;
} entry;

/* Elements of a line in the types that mo_cpu_load_fn stores. */
typedef union registers {
    double real[BLOCK];
    int64_t integer[BLOCK];
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

/* Order-preserving key of a double: negative ones are complemented; adding 0
 * maps -0 to 0. */
static uint64_t key_of_real(double x)
{
    uint64_t bits, sign = UINT64_C(1) << 63;

    x += 0.0;
    memcpy(&bits, &x, sizeof bits);
    return bits & sign ? ~bits : bits | sign;
}

static uint64_t key_of_integer(int64_t x, bool is_signed)
{
    return is_signed ? (uint64_t) x ^ UINT64_C(1) << 63 : (uint64_t) x;
}

static uint64_t key_of(const topk_kernel *kernel, const registers *block, int i)
{
    uint64_t key;

    if (mo_elem_is_float(kernel->elem))
        key = key_of_real(block->real[i]);
    else
        key = key_of_integer(block->integer[i], kernel->elem != MO_ELEM_U64);
    return kernel->topk.largest ? ~key : key;
}

static void offer_entry(entry *heap, int64_t k, const entry *found)
{
    if (found->index < k) {
        heap[found->index] = *found;
        if (found->index == k - 1)
            make_heap(heap, k, is_better);
    } else if (is_better(found, &heap[0])) {
        heap[0] = *found;
        sift_down(heap, k, 0, is_better);
    }
}

/* Selects the best k of the line that begins at element first. */
static void select_best(const topk_run *run, int64_t first, entry *heap)
{
    const topk_kernel *kernel = run->kernel;
    const mo_call_topk *topk = &kernel->topk;
    registers block;

    for (int64_t at = 0; at < topk->count; at += BLOCK) {
        int64_t rest = topk->count - at;
        int n = rest < BLOCK ? (int) rest : BLOCK;

        kernel->load(run->in, first + at * topk->inner, topk->inner, &block, n);
        for (int i = 0; i < n; i++) {
            entry found = { key_of(kernel, &block, i), at + i };

            offer_entry(heap, topk->k, &found);
        }
    }
    sort_heap(heap, topk->k, is_better);
    if (topk->sort == MO_CALL_TOPK_BY_INDEX) {
        make_heap(heap, topk->k, comes_before);
        sort_heap(heap, topk->k, comes_before);
    }
}

static void select_lines(void *context, int64_t begin, int64_t end, int worker)
{
    const topk_run *run = context;
    const topk_kernel *kernel = run->kernel;
    const mo_call_topk *topk = &kernel->topk;
    entry *heap =
        mo_cpu_worker_scratch(run->workspace, kernel->share_bytes, worker);
    size_t bytes = kernel->elem_bytes;

    for (int64_t line = begin; line < end; line++) {
        int64_t outer = line / topk->inner, column = line % topk->inner;
        int64_t from = outer * topk->count * topk->inner + column;
        int64_t to = outer * topk->k * topk->inner + column;

        select_best(run, from, heap);
        for (int64_t i = 0; i < topk->k; i++, to += topk->inner) {
            int64_t best = from + heap[i].index * topk->inner;

            memcpy((char *) run->values + (size_t) to * bytes,
                   (const char *) run->in + (size_t) best * bytes, bytes);
            if (run->kernel->index_elem == MO_ELEM_I64)
                ((int64_t *) run->indices)[to] = heap[i].index;
            else
                ((int32_t *) run->indices)[to] = (int32_t) heap[i].index;
        }
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
