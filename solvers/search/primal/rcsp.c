/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/primal/rcsp.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "schedule/allowed_devices.h"

/*
 * Lagrangian relaxation of the capacities, by a subgradient method: with a
 * multiplier (price) on each device's bytes the cheapest path in time plus
 * priced bytes exceeds a capacity or not, and the multiplier rises or falls.
 * Then a labelling algorithm (beam search): at each cut and state the labels
 * with the least time plus priced bytes are kept, none above a capacity. Equal
 * layers would all change device at the same price; labels mix them.
 */

enum {
    MAX_LABELS = 24, /* per state at a cut */
    MAX_STEPS = 60,  /* of the subgradient method */
    MIN_STEPS = 8,
    STEP_WORK = 200000000,
    LABEL_WORK = 300000000
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

static double priced_ns(const rcsp *b, const int64_t *bytes)
{
    double sum_ns = 0;

    for (int k = 0; k < b->n_devices; k++)
        sum_ns += b->price[k] * (double) bytes[k];
    return sum_ns;
}

/* Returns the cheapest variant of a boundary, -1: none. */
static int cheapest_variant(const rcsp *b, int cls, int boundary,
                            double *cost_ns)
{
    int best = -1;

    for (int k = 0; k < b->n_devices; k++) {
        int64_t time_ns;
        const int64_t *bytes = variant_of(b, cls, boundary, k, &time_ns);
        double cost = bytes ? (double) time_ns + priced_ns(b, bytes) : 0;

        if (bytes && (best < 0 || cost < *cost_ns)) {
            best = k;
            *cost_ns = cost;
        }
    }
    return best;
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

/* Sums the bytes of the priced path; returns its unpriced length. */
static int64_t sum_path(rcsp *b, unsigned char *variants)
{
    int64_t sum_ns = 0;

    memset(b->used, 0, (size_t) b->n_devices * sizeof *b->used);
    for (int i = 0; i < b->classes->segments->n; i++) {
        int cls = b->classes->segments->cls[i],
            boundary = mo_decomp_path_boundary(b->path, i);
        double cost_ns = 0;
        int k = cheapest_variant(b, cls, boundary, &cost_ns);
        int64_t time_ns = 0;
        const int64_t *bytes = variant_of(b, cls, boundary, k, &time_ns);

        variants[i] = (unsigned char) k;
        sum_ns += time_ns;
        for (int d = 0; d < b->n_devices; d++)
            b->used[d] += bytes[d];
    }
    return sum_ns;
}

/* Subgradient step; returns whether the path is within all capacities. */
static bool subgradient_step(rcsp *b, int64_t length_ns, int step)
{
    double pace = (double) length_ns / (1 + 0.3 * step);
    bool fits = true;

    for (int k = 0; k < b->n_devices; k++) {
        double capacity = (double) b->capacity_bytes[k];
        double over = (double) b->used[k] / (capacity + 1) - 1;

        fits = fits && b->used[k] <= b->capacity_bytes[k];
        b->price[k] += pace * over / (capacity + 1);
        if (b->price[k] < 0)
            b->price[k] = 0;
    }
    return fits;
}

static int subgradient_steps(const rcsp *b)
{
    int64_t work =
        (int64_t) b->classes->segments->n * b->n_states * b->n_states;
    int64_t steps = STEP_WORK / (work + 1);

    return steps < MIN_STEPS   ? MIN_STEPS
           : steps > MAX_STEPS ? MAX_STEPS
                               : (int) steps;
}

/* Returns whether there is any path at all. */
static bool optimize_prices(rcsp *b, unsigned char *variants)
{
    int steps = subgradient_steps(b);

    for (int i = 0; i < steps; i++) {
        fill_priced_tables(b);
        if (mo_decomp_path_shortest(b->path) == INT64_MAX)
            return false;
        if (subgradient_step(b, sum_path(b, variants), i) && i == 0)
            return true;
    }
    return true;
}

static bool fits_capacity(const rcsp *b, const int64_t *used,
                          const int64_t *more)
{
    for (int k = 0; k < b->n_devices; k++)
        if (more[k] > b->capacity_bytes[k] - used[k])
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
    int at = to->count[state];

    if (at == b->most && labels[at - 1].score <= l->score)
        return;
    at -= at == b->most;
    for (; at > 0 && labels[at - 1].score > l->score; at--) {
        labels[at] = labels[at - 1];
        memcpy(bytes + (size_t) at * n_devices,
               bytes + (size_t) (at - 1) * n_devices,
               n_devices * sizeof *bytes);
    }
    labels[at] = *l;
    for (size_t k = 0; k < n_devices; k++)
        bytes[(size_t) at * n_devices + k] = used[k] + more[k];
    to->count[state] += to->count[state] < b->most;
}

/* Extends a label over a segment, by every state and variant. */
static void extend_label(const rcsp *b, int cls, int state, int number, cut *to)
{
    int from = state * b->most + number;
    const label *l = &b->now.labels[from];
    const int64_t *used = b->now.bytes + (size_t) from * (size_t) b->n_devices;

    for (int s = 0; s < b->n_states; s++)
        for (int k = 0; k < b->n_devices; k++) {
            int64_t time_ns;
            const int64_t *more =
                variant_of(b, cls, state * b->n_states + s, k, &time_ns);
            label next = { .from = from, .variant = (unsigned char) k };

            if (!more || !fits_capacity(b, used, more))
                continue;
            next.time_ns = l->time_ns + time_ns;
            next.score = l->score + (double) time_ns + priced_ns(b, more);
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

/* Follows the label with the least time back. */
static void trace_back(rcsp *b, unsigned char *variants)
{
    int at = 0;

    for (int i = 1; i < b->now.count[0]; i++)
        if (b->now.labels[i].time_ns < b->now.labels[at].time_ns)
            at = i;
    for (int i = b->classes->segments->n - 1; i >= 0; i--) {
        size_t j =
            (size_t) i * (size_t) b->n_states * (size_t) b->most + (size_t) at;

        variants[i] = b->variant[j];
        if (i < b->classes->segments->n - 1)
            b->path->state[i] = at / b->most;
        at = b->from[j];
    }
}

static bool label_segments(rcsp *b, unsigned char *variants)
{
    for (int s = 0; s < b->n_states; s++)
        b->now.count[s] = s == 0;
    b->now.labels[0] = (label){ 0 };
    memset(b->now.bytes, 0, (size_t) b->n_devices * sizeof *b->now.bytes);
    for (int i = 0; i < b->classes->segments->n; i++)
        label_segment(b, i);
    if (b->now.count[0] == 0)
        return false;
    trace_back(b, variants);
    return true;
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
    b->price = calloc(n_devices, sizeof *b->price);
    b->used = calloc(n_devices, sizeof *b->used);
    b->own = calloc(n_devices, sizeof *b->own);
    b->table_ns = calloc((size_t) b->classes->n, sizeof *b->table_ns);
    if (!b->from || !b->variant || !b->price || !b->used || !b->own ||
        !b->table_ns)
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
    free(b->price);
    free(b->used);
    free(b->own);
    free(b->table_ns);
}

mo_status mo_primal_rcsp_solve(const mo_decomp_classes *classes,
                               const int64_t *capacity_bytes,
                               mo_decomp_path *path, unsigned char *variants,
                               bool *found, mo_error *err)
{
    int64_t work, most;
    rcsp b = { .classes = classes,
               .capacity_bytes = capacity_bytes,
               .path = path,
               .n_devices = classes->x->n_devices,
               .n_states = classes->states->n };
    mo_status status;

    *found = false;
    work = (int64_t) b.classes->segments->n * b.n_states * b.n_states *
           b.n_devices * b.n_devices;
    most = LABEL_WORK / (work + 1);
    b.most = most < 2 ? 2 : most > MAX_LABELS ? MAX_LABELS : (int) most;
    status = reserve_buffers(&b, err);
    if (status == MO_OK && optimize_prices(&b, variants))
        *found = label_segments(&b, variants);
    clear_rcsp(&b);
    return status;
}
