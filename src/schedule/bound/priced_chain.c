/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/priced_chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "schedule/bound/bundle_method.h"
#include "schedule/bound/head_tail.h"

/*
 * The entry of a segment.  With u on a and v on b an op is on a device only if
 * the segment takes at least its head, its own time and its tail there: the
 * threshold of the two.  So a placement within time T has, of each op, a device
 * with a threshold of at most T, and
 *
 *     time + price  >=  min over T >= table of  T + sum_i min { price of i on k
 *                                                 : threshold(i, k) <= T }
 *
 * which is found by a sweep over the thresholds in increasing order.
 */

enum {
    PRICE_BITS = 32,
    MAX_THRESHOLDS = 1 << 21, /* of all segments; else the table alone counts */
    MAX_EVALUATIONS = 400,
    MIN_EVALUATIONS = 30,
    MAX_WORK = 1 << 29 /* table entries and thresholds of all evaluations */
};

#define TOLERANCE 2e-6

__extension__ typedef unsigned __int128 uint128;

typedef struct threshold {
    int64_t time_ns;
    int op, device; /* op: position in the segment */
} threshold;

/* The thresholds of a class and boundary, sorted; n is 0 where there are
 * none. */
typedef struct sweep_list {
    threshold *items;
    int n;
} sweep_list;

struct mo_priced_chain {
    const mo_allowed_devices *domains;
    const mo_priced_chain_tables *tables;
    int n_devices;
    bool *is_beside;       /* by op: in no segment, and not of the chain */
    sweep_list **sweeps;   /* by class: by boundary; NULL: none */
    int64_t *entries;      /* by class and boundary: with prices */
    int64_t *least_price;  /* by op of a segment: scratch */
    int *least_device;     /* the same */
    int64_t *start, *next; /* by device */
    unsigned char *from;   /* by segment and device: predecessor */

    uint64_t *price;         /* by device, in units of 2^-PRICE_BITS ns */
    int64_t *price_ns;       /* by op and device */
    int64_t *used_bytes;     /* by device */
    double *best;            /* prices by device */
    uint64_t max_price;      /* so that no sum overflows */
    int *limited, n_limited; /* devices whose capacity is less than all */
    int64_t best_ns, work;   /* work: of an evaluation, in table entries */
};

static int64_t bytes_of(const mo_allowed_devices *p, int op)
{
    int64_t bytes = mo_allowed_devices_resident_bytes(p, op);

    return bytes > 0 ? bytes : 0;
}

/* The resident bytes of all ops, at most INT64_MAX. */
static int64_t total_bytes(const mo_allowed_devices *p)
{
    int64_t sum = 0;

    for (int i = 0; i < p->x->n; i++)
        if (!mo_int64_add(sum, bytes_of(p, i), &sum))
            return INT64_MAX;
    return sum;
}

static bool is_limited(const mo_allowed_devices *p, int device, int64_t total)
{
    return p->regime.memory != MO_MEMORY_NONE &&
           p->x->capacity_bytes[device] < total;
}

bool mo_priced_chain_pays(const mo_allowed_devices *p)
{
    int64_t total = total_bytes(p);

    for (int k = 0; k < p->x->n_devices && total < INT64_MAX; k++)
        if (is_limited(p, k, total))
            return true;
    return false;
}

/* -------------------------------------------------------------- thresholds */

static bool is_end_allowed(const mo_priced_chain *c, int op, int device)
{
    return op == MO_FREE ? device == 0
                         : mo_allowed_devices_has(c->domains, op, device);
}

static int compare_thresholds(const void *a, const void *b)
{
    const threshold *s = a, *t = b;

    if (s->time_ns != t->time_ns)
        return s->time_ns < t->time_ns ? -1 : 1;
    if (s->op != t->op)
        return s->op < t->op ? -1 : 1;
    return (s->device > t->device) - (s->device < t->device);
}

/* Heads, or backward tails, of the segment's ops for one device of its end, in
 * pass->time_ns; copied to side_ns by position and device. */
static void find_side(const mo_priced_chain *c, mo_head_tail *pass,
                      const mo_bound_segment *s, int device, int64_t *side_ns)
{
    size_t size = (size_t) c->n_devices * sizeof *side_ns;
    int end = pass->backward ? s->v : s->u;

    for (int i = 0; i < s->n; i++)
        memset(pass->time_ns +
                   mo_allowed_devices_index(c->domains, s->ops[i], 0),
               0, size);
    if (end != MO_FREE)
        mo_head_tail_propagate_from(pass, end, device);
    for (int i = 0; i < s->n; i++)
        mo_head_tail_propagate(pass, s->ops[pass->backward ? s->n - 1 - i : i]);
    for (int i = 0; i < s->n; i++)
        memcpy(side_ns + (size_t) i * (size_t) c->n_devices,
               pass->time_ns +
                   mo_allowed_devices_index(c->domains, s->ops[i], 0),
               size);
}

static mo_status fill_sweep(const mo_priced_chain *c, const mo_bound_segment *s,
                            const int64_t *head_ns, const int64_t *tail_ns,
                            sweep_list *list, mo_error *err)
{
    size_t most = (size_t) s->n * (size_t) c->n_devices;

    list->items = malloc(most * sizeof *list->items);
    if (!list->items)
        return mo_fail_memory(err);
    for (int i = 0; i < s->n; i++)
        for (int k = 0; k < c->n_devices; k++) {
            size_t at = (size_t) i * (size_t) c->n_devices + (size_t) k;

            if (mo_allowed_devices_has(c->domains, s->ops[i], k))
                list->items[list->n++] =
                    (threshold){ head_ns[at] + tail_ns[at] +
                                     mo_instance_p_ns(c->domains->x, s->ops[i],
                                                      k),
                                 i, k };
        }
    qsort(list->items, (size_t) list->n, sizeof *list->items,
          compare_thresholds);
    return MO_OK;
}

/* Fills the sweeps of a class. */
static mo_status fill_sweeps(mo_priced_chain *c, int cls, int64_t *time_ns,
                             int64_t *arrival_ns, mo_error *err)
{
    const mo_bound_segment *s = &c->tables->segments[c->tables->first[cls]];
    size_t n_devices = (size_t) c->n_devices;
    size_t side = (size_t) s->n * n_devices;
    int64_t *heads = malloc((side * n_devices + 1) * sizeof *heads);
    int64_t *tails = malloc((side * n_devices + 1) * sizeof *tails);
    mo_head_tail pass = { .domains = c->domains,
                          .time_ns = time_ns,
                          .arrival_ns = arrival_ns };
    mo_status status = MO_OK;

    c->sweeps[cls] = calloc(n_devices * n_devices, sizeof **c->sweeps);
    if (!heads || !tails || !c->sweeps[cls])
        status = mo_fail_memory(err);
    for (int k = 0; k < c->n_devices && status == MO_OK; k++) {
        pass.backward = false;
        if (is_end_allowed(c, s->u, k))
            find_side(c, &pass, s, k, heads + (size_t) k * side);
        pass.backward = true;
        if (is_end_allowed(c, s->v, k))
            find_side(c, &pass, s, k, tails + (size_t) k * side);
    }
    for (int a = 0; a < c->n_devices; a++)
        for (int b = 0; b < c->n_devices && status == MO_OK; b++)
            if (is_end_allowed(c, s->u, a) && is_end_allowed(c, s->v, b))
                status = fill_sweep(c, s, heads + (size_t) a * side,
                                    tails + (size_t) b * side,
                                    &c->sweeps[cls][a * c->n_devices + b], err);
    free(heads);
    free(tails);
    return status;
}

static mo_status fill_all_sweeps(mo_priced_chain *c, mo_error *err)
{
    size_t n_devices = (size_t) c->n_devices;
    size_t n = (size_t) c->domains->x->n * n_devices, left = MAX_THRESHOLDS;
    int64_t *time_ns = calloc(n + 1, sizeof *time_ns);
    int64_t *arrival_ns = calloc(n_devices + 1, sizeof *arrival_ns);
    mo_status status = time_ns && arrival_ns ? MO_OK : mo_fail_memory(err);

    for (int cls = 0; cls < c->tables->n_classes && status == MO_OK; cls++) {
        const mo_bound_segment *s = &c->tables->segments[c->tables->first[cls]];
        size_t size = (size_t) s->n * n_devices * n_devices * n_devices;

        if (s->n == 0 || size > left)
            continue;
        left -= size;
        c->work += (int64_t) size;
        status = fill_sweeps(c, cls, time_ns, arrival_ns, err);
    }
    free(time_ns);
    free(arrival_ns);
    return status;
}

/* ------------------------------------------------------------ construction */

static void mark_beside(mo_priced_chain *c)
{
    const mo_priced_chain_tables *t = c->tables;

    memset(c->is_beside, true, (size_t) c->domains->x->n);
    for (int s = 0; s < t->n; s++) {
        if (t->segments[s].u != MO_FREE)
            c->is_beside[t->segments[s].u] = false;
        if (t->segments[s].v != MO_FREE)
            c->is_beside[t->segments[s].v] = false;
        for (int i = 0; i < t->segments[s].n; i++)
            c->is_beside[t->segments[s].ops[i]] = false;
    }
}

static mo_status allocate_chain(mo_priced_chain *c, mo_error *err)
{
    size_t n = (size_t) c->domains->x->n + 1, k = (size_t) c->n_devices + 1;

    c->is_beside = calloc(n, sizeof *c->is_beside);
    c->sweeps = calloc((size_t) c->tables->n_classes + 1, sizeof *c->sweeps);
    c->entries =
        calloc((size_t) c->tables->n_classes + 1, k * k * sizeof *c->entries);
    c->least_price = calloc(n, sizeof *c->least_price);
    c->least_device = calloc(n, sizeof *c->least_device);
    c->start = calloc(k, sizeof *c->start);
    c->next = calloc(k, sizeof *c->next);
    c->from = calloc((size_t) c->tables->n + 1, k);
    c->price = calloc(k, sizeof *c->price);
    c->price_ns = calloc(n, k * sizeof *c->price_ns);
    c->used_bytes = calloc(k, sizeof *c->used_bytes);
    c->best = calloc(k, sizeof *c->best);
    c->limited = calloc(k, sizeof *c->limited);
    return c->is_beside && c->sweeps && c->entries && c->least_price &&
                   c->least_device && c->start && c->next && c->from &&
                   c->price && c->price_ns && c->used_bytes && c->best &&
                   c->limited
               ? MO_OK
               : mo_fail_memory(err);
}

mo_status mo_priced_chain_new(const mo_allowed_devices *domains,
                              const mo_priced_chain_tables *tables,
                              mo_priced_chain **chain, mo_error *err)
{
    mo_priced_chain *c = calloc(1, sizeof *c);
    int64_t total = total_bytes(domains);
    mo_status status;

    if (!c)
        return mo_fail_memory(err);
    c->domains = domains;
    c->tables = tables;
    c->n_devices = domains->x->n_devices;
    c->work = (int64_t) tables->n * c->n_devices * c->n_devices +
              (int64_t) domains->x->n * c->n_devices;
    /* Prices of all bytes together stay below the longest time. */
    c->max_price = (uint64_t) fmin(ldexp((double) MO_MAX_TOTAL_NS, PRICE_BITS) /
                                       fmax((double) total, 1),
                                   0x1p62);
    status = allocate_chain(c, err);
    if (status == MO_OK) {
        for (int k = 0; k < c->n_devices; k++)
            if (is_limited(domains, k, total))
                c->limited[c->n_limited++] = k;
        mark_beside(c);
        status = fill_all_sweeps(c, err);
    }
    if (status == MO_OK)
        *chain = c;
    else
        mo_priced_chain_free(c);
    return status;
}

void mo_priced_chain_free(mo_priced_chain *c)
{
    if (!c)
        return;
    for (int cls = 0; c->sweeps && cls < c->tables->n_classes; cls++) {
        for (int i = 0; c->sweeps[cls] && i < c->n_devices * c->n_devices; i++)
            free(c->sweeps[cls][i].items);
        free(c->sweeps[cls]);
    }
    free(c->is_beside);
    free(c->sweeps);
    free(c->entries);
    free(c->least_price);
    free(c->least_device);
    free(c->start);
    free(c->next);
    free(c->from);
    free(c->price);
    free(c->price_ns);
    free(c->used_bytes);
    free(c->best);
    free(c->limited);
    free(c);
}

/* -------------------------------------------------------------- evaluation */

static int64_t op_price_ns(const mo_priced_chain *c, int op, int device)
{
    return c->price_ns[mo_allowed_devices_index(c->domains, op, device)];
}

/* Sets prices by device and by op; returns the price of the capacities,
 * rounded up. */
static int64_t set_prices(mo_priced_chain *c, const double *prices)
{
    const mo_instance *x = c->domains->x;
    uint128 sum = 0;

    memset(c->price, 0, (size_t) c->n_devices * sizeof *c->price);
    for (int i = 0; i < c->n_limited; i++) {
        int k = c->limited[i];
        double price = ldexp(prices[k], PRICE_BITS);

        if (price > 0)
            c->price[k] =
                price < (double) c->max_price ? (uint64_t) price : c->max_price;
        sum += (uint128) c->price[k] * (uint64_t) x->capacity_bytes[k];
    }
    for (int i = 0; i < x->n; i++) {
        uint64_t bytes = (uint64_t) bytes_of(c->domains, i);

        for (int k = 0; k < c->n_devices; k++)
            c->price_ns[mo_allowed_devices_index(c->domains, i, k)] =
                (int64_t) (((uint128) c->price[k] * bytes) >> PRICE_BITS);
    }
    sum = (sum >> PRICE_BITS) + 1;
    return sum < (uint128) (INT64_MAX / 2) ? (int64_t) sum : INT64_MAX / 2;
}

/* The device of the least price for op. */
static int cheapest_device(const mo_priced_chain *c, int op)
{
    int best = -1;

    for (int k = 0; k < c->n_devices; k++)
        if (mo_allowed_devices_has(c->domains, op, k) &&
            (best < 0 || op_price_ns(c, op, k) < op_price_ns(c, op, best)))
            best = k;
    return best;
}

/* The sweep over the first n thresholds: least_price and least_device of each
 * op.  Returns the entry; *best_n is how many thresholds give it. */
static int64_t sweep_thresholds(mo_priced_chain *c, const mo_bound_segment *s,
                                const sweep_list *list, int n, int64_t table_ns,
                                int *best_n)
{
    int64_t least_ns = INT64_MAX, sum = 0;
    int n_placed = 0;

    for (int i = 0; i < s->n; i++)
        c->least_price[i] = -1;
    for (int j = 0; j < n; j++) {
        const threshold *t = &list->items[j];
        int64_t *least = &c->least_price[t->op];
        int64_t here = op_price_ns(c, s->ops[t->op], t->device);

        if (*least >= 0 && here >= *least)
            continue;
        n_placed += *least < 0;
        sum += here - (*least < 0 ? 0 : *least);
        *least = here;
        c->least_device[t->op] = t->device;
        if (n_placed == s->n &&
            mo_max_i64(table_ns, t->time_ns) + sum < least_ns) {
            least_ns = mo_max_i64(table_ns, t->time_ns) + sum;
            *best_n = j + 1;
        }
    }
    return least_ns;
}

/* Entry of a class and boundary without thresholds. */
static int64_t add_cheapest(const mo_priced_chain *c, const mo_bound_segment *s,
                            int64_t table_ns)
{
    for (int i = 0; i < s->n; i++)
        table_ns += op_price_ns(c, s->ops[i], cheapest_device(c, s->ops[i]));
    return table_ns;
}

static void find_entries(mo_priced_chain *c)
{
    int n_boundaries = c->n_devices * c->n_devices, ignored;

    for (int cls = 0; cls < c->tables->n_classes; cls++) {
        const mo_bound_segment *s = &c->tables->segments[c->tables->first[cls]];
        const int64_t *table = c->tables->table[cls];
        int64_t *entries = c->entries + (size_t) cls * (size_t) n_boundaries;

        for (int i = 0; i < n_boundaries; i++) {
            const sweep_list *list = c->sweeps[cls] ? &c->sweeps[cls][i] : NULL;

            if (!is_end_allowed(c, s->u, i / c->n_devices) ||
                !is_end_allowed(c, s->v, i % c->n_devices) ||
                table[i] == INT64_MAX)
                entries[i] = INT64_MAX;
            else if (list)
                entries[i] =
                    sweep_thresholds(c, s, list, list->n, table[i], &ignored);
            else
                entries[i] = add_cheapest(c, s, table[i]);
        }
    }
}

/* Shortest-path step over a segment: start[b] becomes the least cost up to v on
 * b, without v itself. */
static void advance_segment(mo_priced_chain *c, int segment)
{
    const mo_bound_segment *s = &c->tables->segments[segment];
    int n_devices = c->n_devices;
    const int64_t *entries = c->entries + (size_t) c->tables->cls[segment] *
                                              (size_t) (n_devices * n_devices);
    unsigned char *from = c->from + (size_t) segment * (size_t) (n_devices + 1);

    for (int b = 0; b < n_devices; b++)
        c->next[b] = INT64_MAX;
    for (int a = 0; a < n_devices; a++) {
        int64_t cost = c->start[a];

        if (cost == INT64_MAX)
            continue;
        if (s->u != MO_FREE)
            cost += mo_instance_p_ns(c->domains->x, s->u, a) +
                    op_price_ns(c, s->u, a);
        for (int b = 0; b < n_devices; b++) {
            int64_t entry = entries[a * n_devices + b];

            if (entry != INT64_MAX && cost + entry < c->next[b]) {
                c->next[b] = cost + entry;
                from[b] = (unsigned char) a;
            }
        }
    }
    memcpy(c->start, c->next, (size_t) n_devices * sizeof *c->start);
}

static void add_used(const mo_priced_chain *c, int op, int device,
                     int64_t *used_bytes)
{
    if (!mo_int64_add(used_bytes[device], bytes_of(c->domains, op),
                      &used_bytes[device]))
        used_bytes[device] = INT64_MAX;
}

/* Adds the bytes of the segment's ops with u on a and v on b. */
static void add_segment_used(mo_priced_chain *c, int segment, int boundary,
                             int64_t *used_bytes)
{
    const mo_bound_segment *s = &c->tables->segments[segment];
    int cls = c->tables->cls[segment], best_n = 0;

    if (s->n > 0 && c->sweeps[cls]) {
        const sweep_list *list = &c->sweeps[cls][boundary];
        int64_t table_ns = c->tables->table[cls][boundary];

        sweep_thresholds(c, s, list, list->n, table_ns, &best_n);
        sweep_thresholds(c, s, list, best_n, table_ns, &best_n);
    }
    for (int i = 0; i < s->n; i++)
        add_used(c, s->ops[i],
                 c->sweeps[cls] ? c->least_device[i]
                                : cheapest_device(c, s->ops[i]),
                 used_bytes);
}

/* Walks back along the shortest path. */
static void trace_used(mo_priced_chain *c, int64_t *used_bytes)
{
    int b = 0;

    memset(used_bytes, 0, (size_t) c->n_devices * sizeof *used_bytes);
    for (int i = 0; i < c->domains->x->n; i++)
        if (c->is_beside[i])
            add_used(c, i, cheapest_device(c, i), used_bytes);
    for (int s = c->tables->n - 1; s >= 0; s--) {
        int a = c->from[(size_t) s * (size_t) (c->n_devices + 1) + (size_t) b];

        add_segment_used(c, s, a * c->n_devices + b, used_bytes);
        if (c->tables->segments[s].u != MO_FREE)
            add_used(c, c->tables->segments[s].u, a, used_bytes);
        b = a;
    }
}

int64_t mo_priced_chain_evaluate(mo_priced_chain *c, const double *prices,
                                 int64_t *used_bytes)
{
    int64_t capacity_ns = set_prices(c, prices), beside_ns = 0;

    find_entries(c);
    c->start[0] = 0;
    for (int k = 1; k < c->n_devices; k++)
        c->start[k] = INT64_MAX;
    for (int s = 0; s < c->tables->n; s++)
        advance_segment(c, s);
    if (c->start[0] == INT64_MAX)
        return INT64_MAX;
    for (int i = 0; i < c->domains->x->n; i++)
        if (c->is_beside[i])
            beside_ns += op_price_ns(c, i, cheapest_device(c, i));
    if (used_bytes)
        trace_used(c, used_bytes);
    return c->start[0] + beside_ns - capacity_ns;
}

/* ------------------------------------------------------------ maximization */

/* Variables are the prices of whole capacities, in ns. */
static double capacity_of(const mo_priced_chain *c, int i)
{
    return fmax((double) c->domains->x->capacity_bytes[c->limited[i]], 1);
}

static void evaluate_scaled(void *context, const double *point, double *value,
                            double *gradient)
{
    mo_priced_chain *c = context;
    double prices[64] = { 0 };
    int64_t bound_ns;

    for (int i = 0; i < c->n_limited; i++)
        prices[c->limited[i]] = point[i] / capacity_of(c, i);
    bound_ns = mo_priced_chain_evaluate(c, prices, c->used_bytes);
    *value = (double) bound_ns;
    for (int i = 0; i < c->n_limited; i++)
        gradient[i] =
            bound_ns == INT64_MAX
                ? 0
                : ((double) c->used_bytes[c->limited[i]] -
                   (double) c->domains->x->capacity_bytes[c->limited[i]]) /
                      capacity_of(c, i);
    if (bound_ns != INT64_MAX && bound_ns > c->best_ns) {
        c->best_ns = bound_ns;
        memcpy(c->best, point, (size_t) c->n_limited * sizeof *point);
    }
}

mo_status mo_priced_chain_raise(mo_priced_chain *c, const mo_stop *stop,
                                int64_t *bound_ns, mo_error *err)
{
    mo_bundle_problem problem = { .n = c->n_limited,
                                  .evaluate = evaluate_scaled,
                                  .context = c,
                                  .tolerance = TOLERANCE,
                                  .stop = stop };
    double point[64], value;
    mo_status status;

    if (c->n_limited == 0)
        return MO_OK;
    problem.max_evaluations = (int) mo_max_i64(
        MIN_EVALUATIONS, mo_min_i64(MAX_EVALUATIONS, MAX_WORK / c->work));
    memcpy(point, c->best, (size_t) c->n_limited * sizeof *point);
    status = mo_bundle_maximize(&problem, point, &value, err);
    if (status == MO_OK && c->best_ns > *bound_ns)
        *bound_ns = c->best_ns;
    return status;
}
