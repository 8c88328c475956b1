/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/primal/rcsp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "schedule/allowed_devices.h"
#include "schedule/bound/bundle_method.h"
#include "solvers/search/primal/path_anneal.h"

/*
 * Lagrangian relaxation of the capacities: with a multiplier (price) on each
 * device's bytes the cheapest path in time plus priced bytes exceeds a capacity
 * or not; a bundle method maximises the dual.  Then a labelling algorithm (beam
 * search): at each cut and state the labels with the least time plus priced
 * bytes are kept, none above a capacity. Equal layers would all change device
 * at the same price; labels mix them, and of labels that differ in the order of
 * equal layers only one is kept.  What labels leave of the devices is filled up
 * by annealing (path_anneal.h).
 */

enum {
    MAX_LABELS = 48,       /* per state at a cut */
    MAX_EVALUATIONS = 200, /* of the dual */
    MIN_EVALUATIONS = 8,
    PRICE_WORK = 200000000, /* of all evaluations */
    LABEL_WORK = 100000000
};

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

typedef struct rcsp {
    const mo_decomp_classes *classes;
    const int64_t *capacity_bytes;
    mo_decomp_path *path;
    int n_devices, n_states;
    double *price;      /* multiplier by device, ns per byte */
    double *worth;      /* by device: price of scale bytes */
    double *scale;      /* by device, in bytes */
    double *scaled;     /* price of the labels */
    int64_t **table_ns; /* by class and boundary: priced time */
    int64_t *used;      /* by device */
    int64_t *own;       /* by device: scratch of direct_bytes() */

    int most; /* labels per state */
    cut now, next;
    int *from; /* by segment and label behind it: predecessor */
    unsigned char *variant;
} rcsp;

/* Returns the bytes of a segment without a part: those of its v. */
static const int64_t *direct_bytes(const rcsp *b, int cls, int boundary)
{
    int v = mo_decomp_segment_exit(b->classes->segments,
                                   b->classes->segments->first[cls]);

    memset(b->own, 0, (size_t) b->n_devices * sizeof *b->own);
    if (v != MO_FREE)
        b->own[b->classes->states->device[boundary % b->n_states]] =
            mo_regime_resident_bytes(b->classes->x, b->classes->regime.memory,
                                     v);
    return b->own;
}

/* Returns the bytes of a variant and its time; NULL: none. A segment without a
 * part has variant 0 only. */
static const int64_t *variant_of(const rcsp *b, int number, int boundary,
                                 int variant, int64_t *time_ns)
{
    const mo_decomp_class *cls = &b->classes->classes[number];
    const mo_decomp_variant *v;

    if (!cls->part) {
        *time_ns = cls->upper_ns[boundary];
        return variant == 0 && *time_ns != INT64_MAX
                   ? direct_bytes(b, number, boundary)
                   : NULL;
    }
    v = cls->boundaries[boundary].variants
            ? &cls->boundaries[boundary].variants[variant]
            : NULL;
    if (!v || !v->schedule)
        return NULL;
    *time_ns = v->schedule->makespan_ns;
    return v->bytes;
}

/* Returns the cheapest variant of a boundary, -1: none. */
static int cheapest_variant(const rcsp *b, int number, int boundary,
                            double *cost_ns)
{
    const mo_decomp_class *cls = &b->classes->classes[number];
    const int64_t *bytes;
    int64_t time_ns;

    if (cls->part)
        return mo_decomp_class_cheapest_variant(b->classes, cls, boundary,
                                                b->price, cost_ns);
    bytes = variant_of(b, number, boundary, 0, &time_ns);
    if (!bytes)
        return -1;
    *cost_ns = (double) time_ns +
               mo_decomp_priced_bytes_ns(b->classes, b->price, bytes);
    return 0;
}

static void fill_priced_tables(rcsp *b)
{
    for (int i = 0; i < b->classes->n; i++) {
        b->path->tables[i] = b->table_ns[i];
        for (int p = 0; p < b->n_states * b->n_states; p++) {
            double cost_ns = 0;
            int k = cheapest_variant(b, i, p, &cost_ns);

            b->table_ns[i][p] = k < 0            ? INT64_MAX
                                : cost_ns < 1e17 ? (int64_t) cost_ns
                                                 : (int64_t) 1e17;
        }
    }
}

/* Sums the bytes of the priced path. */
static void sum_path(rcsp *b)
{
    memset(b->used, 0, (size_t) b->n_devices * sizeof *b->used);
    for (int i = 0; i < b->classes->segments->n; i++) {
        int cls = b->classes->segments->cls[i],
            boundary = mo_decomp_path_boundary(b->path, i);
        double cost_ns = 0;
        int k = cheapest_variant(b, cls, boundary, &cost_ns);
        int64_t time_ns = 0;
        const int64_t *bytes = variant_of(b, cls, boundary, k, &time_ns);

        for (int d = 0; d < b->n_devices; d++)
            b->used[d] += bytes[d];
    }
}

static int price_evaluations(const rcsp *b)
{
    int64_t work = ((int64_t) b->classes->segments->n +
                    (int64_t) b->classes->n * b->classes->n_variants) *
                   b->n_states * b->n_states;
    int64_t n = PRICE_WORK / (work + 1);

    return n < MIN_EVALUATIONS   ? MIN_EVALUATIONS
           : n > MAX_EVALUATIONS ? MAX_EVALUATIONS
                                 : (int) n;
}

/* The Lagrangian dual at a point, the worth of each capacity: the priced path
 * less that worth. */
static void evaluate_dual(void *context, const double *worth_ns, double *value,
                          double *gradient)
{
    rcsp *b = context;

    for (int k = 0; k < b->n_devices; k++)
        b->price[k] = worth_ns[k] / b->scale[k];
    fill_priced_tables(b);
    *value = (double) mo_decomp_path_shortest(b->path);
    sum_path(b);
    for (int k = 0; k < b->n_devices; k++) {
        bool limited = b->capacity_bytes[k] < INT64_MAX;
        double capacity = limited ? (double) b->capacity_bytes[k] : 0;

        *value -= b->price[k] * capacity;
        gradient[k] =
            limited ? ((double) b->used[k] - capacity) / b->scale[k] : -1;
    }
}

/* Scales bytes so that the worth of all capacities is of one size; one of next
 * to nothing counts as an eighth of the mean. */
static void find_scales(rcsp *b)
{
    double sum = 0;
    int n = 0;

    for (int k = 0; k < b->n_devices; k++)
        if (b->capacity_bytes[k] < INT64_MAX) {
            sum += (double) b->capacity_bytes[k];
            n++;
        }
    for (int k = 0; k < b->n_devices; k++)
        b->scale[k] =
            b->capacity_bytes[k] < INT64_MAX
                ? fmax((double) b->capacity_bytes[k], 1 + sum / (8 * n))
                : 1;
}

/* Maximises the dual from the prices given; returns false where there is no
 * path at all.  Where the shortest path of all is within memory the prices are
 * 0. */
static mo_status optimize_prices(rcsp *b, bool *any, mo_error *err)
{
    mo_bundle_problem dual = { .n = b->n_devices,
                               .evaluate = evaluate_dual,
                               .context = b,
                               .max_evaluations = price_evaluations(b),
                               .tolerance = 1e-5 };
    double value;
    bool fits = true;
    mo_status status;

    find_scales(b);
    for (int k = 0; k < b->n_devices; k++) {
        b->worth[k] = b->price[k] * b->scale[k];
        b->price[k] = 0;
    }
    fill_priced_tables(b);
    *any = mo_decomp_path_shortest(b->path) < INT64_MAX;
    if (!*any)
        return MO_OK;
    sum_path(b);
    for (int k = 0; k < b->n_devices; k++)
        fits = fits && b->used[k] <= b->capacity_bytes[k];
    if (fits)
        return MO_OK;
    status = mo_bundle_maximize(&dual, b->worth, &value, err);
    for (int k = 0; k < b->n_devices; k++)
        b->price[k] = b->worth[k] / b->scale[k];
    return status;
}

static bool fits_capacity(const rcsp *b, const int64_t *used,
                          const int64_t *more)
{
    for (int k = 0; k < b->n_devices; k++)
        if (more[k] > b->capacity_bytes[k] - used[k])
            return false;
    return true;
}

/* Whether a label has the time and bytes of the new one: equal segments in
 * another order. */
static bool is_same_label(const rcsp *b, const label *old,
                          const int64_t *old_bytes, const label *l,
                          const int64_t *used, const int64_t *more)
{
    if (old->time_ns != l->time_ns)
        return false;
    for (int k = 0; k < b->n_devices; k++)
        if (old_bytes[k] != used[k] + more[k])
            return false;
    return true;
}

/* Inserts a label of a state if it is one of the best. */
static void insert_label(const rcsp *b, cut *to, int state, const label *l,
                         const int64_t *used, const int64_t *more)
{
    size_t n_devices = (size_t) b->n_devices;
    label *labels = to->labels + (size_t) state * (size_t) b->most;
    int64_t *bytes = to->bytes + (size_t) state * (size_t) b->most * n_devices;
    int n = to->count[state], at = n;

    if (n == b->most && labels[n - 1].score <= l->score)
        return;
    while (at > 0 && labels[at - 1].score > l->score - 1) {
        at--;
        if (labels[at].score < l->score + 1 &&
            is_same_label(b, &labels[at], bytes + (size_t) at * n_devices, l,
                          used, more))
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
static void extend_label(const rcsp *b, int cls, int state, int number, cut *to)
{
    int from = state * b->most + number;
    const label *l = &b->now.labels[from];
    const int64_t *used = b->now.bytes + (size_t) from * (size_t) b->n_devices;

    for (int s = 0; s < b->n_states; s++)
        for (int i = 0; i < b->classes->n_variants; i++) {
            int64_t time_ns;
            const int64_t *more =
                variant_of(b, cls, state * b->n_states + s, i, &time_ns);
            label next = { .from = from, .variant = (unsigned char) i };

            if (!more || !fits_capacity(b, used, more))
                continue;
            next.time_ns = l->time_ns + time_ns;
            next.score = l->score + (double) time_ns +
                         mo_decomp_priced_bytes_ns(b->classes, b->scaled, more);
            insert_label(b, to, s, &next, used, more);
        }
}

/* Computes the labels behind a segment and stores their predecessors. */
static void label_segment(rcsp *b, int segment)
{
    size_t at = (size_t) segment * (size_t) b->n_states * (size_t) b->most;
    cut swap = b->now;

    memset(b->next.count, 0, (size_t) b->n_states * sizeof *b->next.count);
    for (int s = 0; s < b->n_states; s++)
        for (int i = 0; i < b->now.count[s]; i++)
            extend_label(b, b->classes->segments->cls[segment], s, i, &b->next);
    for (int s = 0; s < b->n_states; s++)
        for (int i = 0; i < b->next.count[s]; i++) {
            size_t j = (size_t) s * (size_t) b->most + (size_t) i;

            b->from[at + j] = b->next.labels[j].from;
            b->variant[at + j] = b->next.labels[j].variant;
        }
    b->now = b->next;
    b->next = swap;
}

/* Follows a label back. */
static void trace_back(rcsp *b, int at, unsigned char *variants)
{
    for (int i = b->classes->segments->n - 1; i >= 0; i--) {
        size_t j =
            (size_t) i * (size_t) b->n_states * (size_t) b->most + (size_t) at;

        variants[i] = b->variant[j];
        if (i < b->classes->segments->n - 1)
            b->path->state[i] = at / b->most;
        at = b->from[j];
    }
}

/* Makes the path the shortest by priced times, within the capacities or not. */
static void find_priced_path(rcsp *b, unsigned char *variants)
{
    fill_priced_tables(b);
    mo_decomp_path_shortest(b->path);
    for (int i = 0; i < b->classes->segments->n; i++) {
        double cost_ns = 0;

        variants[i] = (unsigned char) cheapest_variant(
            b, b->classes->segments->cls[i],
            mo_decomp_path_boundary(b->path, i), &cost_ns);
    }
}

/* Whether some capacity binds: else the labels have found the shortest path of
 * all. */
static bool has_prices(const rcsp *b)
{
    for (int k = 0; k < b->n_devices; k++)
        if (b->price[k] > 0)
            return true;
    return false;
}

/* Replaces the path by the shortest of the labels at prices scaled by a
 * factor, if that is shorter than *least_ns. */
static void label_segments(rcsp *b, double factor, int64_t *least_ns,
                           unsigned char *variants)
{
    int at = -1;

    for (int k = 0; k < b->n_devices; k++)
        b->scaled[k] = factor * b->price[k];
    for (int s = 0; s < b->n_states; s++)
        b->now.count[s] = s == 0;
    b->now.labels[0] = (label){ 0 };
    memset(b->now.bytes, 0, (size_t) b->n_devices * sizeof *b->now.bytes);
    for (int i = 0; i < b->classes->segments->n; i++)
        label_segment(b, i);
    for (int i = 0; i < b->now.count[0]; i++)
        if (b->now.labels[i].time_ns < *least_ns) {
            at = i;
            *least_ns = b->now.labels[i].time_ns;
        }
    if (at >= 0)
        trace_back(b, at, variants);
}

static mo_status reserve_cut(const rcsp *b, cut *c, mo_error *err)
{
    size_t n = (size_t) b->n_states * (size_t) b->most;

    c->labels = malloc(n * sizeof *c->labels);
    c->bytes = malloc(n * (size_t) b->n_devices * sizeof *c->bytes);
    c->count = malloc((size_t) b->n_states * sizeof *c->count);
    return c->labels && c->bytes && c->count ? MO_OK : mo_fail_memory(err);
}

static mo_status reserve_buffers(rcsp *b, mo_error *err)
{
    size_t n_boundaries = (size_t) b->n_states * (size_t) b->n_states;
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
    b->worth = calloc(n_devices, sizeof *b->worth);
    b->scale = calloc(n_devices, sizeof *b->scale);
    b->scaled = calloc(n_devices, sizeof *b->scaled);
    b->used = calloc(n_devices, sizeof *b->used);
    b->own = calloc(n_devices, sizeof *b->own);
    b->table_ns = calloc((size_t) b->classes->n, sizeof *b->table_ns);
    if (!b->from || !b->variant || !b->worth || !b->scale || !b->scaled ||
        !b->used || !b->own || !b->table_ns)
        return mo_fail_memory(err);
    for (int i = 0; i < b->classes->n; i++) {
        b->table_ns[i] = malloc(n_boundaries * sizeof **b->table_ns);
        if (!b->table_ns[i])
            return mo_fail_memory(err);
    }
    return MO_OK;
}

static void clear_cut(cut *c)
{
    free(c->labels);
    free(c->bytes);
    free(c->count);
}

static void clear_rcsp(rcsp *b)
{
    for (int i = 0; i < b->classes->n && b->table_ns; i++)
        free(b->table_ns[i]);
    clear_cut(&b->now);
    clear_cut(&b->next);
    free(b->from);
    free(b->variant);
    free(b->worth);
    free(b->scale);
    free(b->scaled);
    free(b->used);
    free(b->own);
    free(b->table_ns);
}

mo_status mo_primal_rcsp_solve(const mo_decomp_classes *classes,
                               const int64_t *capacity_bytes, uint64_t seed,
                               double *price_ns, mo_decomp_path *path,
                               unsigned char *variants, bool *found,
                               mo_error *err)
{
    static const double factors[] = { 1, 0.8, 1.25, 2 };
    int64_t work, most, least_ns = INT64_MAX;
    bool any = false;
    rcsp b = { .classes = classes,
               .capacity_bytes = capacity_bytes,
               .price = price_ns,
               .path = path,
               .n_devices = classes->x->n_devices,
               .n_states = classes->states->n };
    mo_status status;

    *found = false;
    work = (int64_t) b.classes->segments->n * b.n_states * b.n_states *
           b.classes->n_variants * b.n_devices;
    most = LABEL_WORK / (work + 1);
    b.most = most < 2 ? 2 : most > MAX_LABELS ? MAX_LABELS : (int) most;
    status = reserve_buffers(&b, err);
    if (status == MO_OK)
        status = optimize_prices(&b, &any, err);
    for (size_t i = 0; any && i < sizeof factors / sizeof *factors; i++)
        label_segments(&b, factors[i], &least_ns, variants);
    if (any && status == MO_OK && has_prices(&b)) {
        if (least_ns == INT64_MAX)
            find_priced_path(&b, variants);
        status =
            mo_primal_path_anneal_runs(classes, capacity_bytes, price_ns, seed,
                                       path, variants, &least_ns, err);
    }
    *found = least_ns < INT64_MAX;
    clear_rcsp(&b);
    return status;
}
