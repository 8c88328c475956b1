/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scaled dot-product attention (Vaswani et al., 2017).
 *
 * For a block of queries, a GEMM computes the scores against all keys, softmax
 * runs row by row while they are in the cache, and a second GEMM multiplies by
 * the values. The division by the sums comes last, where it is less work.
 *
 * For few queries, as of one token, keys and values are not packed for a GEMM
 * but read once, as they are.
 */
#include "exec/backend/cpu/unit/multiversion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "exec/backend/check_call.h"
#include "exec/backend/cpu/unit/cpu_unit.h"
#include "exec/backend/cpu/kernels/few_queries.h"
#include "exec/backend/cpu/pointwise/pointwise.h"
#include "exec/backend/cpu/gemm/packed_gemm.h"
#include "exec/backend/cpu/pointwise/compiled_program.h"
#include "exec/backend/cpu/pointwise/math_f32.h"

/* Mask of one query: it sees the first count keys; added, if not NULL, is
 * added to their scores. sink: the score of one more, or -INFINITY.
 * zero_if_masked: as in mo_call_attention. */
typedef struct attention_mask {
    int64_t count;
    float sink;
    const float *added; /* by key, or NULL */
    bool zero_if_masked;
} attention_mask;

/* Reductions keep a fixed number of partial results: compilers vectorize them,
 * and every machine adds in the same order. */
enum { LANES = 16 };

MO_CPU_MULTIVERSION static void scale_scores(float *x, int64_t n, float scale,
                                             const float *added)
{
    if (added) {
        MO_CPU_IVDEP
        for (int64_t i = 0; i < n; i++)
            x[i] = x[i] * scale + added[i];
    } else {
        MO_CPU_IVDEP
        for (int64_t i = 0; i < n; i++)
            x[i] *= scale;
    }
}

MO_CPU_MULTIVERSION static float max_score(const float *x, int64_t n)
{
    float lane[LANES];
    int64_t i = 0;

    for (int l = 0; l < LANES; l++)
        lane[l] = -INFINITY;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++)
            lane[l] = x[i + l] > lane[l] ? x[i + l] : lane[l];
    for (; i < n; i++)
        lane[0] = x[i] > lane[0] ? x[i] : lane[0];
    for (int l = 1; l < LANES; l++)
        lane[0] = lane[l] > lane[0] ? lane[l] : lane[0];
    return lane[0];
}

MO_CPU_MULTIVERSION static void exp_scores(float *x, int64_t n, float largest)
{
    MO_CPU_IVDEP
    for (int64_t i = 0; i < n; i++)
        x[i] = mo_cpu_exp_down_f32(x[i] - largest);
}

MO_CPU_MULTIVERSION static float sum_weights(const float *x, int64_t n)
{
    float lane[LANES] = { 0 };
    int64_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++)
            lane[l] += x[i + l];
    for (; i < n; i++)
        lane[0] += x[i];
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            lane[l] += lane[l + half];
    return lane[0];
}

/* Turns the scores of one query against n keys into unnormalized weights:
 * exp(scale * score + added - their maximum), 0 for masked keys. Returns their
 * sum, or 1 where that is 0 and may be. */
static float softmax_row(float *scores, int64_t n, float scale,
                         const attention_mask *view)
{
    float largest, sum;

    scale_scores(scores, view->count, scale, view->added);
    largest = max_score(scores, view->count);
    if (view->sink > largest)
        largest = view->sink;
    if (view->zero_if_masked && largest == -INFINITY)
        largest = 0;
    exp_scores(scores, view->count, largest);
    memset(scores + view->count, 0,
           (size_t) (n - view->count) * sizeof *scores);
    sum = sum_weights(scores, view->count);
    if (view->sink > -INFINITY)
        sum += expf(view->sink - largest);
    return view->zero_if_masked && sum == 0 ? 1 : sum;
}

/* Rounds numbers from 0 to 1, each times scale, to a type: adding rounds those
 * that are subnormal there, the product of Veltkamp and Dekker (1971) others.
 */
MO_CPU_MULTIVERSION static void round_weights(float *x, int64_t n, float scale,
                                              mo_elem elem)
{
    const float split = elem == MO_ELEM_F16 ? 0x1p13f + 1 : 0x1p16f + 1;
    const float normal = elem == MO_ELEM_F16 ? 0x1p-14f : 0;

    MO_CPU_IVDEP
    for (int64_t i = 0; i < n; i++) {
        float y = x[i] * scale, high = y * split;

        x[i] = y < normal ? (y + 0.5f) - 0.5f : high - (high - y);
    }
}

enum { QUERIES_AT_ONCE = 56, FEW_QUERIES = 8 };

typedef struct attention_kernel {
    mo_cpu_kernel base;
    mo_call_attention call;
    mo_elem elem, kv_elem, mask_elem, sink_elem;
    int64_t batches;
    int64_t parts;               /* jobs of a batch, split by queries */
    bool few;                    /* queries: nothing is packed */
    mo_cpu_point_program *score; /* or NULL */
    mo_cpu_epilogue epilogue;
    size_t q_at, k_at, v_at, scores_at, mask_at, out_at, program_at, scratch;
} attention_kernel;

static size_t append_floats(size_t *end, int64_t floats)
{
    return mo_cpu_append_part(end, (size_t) floats * sizeof(float));
}

static void divide_scratch(const mo_cpu_unit *unit, attention_kernel *k)
{
    const mo_call_attention *c = &k->call;
    bool floats = k->elem == MO_ELEM_F32;
    size_t end = mo_cpu_round_to_line(QUERIES_AT_ONCE * sizeof(float *));
    size_t epilogue = mo_cpu_epilogue_scratch_size(&k->epilogue);
    size_t score = k->score ? mo_cpu_point_program_scratch_size(k->score) : 0;

    k->q_at = append_floats(&end, floats ? 0 : QUERIES_AT_ONCE * c->width);
    k->k_at = append_floats(
        &end, k->few ? 0
                     : mo_cpu_gemm_panel_columns(unit->micro_kernels, c->keys) *
                           c->width);
    k->v_at = append_floats(
        &end, k->few
                  ? MO_CPU_VALUES_AT_ONCE * c->v_width
                  : mo_cpu_gemm_panel_columns(unit->micro_kernels, c->v_width) *
                        c->keys);
    k->scores_at = append_floats(&end, QUERIES_AT_ONCE * c->keys);
    k->mask_at = append_floats(&end, c->has_mask ? c->keys : 0);
    k->out_at = append_floats(&end, floats ? 0 : QUERIES_AT_ONCE * c->v_width);
    /* The programs run one after the other and share scratch. */
    k->program_at =
        mo_cpu_append_part(&end, epilogue > score ? epilogue : score);
    k->scratch = end;
}

/* Each part packs keys and values again: split only where threads would
 * idle. */
static int64_t count_parts(const mo_cpu_unit *unit, const attention_kernel *k)
{
    int64_t most = mo_ceil_div(k->call.queries, QUERIES_AT_ONCE);
    int64_t wanted = k->batches > 0
                         ? mo_ceil_div((int64_t) 2 * unit->threads, k->batches)
                         : 1;

    if (unit->threads == 1)
        return 1;
    return wanted < most ? wanted : most > 0 ? most : 1;
}

static void free_attention(mo_cpu_kernel *kernel)
{
    attention_kernel *k = (attention_kernel *) kernel;

    mo_cpu_epilogue_clear(&k->epilogue);
    mo_cpu_point_program_free(k->score);
    free(k);
}

static mo_status make_score(attention_kernel *k, mo_error *err)
{
    const mo_call_attention *c = &k->call;
    mo_tensor_desc scores = { .elem = MO_ELEM_F32,
                              .shape = { .rank = c->n_batch + 2 } };

    if (!c->score)
        return MO_OK;
    for (int d = 0; d < c->n_batch; d++)
        scores.shape.dims[d] = c->extent[d];
    scores.shape.dims[c->n_batch] = c->queries;
    scores.shape.dims[c->n_batch + 1] = c->keys;
    return mo_cpu_point_program_compile(c->score, &scores, true, &k->score,
                                        err);
}

static mo_status prepare_attention(mo_cpu_unit *unit, const mo_call *call,
                                   const mo_backend_operand *in,
                                   const mo_tensor_desc *out,
                                   mo_cpu_kernel **kernel, size_t *workspace,
                                   mo_error *err)
{
    attention_kernel *k;
    mo_status status = mo_backend_check_attention(call, in, out, err);

    if (status != MO_OK)
        return status;
    k = calloc(1, sizeof *k);
    if (!k)
        return mo_fail_memory(err);
    k->call = call->u.attention;
    k->elem = out[0].elem;
    k->kv_elem = in[1].desc.elem;
    k->mask_elem = k->call.has_mask ? in[3].desc.elem : MO_ELEM_F32;
    k->sink_elem =
        k->call.has_sinks ? in[3 + k->call.has_mask].desc.elem : MO_ELEM_F32;
    k->batches = 1;
    for (int d = 0; d < k->call.n_batch; d++)
        k->batches *= k->call.extent[d];
    k->parts = count_parts(unit, k);
    k->few = k->call.queries <= FEW_QUERIES;
    status = mo_cpu_epilogue_init(call, &out[0], &k->epilogue, err);
    if (status == MO_OK)
        status = make_score(k, err);
    if (status != MO_OK) {
        free_attention(&k->base);
        return status;
    }
    divide_scratch(unit, k);
    *kernel = &k->base;
    *workspace = mo_cpu_workspace_size(unit, k->scratch);
    return MO_OK;
}

typedef struct attention_run {
    const attention_kernel *kernel;
    const mo_cpu_micro_kernels *micro_kernels;
    const mo_cpu_block_kernels *block_kernels;
    const void *const *in;
    void *out;
    void *workspace;
} attention_run;

/* One batch index, processed by one worker. */
typedef struct head {
    const attention_run *run;
    char *scratch;
    int64_t batch, q, k, v, mask, sink, out; /* offsets of its matrices */
    int64_t keys; /* those behind are masked, whatever the query */
} head;

static float *part_of(const head *h, size_t at)
{
    return (float *) (void *) (h->scratch + at);
}

/* Returns the number of keys up to the last one that a mask keeps, of n, or
 * `least`. */
static int64_t count_kept(const unsigned char *keep, int64_t n, int64_t least)
{
    uint64_t eight;

    for (; n - 8 >= least; n -= 8) {
        memcpy(&eight, keep + n - 8, 8);
        if (eight != 0)
            break;
    }
    while (n > least && !keep[n - 1])
        n--;
    return n;
}

/* Most of a cache is not filled yet: keys behind the last one that a mask of
 * booleans keeps for any of the queries are not read. */
static int64_t count_keys(const head *h, int64_t first, int64_t last)
{
    const attention_kernel *k = h->run->kernel;
    const mo_call_attention *c = &k->call;
    const unsigned char *keep =
        c->has_mask ? (const unsigned char *) h->run->in[3] + h->mask : NULL;
    int64_t n = 1;

    if (!keep || k->mask_elem != MO_ELEM_BOOL || k->score ||
        c->mask_column != 1)
        return c->keys;
    if (c->mask_row == 0)
        first = last - 1;
    for (int64_t i = last - 1; i >= first; i--)
        n = count_kept(keep + i * c->mask_row, c->keys, n);
    return n;
}

static head head_of(const attention_run *run, int64_t batch, int worker)
{
    const mo_call_attention *c = &run->kernel->call;
    head h = { .run = run,
               .batch = batch,
               .q = c->q_offset,
               .k = c->k_offset,
               .v = c->v_offset,
               .mask = c->mask_offset };

    h.scratch =
        mo_cpu_worker_scratch(run->workspace, run->kernel->scratch, worker);
    for (int d = c->n_batch - 1; d >= 0; d--) {
        int64_t i = batch % c->extent[d];

        batch /= c->extent[d];
        h.q += i * c->q_batch[d];
        h.k += i * c->k_batch[d];
        h.v += i * c->v_batch[d];
        h.mask += i * c->mask_batch[d];
        h.sink += i * c->sink_batch[d];
        h.out += i * c->out_batch[d];
    }
    return h;
}

static mo_cpu_matrix_view values_of(const head *h)
{
    const attention_kernel *k = h->run->kernel;

    return (mo_cpu_matrix_view){ h->run->in[2], k->kv_elem, h->v, k->call.v_row,
                                 1 };
}

static void pack_keys_and_values(const head *h)
{
    const attention_kernel *k = h->run->kernel;
    const mo_call_attention *c = &k->call;
    mo_cpu_matrix_view keys = { h->run->in[1], k->kv_elem, h->k, 1, c->k_row };
    mo_cpu_matrix_view values = values_of(h);

    mo_cpu_gemm_pack_panels(h->run->micro_kernels, &keys, c->width, h->keys, 0,
                            c->width, part_of(h, k->k_at));
    mo_cpu_gemm_pack_panels(h->run->micro_kernels, &values, h->keys, c->v_width,
                            0, h->keys, part_of(h, k->v_at));
}

/* Pointers to n queries from first on. */
static const float **point_to_queries(const head *h, int64_t first, int64_t n)
{
    const attention_kernel *k = h->run->kernel;
    const float **rows = (const float **) (void *) h->scratch;
    int64_t width = k->call.width, pitch = k->call.q_row;
    int64_t at = h->q + first * pitch;
    const float *queries = (const float *) h->run->in[0] + at;

    if (k->elem != MO_ELEM_F32) {
        mo_cpu_matrix_view from = { h->run->in[0], k->elem, at, pitch, 1 };

        mo_cpu_load_f32_matrix(&from, n, width, part_of(h, k->q_at), width);
        queries = part_of(h, k->q_at);
        pitch = width;
    }
    for (int64_t i = 0; i < n; i++)
        rows[i] = queries + i * pitch;
    return rows;
}

static void load_mask(const head *h, int64_t query, float *mask)
{
    const attention_kernel *k = h->run->kernel;
    const mo_call_attention *c = &k->call;
    const unsigned char *keep = h->run->in[3];
    int64_t at = h->mask + query * c->mask_row;

    if (k->mask_elem != MO_ELEM_BOOL) {
        mo_cpu_load_f32(h->run->in[3], k->mask_elem, at, c->mask_column,
                        h->keys, mask);
        return;
    }
    for (int64_t i = 0; i < h->keys; i++)
        mask[i] = keep[at + i * c->mask_column] ? 0 : -INFINITY;
}

/* Causal mask: query i sees the keys 0, ..., i. */
static attention_mask mask_of(const head *h, int64_t query)
{
    const mo_call_attention *c = &h->run->kernel->call;
    float *mask = part_of(h, h->run->kernel->mask_at);
    attention_mask view = { .count = h->keys,
                            .sink = -INFINITY,
                            .zero_if_masked = c->zero_if_masked };

    if (c->causal && query + 1 < h->keys)
        view.count = query + 1;
    if (c->has_mask) {
        load_mask(h, query, mask);
        view.added = mask;
    }
    if (c->has_sinks)
        mo_cpu_load_f32(h->run->in[3 + c->has_mask], h->run->kernel->sink_elem,
                        h->sink + query * c->sink_row, 1, 1, &view.sink);
    return view;
}

/* Applies the call's own pointwise program to the scores of n queries from
 * first on. */
static void transform_scores(const head *h, int64_t first, int64_t n,
                             float *scores)
{
    const attention_kernel *k = h->run->kernel;
    const mo_call_attention *c = &k->call;
    int64_t element = (h->batch * c->queries + first) * c->keys;
    const void *operands[MO_POINT_MAX_OPERANDS] = { NULL };

    for (int i = 1; i < k->score->n_sources; i++)
        operands[i] = h->run->in[3 + c->has_mask + i - 1];
    scale_scores(scores, n * c->keys, (float) c->scale, NULL);
    mo_cpu_point_program_run_to(k->score, scores, operands, scores, element,
                                n * c->keys, h->scratch + k->program_at);
}

/* Turns scores into unnormalized weights; shares receives 1 / their sums. Of
 * values in a cache of halves the weights are rounded to its type, as llama.cpp
 * rounds them: quantized weights behind attention tell the difference. */
static void softmax_scores(const head *h, int64_t first, int64_t n,
                           float *scores, float *shares)
{
    const attention_kernel *k = h->run->kernel;
    const mo_call_attention *c = &k->call;
    float scale = k->score ? 1 : (float) c->scale;

    if (k->score)
        transform_scores(h, first, n, scores);
    for (int64_t i = 0; i < n; i++) {
        attention_mask view = mask_of(h, first + i);

        shares[i] =
            1 / softmax_row(scores + i * h->keys, h->keys, scale, &view);
        if (k->kv_elem == k->elem)
            continue;
        round_weights(scores + i * h->keys, h->keys, shares[i], k->kv_elem);
        shares[i] = 1;
    }
}

static void attend_queries(const head *h, int64_t first, int64_t n)
{
    const attention_kernel *k = h->run->kernel;
    const mo_call_attention *c = &k->call;
    bool floats = k->elem == MO_ELEM_F32;
    int64_t pitch = floats ? c->out_row : c->v_width;
    float *scores = part_of(h, k->scores_at), shares[QUERIES_AT_ONCE];
    float *out = floats ? (float *) h->run->out + h->out + first * c->out_row
                        : part_of(h, k->out_at);
    const float **rows = point_to_queries(h, first, n);
    mo_cpu_gemm product = { .micro_kernels = h->run->micro_kernels,
                            .rows = rows,
                            .n_rows = n,
                            .taps = 1,
                            .depth = c->width,
                            .panels = part_of(h, k->k_at),
                            .columns = h->keys,
                            .c = scores,
                            .pitch = h->keys };

    if (k->few)
        mo_cpu_few_queries_score(h->run->block_kernels,
                                 &(mo_cpu_matrix_view){ h->run->in[1],
                                                        k->kv_elem, h->k,
                                                        c->k_row, 1 },
                                 h->keys, c->width, rows, n, scores);
    else
        mo_cpu_gemm_run(&product);
    softmax_scores(h, first, n, scores, shares);
    if (k->few) {
        mo_cpu_matrix_view values = values_of(h);

        mo_cpu_few_queries_add_values(&values, h->keys, c->v_width, scores, n,
                                      part_of(h, k->v_at), out, pitch);
    } else {
        for (int64_t i = 0; i < n; i++)
            rows[i] = scores + i * h->keys;
        product.depth = h->keys;
        product.panels = part_of(h, k->v_at);
        product.columns = c->v_width;
        product.c = out;
        product.pitch = pitch;
        mo_cpu_gemm_run(&product);
    }
    for (int64_t i = 0; i < n; i++)
        scale_scores(out + i * pitch, c->v_width, shares[i], NULL);
    for (int64_t i = 0; i < n && !mo_cpu_epilogue_is_identity(&k->epilogue);
         i++)
        mo_cpu_epilogue_run(&k->epilogue, h->run->in, h->run->out,
                            h->out + (first + i) * c->out_row, c->v_width,
                            out + i * pitch, h->scratch + k->program_at);
}

static void run_part(void *context, int64_t begin, int64_t end, int worker)
{
    const attention_run *run = context;
    const attention_kernel *k = run->kernel;
    int64_t blocks = mo_ceil_div(k->call.queries, QUERIES_AT_ONCE);

    for (int64_t job = begin; job < end; job++) {
        head h = head_of(run, job / k->parts, worker);
        int64_t part = job % k->parts;
        int64_t first = blocks * part / k->parts * QUERIES_AT_ONCE;
        int64_t last = mo_min_i64(
            blocks * (part + 1) / k->parts * QUERIES_AT_ONCE, k->call.queries);

        h.keys = count_keys(&h, first, last);
        if (!k->few)
            pack_keys_and_values(&h);
        for (int64_t q = first; q < last; q += QUERIES_AT_ONCE)
            attend_queries(&h, q, mo_min_i64(QUERIES_AT_ONCE, last - q));
    }
}

static mo_status run_attention(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                               const void *const *in, void *const *out,
                               void *workspace, mo_error *err)
{
    const attention_kernel *k = (const attention_kernel *) kernel;
    attention_run run = {
        k, unit->micro_kernels, unit->block_kernels, in, out[0], workspace
    };

    (void) err;
    if (k->call.queries > 0 && k->call.v_width > 0)
        mo_cpu_thread_pool_parallel_for(unit->pool, k->batches * k->parts, 1,
                                        run_part, &run);
    return MO_OK;
}

const mo_cpu_kernel_class mo_cpu_attention = { prepare_attention, run_attention,
                                               free_attention };
