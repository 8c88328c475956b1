/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/primal/rcsp.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/parallel_for.h"
#include "schedule/allowed_devices.h"

/*
 * At each cut and state the labels with the least time plus priced bytes are
 * kept, none above a capacity.  Equal layers would all change device at the
 * same price; labels mix them, and of labels that differ in the order of equal
 * layers only one is kept.
 */

enum {
    MAX_LABELS = 48,        /* per state at a cut */
    LABEL_WORK = 100000000, /* additions of bytes */
    ADDITION_WORK = 2       /* of one of them (mo_stop_spend) */
};

static const double factors[] = { 1, 0.8, 1.25, 2 };

enum { N_FACTORS = sizeof factors / sizeof *factors };

typedef struct label {
    int64_t time_ns;
    double score;
    int from; /* label before the segment */
    unsigned char variant;
} label;

/* Labels at one cut: state a has count[a] of them from index a * most on. */
typedef struct cut {
    label *labels;
    int64_t *bytes; /* by label and device */
    int *count;     /* by state */
} cut;

/* The labels at prices scaled by one factor. */
typedef struct labelling {
    const mo_decomp_classes *classes;
    const int64_t *capacity_bytes;
    int n_devices, n_states;
    double *price; /* by device */
    int64_t *own;  /* by device: scratch of mo_primal_rcsp_variant() */

    int most; /* labels per state */
    cut now, next;
    int *from; /* by segment and label behind it: predecessor */
    unsigned char *variant;
    int64_t least_ns; /* result; INT64_MAX: none */
    int last;         /* its label behind the last segment */
} labelling;

const int64_t *mo_primal_rcsp_variant(const mo_decomp_classes *classes,
                                      int number, int boundary, int variant,
                                      int64_t *own, int64_t *time_ns)
{
    const mo_decomp_class *cls = &classes->classes[number];
    const mo_decomp_variant *variants;
    int v;

    if (cls->part) {
        variants = cls->boundaries[boundary].variants;
        if (!variants || !variants[variant].schedule)
            return NULL;
        *time_ns = variants[variant].schedule->makespan_ns;
        return variants[variant].bytes;
    }
    *time_ns = cls->upper_ns[boundary];
    if (variant != 0 || *time_ns == INT64_MAX)
        return NULL;
    memset(own, 0, (size_t) classes->x->n_devices * sizeof *own);
    v = mo_decomp_segment_exit(classes->segments,
                               classes->segments->first[number]);
    if (v != MO_FREE)
        own[classes->states->device[boundary % classes->states->n]] =
            mo_regime_resident_bytes(classes->x, classes->regime.memory, v);
    return own;
}

/* Inserts a label of a state if it is one of the best. */
static void insert_label(const labelling *b, cut *to, int state, const label *l,
                         const int64_t *used, const int64_t *more)
{
    size_t n_devices = (size_t) b->n_devices;
    label *labels = to->labels + (size_t) state * (size_t) b->most;
    int64_t *bytes = to->bytes + (size_t) state * (size_t) b->most * n_devices;
    int n = to->count[state], at = n;
    bool is_same;

    if (n == b->most && labels[n - 1].score <= l->score)
        return;
    while (at > 0 && labels[at - 1].score > l->score - 1) {
        at--;
        /* Of equal segments in another order only one is kept. */
        is_same =
            labels[at].score < l->score + 1 && labels[at].time_ns == l->time_ns;
        for (size_t k = 0; k < n_devices && is_same; k++)
            is_same = bytes[(size_t) at * n_devices + k] == used[k] + more[k];
        if (is_same)
            return;
    }
    while (at < n && labels[at].score <= l->score)
        at++;
    n -= n == b->most;
    memmove(labels + at + 1, labels + at, (size_t) (n - at) * sizeof *labels);
    memmove(bytes + (size_t) (at + 1) * n_devices,
            bytes + (size_t) at * n_devices,
            (size_t) (n - at) * n_devices * sizeof *bytes);
    labels[at] = *l;
    for (size_t k = 0; k < n_devices; k++)
        bytes[(size_t) at * n_devices + k] = used[k] + more[k];
    to->count[state] = n + 1;
}

/* Extends a label over a segment, by every state and variant. */
static void extend_label(const labelling *b, int cls, int state, int number,
                         cut *to)
{
    int from = state * b->most + number;
    const label *l = &b->now.labels[from];
    const int64_t *used = b->now.bytes + (size_t) from * (size_t) b->n_devices;

    for (int s = 0; s < b->n_states; s++)
        for (int i = 0; i < b->classes->n_variants; i++) {
            int64_t time_ns;
            const int64_t *more = mo_primal_rcsp_variant(
                b->classes, cls, state * b->n_states + s, i, b->own, &time_ns);
            label next = { .from = from, .variant = (unsigned char) i };
            bool fits = more != NULL;

            for (int k = 0; k < b->n_devices && fits; k++)
                fits = more[k] <= b->capacity_bytes[k] - used[k];
            if (!fits)
                continue;
            next.time_ns = l->time_ns + time_ns;
            next.score = l->score + (double) time_ns +
                         mo_decomp_priced_bytes_ns(b->classes, b->price, more);
            insert_label(b, to, s, &next, used, more);
        }
}

/* Labels all segments; a job of mo_parallel_for(). */
static void label_segments(void *context, int run, int thread)
{
    labelling *b = (labelling *) context + run;

    (void) thread;
    for (int s = 0; s < b->n_states; s++)
        b->now.count[s] = s == 0;
    b->now.labels[0] = (label){ 0 };
    memset(b->now.bytes, 0, (size_t) b->n_devices * sizeof *b->now.bytes);
    for (int i = 0; i < b->classes->segments->n; i++) {
        /* Computes the labels behind a segment and stores their predecessors.
         */
        size_t at = (size_t) i * (size_t) b->n_states * (size_t) b->most;
        cut swap = b->now;

        memset(b->next.count, 0, (size_t) b->n_states * sizeof *b->next.count);
        for (int s = 0; s < b->n_states; s++)
            for (int k = 0; k < b->now.count[s]; k++)
                extend_label(b, b->classes->segments->cls[i], s, k, &b->next);
        for (int s = 0; s < b->n_states; s++)
            for (int k = 0; k < b->next.count[s]; k++) {
                size_t j = (size_t) s * (size_t) b->most + (size_t) k;

                b->from[at + j] = b->next.labels[j].from;
                b->variant[at + j] = b->next.labels[j].variant;
            }
        b->now = b->next;
        b->next = swap;
    }
    for (int i = 0; i < b->now.count[0]; i++)
        if (b->now.labels[i].time_ns < b->least_ns) {
            b->last = i;
            b->least_ns = b->now.labels[i].time_ns;
        }
}

static mo_status reserve_cut(const labelling *b, cut *c, mo_error *err)
{
    size_t n = (size_t) b->n_states * (size_t) b->most;

    c->labels = malloc(n * sizeof *c->labels);
    c->bytes = malloc(n * (size_t) b->n_devices * sizeof *c->bytes);
    c->count = malloc((size_t) b->n_states * sizeof *c->count);
    return c->labels && c->bytes && c->count ? MO_OK : mo_fail_memory(err);
}

static mo_status open_labelling(labelling *b, mo_error *err)
{
    size_t n_devices = (size_t) b->n_devices, size;
    mo_status status = reserve_cut(b, &b->now, err);

    if (status == MO_OK)
        status = reserve_cut(b, &b->next, err);
    if (status != MO_OK ||
        !mo_size_mul((size_t) b->classes->segments->n,
                     (size_t) b->n_states * (size_t) b->most, &size))
        return status != MO_OK ? status : mo_fail_memory(err);
    b->from = malloc(size * sizeof *b->from);
    b->variant = malloc(size * sizeof *b->variant);
    b->price = calloc(n_devices, sizeof *b->price);
    b->own = calloc(n_devices, sizeof *b->own);
    return b->from && b->variant && b->price && b->own ? MO_OK
                                                       : mo_fail_memory(err);
}

static void clear_cut(cut *c)
{
    free(c->labels);
    free(c->bytes);
    free(c->count);
}

/* Returns how often bytes are added if a state has one label. */
static int64_t additions(const mo_decomp_classes *classes)
{
    return (int64_t) classes->segments->n * classes->states->n *
           classes->states->n * classes->n_variants * classes->x->n_devices;
}

/* Returns how many labels a state may have. */
static int choose_most(const mo_decomp_classes *classes)
{
    int64_t most = LABEL_WORK / (additions(classes) + 1);

    return most < 2 ? 2 : most > MAX_LABELS ? MAX_LABELS : (int) most;
}

int64_t mo_primal_rcsp_work(const mo_decomp_classes *classes)
{
    return N_FACTORS * ADDITION_WORK * choose_most(classes) *
           additions(classes);
}

mo_status mo_primal_rcsp_label(const mo_primal_rcsp *problem,
                               mo_decomp_path *path, unsigned char *variants,
                               int64_t *least_ns, mo_error *err)
{
    const mo_decomp_classes *classes = problem->classes;
    labelling runs[N_FACTORS];
    mo_status status = MO_OK;

    for (int i = 0; i < N_FACTORS; i++)
        runs[i] = (labelling){ .classes = classes,
                               .capacity_bytes = problem->capacity_bytes,
                               .n_devices = classes->x->n_devices,
                               .n_states = classes->states->n,
                               .most = choose_most(classes),
                               .least_ns = INT64_MAX };
    for (int i = 0; i < N_FACTORS && status == MO_OK; i++) {
        status = open_labelling(&runs[i], err);
        for (int k = 0; k < classes->x->n_devices && status == MO_OK; k++)
            runs[i].price[k] = factors[i] * problem->price_ns[k];
    }
    if (status == MO_OK)
        mo_parallel_for(problem->threads, N_FACTORS, label_segments, runs);
    for (int i = 0; i < N_FACTORS; i++) {
        if (status == MO_OK && runs[i].least_ns < *least_ns) {
            *least_ns = runs[i].least_ns;

            /* Follows the label of the result back. */
            const labelling *b = &runs[i];
            int at = b->last;

            for (int k = b->classes->segments->n - 1; k >= 0; k--) {
                size_t j =
                    (size_t) k * (size_t) b->n_states * (size_t) b->most +
                    (size_t) at;

                variants[k] = b->variant[j];
                if (k < b->classes->segments->n - 1)
                    path->state[k] = at / b->most;
                at = b->from[j];
            }
        }
        clear_cut(&runs[i].now);
        clear_cut(&runs[i].next);
        free(runs[i].from);
        free(runs[i].variant);
        free(runs[i].price);
        free(runs[i].own);
    }
    return status;
}
