/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/exec/sampler.h"

#include <math.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "base/random.h"

typedef struct candidate {
    double weight; /* a logit, then a probability that is not normalized */
    int64_t id;
} candidate;

struct mo_sampler {
    mo_sampler_options options;
    int64_t vocabulary;
    mo_random random;
    candidate *heap; /* the best so far, the worst of them first */
    int64_t n, most;
};

mo_status mo_sampler_new(const mo_sampler_options *options, int64_t vocabulary,
                         mo_sampler **sampler, mo_error *err)
{
    mo_sampler *s = calloc(1, sizeof *s);

    if (!s)
        return mo_fail_memory(err);
    s->options = *options;
    s->vocabulary = vocabulary;
    s->random.state = mo_random_seed(options->seed, 1);
    s->most = options->top_k > 0 ? mo_min_i64(options->top_k, vocabulary)
                                 : vocabulary;
    if (options->temperature > 0)
        s->heap = calloc((size_t) s->most + 1, sizeof *s->heap);
    if (options->temperature > 0 && !s->heap) {
        free(s);
        return mo_fail_memory(err);
    }
    *sampler = s;
    return MO_OK;
}

void mo_sampler_free(mo_sampler *sampler)
{
    if (sampler)
        free(sampler->heap);
    free(sampler);
}

/* A total order, so that the result is the same everywhere. */
static bool is_worse(const candidate *a, const candidate *b)
{
    return a->weight != b->weight ? a->weight < b->weight : a->id > b->id;
}

static void sift_down(candidate *heap, int64_t n, int64_t at)
{
    for (;;) {
        int64_t least = at;
        candidate kept = heap[at];

        for (int64_t child = 2 * at + 1; child <= 2 * at + 2 && child < n;
             child++)
            if (is_worse(&heap[child], &heap[least]))
                least = child;
        if (least == at)
            return;
        heap[at] = heap[least];
        heap[least] = kept;
        at = least;
    }
}

static double logit_at(const mo_tensor_dense *logits, int64_t i)
{
    double x = logits->desc.elem == MO_ELEM_F32
                   ? ((const float *) logits->data)[i]
                   : mo_tensor_get_double(logits, i);

    return isnan(x) ? -INFINITY : x;
}

enum { LANES = 16 };

/* The largest of n numbers that is not NaN, or -infinity. */
static float find_maximum(const float *x, int64_t n)
{
    float most[LANES], all = -INFINITY;
    int64_t i = 0;

    for (int k = 0; k < LANES; k++)
        most[k] = -INFINITY;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            most[k] = x[i + k] > most[k] ? x[i + k] : most[k];
    for (int k = 0; k < LANES; k++)
        all = most[k] > all ? most[k] : all;
    for (; i < n; i++)
        all = x[i] > all ? x[i] : all;
    return all;
}

/* find_largest for floats: without branches for nearly all of them. */
static int64_t find_largest_float(const float *x, int64_t n)
{
    enum { PART = 1024 };
    float most = -INFINITY;
    int64_t part = -1;

    for (int64_t i = 0; i < n; i += PART) {
        float here = find_maximum(x + i, mo_min_i64(PART, n - i));

        if (here > most) {
            most = here;
            part = i;
        }
    }
    while (part >= 0 && x[part] != most)
        part++;
    return part;
}

static int64_t find_largest(const mo_sampler *s, const mo_tensor_dense *logits,
                            int64_t first)
{
    double most = -INFINITY;
    int64_t best = -1;

    if (logits->desc.elem == MO_ELEM_F32)
        return find_largest_float((const float *) logits->data + first,
                                  s->vocabulary);
    for (int64_t i = 0; i < s->vocabulary; i++) {
        double x = logit_at(logits, first + i);

        if (x > most) {
            most = x;
            best = i;
        }
    }
    return best;
}

/* The best candidates, best first: a heap of the best, then sorted by taking
 * the worst of it again and again. */
static void collect_best(mo_sampler *s, const mo_tensor_dense *logits,
                         int64_t first)
{
    s->n = s->most;
    for (int64_t i = 0; i < s->n; i++)
        s->heap[i] = (candidate){ logit_at(logits, first + i), i };
    for (int64_t i = s->n / 2; i-- > 0;)
        sift_down(s->heap, s->n, i);
    for (int64_t i = s->n; i < s->vocabulary; i++) {
        const candidate next = { logit_at(logits, first + i), i };

        if (is_worse(&s->heap[0], &next)) {
            s->heap[0] = next;
            sift_down(s->heap, s->n, 0);
        }
    }
    for (int64_t end = s->n - 1; end > 0; end--) {
        candidate worst = s->heap[0];

        s->heap[0] = s->heap[end];
        s->heap[end] = worst;
        sift_down(s->heap, end, 0);
    }
}

int64_t mo_sampler_choose(mo_sampler *sampler, const mo_tensor_dense *logits,
                          int64_t first)
{
    mo_sampler *s = sampler;
    double sum = 0, left, most;
    int64_t n = 0;

    if (s->options.temperature <= 0)
        return find_largest(s, logits, first);
    collect_best(s, logits, first);
    most = s->heap[0].weight;
    if (isinf(most))
        return most > 0 ? s->heap[0].id : -1;
    for (int64_t i = 0; i < s->n; i++) {
        s->heap[i].weight =
            exp((s->heap[i].weight - most) / s->options.temperature);
        sum += s->heap[i].weight;
    }
    /* At least one; the last one is that which reaches the part. */
    for (left = s->options.top_p * sum; n == 0 || (n < s->n && left > 0); n++)
        left -= s->heap[n].weight;
    sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += s->heap[i].weight;
    left = mo_random_unit(&s->random) * sum;
    for (int64_t i = 0; i < n; i++) {
        left -= s->heap[i].weight;
        if (left < 0)
            return s->heap[i].id;
    }
    return s->heap[n - 1].id;
}
