/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Candidates are lists of devices for the ops of a segment, its entry op among
 * them; a class of equal segments has them in common.  Loads of segments add
 * up: a flow or tensor has all its ops in one segment.
 */
#include "solvers/search/period/period_patterns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "schedule/allowed_devices.h"
#include "schedule/period/loads.h"
#include "schedule/resource.h"
#include "solvers/search/decomp/segmentation.h"

enum {
    MAX_PATTERNS = 2000,  /* of a model: solvers find good choices of few */
    LEAST_PATTERNS = 8,   /* of a segment, nevertheless */
    MAX_CANDIDATES = 1024 /* of a class: enumerated up to so many */
};

typedef struct candidate {
    int *device;  /* by op of the segment */
    int64_t *use; /* loads by resource, then bytes by device */
    double
        score; /* load of the resources that are busy in the best placement */
    int rank;  /* by score, among those with the same ends */
    bool is_dominated;
} candidate;

typedef struct exporter {
    const mo_instance *x;
    mo_regime regime;
    const mo_period_pool *pool;
    mo_pattern_set *set;
    mo_decomp_segments *segments;
    int n_use;    /* of candidate.use */
    int cls, n;   /* present class and its ops */
    int first, u; /* first op of its first segment; its entry op or MO_FREE */
    int v;
    candidate *candidates; /* of the class */
    size_t n_candidates, room;
    int *device;     /* scratch, by op */
    double *busy;    /* by resource: weight of its load */
    bool is_partial; /* patterns were left out */
} exporter;

/* Adds a transfer of flow q or its tensor to use. */
static void add_transfer(const exporter *e, int q, int from, int to,
                         int64_t *use)
{
    const mo_instance *x = e->x;
    int tensor = x->flows[q].tensor, pair[2];
    int item = e->regime.tensors == MO_TENSORS_ONCE ? tensor : q;
    const int *ids;
    int n = mo_resource_list(x, e->regime.congestion, from, to, pair, &ids);
    int host = mo_period_host(x, e->regime.congestion);

    for (int i = 0; i < n; i++)
        use[x->n_devices + ids[i]] +=
            mo_schedule_item_ns(x, &e->regime, item, from, to);
    if (e->regime.congestion == MO_CONGESTION_NONE)
        return;
    use[from] += mo_instance_overhead_ns(x, tensor, from);
    use[to] += mo_instance_overhead_ns(x, tensor, to);
    if (host >= 0)
        use[host] += x->load.host_transfer_ns;
}

/* Whether an earlier flow of the tensor goes to the same device. */
static bool is_sent_before(const exporter *e, const int *device, int q)
{
    const mo_flow *flows = e->x->flows;

    for (int o = q - 1; o >= e->x->out_start[flows[q].from] &&
                        flows[o].tensor == flows[q].tensor;
         o--)
        if (device[flows[o].to - e->first] == device[flows[q].to - e->first])
            return true;
    return false;
}

static void find_use(const exporter *e, const int *device, int64_t *use)
{
    const mo_instance *x = e->x;
    int64_t *bytes = use + e->set->n_loads;

    for (int i = e->u == MO_FREE ? 0 : 1; i < e->n; i++) {
        use[device[i]] += mo_instance_p_ns(x, e->first + i, device[i]);
        bytes[device[i]] +=
            mo_regime_resident_bytes(x, e->regime.memory, e->first + i);
    }
    for (int i = 0; i < e->n; i++) {
        int op = e->first + i;

        for (int q = x->out_start[op]; q < x->out_start[op + 1] && op != e->v;
             q++) {
            int to = device[x->flows[q].to - e->first];

            if (to != device[i] && !(e->regime.tensors == MO_TENSORS_ONCE &&
                                     is_sent_before(e, device, q)))
                add_transfer(e, q, device[i], to, use);
        }
    }
}

/* By pins, groups, and the memory of each op alone. */
static bool is_allowed(const exporter *e, const int *device)
{
    const mo_instance *x = e->x;

    for (int i = 0; i < e->n; i++) {
        int op = e->first + i;

        if ((x->pin[op] != MO_FREE && x->pin[op] != device[i]) ||
            (e->regime.memory != MO_MEMORY_NONE &&
             mo_regime_resident_bytes(x, e->regime.memory, op) >
                 x->capacity_bytes[device[i]]))
            return false;
        for (int j = 0; j < i && x->group[op] != MO_FREE; j++)
            if (x->group[e->first + j] == x->group[op] &&
                device[j] != device[i])
                return false;
    }
    return true;
}

/* Adds a copy of the devices, unless they are there. */
static mo_status add_candidate(exporter *e, const int *device, mo_error *err)
{
    size_t size = (size_t) e->n * sizeof *device;
    candidate c = { 0 };
    mo_status status;

    if (!is_allowed(e, device))
        return MO_OK;
    for (size_t i = 0; i < e->n_candidates; i++)
        if (memcmp(e->candidates[i].device, device, size) == 0)
            return MO_OK;
    status = MO_ARRAY_GROW(e->candidates, e->n_candidates, e->room, err);
    if (status != MO_OK)
        return status;
    c.device = malloc(size + 1);
    c.use = calloc((size_t) e->n_use + 1, sizeof *c.use);
    if (!c.device || !c.use) {
        free(c.device);
        free(c.use);
        return mo_fail_memory(err);
    }
    memcpy(c.device, device, size);
    find_use(e, c.device, c.use);
    e->candidates[e->n_candidates++] = c;
    return MO_OK;
}

static void clear_candidates(exporter *e)
{
    for (size_t i = 0; i < e->n_candidates; i++) {
        free(e->candidates[i].device);
        free(e->candidates[i].use);
    }
    e->n_candidates = 0;
}

/* Returns K^n, at most MAX_CANDIDATES + 1. */
static int count_placements(const exporter *e)
{
    int n = 1;

    for (int i = 0; i < e->n && n <= MAX_CANDIDATES; i++)
        n *= e->x->n_devices;
    return n <= MAX_CANDIDATES ? n : MAX_CANDIDATES + 1;
}

static mo_status enumerate(exporter *e, int count, mo_error *err)
{
    mo_status status = MO_OK;

    for (int number = 0; number < count && status == MO_OK; number++) {
        for (int i = 0, rest = number; i < e->n; i++) {
            e->device[i] = rest % e->x->n_devices;
            rest /= e->x->n_devices;
        }
        status = add_candidate(e, e->device, err);
    }
    return status;
}

/* The entry op on a, the exit op on b, and all others on a or b. */
static mo_status add_plain(exporter *e, mo_error *err)
{
    int K = e->x->n_devices;
    mo_status status = MO_OK;

    for (int a = 0; a < K; a++)
        for (int b = 0; b < K; b++)
            for (int with_a = 0; with_a < 2 && status == MO_OK; with_a++) {
                for (int i = 0; i < e->n; i++)
                    e->device[i] = with_a ? a : b;
                e->device[0] = a;
                e->device[e->n - 1] = b;
                status = add_candidate(e, e->device, err);
            }
    return status;
}

/* The parts of placements in the segments of the class, also with other devices
 * of their ends. */
static mo_status add_parts(exporter *e, mo_error *err)
{
    int K = e->x->n_devices;
    mo_status status = MO_OK;

    for (int i = 0; i < e->segments->n && status == MO_OK; i++)
        if (e->segments->cls[i] == e->cls)
            status =
                add_candidate(e,
                              e->pool->placements[0].device +
                                  mo_decomp_segment_first_op(e->segments, i),
                              err);
    for (int p = 0; p < e->pool->n; p++)
        for (int i = 0; i < e->segments->n && status == MO_OK; i++) {
            const int *part = e->pool->placements[p].device +
                              mo_decomp_segment_first_op(e->segments, i);

            if (e->segments->cls[i] != e->cls)
                continue;
            status = add_candidate(e, part, err);
            for (int k = 0; k < K * K && p == 0 && status == MO_OK; k++) {
                memcpy(e->device, part, (size_t) e->n * sizeof *part);
                e->device[0] = k / K;
                e->device[e->n - 1] = k % K;
                status = add_candidate(e, e->device, err);
            }
            if (e->n_candidates > MAX_CANDIDATES)
                return status;
        }
    return status;
}

static bool has_ends(const exporter *e, const candidate *c, const candidate *d)
{
    return (e->u == MO_FREE || c->device[0] == d->device[0]) &&
           (e->v == MO_FREE || c->device[e->n - 1] == d->device[e->n - 1]);
}

static void mark_dominated(exporter *e)
{
    for (size_t i = 0; i < e->n_candidates; i++)
        for (size_t j = 0;
             j < e->n_candidates && !e->candidates[i].is_dominated; j++) {
            const candidate *d = &e->candidates[j];
            candidate *c = &e->candidates[i];
            bool less = j < i; /* of equal ones the first stays */
            int r = 0;

            if (i == j || d->is_dominated || !has_ends(e, c, d))
                continue;
            for (; r < e->n_use && d->use[r] <= c->use[r]; r++)
                less |= d->use[r] < c->use[r];
            c->is_dominated = r == e->n_use && less;
        }
}

static int compare_candidates(const void *a, const void *b)
{
    const candidate *c = a, *d = b;

    if (c->rank != d->rank)
        return c->rank < d->rank ? -1 : 1;
    return (c->score > d->score) - (c->score < d->score);
}

/* Sorts those that are not dominated: the best of each pair of ends first. */
static void sort_candidates(exporter *e)
{
    for (size_t i = 0; i < e->n_candidates; i++) {
        candidate *c = &e->candidates[i];

        for (int r = 0; r < e->set->n_loads; r++)
            c->score += e->busy[r] * (double) c->use[r];
    }
    for (size_t i = 0; i < e->n_candidates; i++)
        for (size_t j = 0; j < e->n_candidates; j++) {
            candidate *c = &e->candidates[i], *d = &e->candidates[j];

            c->rank += !d->is_dominated && has_ends(e, c, d) &&
                       (d->score < c->score || (d->score == c->score && j < i));
        }
    if (e->n_candidates > 1)
        qsort(e->candidates, e->n_candidates, sizeof *e->candidates,
              compare_candidates);
}

/* The fourth power of the part of the period for which a resource is busy. */
static mo_status weigh_resources(exporter *e, mo_error *err)
{
    mo_period_loads loads = { 0 };
    mo_status status = mo_period_loads_compute(
        e->x, &e->regime, e->pool->placements[0].device, &loads, err);

    e->busy = calloc((size_t) loads.n + 1, sizeof *e->busy);
    if (status == MO_OK && !e->busy)
        status = mo_fail_memory(err);
    for (int r = 0; r < loads.n && status == MO_OK && loads.period_ns > 0; r++)
        e->busy[r] =
            pow((double) loads.load_ns[r] / (double) loads.period_ns, 4);
    mo_period_loads_clear(&loads);
    return status;
}

/* Adds a candidate in all segments of its class, or, known, in one. */
static mo_status add_pattern(exporter *e, const candidate *c, int segment,
                             bool is_known, mo_error *err)
{
    int skip = e->u != MO_FREE;
    mo_status status = MO_OK;
    const mo_pattern p = { .from = skip ? c->device[0] : 0,
                           .to = e->v != MO_FREE ? c->device[e->n - 1] : 0,
                           .is_known = is_known,
                           .device = c->device + skip,
                           .load_ns = c->use };

    for (int i = 0; i < e->segments->n && status == MO_OK; i++) {
        if (is_known ? i != segment : e->segments->cls[i] != e->cls)
            continue;
        status = mo_pattern_set_add(e->set, i, &p, err);
    }
    return status;
}

/* The part of the best placement in a segment, whatever the ends. */
static mo_status add_known(exporter *e, int segment, mo_error *err)
{
    const int *part = e->pool->placements[0].device +
                      mo_decomp_segment_first_op(e->segments, segment);

    for (size_t i = 0; i < e->n_candidates; i++)
        if (memcmp(e->candidates[i].device, part,
                   (size_t) e->n * sizeof *part) == 0)
            return add_pattern(e, &e->candidates[i], segment, true, err);
    return mo_fail(err, MO_E_INPUT, "the best placement breaks a pin");
}

static mo_status export_class(exporter *e, mo_error *err)
{
    int segment = e->segments->first[e->cls], count, n_added = 0;
    int most = mo_max_int(MAX_PATTERNS / e->segments->n, LEAST_PATTERNS);
    mo_status status;

    e->first = mo_decomp_segment_first_op(e->segments, segment);
    e->n = mo_decomp_segment_last_op(e->segments, segment) - e->first + 1;
    e->u = mo_decomp_segment_entry(e->segments, segment);
    e->v = mo_decomp_segment_exit(e->segments, segment);
    count = count_placements(e);
    status = add_parts(e, err);
    if (status == MO_OK)
        status = count <= MAX_CANDIDATES ? enumerate(e, count, err)
                                         : add_plain(e, err);
    e->is_partial |= count > MAX_CANDIDATES;
    mark_dominated(e);
    sort_candidates(e);
    for (int i = 0; i < e->segments->n && status == MO_OK; i++)
        if (e->segments->cls[i] == e->cls)
            status = add_known(e, i, err);
    for (size_t i = 0; i < e->n_candidates && status == MO_OK; i++) {
        if (e->candidates[i].is_dominated)
            continue;
        if (n_added++ < most)
            status = add_pattern(e, &e->candidates[i], 0, false, err);
        else
            e->is_partial = true;
    }
    clear_candidates(e);
    return status;
}

static mo_status open_set(const exporter *e, int64_t lower_ns, mo_error *err)
{
    mo_pattern_set *set = e->set;
    int host = mo_period_host(e->x, e->regime.congestion);
    mo_status status =
        mo_pattern_set_cut(set, e->segments->cut, e->segments->n - 1, err);

    set->n_loads = mo_period_resource_count(e->x, e->regime.congestion);
    set->lower_ns = lower_ns;
    set->base_ns = calloc((size_t) set->n_loads + 1, sizeof *set->base_ns);
    if (status == MO_OK && !set->base_ns)
        return mo_fail_memory(err);
    if (status == MO_OK && host >= 0)
        set->base_ns[host] = e->x->load.host_request_ns;
    return status;
}

mo_status mo_period_export_patterns(const mo_regime *regime,
                                    const mo_period_pool *pool,
                                    int64_t lower_ns, mo_pattern_set *set,
                                    mo_error *err)
{
    exporter e = { .x = set->x, .regime = *regime, .pool = pool, .set = set };
    mo_status status;

    if (pool->n == 0 || pool->placements[0].excess_bytes > 0)
        return MO_OK;
    status = mo_decomp_segments_find(e.x, regime, true, &e.segments, err);
    if (status == MO_OK)
        status = open_set(&e, lower_ns, err);
    e.n_use = set->n_loads + e.x->n_devices;
    e.device = calloc((size_t) e.x->n + 1, sizeof *e.device);
    if (status == MO_OK && !e.device)
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = weigh_resources(&e, err);
    for (; status == MO_OK && e.cls < e.segments->n_classes; e.cls++)
        status = export_class(&e, err);
    set->has_known = status == MO_OK;
    set->is_exact = set->has_known && !e.is_partial;
    clear_candidates(&e);
    free(e.candidates);
    free(e.device);
    free(e.busy);
    mo_decomp_segments_free(e.segments);
    return status;
}
